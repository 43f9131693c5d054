package hourbell

import (
	"github.com/hourbell/hourbell/internal/backoff"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// BackoffHeader is the header of store.JobInfo.Headers with the back-off that the
// option Backoff, or the schedule of the job, has selected.
const BackoffHeader = store.BackoffHeader

// Backoff selects how long the job waits after a failed attempt until its next
// attempt, instead of the back-off of its kind (DefaultBackoff):
//
//	constant:30s                         always 30 s
//	linear:10s, linear:10s:1h            10 s, 20 s, 30 s …
//	exponential:1s, exponential:1s:10m   1 s, 2 s, 4 s, 8 s …
//	default                              attempt⁴ s: 1 s, 16 s, 81 s …
//
// The last duration is the greatest delay, 24 h if it is left out. Durations are
// from 100 ms to 8760 h. Each delay is spread by ± 10 %.
func Backoff(policy string) Option {
	return func(e *enqueuing) {
		e.given |= optBackoff
		p, err := backoff.Parse(policy)
		if err != nil {
			e.errs = append(e.errs, err)
			return
		}
		e.Headers = plan.WithBackoff(e.Headers, p.String())
	}
}
