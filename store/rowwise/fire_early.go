package rowwise

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// early reports whether a firing, which was decided from the present row, is not
// due yet, so that it is only done without live jobs.
func (p *firePlan) early(f store.Firing, now time.Time) bool {
	return !p.replan && instant(f.NextAt).After(now)
}

// leaveBusy removes early firings whose schedule has a live job, so that an
// overlap would have to be settled.
func (p *firePlan) leaveBusy(now time.Time) {
	p.firings = slices.DeleteFunc(p.firings, func(f store.Firing) bool {
		is := p.early(f, now) && len(p.live[f.Schedule]) > 0
		if is {
			p.out.Busy = append(p.out.Busy, f.Schedule)
		}
		return is
	})
}
