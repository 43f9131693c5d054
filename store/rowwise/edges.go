package rowwise

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Edges reads and writes which jobs wait for which jobs. The end of a job that has
// dependents leaves a Note in its transaction; ReleaseDependents carries out notes in
// transactions of their own.
type Edges interface {
	// LockPredecessors locks jobs, live and finished, and returns the finished jobs and,
	// in State StateReady, the live jobs. From then on the end of each of these live jobs
	// leaves a note.
	LockPredecessors(ctx context.Context, ids []int64, now time.Time) ([]store.Ended, error)

	// InsertEdges inserts what jobs wait for.
	InsertEdges(ctx context.Context, edges []JobEdge) error

	// SaveWaits sets for how many jobs waiting jobs wait, and when they are due at the
	// earliest; with Open 0 they are ready.
	SaveWaits(ctx context.Context, waits []JobWait) error

	// EndWaiting ends waiting jobs as not started.
	EndWaiting(ctx context.Context, ends []End, now time.Time) error

	// LockNotes locks notes after a number, by number, except notes that other
	// transactions have locked, and notes of a job that has an earlier note.
	LockNotes(ctx context.Context, after int64, limit int) ([]Note, error)

	// OpenEdges returns, for each note, open edges on its job from dependents with greater
	// numbers than DoneTo: of one note the first ones by number. It returns fewer than
	// limit only if these are all.
	OpenEdges(ctx context.Context, notes []Note, limit int) ([]JobEdge, error)

	// LockWaiting locks jobs and returns the jobs that wait for other jobs.
	LockWaiting(ctx context.Context, ids []int64) ([]JobWait, error)

	// SaveEdges stores the states of edges.
	SaveEdges(ctx context.Context, edges []JobEdge) error

	// MoveNote stores DoneTo, and DeleteNotes deletes notes.
	MoveNote(ctx context.Context, id, doneTo int64) error
	DeleteNotes(ctx context.Context, ids []int64) error
}

// JobEdge is an edge of a job.
type JobEdge struct {
	ID int64 // of the job that waits
	store.JobEdge
	Any bool
}

// JobWait is a job that waits for jobs.
type JobWait struct {
	ID    int64
	Open  int // open edges
	RunAt time.Time
}

// Note is the end of a job that had dependents.
type Note struct {
	ID     int64
	DoneTo int64 // dependents up to this number are released
	store.Ended
}

// InsertDependents inserts jobs, some of them with predecessors. insert stores them, with
// OpenEdges and Releases. now is needed only if one of the predecessors is an older job.
func InsertDependents(ctx context.Context, tx Edges, jobs []store.NewJob, now time.Time, insert func([]store.NewJob) ([]store.Inserted, error)) ([]store.Inserted, error) {
	known := map[int64]store.Ended{}
	if older := store.Predecessors(jobs); len(older) > 0 {
		found, err := tx.LockPredecessors(ctx, older, now)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			known[p.ID] = p
		}
	}
	jobs = slices.Clone(jobs)
	waits := make([]store.Wait, len(jobs))
	var edges []JobEdge // ID is the place of the job, until it has a number
	for i := range jobs {
		job := &jobs[i]
		if len(job.After) == 0 {
			continue
		}
		w := store.Wait{Open: len(job.After), Any: job.Any, RunAt: instant(job.RunAt)}
		if job.RunAt.IsZero() {
			w.RunAt = instant(now.Add(job.Delay))
		}
		for _, e := range job.After {
			state := store.EdgeOpen
			if e.Place > 0 {
				jobs[e.Place-1].Releases = true
			} else if p, is := known[e.Job]; !is {
				return nil, store.NoPredecessor(e.Job)
			} else if p.State.Finished() {
				state = w.Decide(e, p)
			}
			edges = append(edges, JobEdge{int64(i), store.JobEdge{Edge: e, State: state}, job.Any})
		}
		if w.Open < len(job.After) {
			job.RunAt, job.Delay = w.RunAt, 0
		}
		job.Waiting = w.State() != store.StateReady
		if job.Waiting {
			job.OpenEdges = w.Open
		}
		waits[i] = w
	}
	inserted, err := insert(jobs)
	if err != nil {
		return nil, err
	}
	for i := range edges {
		e := &edges[i]
		e.ID = inserted[e.ID].ID
		if e.Place > 0 {
			e.Job, e.Place = inserted[e.Place-1].ID, 0
		}
	}
	if err := tx.InsertEdges(ctx, edges); err != nil {
		return nil, err
	}
	var plan waitPlan
	for i := range jobs {
		if len(jobs[i].After) > 0 && waits[i].State() == store.StateNotStarted {
			plan.add(inserted[i].ID, &waits[i], now)
		}
	}
	return inserted, plan.write(ctx, tx, now)
}

// waitPlan is what becomes of jobs that wait for jobs.
type waitPlan struct {
	waits []JobWait
	ends  []End
}

func (p *waitPlan) add(id int64, w *store.Wait, now time.Time) {
	switch w.State() {
	case store.StateNotStarted:
		p.ends = append(p.ends, End{ID: id, State: store.StateNotStarted, Reason: w.Why()})
	case store.StateReady: // not behind the positions at which claims begin
		p.waits = append(p.waits, JobWait{ID: id, RunAt: store.AlteredRunAt(w.RunAt, now)})
	default:
		p.waits = append(p.waits, JobWait{id, w.Open, w.RunAt})
	}
}

func (p *waitPlan) write(ctx context.Context, tx Edges, now time.Time) error {
	if len(p.waits) > 0 {
		if err := tx.SaveWaits(ctx, p.waits); err != nil {
			return err
		}
	}
	if len(p.ends) > 0 {
		return tx.EndWaiting(ctx, p.ends, now)
	}
	return nil
}

// What one step of ReleaseDependents takes at most.
const (
	ReleaseNotes = 500
	ReleaseRows  = 1_000
)

// ReleaseDependents carries out one step: up to limit notes after a number, and about
// ReleaseRows dependents. next is the number after which the next step begins, if there may
// be more to do.
func ReleaseDependents(ctx context.Context, tx Edges, after int64, limit int, now time.Time) (next int64, more bool, err error) {
	notes, err := tx.LockNotes(ctx, after, limit)
	if err != nil || len(notes) == 0 {
		return 0, false, err
	}
	edges, err := tx.OpenEdges(ctx, notes, ReleaseRows)
	if err == nil && len(edges) >= ReleaseRows && len(notes) > 1 {
		notes = notes[:1]
		edges, err = tx.OpenEdges(ctx, notes, ReleaseRows)
	}
	if err != nil {
		return 0, false, err
	}
	if len(edges) > 0 {
		if err := decide(ctx, tx, notes, edges, now); err != nil {
			return 0, false, err
		}
	}
	if len(edges) >= ReleaseRows { // of one note
		last := slices.MaxFunc(edges, func(a, b JobEdge) int { return cmp.Compare(a.ID, b.ID) }).ID
		return notes[0].ID - 1, true, tx.MoveNote(ctx, notes[0].ID, last)
	}
	ids := make([]int64, len(notes))
	for i := range notes {
		ids[i] = notes[i].ID
	}
	return ids[len(ids)-1], true, tx.DeleteNotes(ctx, ids)
}

// decide decides edges by notes, and what becomes of the jobs that wait.
func decide(ctx context.Context, tx Edges, notes []Note, edges []JobEdge, now time.Time) error {
	ended := map[int64]store.Ended{}
	for _, note := range notes {
		ended[note.Ended.ID] = note.Ended
	}
	slices.SortFunc(edges, func(a, b JobEdge) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Job, b.Job)) })
	var ids []int64
	for _, e := range edges {
		ids = append(ids, e.ID)
	}
	ids = slices.Compact(ids)
	waiting, err := tx.LockWaiting(ctx, ids)
	if err != nil {
		return err
	}
	waits := map[int64]*store.Wait{}
	for _, job := range waiting {
		waits[job.ID] = &store.Wait{Open: job.Open, RunAt: job.RunAt}
	}
	for i := range edges {
		e := &edges[i]
		w := waits[e.ID]
		if w == nil {
			w = &store.Wait{} // the job has ended, or was released
		}
		w.Any = e.Any
		e.State = w.Decide(e.Edge, ended[e.Job])
	}
	var plan waitPlan
	for _, id := range ids {
		if w := waits[id]; w != nil {
			plan.add(id, w, now)
		}
	}
	if err := tx.SaveEdges(ctx, edges); err != nil {
		return err
	}
	return plan.write(ctx, tx, now)
}
