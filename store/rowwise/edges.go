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
	HandledTx

	// LockPredecessors locks jobs, live and finished, and returns the finished jobs and,
	// in State StateReady, the live jobs. From then on the end of each of these live jobs
	// leaves a note.
	LockPredecessors(ctx context.Context, ids []int64, now time.Time) ([]store.Ended, error)

	// KnownJobs returns which of these jobs are live or finished, and locks none of them.
	KnownJobs(ctx context.Context, ids []int64) ([]int64, error)

	// InsertLinkNotes inserts notes of jobs in State StateReady: a step looks up whether the
	// jobs have ended. A row has at most ReleaseNotes of them.
	InsertLinkNotes(ctx context.Context, ids []int64, now time.Time) error

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
	// numbers than DoneTo, in the order of their numbers; not edges that a later note has
	// opened again (ReopenEdges). It returns fewer than limit only if these are all.
	OpenEdges(ctx context.Context, notes []Note, limit int) ([]JobEdge, error)

	// EdgesOn is OpenEdges for edges in all states.
	EdgesOn(ctx context.Context, notes []Note, limit int) ([]JobEdge, error)

	// LockWaiting locks jobs and returns the jobs that wait for other jobs. It also locks the
	// jobs that were not started, so that no other transaction lets them wait again. busy are
	// the numbers of jobs that another transaction has locked, if the backend does not wait for it.
	LockWaiting(ctx context.Context, ids []int64) (waiting []JobWait, busy []int64, err error)

	// SaveEdges stores the states of open edges. It is an error if one of them is not open, or
	// was opened again by a later note than Note.
	SaveEdges(ctx context.Context, edges []JobEdge) error

	// ReopenEdges opens edges again: notes before Note no longer concern them.
	ReopenEdges(ctx context.Context, edges []JobEdge) error

	// FindNotStarted returns which of these jobs were not started, by number: ID and JobKey. LockWaiting has locked
	// them.
	FindNotStarted(ctx context.Context, ids []int64) ([]store.FinishedJob, error)

	// LockKeyHolders is as in Jobs.
	LockKeyHolders(ctx context.Context, finished []int64, now time.Time) (map[store.JobKey]int64, error)

	// FindReopenings returns what is known of the edges of jobs, without State.
	FindReopenings(ctx context.Context, ids []int64) ([]Reopening, error)

	// ReopenJobs lets jobs that were not started wait again, with a later run_at if RunAt is
	// later. It leaves a note in StateWaiting for each of them that has dependents.
	ReopenJobs(ctx context.Context, jobs []JobWait, now time.Time) error

	// DecidedEdges returns what is known of the decided edges of jobs with AtEnd.
	DecidedEdges(ctx context.Context, ids []int64) ([]Decided, error)

	// InsertBatch inserts a batch and returns its number. SetFinally stores which job is the
	// last job of a batch.
	InsertBatch(ctx context.Context, finally *store.Finally, now time.Time) (int64, error)
	SetFinally(ctx context.Context, batch, job int64) error

	// FindBatch finds a batch.
	FindBatch(ctx context.Context, id int64) (b Batch, found bool, err error)

	// LockBatchJob locks a live job of a batch, so that the job does not end, and reports
	// whether there is one.
	LockBatchJob(ctx context.Context, batch int64) (bool, error)

	// MoveNote stores that the notes before this one in its row are carried out, and this
	// one up to DoneTo. DeleteNotes deletes rows.
	MoveNote(ctx context.Context, note Note) error
	DeleteNotes(ctx context.Context, ids []int64) error
}

// NoteLeaver is implemented by Edges whose LockWaiting returns busy jobs.
type NoteLeaver interface {
	// LeaveNotes inserts notes again, each in a row of its own, after all others. Each keeps its
	// Number.
	LeaveNotes(ctx context.Context, notes []Note) error
}

// JobEdge is an edge of a job.
type JobEdge struct {
	ID int64 // of the job that waits
	store.JobEdge
	Any, AtEnd bool
	Note       int64 // Note.Number of the note that decides it, or opens it again
}

// Reopening is a job whose edge on a predecessor is open again.
type Reopening struct {
	ID int64
	store.Reopening
	// Latest is the latest end + delay among its edges that have matched and have a delay, as
	// far as the predecessors are known; zero: there is none.
	Latest time.Time
}

// Decided is what is known of the decided edges of a job.
type Decided struct {
	ID      int64
	Matched bool         // at least one
	Missed  *store.Ended // the predecessor with the least number of an edge that has missed, except predecessors that were deleted; or nil
}

// Batch is a batch to which jobs are added.
type Batch struct {
	Last    int64 // the number of its last job, or 0
	Finally store.Finally
}

// JobWait is a job that waits for jobs.
type JobWait struct {
	ID    int64
	Open  int // open edges
	RunAt time.Time
}

// Note is the end of a job that had dependents. Jobs that ended together may have their
// notes in one row. A note in State StateReady is of a job that may not have ended: an insert
// with many predecessors leaves such notes, see store.LinksLater. A note in StateWaiting is the
// retry by hand of a job that had ended and has dependents.
type Note struct {
	ID int64 // of the row
	// Number is the number of the row that first had the note. Of the notes of a job, a note
	// that was left later has a greater number.
	Number int64
	// Held means that an older retry of the job has to be carried out first.
	Held   bool
	Place  int   // in the row, from 0
	Last   bool  // in the row
	DoneTo int64 // dependents up to this number are released
	// Schedule is the schedule of the job, if its end sets off schedules that follow; 0: it
	// does not.
	Schedule int64
	store.Ended
}

// InsertLinkedOf is InsertLinked over the rows of jobs.
func InsertLinkedOf(ctx context.Context, tx Tx, req store.InsertRequest, links []store.NewJob, now time.Time) (store.InsertResult, error) {
	return InsertLinked(ctx, tx, req, links, now, func(jobs []store.NewJob) ([]store.Inserted, error) {
		linked := req
		linked.Jobs = jobs
		inserted, err := Insert(ctx, tx, linked, now)
		return inserted.Jobs, err
	})
}

// InsertLinked inserts jobs, some of them with predecessors, or into a batch; links are the
// jobs as store.CheckLinks returned them. insert stores them, with OpenEdges and Releases.
// now is needed only if a job has an older predecessor.
func InsertLinked(ctx context.Context, tx Edges, req store.InsertRequest, links []store.NewJob, now time.Time,
	insert func([]store.NewJob) ([]store.Inserted, error),
) (out store.InsertResult, err error) {
	l := linking{jobs: slices.Clone(links), waits: make([]store.Wait, len(links))}
	older, later := store.Predecessors(links), req.LinksLater(links)
	known, err := findPredecessors(ctx, tx, older, later, now)
	if err != nil {
		return out, err
	}
	for i := range l.jobs {
		if err := l.link(i, known, now); err != nil {
			return out, err
		}
	}
	if req.Batch != nil {
		if out.Batch, err = l.enter(ctx, tx, *req.Batch, now); err != nil {
			return out, err
		}
	}
	if out.Jobs, err = insert(l.jobs); err != nil {
		return out, err
	}
	if err := store.CheckKnown(l.jobs, out.Jobs, func(id int64) bool { _, is := known[id]; return is }); err != nil {
		return out, err
	}
	if req.Batch != nil && req.Batch.Finally != nil {
		if err := tx.SetFinally(ctx, out.Batch, out.Jobs[len(out.Jobs)-1].ID); err != nil {
			return out, err
		}
	}
	if err := l.write(ctx, tx, out.Jobs, now); err != nil || !later {
		return out, err
	}
	if older = l.followed(known); len(older) == 0 {
		return out, nil
	}
	return out, tx.InsertLinkNotes(ctx, older, now)
}

// findPredecessors returns the older predecessors of new jobs that are live or finished. All
// count as live if they are linked later.
func findPredecessors(ctx context.Context, tx Edges, ids []int64, later bool, now time.Time) (map[int64]store.Ended, error) {
	known := make(map[int64]store.Ended, len(ids))
	if later {
		found, err := tx.KnownJobs(ctx, ids)
		for _, id := range found {
			known[id] = store.Ended{ID: id}
		}
		return known, err
	}
	if len(ids) == 0 {
		return known, nil
	}
	found, err := tx.LockPredecessors(ctx, ids, now)
	for _, p := range found {
		known[p.ID] = p
	}
	return known, err
}

// linking is one run of InsertLinked.
type linking struct {
	jobs  []store.NewJob
	waits []store.Wait
	edges []JobEdge // ID is the place of the job in jobs, until it has a number
	last  *JobWait  // the last job of an older batch, which waits for the new jobs, too
	final JobEdge   // the edges of the last job
}

// link decides what a new job waits for.
func (l *linking) link(i int, known map[int64]store.Ended, now time.Time) error {
	job := &l.jobs[i]
	if len(job.After) == 0 && !job.AtEnd {
		return nil
	}
	w := store.Wait{Open: len(job.After), Any: job.Any, AtEnd: job.AtEnd, RunAt: instant(job.RunAt)}
	if job.RunAt.IsZero() {
		w.RunAt = instant(now.Add(job.Delay))
	}
	for _, e := range job.After {
		state := store.EdgeOpen
		if e.Place > 0 {
			l.jobs[e.Place-1].Releases = true
		} else if p, is := known[e.Job]; !is && job.Unique == "" {
			return store.NoPredecessor(e.Job)
		} else if p.State.Finished() {
			state = w.Decide(e, p)
		}
		l.edges = append(l.edges, JobEdge{ID: int64(i), JobEdge: store.JobEdge{Edge: e, State: state}, Any: job.Any, AtEnd: job.AtEnd})
	}
	if w.Open < len(job.After) {
		job.RunAt, job.Delay = w.RunAt, 0
	}
	if job.Waiting = w.State() != store.StateReady; job.Waiting {
		job.OpenEdges = w.Open
	}
	l.waits[i] = w
	return nil
}

// enter puts the jobs into a batch and returns its number.
func (l *linking) enter(ctx context.Context, tx Edges, b store.BatchInsert, now time.Time) (id int64, err error) {
	if id = b.ID; id == 0 {
		id, err = tx.InsertBatch(ctx, b.Finally, now)
	} else {
		err = l.join(ctx, tx, id)
	}
	for i := range l.jobs {
		l.jobs[i].Batch = id
	}
	return id, err
}

// join adds the jobs to an older batch, which must be open.
func (l *linking) join(ctx context.Context, tx Edges, id int64) error {
	b, found, err := tx.FindBatch(ctx, id)
	switch {
	case err != nil:
		return err
	case !found:
		return store.NoBatch(id)
	case b.Last == 0:
		open, err := tx.LockBatchJob(ctx, id)
		if err == nil && !open {
			err = store.BatchEnded(id)
		}
		return err
	}
	waiting, _, err := tx.LockWaiting(ctx, []int64{b.Last})
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		return store.BatchEnded(id)
	}
	l.last = &waiting[0]
	l.last.Open += len(l.jobs)
	l.final = JobEdge{ID: b.Last, JobEdge: store.JobEdge{Edge: store.Edge{On: b.Finally.On}}, Any: b.Finally.Any, AtEnd: true}
	for i := range l.jobs {
		l.jobs[i].Releases = true
	}
	return nil
}

// followed returns the older predecessors of the jobs that were stored, ascending.
func (l *linking) followed(known map[int64]store.Ended) []int64 {
	var ids []int64
	for _, e := range l.edges {
		if _, older := known[e.Job]; older {
			ids = append(ids, e.Job)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// write stores the edges of the jobs that were inserted, and ends the jobs that are not
// started. A job whose key another job has was not inserted, and the other job keeps its edges.
func (l *linking) write(ctx context.Context, tx Edges, inserted []store.Inserted, now time.Time) error {
	l.edges = slices.DeleteFunc(l.edges, func(e JobEdge) bool { return inserted[e.ID].Existed })
	for i := range l.edges {
		e := &l.edges[i]
		e.ID = inserted[e.ID].ID
		if e.Place > 0 {
			e.Job, e.Place = inserted[e.Place-1].ID, 0
		}
	}
	var plan waitPlan
	if l.last != nil {
		for _, job := range inserted {
			e := l.final
			e.Job = job.ID
			l.edges = append(l.edges, e)
		}
		plan.waits = append(plan.waits, *l.last)
	}
	if len(l.edges) > 0 {
		if err := tx.InsertEdges(ctx, l.edges); err != nil {
			return err
		}
	}
	for i := range l.jobs {
		if l.waits[i].State() == store.StateNotStarted && !inserted[i].Existed {
			plan.add(inserted[i].ID, &l.waits[i], now)
		}
	}
	return plan.write(ctx, tx, now)
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
	if len(p.ends) == 0 {
		return nil
	}
	if err := handleNotStarted(ctx, tx, p.ends, now); err != nil {
		return err
	}
	return tx.EndWaiting(ctx, p.ends, now)
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
	if n := alike(notes); n < len(notes) {
		notes, more = notes[:n], true
	}
	step := releaseStep{notes: notes, busy: map[int64]bool{}, retried: notes[0].State == store.StateWaiting}
	if err := step.findEdges(ctx, tx, now); err != nil {
		return 0, false, err
	}
	if len(step.edges) >= ReleaseRows {
		step.cut()
		more = true
	}
	if err := passOn(ctx, tx, step.notes); err != nil { // schedules are locked before jobs
		return 0, false, err
	}
	step.number()
	do := step.decide
	if step.retried {
		do = step.reopen
	}
	ended, err := do(ctx, tx, now)
	if err != nil {
		return 0, false, err
	}
	next, err = step.settle(ctx, tx)
	return next, more || ended || len(step.notes) < len(notes), err
}

// alike returns how many of the first notes one step can carry out: of different jobs, and all
// ends, all retries by hand, or all of jobs that may not have ended. A step that looks up jobs
// locks them, and no schedules after them. A job that ended, was retried and ended again may have
// two notes of ends.
func alike(notes []Note) int {
	seen := make(map[int64]bool, len(notes))
	ends := notes[0].State.Finished()
	for i, note := range notes {
		if seen[note.Ended.ID] || note.State.Finished() != ends || !ends && note.State != notes[0].State {
			return i
		}
		seen[note.Ended.ID] = true
	}
	return len(notes)
}

// releaseStep is a step of ReleaseDependents.
type releaseStep struct {
	notes []Note    // carried out by this step; the last one perhaps in part
	edges []JobEdge // open edges on their jobs that have ended, note by note
	done  int64     // the dependents of the last note are released up to this number; 0: all
	// retried means that the notes are retries by hand; the edges are in all states.
	retried bool
	busy    map[int64]bool // jobs of notes that are left for later, because dependents are locked or the note is held
}

// forJobs returns the notes that concern edges now. Notes that are held are left for later;
// the note of a schedule that was not started names the job of another schedule.
func (s *releaseStep) forJobs() []Note {
	return slices.DeleteFunc(slices.Clone(s.notes), func(note Note) bool {
		if note.Held {
			s.busy[note.Ended.ID] = true
		}
		return note.Held || note.State == store.StateReady || note.Schedule != 0 && note.State == store.StateNotStarted
	})
}

// number gives the edges the numbers of their notes.
func (s *releaseStep) number() {
	numbers := make(map[int64]int64, len(s.notes))
	for _, note := range s.notes {
		numbers[note.Ended.ID] = note.Number
	}
	for i := range s.edges {
		s.edges[i].Note = numbers[s.edges[i].Job]
	}
}

// findEdges reads the edges of jobs that have ended or were retried. Jobs that may not have
// ended are looked up: from then on, live jobs leave notes when they end.
func (s *releaseStep) findEdges(ctx context.Context, tx Edges, now time.Time) (err error) {
	if s.notes[0].State == store.StateReady {
		if err := s.lookUp(ctx, tx, now); err != nil {
			return err
		}
	}
	notes := s.forJobs()
	if len(notes) == 0 {
		return nil
	}
	read := tx.OpenEdges
	if s.retried {
		read = tx.EdgesOn
	}
	s.edges, err = read(ctx, notes, ReleaseRows)
	return err
}

// lookUp completes notes of jobs that may not have ended.
func (s *releaseStep) lookUp(ctx context.Context, tx Edges, now time.Time) error {
	ids := make([]int64, len(s.notes))
	for i, note := range s.notes {
		ids[i] = note.Ended.ID
	}
	slices.Sort(ids)
	found, err := tx.LockPredecessors(ctx, ids, now)
	if err != nil {
		return err
	}
	known := make(map[int64]store.Ended, len(found))
	for _, p := range found {
		known[p.ID] = p
	}
	for i := range s.notes {
		note := &s.notes[i]
		p, is := known[note.Ended.ID]
		if !is {
			p = store.Unknown(note.Ended.ID, now)
		}
		note.Ended = p
	}
	return nil
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

// lock locks the dependents of the edges that wait, and leaves the edges of dependents that others have locked to a later step.
// It returns the numbers of all dependents, and the dependents that wait.
func (s *releaseStep) lock(ctx context.Context, tx Edges) (ids []int64, waiting []JobWait, err error) {
	sortEdges(s.edges)
	ids = dependentsOf(s.edges)
	waiting, busy, err := tx.LockWaiting(ctx, ids)
	if err == nil {
		s.leave(busy)
	}
	return ids, waiting, err
}

// decide decides the edges, and what becomes of the jobs that wait. ended reports whether
// some of them ended, which may have left notes.
func (s *releaseStep) decide(ctx context.Context, tx Edges, now time.Time) (ended bool, err error) {
	if len(s.edges) == 0 {
		return false, nil
	}
	_, waiting, err := s.lock(ctx, tx)
	if err != nil {
		return false, err
	}
	edges := s.edges
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
		w.Any, w.AtEnd = e.Any, e.AtEnd
		e.State = w.Decide(e.Edge, ends[e.Job])
	}
	if len(edges) == 0 {
		return false, nil
	}
	if err := tx.SaveEdges(ctx, edges); err != nil {
		return false, err
	}
	if err := addEarlier(ctx, tx, waits); err != nil {
		return false, err
	}
	var plan waitPlan
	for _, job := range waiting {
		w := waits[job.ID]
		if w.State() == store.StateNotStarted && w.RunAt.After(job.RunAt) { // for the case that it waits again
			plan.waits = append(plan.waits, JobWait{job.ID, max(w.Open, 1), w.RunAt})
		}
		plan.add(job.ID, w, now)
	}
	return len(plan.ends) > 0, plan.write(ctx, tx, now)
}

// reopen opens the edges on jobs that were retried by hand, for jobs that wait, and for jobs
// that were not started and can start again.
func (s *releaseStep) reopen(ctx context.Context, tx Edges, now time.Time) (left bool, err error) {
	if len(s.edges) == 0 {
		return false, nil
	}
	ids, waiting, err := s.lock(ctx, tx)
	if err != nil {
		return false, err
	}
	notStarted, err := tx.FindNotStarted(ctx, ids)
	if err != nil {
		return false, err
	}
	states, runAts := map[int64]store.State{}, map[int64]time.Time{}
	for _, job := range notStarted {
		states[job.ID] = store.StateNotStarted
	}
	for _, job := range waiting {
		states[job.ID], runAts[job.ID] = store.StateWaiting, job.RunAt
	}
	edges := slices.DeleteFunc(slices.Clone(s.edges), func(e JobEdge) bool { _, rests := states[e.ID]; return !rests })
	if len(edges) == 0 {
		return false, nil
	}
	if err := tx.ReopenEdges(ctx, edges); err != nil {
		return false, err
	}
	jobs, err := tx.FindReopenings(ctx, dependentsOf(edges))
	if err != nil {
		return false, err
	}
	var waits, again []JobWait
	for _, job := range jobs {
		job.State = states[job.ID]
		switch {
		case job.State == store.StateWaiting:
			waits = append(waits, JobWait{job.ID, job.Open, runAts[job.ID]})
		case job.Next() == store.StateWaiting:
			again = append(again, JobWait{job.ID, job.Open, job.Latest})
		}
	}
	if len(waits) > 0 {
		if err := tx.SaveWaits(ctx, waits); err != nil {
			return false, err
		}
	}
	if again, err = withFreeKeys(ctx, tx, again, notStarted, now); err != nil || len(again) == 0 {
		return false, err
	}
	return true, tx.ReopenJobs(ctx, again, now)
}

// withFreeKeys returns the jobs that can have their keys again. A job whose key another job has stays not
// started, as with a retry by hand. notStarted has the keys.
func withFreeKeys(ctx context.Context, tx Edges, jobs []JobWait, notStarted []store.FinishedJob, now time.Time) ([]JobWait, error) {
	waits := make(map[int64]JobWait, len(jobs))
	for _, job := range jobs {
		waits[job.ID] = job
	}
	var keyed []int64
	notStarted = slices.DeleteFunc(notStarted, func(job store.FinishedJob) bool {
		_, waits := waits[job.ID]
		if waits && job.Unique != "" {
			keyed = append(keyed, job.ID)
		}
		return !waits
	})
	if len(keyed) == 0 {
		return jobs, nil
	}
	others, err := tx.LockKeyHolders(ctx, keyed, now)
	if err != nil {
		return nil, err
	}
	free, _ := store.TakeKeys(notStarted, others)
	jobs = jobs[:0]
	for _, job := range free {
		jobs = append(jobs, waits[job.ID])
	}
	return jobs, nil
}

// sortEdges sorts edges by dependent, and dependentsOf returns the numbers of these, ascending.
func sortEdges(edges []JobEdge) {
	slices.SortFunc(edges, func(a, b JobEdge) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Job, b.Job)) })
}

func dependentsOf(sorted []JobEdge) []int64 {
	ids := make([]int64, len(sorted))
	for i, e := range sorted {
		ids[i] = e.ID
	}
	return slices.Compact(ids)
}

// leave takes edges of busy dependents out of the step. The notes of these edges are left for later.
func (s *releaseStep) leave(busy []int64) {
	s.edges = slices.DeleteFunc(s.edges, func(e JobEdge) bool {
		if !slices.Contains(busy, e.ID) {
			return false
		}
		s.busy[e.Job] = true
		return true
	})
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
// it is, unless the end has been passed on to schedules.
func (s *releaseStep) outcome() (over []int64, left []Note) {
	for _, note := range s.notes {
		if s.busy[note.Ended.ID] {
			passed := note.Schedule != 0 && !note.Held
			if note.Place == 0 && note.Last && s.done == 0 && !passed {
				continue
			}
			if passed {
				note.Schedule = 0
			}
			left = append(left, note)
		}
		if note.Last && s.done == 0 {
			over = append(over, note.ID)
		}
	}
	return over, left
}

// addEarlier adds what was decided by earlier steps for jobs that were to wait for the ends
// of all predecessors, and now have no open edges.
func addEarlier(ctx context.Context, tx Edges, waits map[int64]*store.Wait) error {
	var ids []int64
	for id, w := range waits {
		if w.AtEnd && w.Open == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	decided, err := tx.DecidedEdges(ctx, ids)
	for _, d := range decided {
		waits[d.ID].Earlier(d.Matched, d.Missed)
	}
	return err
}
