package hourbell

import (
	"time"

	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/recur"
)

// Schedule is the definition of a schedule: when to ring, and what to run.
type Schedule struct {
	// Name is the schedule's identity: 1–200 bytes of UTF-8 without control
	// characters or surrounding space.
	Name string
	// Owner is the file or program whose set this belongs to; empty for
	// schedules put by people. Only its owner may change it.
	Owner string
	// Revision, if not 0, is the one that was read: a Put is refused with
	// ErrConflict when the schedule has been changed since.
	Revision int64
	// Rule says when.
	Rule recur.Spec
	// Kind and Args say what; Args is JSON, kept byte for byte; empty: null.
	Kind string
	Args []byte
	// Queue defaults to "default".
	Queue string
	// Priority is 1 (first) … 9 (last); 0 means 5.
	Priority int
	// MaxAttempts is 1 … 1000; 0 means 25.
	MaxAttempts int
	OnLoss      OnLoss
	// Timeout of one attempt; 0 means the worker's own.
	Timeout time.Duration
	// Overlap says what a slot does while a job of this schedule runs.
	Overlap Overlap
	// Group is a label for people.
	Group string
	// Hooks are jobs that failures, missed slots and recoveries make.
	Hooks Hooks
	// Paused is whether it is paused by its definition. That takes effect when
	// the schedule is created or comes back, and when it differs from what was
	// put before; otherwise a pause or resume by hand stays.
	Paused bool
}

// Overlap says what a slot does while a job of its schedule runs.
type Overlap = engine.Overlap

// The choices of Overlap.
const (
	// OverlapSkip skips the slot while a job of the schedule is running, and
	// supersedes one that awaits a retry (default).
	OverlapSkip = engine.OverlapSkip
	// OverlapAllow fires every slot.
	OverlapAllow = engine.OverlapAllow
)

// ScheduleInfo is a schedule and where it stands.
type ScheduleInfo struct {
	Schedule
	ID int64
	// Anchor is where intervals count from.
	Anchor time.Time
	// Mark says how far its slots are accounted for.
	Mark time.Time
	// NextAt is its next slot; zero when it has ended or is deleted.
	NextAt time.Time
	// Fired counts the slots that made a job.
	Fired     int64
	PausedAt  time.Time // zero: not paused
	CreatedAt time.Time
	UpdatedAt time.Time // of the definition
	DeletedAt time.Time // zero: not deleted
	// Ahead says that Mark lies ahead of the store's clock, which must have been
	// wrong then: no slot fires until the clock gets there. ResetSchedules mends it.
	Ahead bool
	// FailingSince is when the schedule began to fail: a job of it failed, or a
	// slot was missed, and none has completed since. Zero: it does not, or has no
	// Hooks; without them nobody keeps count.
	FailingSince time.Time
	// Problem says why the definition cannot be used by this release, or is empty.
	Problem string
}

// State is "active", "paused", "ended", "deleted", "broken" (see Problem) or
// "ahead" (see Ahead).
func (s ScheduleInfo) State() string {
	switch {
	case !s.DeletedAt.IsZero():
		return "deleted"
	case s.Problem != "":
		return "broken"
	case s.Ahead:
		return "ahead"
	case !s.PausedAt.IsZero():
		return "paused"
	case s.NextAt.IsZero():
		return "ended"
	}
	return "active"
}
