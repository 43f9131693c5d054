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
	Chains

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

	// LockNotes locks rows of notes after a number, by number, except rows that other
	// transactions have locked, and returns their notes, up to limit. more reports whether
	// there may be further notes.
	LockNotes(ctx context.Context, after int64, limit int) (notes []Note, more bool, err error)

	// OpenEdges returns, note by note, open edges on its job from dependents with greater
	// numbers than DoneTo, in the order of their numbers. It returns fewer than limit only if
	// these are all.
	OpenEdges(ctx context.Context, notes []Note, limit int) ([]JobEdge, error)

	// LockWaiting locks jobs and returns the jobs that wait for other jobs. busy are those of
	// the jobs that another transaction has locked, if the backend does not wait for it.
	LockWaiting(ctx context.Context, ids []int64) (waiting []JobWait, busy []int64, err error)

	// SaveEdges stores the states of open edges. It is an error if one of them is not open.
	SaveEdges(ctx context.Context, edges []JobEdge) error

	// MoveNote stores that the notes before this one in its row are carried out, and this
	// one up to DoneTo. DeleteNotes deletes rows.
	MoveNote(ctx context.Context, note Note) error
	DeleteNotes(ctx context.Context, ids []int64) error
}

// NoteLeaver is implemented by Edges whose LockWaiting returns busy jobs.
type NoteLeaver interface {
	// LeaveNotes inserts notes again, each in a row of its own, after all others.
	LeaveNotes(ctx context.Context, notes []Note) error
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

// Note is the end of a job that had dependents. Jobs that ended together may have their
// notes in one row.
type Note struct {
	ID     int64 // of the row
	Place  int   // in the row, from 0
	Last   bool  // in the row
	DoneTo int64 // dependents up to this number are released
	// Schedule is the schedule of the job, if its end sets off schedules that follow; 0: it
	// does not.
	Schedule int64
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
	ReleaseNotes = 1_000
	ReleaseRows  = 1_000
)

// ReleaseDependents carries out one step: up to ReleaseNotes notes after a number, and up to
// ReleaseRows of their dependents. next is the number after which the next step begins, if
// there may be more to do.
func ReleaseDependents(ctx context.Context, tx Edges, after int64, now time.Time) (next int64, more bool, err error) {
	notes, more, err := tx.LockNotes(ctx, after, ReleaseNotes)
	if err != nil || len(notes) == 0 {
		return 0, false, err
	}
	if n := distinct(notes); n < len(notes) {
		notes, more = notes[:n], true
	}
	edges, err := tx.OpenEdges(ctx, notes, ReleaseRows)
	if err != nil {
		return 0, false, err
	}
	step := releaseStep{notes: notes, edges: edges}
	if len(edges) >= ReleaseRows {
		step.cut()
		more = true
	}
	if err := passOn(ctx, tx, step.notes); err != nil { // schedules are locked before jobs
		return 0, false, err
	}
	ended, err := step.decide(ctx, tx, now)
	if err != nil {
		return 0, false, err
	}
	next, err = step.settle(ctx, tx)
	return next, more || ended || len(step.notes) < len(notes), err
}

// distinct returns how many of the first notes are of different jobs. A job that ended, was
// retried by hand and ended again may have two notes: the first decides its edges.
func distinct(notes []Note) int {
	seen := make(map[int64]bool, len(notes))
	for i, note := range notes {
		if seen[note.Ended.ID] {
			return i
		}
		seen[note.Ended.ID] = true
	}
	return len(notes)
}

// releaseStep is a step of ReleaseDependents.
type releaseStep struct {
	notes []Note         // carried out by this step; the last one perhaps in part
	edges []JobEdge      // open edges on their jobs, note by note
	done  int64          // the dependents of the last note are released up to this number; 0: all
	busy  map[int64]bool // ended jobs with dependents that other transactions have locked
}

// cut limits the step to notes with all of their edges, or to a part of one note.
func (s *releaseStep) cut() {
	last := s.edges[len(s.edges)-1]
	n := slices.IndexFunc(s.notes, func(note Note) bool { return note.Ended.ID == last.Job })
	if n == 0 {
		s.notes, s.done = s.notes[:1], last.ID
		return
	}
	s.notes = s.notes[:n]
	s.edges = s.edges[:slices.IndexFunc(s.edges, func(e JobEdge) bool { return e.Job == last.Job })]
}

// decide decides the edges, and what becomes of the jobs that wait. ended reports whether
// some of them ended, which may have left notes.
func (s *releaseStep) decide(ctx context.Context, tx Edges, now time.Time) (ended bool, err error) {
	if len(s.edges) == 0 {
		return false, nil
	}
	edges := s.edges
	slices.SortFunc(edges, func(a, b JobEdge) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Job, b.Job)) })
	ids := make([]int64, len(edges))
	for i, e := range edges {
		ids[i] = e.ID
	}
	ids = slices.Compact(ids)
	waiting, busy, err := tx.LockWaiting(ctx, ids)
	if err != nil {
		return false, err
	}
	if len(busy) > 0 {
		edges = s.leave(busy)
	}
	waits := make(map[int64]*store.Wait, len(waiting))
	for _, job := range waiting {
		waits[job.ID] = &store.Wait{Open: job.Open, RunAt: job.RunAt}
	}
	ends := make(map[int64]store.Ended, len(s.notes))
	for _, note := range s.notes {
		ends[note.Ended.ID] = note.Ended
	}
	for i := range edges {
		e := &edges[i]
		w := waits[e.ID]
		if w == nil {
			w = &store.Wait{} // the job has ended, or was released
		}
		w.Any = e.Any
		e.State = w.Decide(e.Edge, ends[e.Job])
	}
	if len(edges) == 0 {
		return false, nil
	}
	if err := tx.SaveEdges(ctx, edges); err != nil {
		return false, err
	}
	var plan waitPlan
	for _, id := range ids {
		if w := waits[id]; w != nil {
			plan.add(id, w, now)
		}
	}
	return len(plan.ends) > 0, plan.write(ctx, tx, now)
}

// leave takes edges of busy dependents out of the step and returns the other edges. The
// notes of these edges are left for later.
func (s *releaseStep) leave(busy []int64) (edges []JobEdge) {
	s.busy = map[int64]bool{}
	for _, e := range s.edges {
		if slices.Contains(busy, e.ID) {
			s.busy[e.Job] = true
		} else {
			edges = append(edges, e)
		}
	}
	s.edges = edges
	return edges
}

// settle stores which notes are carried out, and returns the number after which the next
// step begins.
func (s *releaseStep) settle(ctx context.Context, tx Edges) (next int64, err error) {
	last := s.notes[len(s.notes)-1]
	if s.done > 0 && len(s.edges) == 0 {
		return last.ID, nil // all of these dependents are busy
	}
	over, left := s.outcome()
	if len(left) > 0 {
		if err := tx.(NoteLeaver).LeaveNotes(ctx, left); err != nil {
			return 0, err
		}
	}
	if len(over) > 0 {
		if err := tx.DeleteNotes(ctx, over); err != nil {
			return 0, err
		}
	}
	switch {
	case s.done > 0:
		last.DoneTo = s.done
	case last.Last:
		return last.ID, nil
	default:
		last.Place, last.DoneTo = last.Place+1, 0
	}
	return last.ID - 1, tx.MoveNote(ctx, last)
}

// outcome returns the rows that are carried out, and the notes in them, or in the row that
// is carried out in part, that are left for later. A row whose only note is left stays as
// it is.
func (s *releaseStep) outcome() (over []int64, left []Note) {
	for _, note := range s.notes {
		alone := note.Place == 0 && note.Last
		switch {
		case s.busy[note.Ended.ID] && alone && s.done == 0:
			continue
		case s.busy[note.Ended.ID]:
			left = append(left, note)
		}
		if note.Last && s.done == 0 {
			over = append(over, note.ID)
		}
	}
	return over, left
}
