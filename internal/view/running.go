package view

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// expectAmong is how many of the newest completed jobs of a schedule tell how long its next job takes.
const expectAmong = 20

// expected returns how long running jobs should take: the median of the newest completed jobs of the same schedule, or of the
// same kind among ended for a job without a schedule. A job without such jobs is left out.
func expected(ctx context.Context, client *hourbell.Client, running, ended []store.JobInfo) (map[int64]time.Duration, error) {
	bySchedule, byKind := map[string]time.Duration{}, map[string][]store.JobInfo{}
	for _, j := range ended {
		byKind[j.Kind] = append(byKind[j.Kind], j)
	}
	found := map[int64]time.Duration{}
	for _, j := range running {
		if j.ScheduleName == "" {
			found[j.ID] = medianTook(byKind[j.Kind])
			continue
		}
		if _, known := bySchedule[j.ScheduleName]; !known {
			page, err := client.Jobs.Page(ctx, hourbell.JobFilter{
				Schedule: j.ScheduleName, States: []store.State{store.StateCompleted}, Limit: expectAmong, Within: searchTime,
			})
			if err != nil {
				return found, err
			}
			bySchedule[j.ScheduleName] = medianTook(page.Jobs)
		}
		found[j.ID] = bySchedule[j.ScheduleName]
	}
	return found, nil
}

// Slow reports whether a running job takes much longer than expected.
func (o Overview) Slow(j store.JobInfo) bool {
	likely := o.Expected[j.ID]
	return likely > 0 && o.Now.Sub(j.StartedAt) > max(2*likely, likely+time.Second)
}

// RunningListing shows the jobs that run: for how long, and how long such jobs take.
func (o Overview) RunningListing() Listing[store.JobInfo] {
	return Listing[store.JobInfo]{
		Columns: []string{"ID", "KIND", "SCHEDULE", "NODE", "STARTED", "ELAPSED", "EXPECTED", "ATTEMPT", "PROGRESS"},
		Row: func(j store.JobInfo) []string {
			elapsed := max(o.Now.Sub(j.StartedAt), 0).Round(time.Second)
			return []string{
				fmt.Sprint(j.ID), j.Kind, plain.Dash(shownSchedule(j)), plain.Dash(j.Node), plain.Stamp(j.StartedAt), elapsed.String(),
				briefOrDash(o.Expected[j.ID]), fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), plain.Dash(cmp.Or(cancelAsked(j), runningProgress(j))),
			}
		},
	}
}
