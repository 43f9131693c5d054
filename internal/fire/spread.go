package fire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

const (
	// spreadTries is how often schedules are spread that others change at the same time.
	spreadTries = 10
	// readBatch is how many schedules one call reads.
	readBatch = 1_000
)

// Spread makes the schedules of hosts equal to schedules on every host: an expected host without a schedule gets one, and the
// schedules of hosts that are not expected any more are deleted. A name without such a schedule, such as a deleted name, has no
// hosts. Concurrent calls are allowed: a call that knows an older revision changes nothing. A schedule that cannot be spread does
// not hold up the other schedules: problems has the reason by its name. err is the failure of a call that all of them need.
func (s Settler) Spread(ctx context.Context, names []string) (problems map[string]error, err error) {
	problems = map[string]error{}
	for range spreadTries {
		before, err := s.Find(ctx, names)
		if err != nil || len(names) == 0 {
			return problems, err
		}
		// The schedules of hosts are read before the nodes: a host registers before it gets a schedule, so the schedule of a new
		// host is not deleted.
		made := map[string][]store.Schedule{}
		for _, name := range names {
			if made[name], err = s.OnHosts(ctx, name); err != nil {
				return problems, err
			}
		}
		nodes, err := store.List[store.NodeInfo](ctx, s.Store, store.ListRequest{})
		if err != nil {
			return problems, err
		}
		for _, name := range names {
			delete(problems, name)
			if err := s.spread(ctx, name, before[name], made[name], nodes); err != nil {
				problems[name] = err
			}
		}
		after, err := s.Find(ctx, names)
		if err != nil {
			return problems, err
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return sameForHosts(before[name], after[name]) })
	}
	return problems, nil // others change these schedules all the time, and each of them spreads them
}

// AwaitHosts waits until the slots have come that the schedules of hosts have fired early. A node that has spread a change before Spread
// did has not left Spread anything to edit, and so nothing to wait for. In a caller's transaction AwaitHosts does not wait.
func (s Settler) AwaitHosts(ctx context.Context, names []string) error {
	if s.Tx != nil {
		return nil
	}
	var hosts []string
	for _, name := range names {
		rows, err := s.OnHosts(ctx, name)
		if err != nil {
			return fmt.Errorf("the change is made; read the schedules of hosts, whose slots may have fired ahead of it: %w", err)
		}
		for _, row := range rows {
			hosts = append(hosts, row.Name)
		}
	}
	return s.awaitFired(ctx, hosts)
}

// Find reads living schedules by name.
func (s Settler) Find(ctx context.Context, names []string) (map[string]*store.Schedule, error) {
	found := map[string]*store.Schedule{}
	for part := range slices.Chunk(names, readBatch) {
		rows, err := store.List[store.Schedule](ctx, s.Store, store.ListRequest{Tx: s.Tx, Names: part, Limit: len(part)})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found[row.Name] = &row
		}
	}
	return found, nil
}

// sameForHosts reports whether a schedule was not edited, paused or resumed between two reads.
func sameForHosts(a, b *store.Schedule) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Revision == b.Revision && a.PausedAt.Equal(b.PausedAt) && a.PausedUntil.Equal(b.PausedUntil)
}

// OnHosts reads the schedules of hosts that are made from a schedule, by name.
func (s Settler) OnHosts(ctx context.Context, name string) (rows []store.Schedule, err error) {
	owner := store.EveryOwner(name)
	req := store.ListRequest{Tx: s.Tx, Owner: &owner, Limit: readBatch}
	for {
		page, err := store.List[store.Schedule](ctx, s.Store, req)
		if err != nil {
			return nil, err
		}
		if rows = append(rows, page...); len(page) < readBatch {
			return rows, nil
		}
		req.After = page[len(page)-1].Name
	}
}

// spread is Spread for one schedule as it was read; row is nil if there is none.
func (s Settler) spread(ctx context.Context, name string, row *store.Schedule, made []store.Schedule, nodes []store.NodeInfo) error {
	definitions, err := s.forHosts(ctx, row, nodes)
	if err != nil {
		return err
	}
	var gone []string
	known := map[string]*store.Schedule{}
	for _, m := range made {
		if _, expected := definitions[m.Name]; !expected {
			gone = append(gone, m.Name)
		}
		known[m.Name] = &m
	}
	leaving := s
	leaving.gone = true
	if err := leaving.change(ctx, store.ChangeSchedulesRequest{Action: store.DeleteSchedules, Names: gone}); err != nil {
		return err
	}
	if row == nil || definitions == nil {
		return nil
	}
	req := store.PutSchedulesRequest{Tx: s.Tx, Owner: store.EveryOwner(name), SyncRevision: row.Revision}
	if req.Schedules, err = changedOf(definitions, known); err != nil {
		return err
	}
	if len(definitions) == 0 && len(made) > 0 {
		return nil
	}
	if err := s.putForHosts(ctx, req, len(definitions) == 0); err != nil {
		return err
	}
	return s.pauseLike(ctx, row, definitions, known)
}

// changedOf returns the puts of definitions, by name, that differ from the schedules that are known.
func changedOf(definitions map[string]plan.Definition, known map[string]*store.Schedule) (puts []store.PutSchedule, err error) {
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		d := definitions[name]
		text, err := d.Encode()
		if err != nil {
			return nil, err
		}
		if now := known[name]; now == nil || !bytes.Equal(now.Definition, text) {
			puts = append(puts, store.PutSchedule{
				Name: name, Definition: text, Calendars: d.StoredNames(), Group: d.Group, After: d.Predecessors(), Paused: d.Paused,
			})
		}
	}
	return puts, nil
}

// forHosts returns the definitions of the schedules of hosts that are made from a schedule, by their names.
func (s Settler) forHosts(ctx context.Context, row *store.Schedule, nodes []store.NodeInfo) (map[string]plan.Definition, error) {
	if row == nil || !plan.Spreads(row.Definition) {
		return nil, nil
	}
	d, err := plan.DecodeDefinition(row.Definition)
	if err != nil {
		return nil, err
	}
	predecessors, err := s.Find(ctx, d.Predecessors())
	if err != nil {
		return nil, err
	}
	every := map[string]bool{}
	for name, predecessor := range predecessors {
		every[name] = plan.Spreads(predecessor.Definition)
	}
	definitions := map[string]plan.Definition{}
	for _, host := range d.On.Expected(nodes) {
		definitions[store.HostSchedule(row.Name, host)] = d.ForHost(*row, host, every)
	}
	return definitions, nil
}

// putForHosts puts schedules of hosts. If others have the name of some of them, the rest is put, and the error names them. With
// known, a request without schedules makes the owner known, so that Spreading returns it to a host that joins.
func (s Settler) putForHosts(ctx context.Context, req store.PutSchedulesRequest, known bool) error {
	if len(req.Schedules) == 0 && !known {
		return nil
	}
	err := s.put(ctx, req)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	all := req.Schedules
	var errs []error
	for _, one := range all {
		req.Schedules = []store.PutSchedule{one}
		if err := s.put(ctx, req); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// put puts schedules of hosts. It is no error if the schedule from which they are made was changed since it was read.
func (s Settler) put(ctx context.Context, req store.PutSchedulesRequest) error {
	names := make([]string, len(req.Schedules))
	for i, put := range req.Schedules {
		names[i] = put.Name
	}
	err := s.Change(ctx, names, func() ([]string, error) {
		res, err := s.Store.PutSchedules(ctx, req)
		return res.Edited, err
	})
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}

// change changes schedules of hosts; it is no error if one of them does not exist any more.
func (s Settler) change(ctx context.Context, req store.ChangeSchedulesRequest) error {
	if len(req.Names) == 0 {
		return nil
	}
	req.Tx = s.Tx
	err := s.Change(ctx, req.Names, func() ([]string, error) { return req.Names, s.Store.ChangeSchedules(ctx, req) })
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// pauseLike pauses the schedules of hosts while the schedule from which they are made is paused. A new schedule of a host whose
// definition declares a pause is resumed if that schedule was resumed.
func (s Settler) pauseLike(ctx context.Context, row *store.Schedule, definitions map[string]plan.Definition, known map[string]*store.Schedule) error {
	others, fresh, declared := notPausedLike(row, definitions, known)
	if row.PausedAt.IsZero() && !declared || len(others) == 0 {
		return nil
	}
	now, err := s.Store.Now(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the store's clock: %w", err)
	case row.PausedFor(now):
		return s.change(ctx, store.ChangeSchedulesRequest{Action: store.PauseSchedules, Names: others, Until: row.PausedUntil})
	case declared:
		return s.change(ctx, store.ChangeSchedulesRequest{Action: store.ResumeSchedules, Names: fresh})
	}
	return nil
}

// notPausedLike returns the schedules of hosts that are not paused as row is, and the new schedules among them. declared: the last new
// schedule declares a pause.
func notPausedLike(row *store.Schedule, definitions map[string]plan.Definition, known map[string]*store.Schedule) (others, fresh []string, declared bool) {
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		one := known[name]
		if one == nil {
			fresh, declared = append(fresh, name), definitions[name].Paused
		}
		if one == nil || one.PausedAt.IsZero() || !one.PausedUntil.Equal(row.PausedUntil) {
			others = append(others, name)
		}
	}
	return others, fresh, declared
}

// Spreading returns the schedules whose hosts have, or had, schedules of their own, in byte order.
func (s Settler) Spreading(ctx context.Context) (names []string, err error) {
	req := store.ListRequest{After: store.EveryOwner(""), Limit: readBatch}
	for {
		owners, err := store.List[store.Owner](ctx, s.Store, req)
		if err != nil {
			return nil, err
		}
		for _, owner := range owners {
			if !store.IsEveryOwner(owner.Name) {
				return names, nil
			}
			names = append(names, store.EveryOf(owner.Name))
		}
		if len(owners) < readBatch {
			return names, nil
		}
		req.After = owners[len(owners)-1].Name
	}
}
