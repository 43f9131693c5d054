package gocron

import (
	"context"
	"errors"

	"github.com/hourbell/hourbell/lock"
)

// ErrNotLeader is the answer of an Elector whose process does not lead.
var ErrNotLeader = errors.New("another process leads")

// Elector implements [gocron.Elector], for gocron.WithDistributedElector: the
// jobs of all schedulers run on the process that leads. It is safe for concurrent
// use by any number of goroutines and schedulers.
//
// A Locker is the better choice if a run must not be lost: when the lead changes,
// a job that was due before the new leader was found does not run, and a job that
// runs on a process that has just lost the lead goes on.
type Elector struct{ leader *lock.Leader }

// NewElector makes an Elector of a leader, whose Run the program calls:
//
//	leader, err := lock.NewLeader(locks, "scheduler")
//	go leader.Run(ctx, nil)
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(NewElector(leader)))
func NewElector(leader *lock.Leader) *Elector { return &Elector{leader} }

// IsLeader implements [gocron.Elector]: the error is nil if this process leads, and
// else ErrNotLeader. It asks no store.
func (e *Elector) IsLeader(context.Context) error {
	if _, leads := e.leader.Leading(); !leads {
		return ErrNotLeader
	}
	return nil
}
