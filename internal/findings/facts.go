package findings

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Facts are what the rules decide on: what a store reports of a cluster at one instant.
type Facts struct {
	Now     time.Time // of the store's clock
	LostAt  time.Time // when a loss of history was found that is not accepted yet; zero: there is none
	Nodes   []store.NodeInfo
	Queues  []hourbell.QueueInfo
	Overdue []hourbell.ScheduleInfo // active schedules whose slots have passed
	// NextSlot is, if no node lives, a next slot of an active schedule, NextName; zero: a node lives, or there is no such slot.
	NextSlot time.Time
	NextName string
	Ahead    []hourbell.ScheduleInfo // schedules whose marks are ahead of the store's clock
	Failing  []Failing               // active schedules whose newest jobs failed
	Waiting  []Waiting
	Missed   []store.SlotInfo // records of missed slots of the last day, newest first, of schedules that exist
	Failed   []store.JobInfo  // jobs that failed in the last day, newest first
	Unread   []string         // what of the above the store did not answer in time, in words
}

// Waiting is a due job that waits for something else than a free worker. Of jobs with the same reason it is the first.
type Waiting struct {
	Job    store.JobInfo
	Why    string
	Pauses []store.Pause // that concern it
}

// Failing is a schedule that is failing.
type Failing struct {
	Schedule hourbell.ScheduleInfo
	Health   hourbell.ScheduleHealth
	Reason   string // of the newest failure; empty: the job is not kept any more
}

// Suspended reports whether the store has gone back in time.
func (f Facts) Suspended() bool { return !f.LostAt.IsZero() }

// Living returns how many nodes are alive as far as the store knows.
func (f Facts) Living() (n int) {
	for _, node := range f.Nodes {
		if node.Alive(f.Now) {
			n++
		}
	}
	return n
}

// Rows is how many rows a list has at most.
const Rows = 50

const (
	sectionTime = 2 * time.Second // in which each list must be read
	searchTime  = hourbell.EstimateTime / 2
	failing     = 200 // schedules with failed jobs that are looked at
	missedAmong = 500 // newest records of slots, among which missed slots are looked for
	dueAmong    = 50  // due jobs of a queue, among which jobs are looked for that wait for a reason
	lastDay     = 24 * time.Hour
)

// Read reads the facts. A list that takes too long is left out, and named in Unread.
func Read(ctx context.Context, client *hourbell.Client) (Facts, error) {
	f, err := readNodes(ctx, client)
	if err != nil {
		return f, err
	}
	err = f.ReadLists(ctx, []List{
		{"queues", func(ctx context.Context) (err error) { f.Queues, err = client.Queues.Estimate(ctx); return err }},
		{"overdue schedules", func(ctx context.Context) (err error) {
			f.Overdue, err = client.Schedules.ListOverdue(ctx, Rows)
			return err
		}},
		{"next slots", func(ctx context.Context) error { return f.readNext(ctx, client) }},
		{"schedules ahead of the clock", func(ctx context.Context) (err error) {
			f.Ahead, err = client.Schedules.ResetAhead(ctx, hourbell.DryRun())
			return err
		}},
		{"failing schedules", func(ctx context.Context) error { return f.readFailing(ctx, client) }},
		{"due jobs", func(ctx context.Context) error { return f.readWaiting(ctx, client) }},
		{"failed jobs", func(ctx context.Context) error {
			page, err := client.Jobs.Page(ctx, hourbell.JobFilter{
				States: []store.State{store.StateFailed}, FinishedSince: f.Now.Add(-lastDay), Limit: Rows, Within: searchTime,
			})
			if f.Failed = page.Jobs; page.Partial {
				f.Unread = append(f.Unread, "failed jobs")
			}
			return err
		}},
		{"missed slots", func(ctx context.Context) error { return f.readMissed(ctx, client) }},
	})
	return f, err
}

// List is a list that is read for a limited time.
type List struct {
	Name string
	Read func(context.Context) error
}

// ReadLists reads lists. A list that takes too long is named in Unread, and no failure.
func (f *Facts) ReadLists(ctx context.Context, lists []List) error {
	for _, list := range lists {
		limited, cancel := context.WithTimeout(ctx, sectionTime)
		err := list.Read(limited)
		late := limited.Err() != nil
		cancel()
		switch {
		case err == nil:
		case errors.Is(ctx.Err(), context.Canceled), !late:
			return err
		default:
			f.Unread = append(f.Unread, list.Name)
		}
	}
	return nil
}

// readNodes reads the facts about the nodes, without which nothing else means anything.
func readNodes(ctx context.Context, client *hourbell.Client) (f Facts, err error) {
	if f.Now, err = client.Now(ctx); err != nil {
		return f, err
	}
	if f.Nodes, err = client.Nodes.List(ctx); err != nil {
		return f, err
	}
	position, err := client.Nodes.Position(ctx)
	f.LostAt = position.LostAt
	return f, err
}

// readNext reads the next slot of the active schedules, if no node lives. The first schedules by name are enough for an example.
func (f *Facts) readNext(ctx context.Context, client *hourbell.Client) error {
	if f.Living() > 0 {
		return nil
	}
	schedules, err := client.Schedules.List(ctx, hourbell.ScheduleFilter{Limit: Rows})
	for _, s := range schedules {
		if !s.NextAt.IsZero() && s.PausedAt.IsZero() && s.GroupPausedAt.IsZero() && (f.NextSlot.IsZero() || s.NextAt.Before(f.NextSlot)) {
			f.NextSlot, f.NextName = s.NextAt, s.Name
		}
	}
	return err
}

// readFailing reads the schedules whose newest jobs failed, and why the last job of each did.
func (f *Facts) readFailing(ctx context.Context, client *hourbell.Client) error {
	schedules, health, err := client.Schedules.ListFailing(ctx, failing)
	if err != nil || len(schedules) == 0 {
		return err
	}
	ids := make([]int64, len(health))
	for i, one := range health {
		ids[i] = one.FailedLast
	}
	jobs, err := client.Jobs.List(ctx, hourbell.JobFilter{IDs: ids, Limit: len(ids)})
	if err != nil {
		return err
	}
	reasons := map[int64]string{}
	for _, job := range jobs {
		reasons[job.ID] = job.Reason
	}
	for i, schedule := range schedules {
		f.Failing = append(f.Failing, Failing{schedule, health[i], reasons[health[i].FailedLast]})
	}
	return nil
}

// readMissed reads the newest records of missed slots of the last day, of schedules that exist.
func (f *Facts) readMissed(ctx context.Context, client *hourbell.Client) error {
	slots, err := client.Slots.List(ctx, hourbell.SlotFilter{From: f.Now.Add(-lastDay), Limit: missedAmong})
	if err != nil {
		return err
	}
	slots = slices.DeleteFunc(slots, func(slot store.SlotInfo) bool { return slot.Outcome != store.SlotMissed })
	if len(slots) == 0 {
		return nil
	}
	var names []string
	for _, slot := range slots {
		names = append(names, slot.ScheduleName)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	schedules, err := client.Schedules.List(ctx, hourbell.ScheduleFilter{Names: names, Limit: len(names)})
	exists := map[string]bool{}
	for _, s := range schedules {
		exists[s.Name] = true
	}
	slots = slices.DeleteFunc(slots, func(slot store.SlotInfo) bool { return !exists[slot.ScheduleName] })
	f.Missed = slots[:min(len(slots), Rows)]
	return err
}

// readWaiting looks for due jobs that wait for a reason, in the queues whose oldest due job waits for a while.
func (f *Facts) readWaiting(ctx context.Context, client *hourbell.Client) error {
	known := map[string]bool{}
	for _, q := range f.Queues {
		if q.Oldest.IsZero() || f.Now.Sub(q.Oldest) < dueFirst {
			continue
		}
		jobs, err := client.Jobs.List(ctx, hourbell.JobFilter{Queue: q.Name, States: []store.State{store.StateReady}, Limit: dueAmong})
		if err != nil {
			return err
		}
		reasons, err := client.Jobs.Waits(ctx, jobs...)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			why := reasons[job.ID]
			if why == "" || known[why] || len(known) == Rows {
				continue
			}
			known[why] = true
			pauses, err := client.Jobs.Pauses(ctx, job)
			if err != nil {
				return err
			}
			f.Waiting = append(f.Waiting, Waiting{job, why, pauses})
		}
	}
	return nil
}
