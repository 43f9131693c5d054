package rowwise

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Chains reads and writes what schedules that follow other schedules need, in the
// transactions that carry out notes.
type Chains interface {
	// LockFollowers locks the living schedules that follow one of these living schedules,
	// and returns them once for each predecessor.
	LockFollowers(ctx context.Context, predecessors []int64) ([]Follower, error)

	// InsertEnds inserts ends that are to be accounted for.
	InsertEnds(ctx context.Context, ends []store.ScheduleEnd) error

	// SaveNext sets next_at of schedules: Mark and Fired are not used.
	SaveNext(ctx context.Context, schedules []Advance) error
}

// Follower is a schedule that follows another schedule.
type Follower struct {
	Dependent   store.Schedule // ID, Mark and NextAt
	Last        time.Time      // the greatest slot among the ends that are stored for it
	Predecessor store.Schedule // ID, Name and its pauses
}

// passOn makes ends of jobs of schedules slots of the schedules that follow.
func passOn(ctx context.Context, tx Chains, notes []Note) error {
	var ids []int64
	for _, note := range notes {
		if note.passes() {
			ids = append(ids, note.Schedule)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	followers, err := tx.LockFollowers(ctx, ids)
	if err != nil || len(followers) == 0 {
		return err
	}
	ordered := slices.Clone(notes)
	slices.SortFunc(ordered, func(a, b Note) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	last, next := map[int64]time.Time{}, map[int64]time.Time{}
	var ends []store.ScheduleEnd
	for _, note := range ordered {
		for i := range followers {
			f := &followers[i]
			if f.Predecessor.ID != note.Schedule || !note.passes() {
				continue
			}
			id := f.Dependent.ID
			if last[id].IsZero() {
				last[id], next[id] = f.Last, f.Dependent.NextAt
			}
			end := store.PassOn(note.Ended, &f.Predecessor, &f.Dependent, last[id])
			ends, last[id] = append(ends, end), end.Slot
			if next[id].IsZero() || end.Slot.Before(next[id]) {
				next[id] = end.Slot
			}
		}
	}
	if err := tx.InsertEnds(ctx, ends); err != nil {
		return err
	}
	var due []Advance
	for id, at := range next {
		due = append(due, Advance{Schedule: id, NextAt: at})
	}
	slices.SortFunc(due, func(a, b Advance) int { return cmp.Compare(a.Schedule, b.Schedule) })
	return tx.SaveNext(ctx, due)
}

// Predecessors reads the predecessors of living schedules, by name.
type Predecessors func(ctx context.Context, schedules []string) (map[string][]string, error)

// passes reports whether a step passes a note on to schedules: no earlier step has done so.
func (n Note) passes() bool { return n.Schedule != 0 && n.DoneTo == 0 && !n.Held }

// CheckCycle returns an error if puts would let schedules follow each other in a circle.
// No other transaction changes predecessors until this transaction ends.
func CheckCycle(ctx context.Context, read Predecessors, puts []store.PutSchedule) error {
	edges, from := map[string][]string{}, []string(nil)
	var next []string
	for _, put := range puts {
		edges[put.Name] = put.After
		if len(put.After) > 0 {
			from, next = append(from, put.Name), append(next, put.After...)
		}
	}
	for {
		next = slices.DeleteFunc(next, func(name string) bool { _, known := edges[name]; return known })
		if len(next) == 0 {
			return store.CheckCycle(edges, from)
		}
		found, err := read(ctx, next)
		if err != nil {
			return err
		}
		for _, name := range next {
			edges[name] = found[name]
		}
		next = nil
		for _, names := range found {
			next = append(next, names...)
		}
	}
}

// ChainEdge is a schedule that follows another schedule, both by name.
type ChainEdge struct {
	Schedule    string `json:"schedule"`
	Predecessor string `json:"predecessor"`
}

// ChainEdges returns the edges of the puts whose schedules change.
func ChainEdges(puts []store.PutSchedule, changed func(name string) bool) (edges []ChainEdge) {
	for _, put := range puts {
		for _, name := range put.After {
			if changed(put.Name) {
				edges = append(edges, ChainEdge{put.Name, name})
			}
		}
	}
	return edges
}

// FollowKey names a job by whose end a schedule starts.
type FollowKey struct {
	Schedule int64 `json:"schedule"`
	Job      int64 `json:"job"`
}
