package fire

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/ambient"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// zonesInterval is how often the data of the time zones in use are read again.
const zonesInterval = time.Minute

// Zones keeps the stored next slots of schedules equal to what the data of time zones say: at the start of a node, and after the data have
// changed while it runs. It is a loop of its own, so that it does not delay slots. Concurrent calls are allowed, except of Run.
type Zones struct {
	cfg     ZonesConfig
	report  *loop.Report
	zones   *recur.Zones
	changes atomic.Int64
}

// ZonesConfig is the configuration of Zones.
type ZonesConfig struct {
	Store interface {
		SettleStore
		ListNodes(ctx context.Context) ([]store.NodeInfo, error)
	}
	Node  *node.Node
	Wakes *loop.Wakes
	// MayRun reports whether the node may run the jobs of a schedule.
	MayRun func(plan.Definition) bool
	// CallTimeout limits the calls for one page of schedules.
	CallTimeout time.Duration
}

// NewZones returns Zones that have read no data.
func NewZones(cfg ZonesConfig) *Zones {
	return &Zones{cfg: cfg, report: cfg.Node.Report(), zones: &recur.Zones{}}
}

// Run compares data and schedules until ctx ends.
func (z *Zones) Run(ctx context.Context) {
	const doing = "compare schedules with the data of time zones"
	var clock storeClock // read when schedules are
	start, replan, failures := true, true, 0
	for ctx.Err() == nil {
		if z.cfg.Node.Blocked() {
			_ = loop.Sleep(ctx, blockedDelay) // the loop condition checks ctx
			continue
		}
		changed := z.zones.Reload(plan.ZoneSpan(clock.now()))
		if len(changed) > 0 {
			z.changes.Add(1)
			z.report.Emit(event.Event{Kind: event.ZonesChanged, Detail: strings.Join(changed, ", ")})
			z.cfg.Wakes.Wake(store.Wake{Kind: store.WakeSchedules}) // the firing loop drops its plans
		}
		var err error
		if start && len(changed) == 0 {
			replan, clock, err = z.mayDiffer(ctx)
		}
		if err == nil && (replan || len(changed) > 0) {
			var now time.Time
			var lost bool
			if now, lost, err = z.replan(ctx); err == nil {
				clock = storeClock{at: now, read: loop.Now()}
			}
			// Other loops may have written decisions with the old data since.
			replan = err != nil || lost || len(changed) > 0
		}
		start = start && err != nil
		if err == nil {
			err = z.cfg.Node.RegisterZones(ctx, z.prints(clock.now()))
		}
		wait := zonesInterval
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			z.report.StoreFailed(doing, err)
			wait = loop.RetryWait(failures, ambient.Of(z.cfg.Store).Random("compare time zones"))
			failures++
		default:
			z.report.StoreWorks(doing)
			failures = 0
		}
		_ = loop.Sleep(ctx, wait) // the loop condition checks ctx
	}
}

// prints returns what the node registers of the zones in use: the name of each, and the fingerprint of its data. UTC is among them, so that
// the list of a node that has compared all schedules is never empty.
func (z *Zones) prints(now time.Time) []string {
	from, until := plan.ZoneSpan(now)
	names := append(z.zones.Names(), time.UTC.String())
	slices.Sort(names)
	for i, name := range names {
		if loc, err := z.zones.Load(name); err == nil {
			names[i] = store.ZonePrint(name, recur.Fingerprint(loc, from, until))
		}
	}
	return names
}

// mayDiffer reports whether next slots may be stored that differ from the data of this machine. They do not if nodes have registered the data
// of their zones, which they do after they have compared all schedules, and all of these nodes have the data of this machine.
func (z *Zones) mayDiffer(ctx context.Context) (differ bool, clock storeClock, err error) {
	ctx, cancel := context.WithTimeout(ctx, z.cfg.CallTimeout)
	defer cancel()
	nodes, err := z.cfg.Store.ListNodes(ctx)
	if err != nil {
		return true, clock, err
	}
	now, err := z.cfg.Store.Now(ctx)
	if err != nil {
		return true, clock, err
	}
	clock = storeClock{at: now, read: loop.Now()}
	from, until := plan.ZoneSpan(now)
	compared := false
	for _, n := range nodes {
		for _, text := range n.Zones {
			zone, registered := store.CutZonePrint(text)
			loc, err := z.zones.Load(zone)
			if err != nil || recur.Fingerprint(loc, from, until) != registered {
				return true, clock, nil
			}
			compared = true
		}
	}
	return !compared, clock, nil
}

// replan moves the next slots of all schedules whose stored slots differ from the data of their zones. It returns the store's clock, and
// whether the store refused a decision, because the schedule has been changed since.
func (z *Zones) replan(ctx context.Context) (now time.Time, lost bool, err error) {
	moved := false
	req := store.ListSchedulesRequest{Limit: readBatch}
	for {
		page, more, err := z.replanPage(ctx, req)
		if err != nil {
			return now, lost, err
		}
		now, lost, moved = page.now, lost || page.lost, moved || page.moved
		if req.After = more; more == "" {
			break
		}
	}
	if moved {
		z.cfg.Wakes.Wake(store.Wake{Kind: store.WakeSchedules})
	}
	return now, lost, nil
}

// replanned is what was done with a page of schedules.
type replanned struct {
	now         time.Time
	lost, moved bool
}

// replanPage is replan for a page of schedules; more is the last name of the page if there may be further pages.
func (z *Zones) replanPage(ctx context.Context, req store.ListSchedulesRequest) (done replanned, more string, err error) {
	ctx, cancel := context.WithTimeout(ctx, z.cfg.CallTimeout)
	defer cancel()
	rows, err := z.cfg.Store.ListSchedules(ctx, req)
	if err != nil {
		return done, "", err
	}
	if done.now, err = z.cfg.Store.Now(ctx); err != nil {
		return done, "", err
	}
	plans := plan.NewCache(z.zones)
	calendars := plans.Missing(rows)
	found, err := readCalendars(ctx, z.cfg.Store, calendars)
	if err != nil {
		return done, "", err
	}
	plans.SetCalendars(calendars, found)
	var firings []store.Firing
	names := map[int64]string{}
	for _, row := range rows {
		p, _, err := plans.Get(row)
		if err != nil {
			continue // the firing loop reports it
		}
		firing, changed := p.Replan(row, done.now)
		if changed && (len(firing.Jobs) == 0 || z.cfg.MayRun(p.Definition)) {
			firings, names[row.ID] = append(firings, firing), row.Name
		}
	}
	for chunk := range slices.Chunk(firings, fireChunk) {
		res, err := z.cfg.Store.Fire(ctx, store.FireRequest{Firings: chunk, Replan: true})
		if err != nil {
			return done, "", err
		}
		if done.moved = true; len(res.Fired) > 0 {
			z.cfg.Wakes.WakeJobs("")
		}
		done.lost = done.lost || len(res.Lost) > 0
		emitFired(z.report, z.cfg.Wakes, names, res)
		for _, firing := range chunk {
			if !slices.Contains(res.Lost, firing.Schedule) {
				z.report.Emit(event.Event{Kind: event.ScheduleMoved, Schedule: names[firing.Schedule], Slot: firing.NewNextAt})
			}
		}
	}
	if len(rows) == req.Limit {
		more = rows[len(rows)-1].Name
	}
	return done, more, nil
}
