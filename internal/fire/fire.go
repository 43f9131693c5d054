package fire

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

const (
	// fireBatch is how many schedules one call reads.
	fireBatch = 500
	// blockedDelay is how long the loop waits before it checks again whether it may fire.
	blockedDelay = 50 * time.Millisecond
)

// Config is the configuration of the firing loop.
type Config struct {
	Store Store
	Node  *node.Node
	Wakes *loop.Wakes
	// MayRun reports whether the node may run the jobs of a schedule.
	MayRun func(plan.Definition) bool
	// Spread gives the hosts of a schedule on every host their schedules; it does not wait for it.
	Spread func(schedule string)
	// Runs identifies the jobs that the node may run: it is the same for nodes that may run the same.
	Runs func() string
	// Zones has the time zones of the plans. When their data have changed, plans that were made before are out of date.
	Zones *Zones
	// Places identifies the places of the node: it is the same for nodes with the same places.
	Places string
	// CallTimeout limits the calls of one step of the loop.
	CallTimeout time.Duration
}

// Store is the part of a store that firing uses.
type Store interface {
	store.Schedules
	store.Listings
}

// Run fires slots until ctx ends. Every node fires; of several decisions on the same slots, the
// store writes only the first.
func Run(ctx context.Context, cfg Config) {
	f, losses, zones := newFirer(cfg), cfg.Node.Suspensions(), cfg.Zones.changes.Load()
	failures := 0
	turn := cfg.Wakes.ScheduleTurn()
	for ctx.Err() == nil {
		if cfg.Node.Blocked() {
			_ = loop.Sleep(ctx, blockedDelay) // the loop condition checks ctx
			continue
		}
		// If the store went back in time, or zones have other data, everything that was read or decided is out of date.
		if l, z := cfg.Node.Suspensions(), cfg.Zones.changes.Load(); l != losses || z != zones {
			f, losses, zones = newFirer(cfg), l, z
		}
		call, cancel := context.WithTimeout(ctx, cfg.CallTimeout)
		err := f.step(call)
		cancel()
		wait := f.wait()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.report.StoreFailed("fire schedules", err)
			wait = loop.RetryWait(failures, loop.Around(cfg.Store).Random("fire"))
			failures++
		default:
			f.report.StoreWorks("fire schedules")
			failures = 0
		}
		if wait <= 0 {
			continue
		}
		f.rest(ctx, wait, turn)
	}
}

// rest waits until a time has passed, a wake-up for schedules comes, the turn changes, or ctx ends.
func (f *firer) rest(ctx context.Context, wait time.Duration, turn *loop.Turn) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-f.cfg.Wakes.Schedules():
		f.roundAt = loop.AlreadyDue
		f.cfg.Zones.put.Notify()
	case <-turn.Changed():
	}
}

// firer is the state of the firing loop. One goroutine uses it.
//
// States of the next slot of a schedule:
//
//	state    meaning
//	unread   due later than prefetchAhead from now; or to be read again
//	early    decided; may be written up to plan.MaxEarly before the slot
//	waiting  decided; must be written at the slot
//	round    not decided; needs the state at the slot (paused, failing, unusable, for other nodes)
//	written  the decision is in the store, and the schedule has a new next slot: unread
//
//	from     event                                                         to
//	unread   prefetchPage, prefetchAhead before the slot                   early, waiting or round
//	early    fireEarly, plan.MaxEarly before the slot                      written
//	early    fireEarly, but the schedule has a live job                    waiting, for earlyRetryDelay
//	early    fireAtInstant, because fireEarly was not called in time       written
//	waiting  fireAtInstant                                                 written
//	round    round, at the slot                                            written
//	any      the store refused the decision: another node or an edit came  unread
//	         first, or the slot is no longer on time
//
// A round also finds slots that were not prefetched, such as slots of schedules that were put a
// moment ago.
type firer struct {
	cfg    Config
	report *loop.Report
	plans  plan.Cache
	clock  storeClock
	// Prefetched decisions in the order of their slots: waiting for their instant, or ready to be
	// written early. prefetchedTo is the last schedule that was read for them.
	waiting, early []prefetched
	prefetchedTo   store.DueCursor
	// Schedules that had a live job when an early firing was tried, and until when no early firing
	// is tried for them.
	earlyRetryAt map[int64]loop.Instant
	// When to read due schedules, and when to prefetch. turn decides when to read due schedules
	// without any other reason.
	roundAt, prefetchAt loop.Instant
	turn                *loop.Turn
	// The number of due schedules that the last round left to other nodes. The next round reads
	// them again, before later schedules.
	leftToOthers int
	// Config.Places, once the node has had a schedule whose jobs have a place: nodes with other places
	// then do not find its slots for this node.
	places string
	left   leftSchedules
}

func newFirer(cfg Config) *firer {
	return &firer{
		cfg: cfg, report: cfg.Node.Report(), plans: plan.NewCache(cfg.Zones.zones), turn: cfg.Wakes.ScheduleTurn(),
		roundAt: loop.AlreadyDue, prefetchAt: loop.Never, earlyRetryAt: map[int64]loop.Instant{}, left: newLeftSchedules(),
	}
}

// step does the next work, if there is any: first decisions whose instant has come, and early
// firings last. Between the writes of a long backlog, step prefetches one page each time; otherwise
// the slots after the backlog would not be prefetched and would have to wait for a round.
func (f *firer) step(ctx context.Context) error {
	ready := f.anyDue()
	if ready {
		if err := f.fireAtInstant(ctx); err != nil {
			return err
		}
	}
	now := loop.Now()
	switch {
	case f.prefetchAt <= now:
		return f.prefetchPage(ctx)
	case ready:
		return nil
	case f.roundAt <= now || f.turn.Next() <= now:
		return f.round(ctx)
	case countDue(f.early, f.clock.now().Add(plan.MaxEarly)) > 0:
		return f.fireEarly(ctx)
	}
	return nil
}

// wait returns how long there is no work; it may be negative.
func (f *firer) wait() time.Duration {
	at := min(f.roundAt, f.prefetchAt, f.turn.Next())
	if len(f.early) > 0 {
		at = min(at, f.clock.reaches(f.early[0].NextAt.Add(-plan.MaxEarly)))
	}
	if len(f.waiting) > 0 {
		at = min(at, f.clock.reaches(f.waiting[0].NextAt))
	}
	return at.Until()
}

// expect makes the loop read the schedules that are due at t: in advance if t is after the
// prefetched time, else at t.
func (f *firer) expect(t time.Time) {
	switch {
	case t.IsZero():
	case t.After(f.prefetchedTo.NextAt):
		f.prefetchAt = min(f.prefetchAt, f.clock.reaches(t.Add(-prefetchAhead)))
	default:
		f.roundAt = min(f.roundAt, f.clock.reaches(t))
	}
}

// storeClock extrapolates the store's clock from its last reading.
type storeClock struct {
	at   time.Time
	read loop.Instant // when the answer with at was received
}

// now returns the present time of the store's clock, or slightly earlier.
func (c storeClock) now() time.Time { return c.at.Add(c.read.Elapsed()) }

// reaches returns the instant at which the store's clock has certainly reached t, unless the clock
// is set.
func (c storeClock) reaches(t time.Time) loop.Instant { return c.read.Add(t.Sub(c.at)) }

// read reads schedules, the calendars that their plans need, and the store's clock.
func (f *firer) read(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	due, err := f.cfg.Store.DueSchedules(ctx, req)
	if err != nil {
		return due, err
	}
	f.report.Step("read due schedules", "", len(due.Schedules))
	before := f.clock.at
	f.clock = storeClock{at: due.Now, read: loop.Now()}
	switch {
	case due.Now.Before(before):
		f.prefetchedTo, f.waiting, f.early = store.DueCursor{NextAt: due.Now, ID: math.MaxInt64}, nil, nil
	case f.prefetchedTo.NextAt.Before(due.Now):
		f.prefetchedTo = store.DueCursor{NextAt: due.Now, ID: math.MaxInt64}
	}
	if due.Now.Before(before.Add(-plan.MaxAhead)) {
		if err := f.emitSchedulesAhead(ctx, due.Now); err != nil {
			return due, err
		}
	}
	names := f.plans.Missing(due.Schedules)
	rows, err := readCalendars(ctx, f.cfg.Store, names)
	if err == nil {
		f.plans.SetCalendars(names, rows)
	}
	return due, err
}

// emitSchedulesAhead emits an event for each schedule whose mark is more than plan.MaxAhead after
// now, because the store's clock was set back. Such a schedule does not fire until the store's clock
// has reached its mark.
func (f *firer) emitSchedulesAhead(ctx context.Context, now time.Time) error {
	req := store.ListRequest{Limit: fireBatch}
	for {
		page, err := store.List[store.Schedule](ctx, f.cfg.Store, req)
		if err != nil {
			return err
		}
		for _, s := range page {
			if s.Mark.Sub(now) > plan.MaxAhead {
				f.report.Emit(event.Event{Kind: event.ScheduleAhead, Schedule: s.Name, Slot: s.Mark})
			}
		}
		if len(page) < fireBatch {
			return nil
		}
		req.After = page[len(page)-1].Name
	}
}

// round fires the schedules that are due by the store's clock, as many as one call reads.
func (f *firer) round(ctx context.Context) error {
	limit := fireBatch + f.leftToOthers
	note := ""
	if f.turn.SetWork(f.cfg.Runs() + f.places); f.turn.Next() <= loop.Now() {
		note = f.turn.Note()
	}
	due, err := f.read(ctx, store.DueSchedulesRequest{Limit: limit, Polled: note})
	if err != nil {
		return err
	}
	f.turn.Polled(note != "")
	f.roundAt = loop.Never
	more := len(due.Schedules) == limit
	ours, left, again := f.plans.Own(due.Schedules, f.cfg.MayRun, due.Now)
	f.explainLeft(ctx, left, due.Now)
	f.leftToOthers = len(due.Schedules) - len(ours)
	if !again.IsZero() {
		f.roundAt = min(f.roundAt, f.clock.reaches(again)) // prefetching reads later schedules only
	}
	f.expect(due.Next)
	if len(ours) > 0 {
		lost, err := f.fireDue(ctx, ours, due.Now)
		if err != nil {
			return err
		}
		more = more || lost
	}
	if more {
		f.roundAt = loop.AlreadyDue
	}
	return nil
}

// fireDue decides on due schedules and writes the decisions; lost: the store refused some of them.
func (f *firer) fireDue(ctx context.Context, due []store.Schedule, now time.Time) (lost bool, err error) {
	firings := make([]store.Firing, 0, len(due))
	names := make(map[int64]string, len(due))
	ends, err := readEnds(ctx, f.cfg.Store, nil, due, func(s store.Schedule) bool {
		p, _, err := f.plans.Get(s)
		return err == nil && p.Follows()
	})
	if err != nil {
		return false, err
	}
	for _, s := range due {
		p, again, err := f.plans.Get(s)
		firing := plan.Resolve(s, p.Because(f.left.why[s.ID]), err, ends[s.ID], now)
		f.notePlace(p)
		if err == nil && !f.cfg.MayRun(p.Definition) {
			firing = f.explainMissed(ctx, p, s, p.OnlyMissed(s, firing, now))
		}
		firings = append(firings, firing)
		names[s.ID] = s.Name
		if err != nil && !again {
			f.report.Emit(event.Event{Kind: event.ScheduleBad, Schedule: s.Name, Err: err})
		}
	}
	res, err := f.cfg.Store.Fire(ctx, store.FireRequest{Firings: firings})
	if err != nil {
		return false, err
	}
	if len(res.Fired) > 0 {
		f.cfg.Wakes.WakeJobs("")
	}
	emitFired(f.report, f.cfg.Wakes, names, res)
	for _, firing := range firings {
		f.expect(firing.NewNextAt)
	}
	f.spreadDue(due, res.Lost)
	return len(res.Lost) > 0, nil
}

// spreadDue spreads the schedules on every host among due schedules, except the schedules whose decisions were lost.
func (f *firer) spreadDue(due []store.Schedule, lost []int64) {
	for _, s := range due {
		if p, _, err := f.plans.Get(s); err == nil && p.On.Every && !slices.Contains(lost, s.ID) {
			f.cfg.Spread(s.Name)
		}
	}
}

// notePlace notes that the node fires a schedule whose jobs have a place.
func (f *firer) notePlace(p plan.Plan) {
	if !p.On.IsZero() {
		f.places = f.cfg.Places
	}
}

// emitFired emits the events of a firing and wakes the loops of this node that it concerns, so that
// they need not wait for the store's wake-up. The caller wakes the fetchers.
func emitFired(report *loop.Report, wakes *loop.Wakes, names map[int64]string, res store.FireResult) {
	for _, fired := range res.Fired {
		report.Emit(event.Event{Kind: event.SlotFired, Schedule: names[fired.Schedule], Slot: fired.Slot, Job: fired.Job})
	}
	for _, skipped := range res.Slots {
		kind := event.SlotSkipped
		switch skipped.Record.Outcome {
		case store.SlotMissed:
			kind = event.SlotMissed
		case store.SlotNotStarted:
			kind = event.SlotNotStarted
		}
		report.Emit(event.Event{
			Kind: kind, Schedule: names[skipped.Schedule], Slot: skipped.Record.Slot,
			Count: skipped.Record.Count, Detail: skipped.Record.Reason,
		})
	}
	for _, job := range res.Superseded {
		report.Emit(event.Event{Kind: event.JobSuperseded, Job: job})
	}
	if len(res.Asked) > 0 {
		wakes.Wake(store.Wake{Kind: store.WakeCancels})
	}
	for _, lost := range res.Lost {
		report.Emit(event.Event{Kind: event.FiringLost, Schedule: names[lost]})
	}
}
