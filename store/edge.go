package store

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
)

// Edge makes a job wait for the end of another job, its predecessor.
type Edge struct {
	// Job is the number of the predecessor. In an insert it is 0 if Place is given.
	Job int64
	// Place, of an insert only, names a predecessor of the same insert by its place in the
	// request, from 1. The predecessor comes before the job.
	Place int
	On    On
	// Delay, in whole microseconds and not negative, counts from the end of the
	// predecessor.
	Delay time.Duration
}

// On selects the ends of a predecessor that match an edge.
type On int16

// The choices. Drivers store these numbers.
const (
	OnSuccess On = 0 // the predecessor completed
	OnFailure On = 1 // it failed, was cancelled, or was deleted before its end
	OnEither  On = 2 // it completed, or as OnFailure
	OnEnd     On = 3 // it ended in any way, also as not started
)

var onNames = [...]string{"success", "failure", "either", "end"}

// String returns the choice's word.
func (o On) String() string {
	if !o.known() {
		return fmt.Sprintf("on(%d)", int16(o))
	}
	return onNames[o]
}

// known reports whether o is one of the choices.
func (o On) known() bool {
	return o >= 0 && int(o) < len(onNames)
}

// ParseOn is the inverse of String.
func ParseOn(text string) (On, bool) {
	i := slices.Index(onNames[:], text)
	return On(max(i, 0)), i >= 0
}

// Matches reports whether an edge matches a predecessor that ended in a state. A
// predecessor that was not started matches OnEnd only.
func (o On) Matches(end State) bool {
	if o == OnEnd {
		return end.Finished()
	}
	switch end {
	case StateCompleted:
		return o != OnFailure
	case StateFailed, StateCancelled, StateDeleted:
		return o != OnSuccess
	}
	return false
}

// EdgeState is what is known of an edge. Drivers store these numbers.
type EdgeState int16

// The states of an edge.
const (
	EdgeOpen    EdgeState = 0 // the predecessor has not ended
	EdgeMatched EdgeState = 1
	EdgeMissed  EdgeState = 2 // the predecessor ended, and the edge did not match; or a job with AtEnd waited for it, and it was deleted
)

// JobEdge is an edge of a job as it is shown.
type JobEdge struct {
	Edge
	State EdgeState
}

// Ended is a predecessor that has ended, or was deleted (StateDeleted).
type Ended struct {
	ID     int64
	State  State
	At     time.Time
	Reason string
}

// Wait is what a job waits for, and the rule of what becomes of the job: it is ready when
// all of its edges have matched (with Any, when one has matched), and it is not started as
// soon as that is impossible. With AtEnd, as the last job of a batch has it, both are decided when
// no edge is open; predecessors that were deleted, before or after their ends, do not count then, and OnSuccess
// also matches predecessors that were not started.
type Wait struct {
	Open  int  // open edges
	Any   bool // NewJob.Any
	AtEnd bool // NewJob.AtEnd
	// RunAt is the latest of the job's own run_at and, of each matched edge with a delay, the end of
	// its predecessor + the delay. An end without a delay is not later than the release.
	RunAt time.Time

	matched, missed bool
	why             string
}

// Decide decides an open edge, because its predecessor has ended.
func (w *Wait) Decide(e Edge, p Ended) EdgeState {
	w.Open--
	if w.AtEnd && p.State == StateDeleted {
		return EdgeMissed
	}
	if e.On.Matches(p.State) || w.AtEnd && e.On == OnSuccess && p.State == StateNotStarted {
		w.matched = true
		if at := p.At.Add(e.Delay); e.Delay > 0 && at.After(w.RunAt) {
			w.RunAt = at
		}
		return EdgeMatched
	}
	if !w.missed {
		w.missed, w.why = true, NotStartedReason(p)
	}
	return EdgeMissed
}

// Earlier adds edges that were decided before: whether one has matched, and the
// predecessor of the first edge that has not and whose predecessor still exists; nil: there is none. Only a job with AtEnd
// needs it, when no edge is open: another job would have been ready, or not started.
func (w *Wait) Earlier(matched bool, missed *Ended) {
	w.matched = w.matched || matched
	if missed != nil {
		w.missed, w.why = true, NotStartedReason(*missed)
	}
}

// State returns what has become of the job: StateWaiting, StateReady or StateNotStarted.
func (w *Wait) State() State {
	switch {
	case w.AtEnd && w.Open > 0:
		return StateWaiting
	case w.Any && w.matched, !w.Any && !w.missed && w.Open == 0:
		return StateReady
	case w.Any && w.Open == 0, !w.Any && w.missed:
		return StateNotStarted
	}
	return StateWaiting
}

// NoneFailedReason is the reason of the last job of a batch that is not started because all
// other jobs were deleted, or there were none.
const NoneFailedReason = "no job of the batch failed"

// Why returns the reason of a job that is not started.
func (w *Wait) Why() string { return cmp.Or(w.why, NoneFailedReason) }

// NotStartedReason returns the reason of a job that is not started because of the end of a
// predecessor. Of a predecessor that was not started itself it is the same reason, which
// names the job that all of these jobs go back to.
func NotStartedReason(p Ended) string {
	switch p.State {
	case StateNotStarted:
		return p.Reason
	case StateCancelled, StateDeleted:
		return fmt.Sprintf("job %d was %s", p.ID, p.State)
	}
	return fmt.Sprintf("job %d %s", p.ID, p.State)
}

// Unknown is the end of a predecessor that is no longer stored when it is linked;
// see LinksLater. It matches no edge of a program, because the job may have ended in any way.
func Unknown(id int64, now time.Time) Ended {
	return Ended{ID: id, State: StateNotStarted, At: now, Reason: fmt.Sprintf("job %d left no record of its end", id)}
}

// linksAtOnce is how many jobs and how many edges an insert may have that locks its
// predecessors.
const linksAtOnce = 1_000

// LinksLater reports whether an insert leaves notes for its older predecessors instead of
// locking them until it is stored: in a caller's transaction, which may stay open for long; with
// a key, for which it may wait; and with many jobs or edges. Its jobs then wait, and
// the steps of CarryOut link them: for a predecessor that has ended a step decides
// the edges, and the end of a live predecessor leaves a note from then on. links are the jobs as
// CheckLinks returned them.
func (r InsertRequest) LinksLater(links []NewJob) bool {
	edges, older := 0, false
	for i := range links {
		edges += len(links[i].After)
		older = older || slices.ContainsFunc(links[i].After, func(e Edge) bool { return e.Place == 0 })
	}
	return older && (r.Tx != nil || HasKeys(links) || max(len(links), edges) > linksAtOnce)
}

// Linked reports whether an insert has to link its jobs: with predecessors, or with a batch.
func (r InsertRequest) Linked() bool { return r.Batch != nil || HasEdges(r.Jobs) }

// HasEdges reports whether any of the jobs has predecessors.
func HasEdges(jobs []NewJob) bool {
	return slices.ContainsFunc(jobs, func(job NewJob) bool { return len(job.After) > 0 })
}

// CheckLinks returns the jobs of an insert that is Linked, with the edges of the last job
// of its batch, or why the insert must be refused. Drivers call it before they store
// anything.
func CheckLinks(req InsertRequest) ([]NewJob, error) {
	if err := checkBatch(req); err != nil {
		return nil, err
	}
	for i := range req.Jobs {
		if len(req.Jobs[i].After) > 0 {
			if err := checkEdges(req, i); err != nil {
				return nil, err
			}
		}
	}
	return req.withFinally(), nil
}

// checkEdges checks the edges of the job at an index of a request.
func checkEdges(req InsertRequest, index int) error {
	n := &req.Jobs[index]
	switch {
	case n.Unique != "" && n.Changes():
		return &check.FieldError{
			Field: "after", Problem: "is given with on_conflict " + n.OnConflict.String() + ", but a job that has the key would not wait for other predecessors",
			Remedy: "use on_conflict keep or error, or leave one of them out",
		}
	case n.Schedule != 0:
		return &check.FieldError{Field: "after", Problem: "is given for a job of a schedule", Remedy: "leave it out"}
	}
	type predecessor struct {
		job   int64
		place int
	}
	seen := map[predecessor]bool{}
	for _, e := range n.After {
		if err := checkPlace(req, index, e); err != nil {
			return err
		}
		p := predecessor{e.Job, e.Place}
		if problem := e.problem(seen[p]); problem != "" {
			return &check.FieldError{
				Field: "after", Value: fmt.Sprint(e.Job), Problem: problem,
				Remedy: "use the number of another job once, with success, failure, either or end",
			}
		}
		seen[p] = true
	}
	return nil
}

// checkPlace checks the place that an edge of the job at an index names, if the edge names a place.
func checkPlace(req InsertRequest, index int, e Edge) error {
	switch {
	case e.Place == 0:
		return nil
	case e.Job != 0 || e.Place < 1 || e.Place > index:
		return &check.FieldError{
			Field: "after", Value: fmt.Sprint(e.Place),
			Problem: "is not the place of an earlier job of the insert", Remedy: "insert the predecessor first",
		}
	case req.Jobs[e.Place-1].Unique != "" && req.Batch == nil || req.Jobs[e.Place-1].Schedule != 0:
		return &check.FieldError{
			Field: "after", Value: fmt.Sprint(e.Place), Problem: "is the place of a job with a key or a schedule, which may not be inserted",
			Remedy: "insert that job first, and name it by its number",
		}
	}
	return nil
}

// problem returns why an edge cannot be inserted, apart from its place; seen: another edge of the job names the same predecessor.
func (e Edge) problem(seen bool) string {
	switch {
	case e.Place == 0 && e.Job < 1:
		return "is not the number of a job"
	case seen:
		return "is given twice"
	case !e.On.known():
		return fmt.Sprintf("has the outcome %d, which is unknown", int16(e.On))
	case e.Delay < 0:
		return "has a negative delay"
	}
	return ""
}

// NoPredecessor returns the error of an insert whose job names a predecessor about which
// nothing is known.
func NoPredecessor(id int64) error {
	return fmt.Errorf("%w: %w", ErrNotFound, &check.FieldError{
		Field: "after", Value: fmt.Sprint(id), Problem: "is not the number of a live or finished job",
		Remedy: "use another number; finished jobs are deleted after a while, and a transaction at repeatable read does not " +
			"see jobs that were stored after its first statement",
	})
}

// CheckKnown returns NoPredecessor for the first older predecessor of a stored job about which nothing is known. Of a
// job with a key that is decided after its insert: if another job has the key, its predecessors do not matter, so that
// a repeated insert gets the same answer after they have been pruned.
func CheckKnown(jobs []NewJob, answers []Inserted, known func(id int64) bool) error {
	for i := range jobs {
		if answers[i].Existed {
			continue
		}
		for _, e := range jobs[i].After {
			if e.Place == 0 && !known(e.Job) {
				return NoPredecessor(e.Job)
			}
		}
	}
	return nil
}

// Predecessors returns the numbers of the predecessors of jobs, each once, ascending. It
// leaves out jobs of the same insert.
func Predecessors(jobs []NewJob) []int64 {
	var ids []int64
	for i := range jobs {
		for _, e := range jobs[i].After {
			if e.Place == 0 {
				ids = append(ids, e.Job)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
