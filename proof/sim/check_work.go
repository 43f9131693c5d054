package sim

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// labelOf returns the label in the arguments of a job.
func labelOf(text []byte) string {
	var a args
	_ = json.Unmarshal(text, &a) // of a job without a label
	return a.L
}

// committedWorkRuns: a job whose enqueue was answered is stored once, and has ended by a run, by a user, or by its
// predecessors; a job whose enqueue was refused is not stored; no job is stored twice.
func committedWorkRuns(e *evidence) {
	for _, a := range e.asked {
		stored := e.byLabel[a.Job.Label]
		if len(stored) > 1 {
			e.fail("job %q was asked for once, and is stored %d times", a.Job.Label, len(stored))
		}
		if a.Never && len(stored) > 0 {
			e.fail("job %q was refused (%v), and is stored as job %d", a.Job.Label, a.Err, stored[0].ID)
		}
		if a.Err != nil || a.To.Real.IsZero() {
			continue
		}
		switch j := e.byID[a.ID]; {
		case j == nil && !e.deleted[a.ID]:
			e.fail("job %d %q was acknowledged, and is not stored", a.ID, a.Job.Label)
		case j != nil && !a.Existed && labelOf(j.Args) != a.Job.Label:
			e.fail("job %q was acknowledged as job %d, which is %q", a.Job.Label, a.ID, labelOf(j.Args))
		}
	}
	for i := range e.jobs {
		j := &e.jobs[i]
		ended := j.State == store.StateCompleted || j.State == store.StateFailed && j.Reason != "lost"
		lost := slices.ContainsFunc(j.Attempts, func(a store.Attempt) bool { return a.Outcome == store.AttemptLost })
		if ended && !lost && j.Attempt > 0 && len(e.runsByID[j.ID]) == 0 && !e.back.before(j.ID) {
			e.fail("job %d %q ended without a run: state %d, %q", j.ID, labelOf(j.Args), j.State, j.Reason)
		}
	}
}

// effectsHappenOnce: the effect of a worker that completes its job in a transaction exists once if the job is
// completed, and not at all otherwise.
func effectsHappenOnce(e *evidence) {
	for i := range e.jobs {
		j := &e.jobs[i]
		if !completesInTx(j.Kind) {
			continue
		}
		want := 0
		if j.State == store.StateCompleted {
			want = 1
		}
		label := "effect of " + labelOf(j.Args)
		got := len(e.byLabel[label])
		if got != want && !e.changed[j.ID] {
			e.fail("job %d %q is in state %d, and has %d effects", j.ID, labelOf(j.Args), j.State, got)
		}
	}
}

// theStoresClockDecides: no job starts before it is due, by the store's clock, and no attempt before its back-off is over.
func theStoresClockDecides(e *evidence) {
	for id, runs := range e.runsByID {
		first := runs[0]
		slot, steady := first.Slot.Truncate(time.Microsecond), !e.stepped(first.Start.Real.Add(-time.Minute), first.Start.Real)
		if e.origin(id) == store.OriginSchedule && first.Start.Store.Before(slot) && steady {
			e.fail("%v, before its slot at %s", first, clock(first.Slot))
		}
		if a := e.askedBy[id]; a != nil && !e.stepped(a.At.Real, first.Start.Real) && !e.changed[id] {
			if due := a.At.Store.Add(a.Job.In).Truncate(time.Microsecond); first.Start.Store.Before(due) {
				e.fail("%v; it was asked for at %s, in %v", first, clock(a.At.Store), a.Job.In)
			}
		}
		for i, r := range runs[1:] {
			before := runs[i]
			failed := before.Answer == "error" || before.Answer == "panic"
			rests := failed && before.Heeds && !e.disturbed(before) && !e.touched(r) && !e.signalled(before, r) // others may have been abandoned
			if rests && r.Start.Real.Sub(before.End.Real) < leastBackoff && !e.stepped(before.Start.Real, r.Start.Real) {
				e.fail("%v, and then, sooner than its back-off of 2 s, %v", before, r)
			}
		}
	}
}

// leastBackoff is the back-off of all workers, less its spread and some of the latency.
const leastBackoff = 1790 * time.Millisecond

func (e *evidence) origin(id int64) store.Origin {
	if j := e.byID[id]; j != nil {
		return j.Origin
	}
	return 0
}

// cancelledJobsDoNotStart: after the cancel of a job has returned, no run of the job starts, until a user retries it. A node
// that had claimed the job may begin it until the node has learnt of the cancel.
func cancelledJobsDoNotStart(e *evidence) {
	for _, in := range e.cancels {
		for _, r := range e.runsByID[in.What] {
			learnt := r.Start.Real.After(in.From.Real.Add(e.plan.Lease)) && !e.faulty(r.Node, in.From.Real, r.Start.Real)
			if during(in, r) && learnt {
				e.fail("%v, although it was cancelled %v before", r, r.Start.Real.Sub(in.From.Real))
			}
		}
	}
}

// uniqueKeysAreKept: of the jobs of a kind with a key one lives at a time, and one is stored in each time for which
// the key is held.
func uniqueKeysAreKept(e *evidence) {
	byKey := map[[2]string][]*store.JobInfo{}
	for i := range e.jobs {
		if j := &e.jobs[i]; j.Unique != "" && !e.changed[j.ID] {
			byKey[[2]string{j.Kind, j.Unique}] = append(byKey[[2]string{j.Kind, j.Unique}], j)
		}
	}
	if e.clockWasSet() {
		return
	}
	for key, jobs := range byKey {
		for i, a := range jobs {
			held := a.CreatedAt
			if asked := e.askedBy[a.ID]; asked != nil {
				held = held.Add(asked.Job.UniqueFor)
			}
			for _, b := range jobs[i+1:] {
				if a.FinishedAt.IsZero() || b.CreatedAt.Before(a.FinishedAt) {
					e.fail("key %q: job %d was stored at %s although job %d lived until %s",
						key, b.ID, clock(b.CreatedAt), a.ID, clock(a.FinishedAt))
				}
				if b.CreatedAt.Before(held) {
					e.fail("key %q: job %d was stored at %s although job %d holds the key until %s",
						key, b.ID, clock(b.CreatedAt), a.ID, clock(held))
				}
			}
		}
	}
}

// clockWasSet reports whether the store's clock was set at all.
func (e *evidence) clockWasSet() bool {
	return slices.ContainsFunc(e.faults, func(f fault) bool { return f.Kind == "clock" })
}

// edgesAreKept: a job starts after its predecessors have ended as its edges require, no sooner than each delay after
// the end; if they end otherwise, the job does not run.
func edgesAreKept(e *evidence) {
	for id, a := range e.askedBy {
		j := e.byID[id]
		if len(a.Job.After) == 0 || j == nil || e.changed[id] {
			continue
		}
		matched, missed := 0, 0
		due := time.Time{}
		for _, edge := range a.Job.After {
			before := e.single(edge.Of)
			if before == nil || e.changed[before.ID] {
				matched = -1 << 30
				break
			}
			if matches(edge.On, before.State) {
				matched++
				if at := before.FinishedAt.Add(edge.Delay); at.After(due) {
					due = at
				}
			} else {
				missed++
			}
		}
		runs := e.runsByID[id]
		switch {
		case matched < 0:
		case missed > 0 && !a.Job.Any || a.Job.Any && matched == 0:
			if j.State != store.StateNotStarted && j.State != store.StateCancelled || len(runs) > 0 {
				e.fail("job %d %q is in state %d with %d runs, although %d of its edges have missed",
					id, a.Job.Label, j.State, len(runs), missed)
			}
		case j.State == store.StateNotStarted:
			e.fail("job %d %q was not started (%s), although its edges have matched", id, a.Job.Label, j.Reason)
		case len(runs) > 0 && !a.Job.Any && runs[0].Start.Store.Before(due) && !e.clockWasSet():
			e.fail("%v; its predecessors allow that from %s on", runs[0], clock(due))
		}
	}
}

// single returns the job with a label.
func (e *evidence) single(label string) *store.JobInfo {
	if jobs := e.byLabel[label]; len(jobs) == 1 {
		return jobs[0]
	}
	return nil
}

// matches is the rule of edges.
func matches(on store.On, state store.State) bool {
	completed, failed := state == store.StateCompleted, state == store.StateFailed || state == store.StateCancelled
	switch on {
	case store.OnSuccess:
		return completed
	case store.OnFailure:
		return failed
	case store.OnEither:
		return completed || failed
	}
	return true
}

// batchesEndOnce: the last job of a batch runs after all other jobs of the batch have ended.
func batchesEndOnce(e *evidence) {
	for _, last := range e.asked {
		if !last.Last || last.Err != nil || e.changed[last.ID] {
			continue
		}
		end := time.Time{}
		for _, a := range e.asked {
			if a.Batch == last.Batch && !a.Last && a.ID != 0 {
				if j := e.byID[a.ID]; j != nil && j.FinishedAt.After(end) && !e.changed[a.ID] {
					end = j.FinishedAt
				}
			}
		}
		runs := e.runsByID[last.ID]
		if len(runs) > 0 && runs[0].Start.Store.Before(end) && !e.clockWasSet() {
			e.fail("%v, before the other jobs of batch %s had ended at %s", runs[0], last.Batch, clock(end))
		}
		if j := e.byID[last.ID]; j != nil && len(runs) == 0 && j.State == store.StateNotStarted {
			e.fail("the last job %d of batch %s was not started: %s", last.ID, last.Batch, j.Reason)
		}
	}
}

// badInputChangesNothing: what the caller was told is wrong is not stored.
func badInputChangesNothing(e *evidence) {
	for label := range e.bad {
		if n := len(e.byLabel[label]); n > 0 {
			e.fail("job %q is stored %d times, although its input is wrong", label, n)
		}
	}
}

// noErrorWithoutAReason: calls fail only because of the weather. A caller who waits for the answer gets it, whatever others do.
func noErrorWithoutAReason(e *evidence) {
	fair := e.plan.Weather.Before+e.plan.Weather.After+e.plan.Weather.Slow == 0
	for _, a := range e.asked {
		if fair && !a.Leaves && errors.Is(a.Err, store.ErrUnknown) && !e.had("away", "", a.At.Real, a.To.Real) {
			e.fail("the caller of job %q was answered: %v", a.Job.Label, a.Err)
		}
		if !a.Leaves && errors.Is(a.Err, context.Canceled) {
			e.fail("the caller of job %q, who waits, was answered: %v", a.Job.Label, a.Err)
		}
	}
	for _, text := range e.crash {
		e.fail("%s", text)
	}
}
