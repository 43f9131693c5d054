package fire

import (
	"context"
	"slices"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// FilesOf reads the owners of the files that declare schedules, by schedule. Schedules that no file declares are left out. The
// schedule of a host is declared by the file of the schedule from which it was made.
func FilesOf(ctx context.Context, backend store.Listings, schedules []store.Schedule) (map[int64]store.Owner, error) {
	files := map[int64]store.Owner{}
	for part := range slices.Chunk(schedules, readBatch) {
		owners, err := ownersOf(ctx, backend, part)
		if err != nil {
			return nil, err
		}
		names := make([]string, 0, len(owners))
		for _, name := range owners {
			names = append(names, name)
		}
		slices.Sort(names)
		if names = slices.Compact(names); len(names) == 0 {
			continue
		}
		rows, err := store.List[store.Owner](ctx, backend, store.ListRequest{Names: names, Limit: len(names)})
		if err != nil {
			return nil, err
		}
		for id, name := range owners {
			if i := slices.IndexFunc(rows, func(o store.Owner) bool { return o.Name == name }); i >= 0 && len(rows[i].Copies) > 0 {
				files[id] = rows[i]
			}
		}
	}
	return files, nil
}

// ownersOf returns the names of the owners of schedules, or of the schedules from which these were made, by schedule.
func ownersOf(ctx context.Context, backend store.Listings, schedules []store.Schedule) (map[int64]string, error) {
	owners, made := map[int64]string{}, map[string][]int64{} // made: by the schedule from which they were made
	for _, s := range schedules {
		if of := store.EveryOf(s.Owner); of != "" {
			made[of] = append(made[of], s.ID)
		} else if s.Owner != "" {
			owners[s.ID] = s.Owner
		}
	}
	if len(made) == 0 {
		return owners, nil
	}
	names := make([]string, 0, len(made))
	for name := range made {
		names = append(names, name)
	}
	rows, err := store.List[store.Schedule](ctx, backend, store.ListRequest{Names: names, Limit: len(names)})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		for _, id := range made[row.Name] {
			if row.Owner != "" {
				owners[id] = row.Owner
			}
		}
	}
	return owners, nil
}

// explainMissed gives missed slots the reason that no living node has this version of their line,
// if that is the reason. A failure to read it is ignored, because the reasons are only for people.
func (f *firer) explainMissed(ctx context.Context, p plan.Plan, s store.Schedule, firing store.Firing) store.Firing {
	if !slices.ContainsFunc(firing.Slots, func(r store.SlotRecord) bool { return r.Outcome == store.SlotMissed }) {
		return firing
	}
	files, err := FilesOf(ctx, f.cfg.Store, []store.Schedule{s})
	if file, declared := files[s.ID]; err == nil && declared {
		nodes, err := store.List[store.NodeInfo](ctx, f.cfg.Store, store.ListRequest{})
		if why := plan.ElsewhereOnly(store.HostOf(s.Name, s.Owner), file, nodes); err == nil && why != "" {
			firing = p.MissedBecause(s, firing, why)
		}
	}
	return firing
}
