package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

const (
	// fireBatch is how many schedules are read and fired at a time.
	fireBatch = 500
	// badRest is how long a schedule that cannot be used rests before it is
	// looked at again: much less than DefaultGrace, for in a cluster of mixed releases
	// another node may be able to use it.
	badRest = 5 * time.Second
	// MaxAhead is how far a mark may lie ahead of the store's clock before it
	// is told.
	MaxAhead = time.Minute
)

// fire reads due schedules, decides, and writes the decisions, until ctx ends.
// Every node does so; the store lets one of them win each schedule's slot.
func (e *Engine) fire(ctx context.Context) {
	failures := 0
	plans := newPlanCache()
	var clock time.Time // the store's, when last read
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
		now, next, more, err := e.fireDue(call, plans)
		if now.Before(clock.Add(-MaxAhead)) && err == nil {
			err = e.tellAhead(call, now)
		}
		cancel()
		if !now.IsZero() {
			clock = now
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.outage.fail("fire schedules", err)
			next, more = retryWait(failures), false
			failures++
		default:
			e.outage.over("fire schedules")
			failures = 0
		}
		if more {
			continue
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-e.wakes.schedules:
		}
		timer.Stop()
	}
}

// tellAhead tells, when the store's clock was set back, which schedules are
// accounted for beyond it: they stay silent until it gets there again.
func (e *Engine) tellAhead(ctx context.Context, now time.Time) error {
	req := store.ListSchedulesRequest{Limit: fireBatch}
	for {
		page, err := e.cfg.Backend.ListSchedules(ctx, req)
		if err != nil {
			return err
		}
		for _, s := range page {
			if s.Mark.Sub(now) > MaxAhead {
				e.emit(event.Event{Kind: event.ScheduleAhead, Schedule: s.Name, Slot: s.Mark})
			}
		}
		if len(page) < fireBatch {
			return nil
		}
		req.After = page[len(page)-1].Name
	}
}

// fireDue makes one round: it returns the store's clock and how long to wait
// for the next, or that there is more to do at once.
func (e *Engine) fireDue(ctx context.Context, plans planCache) (now time.Time, wait time.Duration, more bool, err error) {
	limit := fireBatch + e.passedOver
	due, err := e.cfg.Backend.DueSchedules(ctx, store.DueSchedulesRequest{Limit: limit})
	if err == nil {
		err = plans.readCalendars(ctx, e.cfg.Backend, due.Schedules)
	}
	if err != nil {
		return now, 0, false, err
	}
	read := monotonic()
	e.step("read due schedules", "", len(due.Schedules))
	until := func(next time.Time) time.Duration {
		if next.IsZero() {
			return e.idlePoll()
		}
		return min(e.idlePoll(), max(next.Sub(due.Now)-(monotonic()-read), 0))
	}
	full := len(due.Schedules) == limit
	ours, again := e.passOver(due.Schedules, plans, due.Now)
	e.passedOver = len(due.Schedules) - len(ours)
	due.Schedules = ours
	if !again.IsZero() && (due.Next.IsZero() || again.Before(due.Next)) {
		due.Next = again
	}
	if len(due.Schedules) == 0 {
		return due.Now, until(due.Next), full, nil
	}
	firings := make([]store.Firing, 0, len(due.Schedules))
	for _, s := range due.Schedules {
		plan, again, err := plans.get(s)
		f := Resolve(s, plan, err, due.Now)
		if err == nil && e.foreign(plan) {
			f = plan.onlyLate(s, f, due.Now)
		}
		firings = append(firings, f)
		if err != nil && !again {
			e.emit(event.Event{Kind: event.ScheduleBad, Schedule: s.Name, Err: err})
		}
	}
	res, err := e.cfg.Backend.Fire(ctx, store.FireRequest{Firings: firings})
	if err != nil {
		return due.Now, 0, false, err
	}
	e.tellFired(due.Schedules, res)
	if len(res.Fired) > 0 {
		e.wakes.jobs("") // this node need not wait for its own push
	}
	if full || len(res.Lost) > 0 {
		return due.Now, 0, true, nil
	}
	wait = until(due.Next)
	for _, f := range firings {
		wait = min(wait, until(f.NewNextAt))
	}
	return due.Now, wait, false, nil
}

// Resolve is Decide for a schedule whose plan may be unusable: that one is
// put off, and accounted for when a release or an edit has mended it.
func Resolve(s store.Schedule, plan Plan, planErr error, now time.Time) store.Firing {
	if planErr == nil {
		return plan.Decide(s, now)
	}
	return store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt,
		NewMark: s.Mark, NewNextAt: later(now, s.Mark).Add(badRest),
	}
}

func (e *Engine) tellFired(schedules []store.Schedule, res store.FireResult) {
	names := make(map[int64]string, len(schedules))
	for _, s := range schedules {
		names[s.ID] = s.Name
	}
	for _, fired := range res.Fired {
		e.emit(event.Event{Kind: event.SlotFired, Schedule: names[fired.Schedule], Slot: fired.Slot, Job: fired.Job})
	}
	for _, skipped := range res.Slots {
		kind := event.SlotSkipped
		if skipped.Record.Outcome == store.SlotMissed {
			kind = event.SlotMissed
		}
		e.emit(event.Event{
			Kind: kind, Schedule: names[skipped.Schedule], Slot: skipped.Record.Slot,
			Count: skipped.Record.Count, Detail: skipped.Record.Reason,
		})
	}
	for _, job := range res.Superseded {
		e.emit(event.Event{Kind: event.JobSuperseded, Job: job})
	}
	if len(res.Asked) > 0 {
		e.wakes.wake(store.Wake{Kind: store.WakeCancels}) // their nodes are pushed to; this may be one
	}
	for _, lost := range res.Lost {
		e.emit(event.Event{Kind: event.FiringLost, Schedule: names[lost]})
	}
}

// planCache keeps plans by schedule and revision, and the calendars that they
// name. One goroutine uses it.
type planCache struct {
	plans     map[int64]cachedPlan
	calendars StoredCalendars
	zones     *recur.Zones
}

func newPlanCache() planCache {
	return planCache{plans: map[int64]cachedPlan{}, calendars: StoredCalendars{}, zones: &recur.Zones{}}
}

type cachedPlan struct {
	revision int64
	anchor   time.Time
	plan     Plan
	err      error // why it cannot be used
}

// mostPlans bounds the cache; beyond, it starts anew.
const mostPlans = 100_000

// readCalendars reads the stored calendars of schedules that get has no plan of. A
// plan that is there has the right ones: a change of a calendar changes the
// revision of the schedules that name it.
func (c planCache) readCalendars(ctx context.Context, backend store.Calendars, schedules []store.Schedule) error {
	var unknown []store.Schedule
	for _, s := range schedules {
		if _, ok := c.find(s); !ok {
			unknown = append(unknown, s)
		}
	}
	return c.calendars.read(ctx, backend, unknown, c.zones)
}

func (c planCache) find(s store.Schedule) (cachedPlan, bool) {
	cached, ok := c.plans[s.ID]
	return cached, ok && cached.revision == s.Revision && cached.anchor.Equal(s.Anchor)
}

// get returns a schedule's plan, or why there is none; again says that this
// was returned before.
func (c planCache) get(s store.Schedule) (plan Plan, again bool, err error) {
	if cached, ok := c.find(s); ok {
		return cached.plan, true, cached.err
	}
	plan, err = newPlan(s, c.calendars, c.zones)
	if len(c.plans) >= mostPlans {
		clear(c.plans)
	}
	c.plans[s.ID] = cachedPlan{revision: s.Revision, anchor: s.Anchor, plan: plan, err: err}
	return plan, false, err
}
