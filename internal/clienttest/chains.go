package clienttest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Chains is the acceptance test of schedules that start after other schedules, in the words
// of the rule: after the predecessor has ended completely, every dependent whose event
// matches (or is either) starts once, its delay later, without a timetable of its own; every
// other dependent gets one not-started event for each run; a predecessor that repeats starts
// its dependents each time, overlapping jobs included; and the edges in force are those at the
// end of the run. Two nodes run.
func Chains(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	for _, test := range []struct {
		name string
		run  func(c *chains)
	}{
		{"every dependent whose event matches starts once, its delay later", (*chains).startsOnce},
		{"every other dependent gets one not-started event for each run", (*chains).notStarted},
		{"a predecessor that repeats starts its dependents each time", (*chains).eachTime},
		{"jobs of a backfill start dependents only if asked to", (*chains).backfill},
		{"the edges in force are those at the end of the run", (*chains).edgesAtTheEnd},
		{"two nodes make one job for each end", (*chains).oneJobForEachEnd},
		{"a job reads the result of the job that its schedule follows", (*chains).results},
	} {
		t.Run(test.name, func(t *testing.T) { with(t, open, func(e *env) { test.run(newChains(e)) }) })
	}
}

// chains is a store with two running nodes and the schedule "export", whose jobs fail if they
// are told to.
type chains struct {
	*env
	client *hourbell.Client // of the first node

	mu        sync.Mutex
	fails     bool
	hold      chan struct{} // jobs of "export" end when it is closed; nil: at once
	notStarts []event.Event
	read      func(ctx context.Context, job *hourbell.JobRow) error // what jobs do, except jobs of "export"
}

func newChains(e *env) *chains {
	c := &chains{env: e}
	c.read = func(context.Context, *hourbell.JobRow) error { return nil }
	workers := hourbell.NewWorkers()
	workers.Handle(kind, func(ctx context.Context, job *hourbell.JobRow) error {
		if job.Schedule != "export" {
			c.mu.Lock()
			read := c.read
			c.mu.Unlock()
			return read(ctx, job)
		}
		c.mu.Lock()
		hold, fails := c.hold, c.fails
		c.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
		if fails {
			return errors.New("the export failed")
		}
		return job.SetResult(job.ID)
	})
	c.client = c.runWorkers(e.backend, workers)
	other := c.runWorkers(e.other, workers)
	for _, client := range []*hourbell.Client{c.client, other} {
		events, stop := client.Events.Subscribe(1000)
		c.Cleanup(stop)
		go func() {
			for e := range events {
				if e.Kind == event.SlotNotStarted {
					c.mu.Lock()
					c.notStarts = append(c.notStarts, e)
					c.mu.Unlock()
				}
			}
		}()
	}
	c.put(hourbell.Schedule{Name: "export", Rule: recur.Cron("0 0 1 1 *")})
	return c
}

// put puts a schedule whose job says its name.
func (c *chains) put(s hourbell.Schedule) {
	c.Helper()
	s.Job, s.MaxAttempts = hourbell.RawArgs{Name: kind, JSON: []byte(`"` + s.Name + `"`)}, 1
	_, err := c.client.Schedules.Put(c.Context(), s)
	c.must(err)
}

func (c *chains) setFails(fails bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = fails
}

// runExport runs the schedule "export" once and returns its ended job.
func (c *chains) runExport() store.JobInfo {
	c.Helper()
	id, err := c.client.Schedules.Trigger(c.Context(), "export")
	c.must(err)
	return c.job(c.client, id, "the export has ended", func(job store.JobInfo) bool { return job.State.Finished() })
}

// jobsOf returns the jobs of a schedule.
func (c *chains) jobsOf(name string) []store.JobInfo {
	c.Helper()
	var full []store.JobInfo
	jobs, err := c.client.Jobs.List(c.Context(), hourbell.JobFilter{Schedule: name, Limit: 1000})
	c.must(err)
	for _, job := range jobs {
		one, err := c.client.Jobs.Get(c.Context(), job.ID)
		c.must(err)
		full = append(full, one)
	}
	slices.SortFunc(full, func(a, b store.JobInfo) int { return cmp.Compare(a.ID, b.ID) })
	return full
}

// slotsOf returns the records of a schedule.
func (c *chains) slotsOf(name string) []store.SlotInfo {
	c.Helper()
	slots, err := c.client.Slots.List(c.Context(), hourbell.SlotFilter{Schedule: name, Limit: 1000})
	c.must(err)
	return slots
}

// startsAfter waits until a schedule has so many jobs, and checks that the last of them
// follows another job, a delay after its end.
func (c *chains) startsAfter(name string, n int, predecessor store.JobInfo, delay time.Duration) {
	c.Helper()
	var jobs []store.JobInfo
	c.eventually(name+" starts", func() bool { jobs = c.jobsOf(name); return len(jobs) >= n })
	if len(jobs) != n {
		c.Fatalf("%s has %d jobs, not %d", name, len(jobs), n)
	}
	last := jobs[n-1]
	if len(last.After) != 1 || last.After[0].Job != predecessor.ID || last.Origin != store.OriginAfter {
		c.Errorf("the job of %s does not show that it follows job %d: %+v", name, predecessor.ID, last)
	}
	if want := predecessor.FinishedAt.Add(delay); !last.RunAt.Equal(want) {
		c.Errorf("%s is due at %v, not at %v: %v after the end", name, last.RunAt, want, delay)
	}
}

func (c *chains) startsOnce() {
	export := hourbell.ScheduleEdge{Schedule: "export"}
	c.put(hourbell.Schedule{Name: "on success", After: []hourbell.ScheduleEdge{export}})
	export.On = hourbell.OnFailure
	c.put(hourbell.Schedule{Name: "on failure", After: []hourbell.ScheduleEdge{export}})
	export.On, export.Delay = hourbell.OnEither, 25*time.Hour
	c.put(hourbell.Schedule{Name: "on either", After: []hourbell.ScheduleEdge{export}})
	c.put(hourbell.Schedule{Name: "after that", After: []hourbell.ScheduleEdge{{Schedule: "on success"}}})

	first := c.runExport()
	c.startsAfter("on success", 1, first, 0)
	c.startsAfter("on either", 1, first, 25*time.Hour)
	c.eventually("the job on success has ended", func() bool { return c.jobsOf("on success")[0].State == store.StateCompleted })
	c.startsAfter("after that", 1, c.jobsOf("on success")[0], 0)
	c.setFails(true)
	second := c.runExport()
	c.startsAfter("on failure", 1, second, 0)
	c.startsAfter("on either", 2, second, 25*time.Hour)
	for _, name := range []string{"on success", "on failure", "on either", "after that"} {
		info, err := c.client.Schedules.Get(c.Context(), name)
		c.must(err)
		if info.State() != "active" || !info.NextAt.IsZero() {
			c.Errorf("%s has no timetable and is active: %s, next %v", name, info.State(), info.NextAt)
		}
	}
}

func (c *chains) notStarted() {
	c.put(hourbell.Schedule{Name: "report", After: []hourbell.ScheduleEdge{{Schedule: "export"}}})
	c.put(hourbell.Schedule{Name: "mail", After: []hourbell.ScheduleEdge{{Schedule: "report", On: hourbell.OnEither}}})
	c.setFails(true)
	for n := 1; n <= 3; n++ {
		export := c.runExport()
		for _, name := range []string{"report", "mail"} {
			c.eventually("the run is recorded", func() bool {
				slots := c.slotsOf(name)
				return len(slots) == 1 && slots[0].Count == int64(n) // equal records in a row are one
			})
			slot := c.slotsOf(name)[0]
			if slot.Outcome != store.SlotNotStarted || slot.Reason != "after: a job of export failed" || n == 1 && slot.After != export.ID {
				c.Errorf("%s: %+v", name, slot)
			}
			c.eventually("there is one event for each run", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				events := 0
				for _, e := range c.notStarts {
					if e.Schedule == name {
						events += int(e.Count)
					}
				}
				return events == n
			})
		}
	}
	if len(c.jobsOf("report"))+len(c.jobsOf("mail")) > 0 {
		c.Error("no job is made")
	}
	c.must(c.client.Schedules.Pause(c.Context(), []string{"report"}))
	c.setFails(false)
	c.runExport()
	c.eventually("the end is recorded while the schedule is paused", func() bool { return len(c.slotsOf("report")) == 2 })
	if slot := c.slotsOf("report")[0]; slot.Outcome != store.SlotNotStarted || slot.Reason[:6] != "paused" {
		c.Errorf("%+v", slot)
	}
}

func (c *chains) eachTime() {
	c.put(hourbell.Schedule{Name: "report", After: []hourbell.ScheduleEdge{{Schedule: "export", Delay: time.Hour}}})
	for n := 1; n <= 5; n++ { // the jobs of report wait for their delay, and so overlap
		c.startsAfter("report", n, c.runExport(), time.Hour)
	}
}

func (c *chains) backfill() {
	c.put(hourbell.Schedule{Name: "report", After: []hourbell.ScheduleEdge{{Schedule: "export"}}})
	past := hourbell.BackfillRequest{From: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2003, 1, 1, 0, 0, 0, 0, time.UTC), Force: true}
	for _, past.Dependents = range []bool{false, true} {
		made, err := c.client.Schedules.Backfill(c.Context(), "export", past)
		c.must(err)
		for _, id := range made.Jobs {
			c.job(c.client, id, "the export has ended", func(job store.JobInfo) bool { return job.State.Finished() })
		}
		if !past.Dependents {
			continue
		}
		var after []int64
		c.eventually("report starts after each job", func() bool {
			after = nil
			for _, job := range c.jobsOf("report") {
				after = append(after, job.After[0].Job)
			}
			return len(after) >= len(made.Jobs)
		})
		if slices.Sort(after); !slices.Equal(after, made.Jobs) {
			c.Errorf("report started after the jobs %v, want %v", after, made.Jobs)
		}
	}
}

func (c *chains) edgesAtTheEnd() {
	c.hold = make(chan struct{})
	id, err := c.client.Schedules.Trigger(c.Context(), "export")
	c.must(err)
	c.job(c.client, id, "the export runs", func(job store.JobInfo) bool { return job.State == store.StateRunning })
	old := hourbell.Schedule{Name: "old", After: []hourbell.ScheduleEdge{{Schedule: "export"}}}
	c.put(old)
	c.put(hourbell.Schedule{Name: "put while it ran", After: []hourbell.ScheduleEdge{{Schedule: "export"}}})
	old.After = []hourbell.ScheduleEdge{{Schedule: "export", On: hourbell.OnFailure}}
	c.put(old)
	close(c.hold)
	export := c.job(c.client, id, "the export has ended", func(job store.JobInfo) bool { return job.State.Finished() })
	c.put(hourbell.Schedule{Name: "put after it", After: []hourbell.ScheduleEdge{{Schedule: "export"}}})
	old.After = []hourbell.ScheduleEdge{{Schedule: "export"}}
	c.put(old)
	c.startsAfter("put while it ran", 1, export, 0)
	c.eventually("the old edge is recorded", func() bool { return len(c.slotsOf("old")) == 1 })
	if slot := c.slotsOf("old")[0]; slot.Outcome != store.SlotNotStarted {
		c.Errorf("the edge at the end needed a failure: %+v", slot)
	}
	if n := len(c.slotsOf("put after it")); n > 0 {
		c.Error("an edge that was put after the end does not count for it")
	}
}

func (c *chains) oneJobForEachEnd() {
	c.put(hourbell.Schedule{Name: "report", After: []hourbell.ScheduleEdge{{Schedule: "export"}}})
	const runs = 200
	var ids []int64
	for range runs {
		id, err := c.client.Schedules.Trigger(c.Context(), "export")
		c.must(err)
		ids = append(ids, id)
	}
	c.eventually("each run has made a job", func() bool { return len(c.jobsOf("report")) >= runs })
	seen := map[int64]int{}
	for _, job := range c.jobsOf("report") {
		seen[job.After[0].Job]++
	}
	for _, id := range ids {
		if seen[id] != 1 {
			c.Errorf("the end of job %d has made %d jobs", id, seen[id])
		}
	}
	if len(seen) != runs {
		c.Errorf("%d ends have made jobs, not %d", len(seen), runs)
	}
}

func (c *chains) results() {
	type seen struct {
		follows      bool
		predecessors []hourbell.Predecessor
		err          error
	}
	read := make(chan seen, 2)
	c.mu.Lock()
	c.read = func(ctx context.Context, job *hourbell.JobRow) error {
		predecessors, err := job.Predecessors(ctx)
		read <- seen{job.Follows(), predecessors, err}
		return nil
	}
	c.mu.Unlock()
	c.put(hourbell.Schedule{Name: "report", After: []hourbell.ScheduleEdge{{Schedule: "export"}}})
	export := c.runExport()
	want := []hourbell.Predecessor{{ID: export.ID, Name: "export", Kind: kind, State: store.StateCompleted, Result: []byte(strconv.FormatInt(export.ID, 10))}}
	if got := <-read; !got.follows || got.err != nil || !reflect.DeepEqual(got.predecessors, want) {
		c.Errorf("the job of the schedule follows: %v, and reads %+v, %v, not %+v", got.follows, got.predecessors, got.err, want)
	}
	report := c.jobsOf("report")[0]
	if got, err := c.client.Jobs.Predecessors(c.Context(), report.ID); err != nil || !reflect.DeepEqual(got, want) {
		c.Errorf("the client reads %+v, %v, not %+v", got, err, want)
	}
	_, err := c.client.Schedules.Trigger(c.Context(), "report")
	c.must(err)
	if got := <-read; got.follows || got.err != nil || len(got.predecessors) > 0 {
		c.Errorf("a job that is triggered follows: %v, and reads %+v, %v", got.follows, got.predecessors, got.err)
	}
}
