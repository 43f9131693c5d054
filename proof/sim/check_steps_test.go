package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestTheChecksOfStepsFindFaults falsifies what was witnessed of steps in a run without a fault: the check of each
// promise has to notice it.
func TestTheChecksOfStepsFindFaults(t *testing.T) {
	p := calmPlan(10)
	res := simulate(t, p, false)
	if len(res.problems) > 0 {
		t.Fatalf("without a fault: %s", first(res.problems, 5))
	}
	w := res.witness
	programs := p.programs()
	// sightOf returns the last sight of an unchanged, completed job that is as wanted, and its part.
	sightOf := func(is func(p part, s sight) bool) (sight, part) {
		t.Helper()
		for i := len(w.runs) - 1; i >= 0; i-- {
			for _, got := range w.runs[i].Taken {
				p, s := programs[w.runs[i].Label][got.Part], sight{w.runs[i], got}
				if !w.changed[s.ID] && is(p, s) {
					return s, p
				}
			}
		}
		t.Fatal("no run saw such a step")
		return sight{}, part{}
	}
	value := func(p part) bool { return p.Sort == store.StepResult }
	result, _ := sightOf(func(p part, s sight) bool { return value(p) && s.Got == gotValue && s.Answer == "ok" })
	effect, _ := sightOf(func(p part, s sight) bool { return p.Tx && s.Got == gotValue })
	signal, ofSignal := sightOf(func(p part, s sight) bool { return p.Sort == store.StepSignal && s.Got == gotValue })
	sleep, _ := sightOf(func(p part, s sight) bool { return p.Sort == store.StepSleep && s.Got == gotValue })
	parked, ofParked := sightOf(func(p part, s sight) bool { return s.Got == gotParked && p.For > 0 })
	cursor, _ := sightOf(func(p part, s sight) bool { return p.Sort == store.StepCursor && s.Got == gotValue })
	again := func(f *witness, s sight, change func(r *run, t *taken)) { // one more run of its job
		r, got := *s.run, *s.taken
		r.Token, r.Taken = r.Token+1<<30, slices.Clone(r.Taken)
		r.Start.Real, r.End.Real = r.Start.Real.Add(time.Hour), r.End.Real.Add(time.Hour)
		r.Taken[got.Part] = &got
		change(&r, &got)
		f.runs = append(f.runs, &r)
	}
	next := func(f *witness, s sight, change func(r *run)) { // the run after a sight
		for i, r := range f.runs {
			if r.ID == s.ID && r.Token > s.Token {
				later := *r
				change(&later)
				f.runs[i] = &later
				return
			}
		}
		t.Fatalf("no run follows %v", s)
	}
	for promise, falsify := range map[string]func(f *witness){
		"steps are taken once: again":          func(f *witness) { again(f, result, func(_ *run, t *taken) { t.Did = 1 }) },
		"steps are taken once: another result": func(f *witness) { again(f, result, func(_ *run, t *taken) { t.Value = "another" }) },
		"steps are taken once: a lost step": func(f *witness) {
			f.steps = slices.DeleteFunc(f.steps, func(s store.Step) bool { return s.Job == result.ID && int(s.Place) == result.Part+1 })
		},
		"steps are taken once: a timeout that ends": func(f *witness) {
			again(f, signal, func(_ *run, t *taken) { t.Got, t.Value = gotTimedOut, "" })
		},
		"steps are in order: one is left out": func(f *witness) {
			again(f, result, func(r *run, _ *taken) { r.Taken = slices.Delete(r.Taken, 0, 1) })
		},
		"steps are in order: places": func(f *witness) {
			at := slices.IndexFunc(f.steps, func(s store.Step) bool { return s.Job == result.ID })
			f.steps[at].Place += 7
		},
		"effects of steps happen once: none": func(f *witness) {
			f.jobs = slices.DeleteFunc(f.jobs, func(j store.JobInfo) bool { return strings.HasPrefix(labelOf(j.Args), "effect of "+effect.Label) })
		},
		"effects of steps happen once: two": func(f *witness) {
			at := slices.IndexFunc(f.jobs, func(j store.JobInfo) bool { return strings.HasSuffix(labelOf(j.Args), ": "+effect.Value) })
			more := f.jobs[at]
			more.ID += 1 << 30
			more.Args = rawArgs("", labelOf(more.Args)+" again").JSON
			f.jobs = append(f.jobs, more)
		},
		"signals are taken once: a lost signal": func(f *witness) {
			f.sent = append(f.sent, &sent{Name: ofSignal.Name, Value: "lost", IDs: []int64{signal.ID}, At: signal.Start, To: f.at})
		},
		"signals are taken once: a value that was not sent": func(f *witness) {
			f.sent = slices.DeleteFunc(f.sent, func(s *sent) bool { return s.Value == signal.Value })
		},
		"signals are taken once: a refusal without a reason": func(f *witness) {
			f.sent = append(f.sent, &sent{Name: "nothing", IDs: []int64{signal.ID}, Err: hourbell.ErrAnswered, At: signal.Start, To: f.at})
		},
		"waits are not short": func(f *witness) {
			again(f, sleep, func(r *run, t *taken) { t.Began.Real, t.Began.Store = t.Began.Real.Add(-24*time.Hour), t.Ended.Store })
		},
		"parked jobs go on": func(f *witness) {
			f.pauses = nil
			next(f, parked, func(r *run) { r.Start.Real = parked.over().Add(ofParked.For + time.Hour) })
		},
		"waits cost no attempt": func(f *witness) { next(f, parked, func(r *run) { r.Attempt++ }) },
		"parked jobs hold nothing": func(f *witness) {
			f.atRest, f.permits = []store.JobInfo{{JobSpec: store.JobSpec{Kind: kindSteps}}}, []store.LimitInfo{{Limit: store.Limit{Kind: kindSteps}, InUse: 1}}
		},
		"cursors are recent": func(f *witness) {
			again(f, cursor, func(_ *run, t *taken) { t.Saves = []saved{{t.Began.Real, 0}} })
		},
	} {
		f := w.copy()
		falsify(f)
		found := verify(p, f)
		promise, _, _ := strings.Cut(promise, ": ") // and what of it is falsified
		if !slices.ContainsFunc(found, func(problem string) bool { return strings.HasPrefix(problem, promise+":") }) {
			t.Errorf("%s: the check notices nothing: %s", promise, first(found, 3))
		}
	}
}
