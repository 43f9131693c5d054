package fire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

const (
	// settleTries is how often a change is tried.
	settleTries = 100
	// settleBatch is how many schedules one call settles.
	settleBatch = 500
)

// Settler accounts for due slots on behalf of a client, which need not run. Concurrent calls are
// allowed; nodes may settle the same slots concurrently, and the first decision is written.
type Settler struct {
	Store SettleStore
	// Tx is the caller's transaction in which changes are made; nil: each is made in one of its own.
	Tx store.Tx
	// StateDir is the folder of the nodes' state file; empty: no file.
	StateDir string

	gone bool // the hosts of the schedules that change are not expected any more
}

// SettleStore is the part of a store that a Settler uses.
type SettleStore interface {
	Store
	store.History
	// Now reads the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Change makes a change that the store refuses with store.ErrUnsettled while slots are due that are
// not accounted for: Change settles them, under the old definition, and tries again. names are the
// schedules that the change is known to concern; there may be others.
//
// change returns the names of the schedules that it concerned. Change returns after the slots that
// these schedules had fired early, so that no slot of the old definition begins later. A change in
// a caller's transaction takes effect with the commit, which Change cannot wait for.
func (s Settler) Change(ctx context.Context, names []string, change func() (edited []string, err error)) error {
	var err error
	for try := range settleTries {
		var edited []string
		if edited, err = change(); err == nil {
			if s.Tx != nil {
				return nil
			}
			return s.awaitFired(ctx, edited)
		}
		if !errors.Is(err, store.ErrUnsettled) {
			return err
		}
		parts := [][]string{nil} // of names; nil: all schedules
		if try%2 == 0 && len(names) > 0 {
			parts = slices.Collect(slices.Chunk(names, settleBatch))
		}
		for _, part := range parts {
			if settleErr := s.settle(ctx, part); settleErr != nil {
				return settleErr
			}
		}
	}
	return err
}

// settle accounts for the due slots of these schedules, or of all schedules if there are no names:
// once, and at most a batch.
func (s Settler) settle(ctx context.Context, names []string) error {
	if err := node.CheckHistory(ctx, s.Store, s.StateDir); err != nil {
		return fmt.Errorf("fire due schedules: %w", err)
	}
	if deferring, able := store.Able[store.Deferring](s.Store); able {
		if err := deferring.CarryOut(ctx, store.CarryOutRequest{Tx: s.Tx, Ends: true}); err != nil {
			return fmt.Errorf("pass on ends of jobs: %w", err)
		}
	}
	due, err := s.Store.DueSchedules(ctx, store.DueSchedulesRequest{Tx: s.Tx, Limit: settleBatch, Names: names})
	if err != nil {
		return fmt.Errorf("read due schedules: %w", err)
	}
	unattended, err := s.unattended(ctx, due.Schedules)
	if err != nil {
		return err
	}
	firings, err := s.decide(ctx, due, func(p plan.Plan) plan.Plan {
		if unattended(p.On) {
			return p.Unattended(s.gone)
		}
		return p
	})
	if err != nil || len(firings) == 0 {
		return err
	}
	if _, err := s.Store.Fire(ctx, store.FireRequest{Tx: s.Tx, Firings: firings}); err != nil {
		return fmt.Errorf("account for due slots: %w", err)
	}
	return nil
}

// unattended returns a function that reports whether no node of a place lives. It reads the nodes only if a schedule has a place.
func (s Settler) unattended(ctx context.Context, due []store.Schedule) (func(plan.Place) bool, error) {
	if !slices.ContainsFunc(due, func(row store.Schedule) bool { return plan.HasPlace(row.Definition) }) {
		return func(plan.Place) bool { return false }, nil
	}
	nodes, err := store.List[store.NodeInfo](ctx, s.Store, store.ListRequest{})
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	return func(place plan.Place) bool {
		return !place.Every && !slices.ContainsFunc(nodes, func(n store.NodeInfo) bool {
			return n.EndedAt.IsZero() && plan.PlacesOf(n.Host, n.Labels).Has(place)
		}) && !place.IsZero()
	}, nil
}

// decide decides on due schedules; adjust changes their plans.
func (s Settler) decide(ctx context.Context, due store.DueSchedulesResult, adjust func(plan.Plan) plan.Plan) ([]store.Firing, error) {
	calendars, err := CalendarsOf(ctx, s.Store, due.Schedules)
	if err != nil {
		return nil, err
	}
	plans, planErrs := map[int64]plan.Plan{}, map[int64]error{}
	for _, row := range due.Schedules {
		plans[row.ID], planErrs[row.ID] = plan.New(row, calendars)
	}
	ends, err := readEnds(ctx, s.Store, s.Tx, due.Schedules, func(row store.Schedule) bool { return plans[row.ID].Follows() })
	if err != nil {
		return nil, err
	}
	firings := make([]store.Firing, len(due.Schedules))
	for i, row := range due.Schedules {
		firings[i] = plan.Resolve(row, adjust(plans[row.ID]), planErrs[row.ID], ends[row.ID], due.Now)
	}
	return firings, nil
}

// Settled counts what a Settler has accounted for.
type Settled struct {
	Schedules int   // schedules that had due slots
	Missed    int64 // slots that were recorded as missed
	Fired     int64 // slots that fired
}

// AfterLoss accounts for all due slots after the store went back in time: with refire they fire,
// without it they count as missed. The counts are valid also with an error.
func (s Settler) AfterLoss(ctx context.Context, refire bool) (Settled, error) {
	var done Settled
	counted := map[int64]bool{}
	for range settleTries + 1 {
		all, err := s.settleAll(ctx, refire, &done, counted)
		done.Schedules = len(counted)
		if err != nil {
			return done, fmt.Errorf("account for due slots: %w", err)
		}
		if all {
			return done, nil
		}
	}
	return done, errors.New("schedules keep changing: stop the programs that edit them, and nodes of earlier releases, then try again")
}

// settleAll accounts for all schedules that are due, a page at a time; all reports whether no
// schedule was changed at the same time.
func (s Settler) settleAll(ctx context.Context, refire bool, done *Settled, counted map[int64]bool) (all bool, err error) {
	all = true
	for page := (store.DueSchedulesRequest{Limit: settleBatch}); ; {
		due, err := s.Store.DueSchedules(ctx, page)
		if err != nil {
			return false, err
		}
		if len(due.Schedules) == 0 {
			return all, nil
		}
		firings, err := s.decide(ctx, due, func(p plan.Plan) plan.Plan { return p.AfterLoss(refire) })
		if err != nil {
			return false, err
		}
		res, err := s.Store.Fire(ctx, store.FireRequest{Firings: firings})
		if err != nil {
			return false, err
		}
		for _, slot := range res.Slots {
			if counted[slot.Schedule] = true; slot.Record.Outcome == store.SlotMissed {
				done.Missed += slot.Record.Count
			}
		}
		for _, slot := range res.Fired {
			counted[slot.Schedule] = true
			done.Fired++
		}
		all = all && len(res.Lost) == 0
		last := due.Schedules[len(due.Schedules)-1]
		page.After = store.DueCursor{NextAt: last.NextAt, ID: last.ID}
	}
}
