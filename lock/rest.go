package lock

import (
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// Rest measures how much of a grant's at-least time is left, on the clock of
// this machine that nobody can set. A provider makes one when it has the answer
// to a grant, and its Release asks it: where the store's clock was set back after
// the grant, locked_at lies ahead, and a lock that is released would stay held
// for the size of that step.
//
// A Rest is a value; any number of goroutines may use one.
type Rest struct {
	atLeast time.Duration
	end     time.Duration // on the machine's clock
	whole   bool          // the store's clock is that of a test
	uptime  func() time.Duration
}

// NewRest begins to measure the at-least time of a request that was granted.
func NewRest(req Request) Rest { return newRest(req, uptime.Now) }

func newRest(req Request, now func() time.Duration) Rest {
	return Rest{atLeast: req.AtLeast, end: now() + req.AtLeast, whole: req.Now != nil, uptime: now}
}

// Left is how much of the at-least time is left: 0 if all of it has passed, else
// whole milliseconds, rounded up, never more than the at-least time. It counts
// from when the answer came, which is after the grant, so it never ends early.
// Under a Request.Now, which does not run as the machine's clock does, it is all
// of the at-least time until that has passed.
func (r Rest) Left() time.Duration {
	left := r.end - r.uptime()
	switch {
	case left <= 0:
		return 0
	case r.whole:
		return r.atLeast
	}
	return min(ceilDuration(left), r.atLeast)
}
