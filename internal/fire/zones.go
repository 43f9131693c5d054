package fire

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

const (
	// zonesInterval is how often the data of the time zones in use are read again, and a page of schedules is compared with them.
	zonesInterval = time.Minute
	// zonesRarely is how many times as long a node waits while there are no schedules, until a schedule is put.
	zonesRarely = 4
	// zonesPace is the time between the pages of a round at the start of a node, or after the data have changed.
	zonesPace = time.Second
	// zonesPage is how many schedules a page has.
	zonesPage = 100
)

// Zones keeps the stored next slots of schedules equal to what the data of time zones say. A round compares all schedules page by page: quickly
// at the start of a node, and after the data have changed while it runs; else a page a minute, because a client on another machine,
// or another node, may have stored slots with other data at any time. It is a loop of its own, so that it does not delay slots. Concurrent
// calls are allowed, except of Run.
type Zones struct {
	cfg     ZonesConfig
	report  *loop.Report
	zones   *recur.Zones
	changes atomic.Int64
	put     loop.Signal // schedules may have been put
}

// ZonesConfig is the configuration of Zones.
type ZonesConfig struct {
	Store SettleStore
	Node  *node.Node
	Wakes *loop.Wakes
	// MayRun reports whether the node may run the jobs of a schedule.
	MayRun func(plan.Definition) bool
	// CallTimeout limits the calls for one page of schedules.
	CallTimeout time.Duration
}

// NewZones returns Zones that have read no data.
func NewZones(cfg ZonesConfig) *Zones {
	return &Zones{cfg: cfg, report: cfg.Node.Report(), zones: &recur.Zones{}, put: loop.NewSignal()}
}

// Run compares data and schedules until ctx ends.
func (z *Zones) Run(ctx context.Context) {
	const doing = "compare schedules with the data of time zones"
	round, failures := zonesRound{quick: 1}, 0
	for ctx.Err() == nil {
		if z.cfg.Node.Blocked() {
			_ = loop.Sleep(ctx, blockedDelay) // the loop condition checks ctx
			continue
		}
		if changed := z.zones.Reload(plan.ZoneSpan(round.clock.now())); len(changed) > 0 {
			round = round.changed()
			z.changes.Add(1)
			z.report.Emit(event.Event{Kind: event.ZonesChanged, Detail: strings.Join(changed, ", ")})
			z.cfg.Wakes.Wake(store.Wake{Kind: store.WakeSchedules}) // the firing loop drops its plans
		}
		wait := zonesInterval
		page, err := z.replanPage(ctx, store.ListRequest{After: round.after, Limit: zonesPage}, round.clock)
		if err == nil {
			round, wait = round.next(page)
			err = z.cfg.Node.RegisterZones(ctx, z.prints(round.clock.now()))
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			z.report.StoreFailed(doing, err)
			wait = loop.RetryWait(failures, loop.Around(z.cfg.Store).Random("compare time zones"))
			failures++
		default:
			z.report.StoreWorks(doing)
			failures = 0
		}
		z.rest(ctx, wait)
	}
}

// rest waits, until ctx ends. Without schedules the wait is long; it ends a minute after schedules were put.
func (z *Zones) rest(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	put := z.put
	if wait <= zonesInterval {
		put = nil
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-put:
		_ = loop.Sleep(ctx, zonesInterval) // the caller checks ctx
	}
}

// zonesRound is how far a round has come.
type zonesRound struct {
	after string // the last name of the page before
	quick int    // how many rounds, with this one, do not wait a minute between pages
	clock storeClock
}

// changed begins again after the data have changed. A second round follows, because other loops may have written decisions with the data
// of before while the first was under way.
func (r zonesRound) changed() zonesRound { return zonesRound{quick: 2, clock: r.clock} }

// next goes on after a page, and returns the time until the next.
func (r zonesRound) next(page replanned) (zonesRound, time.Duration) {
	r.clock = page.clock
	none := page.none && r.after == ""
	r.after = page.more
	if page.lost {
		r.quick = max(r.quick, 2)
	}
	if r.after == "" { // the end of a round
		r.quick = max(0, r.quick-1)
		if none && r.quick == 0 {
			return r, zonesRarely * zonesInterval
		}
		return r, zonesInterval
	}
	if r.quick > 0 {
		return r, zonesPace
	}
	return r, zonesInterval
}

// prints returns what the node registers of the zones in use: the name of each, and the fingerprint of its data.
func (z *Zones) prints(now time.Time) []string {
	from, until := plan.ZoneSpan(now)
	names := z.zones.Names()
	for i, name := range names {
		if loc, err := z.zones.Load(name); err == nil {
			names[i] = store.ZonePrint(name, recur.Fingerprint(loc, from, until))
		}
	}
	return names
}

// replanned is what was done with a page of schedules.
type replanned struct {
	clock storeClock
	more  string // the last name of the page if there may be further pages
	none  bool   // the page is empty
	lost  bool   // the store refused a decision, because the schedule has been changed since
}

// replanPage moves the next slots of a page of schedules, of those whose stored slots differ from the data of their zones. clock
// is what is known of the store's clock.
func (z *Zones) replanPage(ctx context.Context, req store.ListRequest, clock storeClock) (done replanned, err error) {
	ctx, cancel := context.WithTimeout(ctx, z.cfg.CallTimeout)
	defer cancel()
	rows, err := store.List[store.Schedule](ctx, z.cfg.Store, req)
	done.clock, done.none = clock, len(rows) == 0
	if err != nil || done.none && !clock.at.IsZero() {
		return done, err // without schedules, as on an idle node, one reading of the clock is enough
	}
	now, err := z.cfg.Store.Now(ctx)
	if err != nil {
		return done, err
	}
	done.clock = storeClock{at: now, read: loop.Now()}
	firings, names, err := z.replans(ctx, rows, now)
	if err != nil {
		return done, err
	}
	for chunk := range slices.Chunk(firings, fireChunk) {
		lost, err := z.fireReplanned(ctx, chunk, names)
		if err != nil {
			return done, err
		}
		done.lost = done.lost || lost
	}
	if len(firings) > 0 {
		z.cfg.Wakes.Wake(store.Wake{Kind: store.WakeSchedules})
	}
	if len(rows) == req.Limit {
		done.more = rows[len(rows)-1].Name
	}
	return done, nil
}

// replans returns the firings that move the next slots of schedules, and the names of these schedules. Slots with jobs that this node may not
// run are left to other nodes.
func (z *Zones) replans(ctx context.Context, rows []store.Schedule, now time.Time) (firings []store.Firing, names map[int64]string, err error) {
	plans := plan.NewCache(z.zones)
	calendars := plans.Missing(rows)
	found, err := readCalendars(ctx, z.cfg.Store, calendars)
	if err != nil {
		return nil, nil, err
	}
	plans.SetCalendars(calendars, found)
	names = map[int64]string{}
	for _, row := range rows {
		p, _, err := plans.Get(row)
		if err != nil {
			continue // the firing loop reports it
		}
		firing, changed := p.Replan(row, now)
		if changed && (len(firing.Jobs) == 0 || z.cfg.MayRun(p.Definition)) {
			firings, names[row.ID] = append(firings, firing), row.Name
		}
	}
	return firings, names, nil
}

// fireReplanned writes firings that move slots, and reports them; lost: the store refused some of them.
func (z *Zones) fireReplanned(ctx context.Context, firings []store.Firing, names map[int64]string) (lost bool, err error) {
	res, err := z.cfg.Store.Fire(ctx, store.FireRequest{Firings: firings, Replan: true})
	if err != nil {
		return false, err
	}
	if len(res.Fired) > 0 {
		z.cfg.Wakes.WakeJobs("")
	}
	emitFired(z.report, z.cfg.Wakes, names, res)
	for _, firing := range firings {
		if !slices.Contains(res.Lost, firing.Schedule) {
			z.report.Emit(event.Event{Kind: event.ScheduleMoved, Schedule: names[firing.Schedule], Slot: firing.NewNextAt})
		}
	}
	return len(res.Lost) > 0, nil
}
