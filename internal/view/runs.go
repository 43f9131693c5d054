package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Runs are the newest runs of a schedule's jobs, as far as its health and its jobs are kept.
type Runs struct {
	Last   time.Time     // when the newest of them began
	Took   time.Duration // how long the newest took that has ended; 0: none has
	Median time.Duration // of the jobs that completed; 0: none has
}

// ReadRuns reads the newest runs of schedules whose health has been read.
func ReadRuns(ctx context.Context, client *hourbell.Client, schedules []Schedule) error {
	var ids []int64
	for _, s := range schedules {
		for _, slot := range s.Health.Slots {
			if slot.JobKept {
				ids = append(ids, slot.Job)
			}
		}
	}
	jobs := map[int64]store.JobInfo{}
	if len(ids) > 0 {
		found, err := client.Jobs.List(ctx, hourbell.JobFilter{IDs: ids, Limit: len(ids)})
		if err != nil {
			return err
		}
		for _, j := range found {
			jobs[j.ID] = j
		}
	}
	for i, s := range schedules {
		var newest []store.JobInfo
		for _, slot := range s.Health.Slots {
			if j, found := jobs[slot.Job]; found {
				newest = append(newest, j)
			}
		}
		schedules[i].Runs = runsOf(newest)
	}
	return nil
}

// runsOf returns the runs of jobs, the newest first.
func runsOf(jobs []store.JobInfo) *Runs {
	r := &Runs{}
	for _, j := range jobs {
		if r.Last.IsZero() {
			r.Last = j.StartedAt
		}
		if r.Took == 0 && !j.StartedAt.IsZero() && !j.FinishedAt.IsZero() {
			r.Took = j.FinishedAt.Sub(j.StartedAt)
		}
	}
	r.Median = medianTook(jobs)
	return r
}

// medianTook returns how long half of the jobs took at most that completed; 0: none has.
func medianTook(jobs []store.JobInfo) time.Duration {
	var took []time.Duration
	for _, j := range jobs {
		if j.State == store.StateCompleted && !j.StartedAt.IsZero() {
			took = append(took, j.FinishedAt.Sub(j.StartedAt))
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// ScheduleHealthListing shows schedules with how their jobs have done lately.
func ScheduleHealthListing() Listing[Schedule] {
	return Listing[Schedule]{
		Columns: []string{"NAME", "STATE", "LAST 20", "FAILURES", "LAST RUN", "TOOK", "MEDIAN", "NEXT", "OWNER", "RULE", "RUNS"},
		Row: func(s Schedule) []string {
			failures := ""
			if n := s.Health.Failures; n > 0 {
				failures = fmt.Sprint(n)
			}
			return []string{
				s.Name, stateOf(s), plain.Dash(Strip(*s.Health)), plain.Dash(failures), plain.Stamp(s.Runs.Last), briefOrDash(s.Runs.Took), briefOrDash(s.Runs.Median),
				plain.Stamp(nextOf(s)), plain.Dash(s.Owner), s.When(), whatRuns(s.Schedule),
			}
		},
	}
}

// runFacts returns the facts about the runs of a schedule.
func runFacts(s Schedule) []Fact {
	if s.Runs == nil {
		return nil
	}
	took := ""
	if s.Runs.Took > 0 {
		took = plain.Brief(s.Runs.Took)
		if s.Runs.Median > 0 {
			took += ", median " + plain.Brief(s.Runs.Median)
		}
	}
	return []Fact{{"last_run", plain.Stamp(s.Runs.Last)}, {"took", took}}
}

func briefOrDash(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return plain.Brief(d)
}
