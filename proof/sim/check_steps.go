package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// remembering is a job with steps, what its runs saw of them in the order of its claims, and what users did to them.
type remembering struct {
	*store.JobInfo
	parts  []part
	runs   []*run
	steps  map[string]store.Step // at the end, by name
	sent   []*sent               // signals that may have reached it
	forgot []*forgot             // retries from a step that may have been carried out
}

// sight is what a run saw of a step.
type sight struct {
	*run
	*taken
}

// String returns a sight for people.
func (s sight) String() string {
	return fmt.Sprintf("%v, and got at %s from step %d: %s %q", s.run, clock(s.taken.Ended.Store), s.Part+1, s.Got, s.Value)
}

// remembering returns the jobs with steps that were stored in this history, and not deleted.
func (e *evidence) remembering() (jobs []*remembering) {
	programs := e.plan.programs()
	for i := range e.jobs {
		j := &e.jobs[i]
		if j.Kind != kindSteps || e.back.before(j.ID) {
			continue
		}
		one := &remembering{JobInfo: j, parts: programs[labelOf(j.Args)], steps: map[string]store.Step{}}
		one.runs = slices.Clone(e.runsByID[j.ID])
		slices.SortFunc(one.runs, func(a, b *run) int { return cmp.Compare(a.Token, b.Token) })
		from, _ := slices.BinarySearchFunc(e.steps, j.ID, func(s store.Step, id int64) int { return cmp.Compare(s.Job, id) })
		for ; from < len(e.steps) && e.steps[from].Job == j.ID; from++ {
			one.steps[e.steps[from].Name] = e.steps[from]
		}
		for _, s := range e.sent {
			if s.may(j.ID, j.Key) {
				one.sent = append(one.sent, s)
			}
		}
		for _, f := range e.forgot {
			if f.ID == j.ID && f.may() {
				one.forgot = append(one.forgot, f)
			}
		}
		jobs = append(jobs, one)
	}
	return jobs
}

// seen returns what the runs of a job saw of a step, in the order of their claims.
func (j *remembering) seen(at int) (all []sight) {
	for _, r := range j.runs {
		for _, t := range r.Taken {
			if t.Part == at {
				all = append(all, sight{r, t})
			}
		}
	}
	return all
}

// mayForget reports whether the job may have forgotten a step between two instants.
func (j *remembering) mayForget(at int, from, to time.Time) bool {
	return slices.ContainsFunc(j.forgot, func(f *forgot) bool {
		first := slices.IndexFunc(j.parts, func(p part) bool { return p.Name == f.Name })
		return first <= at && f.At.Real.Before(to) && (f.To.Real.IsZero() || f.Err != nil || f.To.Real.After(from))
	})
}

// eachStep calls do for each step of each job, with what was seen of it.
func (e *evidence) eachStep(do func(j *remembering, at int, p part, seen []sight)) {
	for _, j := range e.remembering() {
		for at, p := range j.parts {
			do(j, at, p, j.seen(at))
		}
	}
}

// ended reports whether a sight is of a step that has its result.
func (s sight) ended() bool { return s.Got == gotValue || s.Got == gotTimedOut }

// stepsAreTakenOnce: when a run has the result of a step, no later run calls the function of the step, and each later
// run has the same result; until the job is retried from that step, which is taken again then.
func stepsAreTakenOnce(e *evidence) {
	e.eachStep(func(j *remembering, at int, p part, seen []sight) {
		var before sight
		for _, s := range seen {
			if before.run != nil && s.Got == gotValue && s.Value != "" && s.Value == before.Value && j.surelyForgets(at, before, s) {
				e.fail("%v, which it had forgotten: %v", s, before)
			}
			kept := before.run != nil && !j.mayForget(at, before.Start.Real, s.over())
			// A worker that goes on without its claim may read what a later claim has stored.
			known := kept && s.Token > before.Token && s.Start.Real.After(before.taken.Ended.Real)
			switch {
			case known && (s.Did > 0 || s.Got == gotParked):
				e.fail("%v, although %v", s, before)
			case kept && s.ended() && (s.Got != before.Got || s.Value != before.Value): // a cursor has no value
				e.fail("%v, although %v", s, before)
			}
			if s.ended() && (!kept || s.taken.Ended.Real.Before(before.taken.Ended.Real)) {
				before = s
			}
		}
		if before.run != nil && !j.mayForget(at, before.Start.Real, e.at.Real) {
			stored, is := j.steps[p.Name]
			value, _ := strconv.Unquote(string(stored.Value))
			if !is || stored.Open || p.Sort != store.StepCursor && value != before.Value {
				e.fail("%v; what is stored at the end is %+v", before, stored)
			}
		}
	})
}

// stepsAreInOrder: a job takes its steps in the order of its program, none is left out, and the job remembers them in
// this order.
func stepsAreInOrder(e *evidence) {
	for _, j := range e.remembering() {
		for _, r := range j.runs {
			for i, t := range r.Taken {
				if t.Part != i || i > 0 && !(sight{r, r.Taken[i-1]}).ended() {
					e.fail("%v took step %d after %d steps", r, t.Part+1, i)
				}
			}
			if r.Answer == "ok" && len(r.Taken) != len(j.parts) {
				e.fail("%v with %d of %d steps", r, len(r.Taken), len(j.parts))
			}
		}
		places := 0
		for _, s := range j.steps {
			at := slices.IndexFunc(j.parts, func(p part) bool { return p.Name == s.Name })
			switch signals := s.Sort == store.StepSignal; {
			case signals && s.Place == 0: // for which the job has not waited
			case at < 0 || int(s.Place) != at+1 || s.Sort != j.parts[at].Sort:
				e.fail("job %d %q has the %v %q in place %d; its program is %v",
					j.ID, labelOf(j.Args), s.Sort, s.Name, s.Place, j.parts)
			default:
				places++
			}
		}
		for at := range places {
			if _, is := j.steps[j.parts[at].Name]; !is {
				e.fail("job %d %q has %d steps, and not the step %q", j.ID, labelOf(j.Args), places, j.parts[at].Name)
			}
		}
		if strings.Contains(j.Reason, "other steps") {
			e.fail("job %d %q failed: %s", j.ID, labelOf(j.Args), j.Reason)
		}
	}
}

// effectsOfStepsHappenOnce: the effect of a step in a transaction exists once if the job has the step, and not
// otherwise; once more for each time that the job may have forgotten the step.
func effectsOfStepsHappenOnce(e *evidence) {
	effects := map[string][]string{}
	for label := range e.byLabel {
		if rest, is := strings.CutPrefix(label, "effect of "); is {
			if of, value, is := strings.Cut(rest, ": "); is {
				effects[of] = append(effects[of], value)
			}
		}
	}
	e.eachStep(func(j *remembering, at int, p part, seen []sight) {
		if !p.Tx {
			return
		}
		label := labelOf(j.Args)
		made := slices.DeleteFunc(slices.Clone(effects[label]), func(value string) bool {
			return !strings.HasPrefix(value, p.Name+" ")
		})
		stored, is := j.steps[p.Name]
		value, _ := strconv.Unquote(string(stored.Value))
		times := 0
		for _, f := range j.forgot {
			if j.mayForget(at, f.At.Real.Add(-1), f.At.Real.Add(1)) {
				times++
			}
		}
		switch {
		case is && !slices.Contains(made, value):
			e.fail("job %d %q has the step %q with %q, and its effects are %v", j.ID, label, p.Name, value, made)
		case times == 0 && !is && len(made) > 0, len(made) > 1+times:
			e.fail("job %d %q has the effects %v of the step %q, which is stored with %q, and may have been forgotten %d times",
				j.ID, label, made, p.Name, value, times)
		}
	})
}

// signalsAreTakenOnce: a signal that was accepted is the value of the wait in each run; a job accepts one signal of a
// name; what a wait returns was sent; a timeout stays; and a signal is refused only because of another signal, a
// timeout, or the end of the job.
func signalsAreTakenOnce(e *evidence) {
	e.eachStep(func(j *remembering, at int, p part, seen []sight) {
		if p.Sort != store.StepSignal {
			return
		}
		all := slices.DeleteFunc(slices.Clone(j.sent), func(s *sent) bool { return s.Name != p.Name })
		var accepted *sent
		for _, s := range all {
			if !s.accepted(j.ID) {
				continue
			}
			if accepted != nil && !j.mayForget(at, accepted.At.Real, s.To.Real) {
				e.fail("job %d %q accepted the signals %q and %q for %q", j.ID, labelOf(j.Args), accepted.Value, s.Value, p.Name)
			}
			if accepted = s; !j.mayForget(at, s.At.Real, e.at.Real) {
				e.isKept(j, at, p, s, seen)
			}
		}
		for _, s := range seen {
			was := slices.ContainsFunc(all, func(one *sent) bool {
				return one.Value == s.Value && one.At.Real.Before(s.taken.Ended.Real)
			})
			if s.Got == gotValue && !was {
				e.fail("%v, which was not sent", s)
			}
			if s.Got == gotTimedOut && p.For == 0 {
				e.fail("%v, although it waits without end", s)
			}
		}
	})
	e.refusals()
}

// isKept checks what becomes of an accepted signal that no user lets its job forget.
func (e *evidence) isKept(j *remembering, at int, p part, s *sent, seen []sight) {
	stored, is := j.steps[p.Name]
	if value, _ := strconv.Unquote(string(stored.Value)); !is || stored.Open || value != s.Value {
		e.fail("job %d %q accepted the signal %q for %q, and has at the end %+v", j.ID, labelOf(j.Args), s.Value, p.Name, stored)
	}
	for _, one := range seen {
		if one.ended() && one.Start.Real.After(s.To.Real) && one.Value != s.Value {
			e.fail("%v, although the signal %q was accepted at %s", one, s.Value, clock(s.To.Store))
		}
		if one.Got == gotParked && one.Start.Real.After(s.To.Real) {
			e.fail("%v, although the signal %q was accepted at %s", one, s.Value, clock(s.To.Store))
		}
	}
	if !j.FinishedAt.IsZero() && j.FinishedAt.Before(s.At.Store) && !e.clockWasSet() && !e.changed[j.ID] {
		e.fail("job %d %q ended at %s, and accepted the signal %q at %s",
			j.ID, labelOf(j.Args), clock(j.FinishedAt), s.Value, clock(s.At.Store))
	}
}

// refusals checks that each signal to a job that was refused has a reason.
func (e *evidence) refusals() {
	byID := map[int64]*remembering{}
	for _, j := range e.remembering() {
		byID[j.ID] = j
	}
	for _, s := range e.sent {
		if s.Key != "" || !s.refused() || byID[s.IDs[0]] == nil {
			continue
		}
		j := byID[s.IDs[0]]
		stored := j.steps[s.Name]
		other := slices.ContainsFunc(j.sent, func(o *sent) bool {
			return o != s && o.Name == s.Name && o.At.Real.Before(s.To.Real)
		})
		switch {
		case errors.Is(s.Err, hourbell.ErrJobEnded):
			if !e.changed[j.ID] && !e.clockWasSet() && j.FinishedAt.After(s.To.Store) {
				e.fail("a signal to job %d at %s was refused (%v), which ended at %s",
					j.ID, clock(s.To.Store), s.Err, clock(j.FinishedAt))
			}
		case errors.Is(s.Err, hourbell.ErrNotFound):
			e.fail("a signal to job %d was refused (%v), which exists", j.ID, s.Err)
		case !other && !stored.TimedOut && len(j.forgot) == 0:
			e.fail("a signal %q to job %d was refused (%v), although there was no other; stored is %+v",
				s.Name, j.ID, s.Err, stored)
		}
	}
}

// signalled reports whether a signal may have come between two runs of a job. It makes a job due at once that has an
// open wait, also after a run that failed.
func (e *evidence) signalled(before, r *run) bool {
	return slices.ContainsFunc(e.sent, func(s *sent) bool {
		unanswered := s.To.Real.IsZero() || s.To.Real.After(before.Start.Real)
		return s.may(r.ID, r.Key) && s.At.Real.Before(r.Start.Real) && unanswered
	})
}

// waitsAreNotShort: a sleep and a timeout are over when their time has passed by the store's clock, and not before.
func waitsAreNotShort(e *evidence) {
	e.eachStep(func(j *remembering, at int, p part, seen []sight) {
		var began, parked moment // the wait, at the earliest, and the last run that waited
		var stored time.Time     // at the latest
		over := false
		slices.SortStableFunc(seen, func(a, b sight) int { return a.Began.Real.Compare(b.Began.Real) })
		for i, s := range seen {
			if i == 0 || j.surelyForgets(at, seen[i-1], s) {
				began, parked, stored, over = s.Began, s.Began, time.Time{}, false
			}
			if stored.IsZero() && s.Got != gotError {
				stored = s.taken.Ended.Real
			}
			if s.Got == gotParked {
				parked = s.Began
			}
			if over || s.Got != gotTimedOut && (p.Sort != store.StepSleep || s.Got != gotValue) {
				continue
			}
			over = true
			steady := !e.stepped(began.Real, stored) && !e.stepped(parked.Real, s.taken.Ended.Real)
			if due := began.Store.Add(p.For).Truncate(time.Microsecond); steady && s.taken.Ended.Store.Before(due) {
				e.fail("%v, of %v, which began at %s", s, p.For, clock(began.Store))
			}
		}
	})
}

// surelyForgets reports whether a job has forgotten a step between two sights of it.
func (j *remembering) surelyForgets(at int, before, after sight) bool {
	return slices.ContainsFunc(j.forgot, func(f *forgot) bool {
		between := f.At.Real.After(before.over()) && f.To.Real.Before(after.Start.Real)
		return f.Done && between && j.mayForget(at, f.At.Real.Add(-1), f.To.Real.Add(1))
	})
}

// parkedJobsGoOn: a job that waits goes on when its signal was accepted, or its time has passed.
func parkedJobsGoOn(e *evidence) {
	for _, j := range e.remembering() {
		for i, r := range j.runs {
			if r.Answer != gotParked || i == len(j.runs)-1 && !j.FinishedAt.IsZero() {
				continue
			}
			t := r.Taken[len(r.Taken)-1]
			p := j.parts[t.Part]
			due, next := never.Real, e.at.Real
			if i < len(j.runs)-1 {
				next = j.runs[i+1].Start.Real
			}
			if p.For > 0 {
				due = t.Ended.Real.Add(p.For)
			}
			for _, s := range j.sent {
				if s.Name == p.Name && s.accepted(j.ID) && s.To.Real.Before(due) && !j.mayForget(t.Part, s.At.Real, next) {
					due = s.To.Real
				}
			}
			if due.Before(r.over()) {
				due = r.over()
			}
			took := next.Sub(due)
			if took > e.mostUntilItGoesOn() && !e.stepped(t.Began.Real, next) && !e.heldUp(j, r, due, next) {
				e.fail("%v; it goes on %v later than it may, at %s", sight{r, t}, took, next.UTC().Format("15:04:05"))
			}
		}
	}
}

// mostUntilItGoesOn is how long it takes at most until a job that may go on runs, if nothing holds it up. The plan
// leaves capacity to spare.
func (e *evidence) mostUntilItGoesOn() time.Duration {
	if e.plan.Weather.Before+e.plan.Weather.After+e.plan.Weather.Slow > 0 {
		return time.Minute
	}
	return 20 * time.Second
}

// heldUp reports whether a fault, a limit or a pause may have held up a job between two instants, or a user may have
// changed it.
func (e *evidence) heldUp(j *remembering, r *run, from, to time.Time) bool {
	for _, f := range e.faults {
		if !f.From.After(to) && !f.To.Before(from.Add(-e.plan.Lease)) {
			return true
		}
	}
	limited := slices.ContainsFunc(e.limits, func(in *inForce[hourbell.Limit]) bool { return concerns(in.What, r) })
	paused := slices.ContainsFunc(e.pauses, func(in *inForce[subject]) bool { return in.What.has(r) })
	return limited || paused || e.changed[j.ID]
}

// waitsCostNoAttempt: a job that waited has the same attempt when it goes on. A cancel ends an attempt whose worker asks to
// wait, and a retry begins the next attempt, so a job that a user has changed is left out.
func waitsCostNoAttempt(e *evidence) {
	for _, j := range e.remembering() {
		for i, r := range j.runs[:max(len(j.runs)-1, 0)] {
			next := j.runs[i+1]
			calm := !slices.ContainsFunc(e.faults, func(f fault) bool {
				return !f.From.After(next.Start.Real) && !f.To.Before(r.Start.Real.Add(-3*e.plan.Lease))
			})
			if r.Answer == gotParked && r.Heeds && calm && !e.changed[j.ID] && next.Attempt != r.Attempt {
				e.fail("%v, and then %v: the wait has cost an attempt", r, next)
			}
		}
	}
}

// parkedJobsHoldNothing: while all jobs that have not ended wait, no node has one of them, and no permit is in use.
func parkedJobsHoldNothing(e *evidence) {
	for i := range e.atRest {
		if j := &e.atRest[i]; j.State != store.StateReady || j.Kind != kindSteps {
			return // not all wait
		}
	}
	for _, l := range e.permits {
		// Permits of a whole queue are held by nodes, and an idle node that polls holds some for a moment.
		if l.InUse > 0 && !l.WholeQueue() && len(e.atRest) > 0 {
			e.fail("jobs that wait, such as %d, and no others are left, and %d permits of limit %q are in use", e.atRest[0].ID, l.InUse, l.Name)
		}
	}
}

// cursorsAreRecent: the loop of a cursor goes on behind all rounds that were saved more than a second before the last
// one, and at a round that an earlier run has reached.
func cursorsAreRecent(e *evidence) {
	e.eachStep(func(j *remembering, at int, p part, seen []sight) {
		if p.Sort != store.StepCursor {
			return
		}
		least, most := 0, 0
		for i, s := range seen {
			if i > 0 && j.mayForget(at, seen[i-1].Start.Real, s.Start.Real) {
				least = 0
			}
			for k, one := range s.Saves {
				if k == 0 && (one.rounds < least || one.rounds > most) {
					e.fail("%v; it began at round %d, and had to begin at a round from %d to %d", s, one.rounds, least, most)
				}
				most = max(most, one.rounds+1)
				if last := s.Saves[len(s.Saves)-1]; !one.at.After(last.at.Add(-time.Second)) {
					least = max(least, one.rounds)
				}
			}
			if s.Got == gotValue {
				least = p.Rounds
			}
		}
	})
}
