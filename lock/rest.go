package lock

import (
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// Rest measures how much of a grant's at-least time is left, on a clock of this
// machine that cannot be set. A provider makes a Rest when it has the answer to
// a grant, and its Release uses it: if the store's clock was set back after the
// grant, locked_at lies ahead, and a released lock would otherwise stay held
// for the size of that step.
//
// A Rest is a value; concurrent calls are allowed.
type Rest struct {
	atLeast time.Duration
	end     uptime.Instant // on the machine's clock
	whole   bool           // the store's clock is replaced by the clock of a test
	uptime  func() uptime.Instant
}

// NewRest begins to measure the at-least time of a granted request.
func NewRest(req Request) Rest { return newRest(req, uptime.Now) }

func newRest(req Request, now func() uptime.Instant) Rest {
	return Rest{atLeast: req.AtLeast, end: now().Add(req.AtLeast), whole: req.Now != nil, uptime: now}
}

// Left returns how much of the at-least time is left: 0 if all of it has
// passed, otherwise whole milliseconds, rounded up, never more than the
// at-least time. The time counts from when the answer arrived, which is after
// the grant, so it never ends too early. Under a Request.Now, which is not
// related to the machine's clock, Left is the whole at-least time until that
// has passed.
func (r Rest) Left() time.Duration {
	left := r.end.Sub(r.uptime())
	switch {
	case left <= 0:
		return 0
	case r.whole:
		return r.atLeast
	}
	return min(ceilDuration(left), r.atLeast)
}
