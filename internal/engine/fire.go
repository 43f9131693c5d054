package engine

import (
	"context"
	"math"
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
	badScheduleDelay = 5 * time.Second
	// closedRest is how long the loop waits, while nothing may be fired, before it
	// looks again.
	blockedDelay = 50 * time.Millisecond
	// MaxAhead is how far a mark may lie ahead of the store's clock before it
	// is told.
	MaxAhead = time.Minute
)

// fire fires slots, until ctx ends. Every node does so; the store lets one of
// them win each schedule's slot.
func (e *Engine) fire(ctx context.Context) {
	f, losses := newFirer(e), e.history.suspensions()
	failures := 0
	for ctx.Err() == nil {
		if e.history.blocked() {
			_ = sleep(ctx, blockedDelay) // ctx is looked at by the loop
			continue
		}
		if now := e.history.suspensions(); now != losses { // what was read and planned is of another past
			f, losses = newFirer(e), now
		}
		call, cancel := context.WithTimeout(ctx, e.cfg.CallTimeout)
		err := f.step(call)
		cancel()
		wait := f.wait()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.storeErrors.add("fire schedules", err)
			wait = retryWait(failures)
			failures++
		default:
			e.storeErrors.clear("fire schedules")
			failures = 0
		}
		if wait <= 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-e.wakes.schedules:
			f.roundAt = alreadyDue
		}
		timer.Stop()
	}
}

// firer is what the loop of fire knows. One goroutine uses it.
type firer struct {
	engine *Engine
	plans  planCache
	clock  storeClock
	// coming are decisions that wait for their instant, and early are those that
	// need not, both in the order of their instants; seen is how far was read ahead
	// to make them.
	waiting, early []prefetched
	prefetchedTo   store.DueCursor
	// busy are schedules that could not fire early, and until when that is not tried
	// again.
	earlyRetryAt map[int64]instant
	// dueAt and aheadAt are when to look, on the monotonic clock, for what is due
	// and for what comes next.
	roundAt, prefetchAt instant
	// passedOver is how many due schedules the last round left to others; they
	// stand before what comes later.
	leftToOthers int
}

func newFirer(e *Engine) *firer {
	return &firer{engine: e, plans: newPlanCache(), roundAt: alreadyDue, prefetchAt: never, earlyRetryAt: map[int64]instant{}}
}

// step does what is to be done now, if anything is. What has been decided and is
// due goes first; but in a long backlog of it, what comes next is read between, a
// page at a time, or all that follows would have to wait for a round. What may fire
// early has time.
func (f *firer) step(ctx context.Context) error {
	ready := f.anyDue()
	if ready {
		if err := f.fireAtInstant(ctx); err != nil {
			return err
		}
	}
	now := monotonic()
	switch {
	case f.prefetchAt <= now:
		return f.prefetchPage(ctx)
	case ready:
		return nil
	case f.roundAt <= now:
		return f.round(ctx)
	case countDue(f.early, f.clock.now().Add(maxEarly)) > 0:
		return f.fireEarly(ctx)
	}
	return nil
}

// wait is how long there is nothing to do.
func (f *firer) wait() time.Duration {
	at := min(f.roundAt, f.prefetchAt)
	if len(f.early) > 0 {
		at = min(at, f.clock.reaches(f.early[0].NextAt.Add(-maxEarly)))
	}
	if len(f.waiting) > 0 {
		at = min(at, f.clock.reaches(f.waiting[0].NextAt))
	}
	return at.until()
}

// expect makes the loop look for what is due at t: ahead of it, if it has not
// looked so far ahead yet.
func (f *firer) expect(t time.Time) {
	switch {
	case t.IsZero():
	case t.After(f.prefetchedTo.NextAt):
		f.prefetchAt = min(f.prefetchAt, f.clock.reaches(t.Add(-prefetchAhead)))
	default:
		f.roundAt = min(f.roundAt, f.clock.reaches(t))
	}
}

// storeClock is the store's clock as it was last read.
type storeClock struct {
	at   time.Time
	read instant // on the monotonic clock, when the answer was there
}

// now is the store's clock now, or a little less.
func (c storeClock) now() time.Time { return c.at.Add(c.read.elapsed()) }

// reaches is when the store's clock has certainly reached t, if nobody sets it.
func (c storeClock) reaches(t time.Time) instant { return c.read.add(t.Sub(c.at)) }

// read reads schedules, what is needed to plan them, and the store's clock.
func (f *firer) read(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	due, err := f.engine.cfg.Backend.DueSchedules(ctx, req)
	if err != nil {
		return due, err
	}
	f.engine.step("read due schedules", "", len(due.Schedules))
	before := f.clock.at
	f.clock = storeClock{at: due.Now, read: monotonic()}
	switch {
	case due.Now.Before(before):
		f.prefetchedTo, f.waiting, f.early = store.DueCursor{NextAt: due.Now, ID: math.MaxInt64}, nil, nil
	case f.prefetchedTo.NextAt.Before(due.Now):
		f.prefetchedTo = store.DueCursor{NextAt: due.Now, ID: math.MaxInt64}
	}
	if due.Now.Before(before.Add(-MaxAhead)) {
		if err := f.engine.emitSchedulesAhead(ctx, due.Now); err != nil {
			return due, err
		}
	}
	return due, f.plans.readCalendars(ctx, f.engine.cfg.Backend, due.Schedules)
}

// tellAhead tells, when the store's clock was set back, which schedules are
// accounted for beyond it: they stay silent until it gets there again.
func (e *Engine) emitSchedulesAhead(ctx context.Context, now time.Time) error {
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

// round fires what is due by the store's clock, as much as one call takes.
func (f *firer) round(ctx context.Context) error {
	e := f.engine
	limit := fireBatch + f.leftToOthers
	due, err := f.read(ctx, store.DueSchedulesRequest{Limit: limit})
	if err != nil {
		return err
	}
	f.roundAt = monotonic().add(e.idlePoll())
	more := len(due.Schedules) == limit
	ours, again := e.ownSchedules(due.Schedules, f.plans, due.Now)
	f.leftToOthers = len(due.Schedules) - len(ours)
	f.expect(again)
	f.expect(due.Next)
	if len(ours) > 0 {
		lost, err := f.fireDue(ctx, ours, due.Now)
		if err != nil {
			return err
		}
		more = more || lost
	}
	if more {
		f.roundAt = alreadyDue
	}
	return nil
}

// fireDue decides on due schedules and writes the decisions; lost: not all were
// taken.
func (f *firer) fireDue(ctx context.Context, due []store.Schedule, now time.Time) (lost bool, err error) {
	e := f.engine
	firings := make([]store.Firing, 0, len(due))
	names := make(map[int64]string, len(due))
	for _, s := range due {
		plan, again, err := f.plans.get(s)
		firing := Resolve(s, plan, err, now)
		if err == nil && e.unlisted(plan) {
			firing = plan.onlyMissed(s, firing, now)
		}
		firings = append(firings, firing)
		names[s.ID] = s.Name
		if err != nil && !again {
			e.emit(event.Event{Kind: event.ScheduleBad, Schedule: s.Name, Err: err})
		}
	}
	res, err := e.cfg.Backend.Fire(ctx, store.FireRequest{Firings: firings})
	if err != nil {
		return false, err
	}
	if len(res.Fired) > 0 {
		e.wakes.jobs("")
	}
	e.emitFired(names, res)
	for _, firing := range firings {
		f.expect(firing.NewNextAt)
	}
	return len(res.Lost) > 0, nil
}

// Resolve is Decide for a schedule whose plan may be unusable: that one is
// put off, and accounted for when a release or an edit has mended it.
func Resolve(s store.Schedule, plan Plan, planErr error, now time.Time) store.Firing {
	if planErr == nil {
		return plan.Decide(s, now)
	}
	return store.Firing{
		Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, PausedAt: s.PausedAt,
		NewMark: s.Mark, NewNextAt: later(now, s.Mark).Add(badScheduleDelay),
	}
}

// tellFired tells what was fired, by the schedules' names, and wakes whom it
// concerns on this node, who need not wait for the push: but for the fetchers,
// whom the caller wakes.
func (e *Engine) emitFired(names map[int64]string, res store.FireResult) {
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
		e.wakes.wake(store.Wake{Kind: store.WakeCancels})
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
const maxPlans = 100_000

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
	if len(c.plans) >= maxPlans {
		clear(c.plans)
	}
	c.plans[s.ID] = cachedPlan{revision: s.Revision, anchor: s.Anchor, plan: plan, err: err}
	return plan, false, err
}
