package sim

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// The verbs of events that only workload.steps draws.
const (
	sendSignal  = "signal"     // Name: the job; Of: the name of the signal
	signalToKey = "signal key" // Name: the key; Of: the name of the signal
	retryFrom   = "retry from" // Name: the job; Of: the name of a step
)

// part is a step of a job of kindSteps.
type part struct {
	Name   string
	Sort   store.StepSort
	Tx     bool          // the step has its effect in a transaction
	For    time.Duration // of a sleep; the timeout of a wait, 0: without end
	Rounds int           // of the loop of a cursor
	// Meets is how long after its job has begun to wait the signal comes; 0: no signal comes because of that.
	Meets time.Duration
}

// String returns the part in short.
func (p part) String() string {
	text := fmt.Sprintf("%v %q", p.Sort, p.Name)
	text += mark(p.Tx, " in a transaction")
	if p.For > 0 {
		text += fmt.Sprintf(" for %v", p.For)
	}
	if p.Rounds > 0 {
		text += fmt.Sprintf(" of %d rounds", p.Rounds)
	}
	if p.Meets > 0 {
		text += fmt.Sprintf(" met after %v", p.Meets)
	}
	return text
}

// programs returns the steps of the jobs of the plan, by label.
func (p *plan) programs() map[string][]part {
	of := map[string][]part{}
	for _, e := range p.Events {
		for _, j := range e.Jobs {
			if len(j.Steps) > 0 {
				of[j.Label] = j.Steps
			}
		}
	}
	return of
}

// drawsSteps reports whether the plan of a seed has jobs with steps: every thirteenth seed. No such seed is in found
// or was known to notice a fault, so the seeds that are keep their plans.
func drawsSteps(seed uint64) bool { return seed%13 == 10 }

// stepsPerHour is how many jobs with steps users enqueue in an hour.
const stepsPerHour = 600

// steps draws jobs with steps; signals that come before their job waits, when it has begun to wait, near the end of
// the wait, twice, or not at all; what users do to such jobs by hand; and faults right after a step was stored. Its
// chance is its own.
func (w *workload) steps() {
	rng, hours := w.rng, w.plan.Length.Hours()
	for i := range int(stepsPerHour * hours) {
		j := w.job(fmt.Sprintf("p%d", i))
		j.Kind, j.Unique, j.UniqueFor, j.Timeout, j.Steps = kindSteps, "", 0, 0, w.program()
		j.FailOnLoss, j.MaxAttempts = rng.IntN(20) == 0, 3+rng.IntN(30)
		at := w.at()
		w.add(event{At: at, Verb: "enqueue", Jobs: []job{j}})
		for _, p := range j.Steps {
			for range rng.IntN(3) {
				if p.Sort == store.StepSignal && rng.IntN(3) == 0 {
					w.add(event{At: at + w.below(20*time.Second), Verb: sendSignal, Name: j.Label, Of: p.Name})
				}
			}
		}
		if rng.IntN(2) == 0 {
			continue
		}
		verbs := []string{"cancel", "retry", "retry", "reprioritise", retryFrom, retryFrom}
		for range 1 + rng.IntN(2) {
			e := event{At: at + w.below(40*time.Second), Verb: verbs[rng.IntN(len(verbs))], Name: j.Label}
			if e.Verb == retryFrom {
				e.Of = j.Steps[rng.IntN(len(j.Steps))].Name
			}
			w.add(e)
		}
		if rng.IntN(20) == 0 {
			w.add(event{At: at + w.below(time.Minute), Verb: "delete", Name: j.Label})
		}
	}
	for range int(60 * hours) {
		name := signalNames[rng.IntN(len(signalNames))]
		w.add(event{At: w.at(), Verb: signalToKey, Name: fmt.Sprintf("k%d", rng.IntN(5)), Of: name})
	}
	if rng.IntN(2) == 0 {
		l := hourbell.Limit{Name: "steps", Kind: kindSteps, Concurrency: 2 + rng.IntN(3)}
		w.add(event{At: w.at(), Verb: "limit", Name: l.Name, Limit: &l})
	}
	if rng.IntN(2) == 0 {
		at := w.at()
		w.add(event{At: at, Verb: "pause", Of: "kind", Name: kindSteps})
		w.add(event{At: at + w.below(30*time.Second), Verb: "resume", Of: "kind", Name: kindSteps})
	}
	for range rng.IntN(2) * int(120*hours) {
		verb := []string{"kill", "freeze", "cut"}[rng.IntN(3)]
		e := event{At: w.at(), Verb: verb, Node: 1 + rng.IntN(w.plan.Nodes), Trap: "save_step"}
		if e.Verb == "kill" {
			w.add(event{At: e.At + w.below(20*time.Second), Verb: "start", Node: e.Node})
		} else {
			e.For = w.below(30 * time.Second)
		}
		w.add(e)
	}
}

// signalNames are the names of signals. The names of one job's signals differ.
var signalNames = []string{"approval", "payment", "answer"}

// program draws the steps of a job.
func (w *workload) program() (parts []part) {
	rng, sleeps := w.rng, 0
	var signals []string
	for _, k := range rng.Perm(len(signalNames)) {
		signals = append(signals, signalNames[k])
	}
	for i := range 1 + rng.IntN(5) {
		p := part{Name: fmt.Sprintf("part %d", i)}
		switch rng.IntN(8) {
		case 0, 1:
		case 2, 3:
			p.Tx = true
		case 4:
			p.Sort, p.Rounds = store.StepCursor, 2+rng.IntN(8)
		case 5:
			sleeps++
			p = part{Name: fmt.Sprintf("sleep %d", sleeps), Sort: store.StepSleep, For: time.Millisecond + w.below(8*time.Second)}
		default:
			if len(signals) == 0 {
				break
			}
			p, signals = w.wait(signals[0]), signals[1:]
		}
		parts = append(parts, p)
	}
	return parts
}

// wait draws a wait for a signal.
func (w *workload) wait(name string) part {
	p := part{Name: name, Sort: store.StepSignal}
	switch w.rng.IntN(4) {
	case 0:
	case 1:
		p.For = time.Minute + w.below(2*time.Minute)
	default:
		p.For = 500*time.Millisecond + w.below(10*time.Second)
	}
	switch latency := w.plan.Weather.Latency; w.rng.IntN(6) {
	case 0, 1: // before its outcome is stored, or right after that
		p.Meets = time.Microsecond + w.below(2*latency)
	case 2:
		p.Meets = time.Microsecond + w.below(30*latency)
	case 3:
		p.Meets = time.Millisecond + w.below(10*time.Second)
	case 4: // as the wait ends
		if p.For > 0 {
			p.Meets = p.For + w.below(200*time.Millisecond) - 50*time.Millisecond
		}
	}
	return p
}
