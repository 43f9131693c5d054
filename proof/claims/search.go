package claims

import (
	"fmt"
	"strings"
)

// Found is what a search has found.
type Found struct {
	States      int
	Transitions int
	Ends        int    // states in which all jobs have ended
	Broken      string // the rule that is broken, and how; empty: none
	Trace       []Step // the shortest way there
}

// Search visits every state, nearest first, until a rule is broken. When it has seen all states, it looks for states
// from which no way without a fault leads to the end of all jobs.
func (w World) Search() Found {
	first := w.start().tidy()
	places := map[State]int32{first: 0}
	states, before := []State{first}, []int32{-1}
	var calm [][2]int32 // steps that are not faults
	found := Found{}
	stop := func(at int32, last *Step, broken string) Found {
		found.States, found.Broken, found.Trace = len(states), broken, w.trace(states, before, at)
		if last != nil {
			found.Trace = append(found.Trace, *last)
		}
		return found
	}
	for at := int32(0); int(at) < len(states); at++ {
		s := states[at]
		for _, step := range w.Steps(s) {
			found.Transitions++
			if broken := w.StepRules(s, step); broken != "" {
				return stop(at, &step, broken)
			}
			if broken := w.Rules(step.To); broken != "" {
				return stop(at, &step, broken)
			}
			to, seen := places[step.To]
			if !seen {
				to = int32(len(states))
				places[step.To] = to
				states, before = append(states, step.To), append(before, at)
			}
			if !step.Fault && to != at {
				calm = append(calm, [2]int32{at, to})
			}
		}
	}
	ends := endsFrom(states, calm)
	for at := range states {
		if states[at].over() {
			found.Ends++
		}
		if !ends[at] {
			return stop(int32(at), nil, "nothing is stuck: no way without a fault leads to the end of all jobs")
		}
	}
	found.States = len(states)
	return found
}

// endsFrom returns from which states steps lead to the end of all jobs.
func endsFrom(states []State, steps [][2]int32) []bool {
	ends := make([]bool, len(states))
	for at := range states {
		ends[at] = states[at].over()
	}
	for more := true; more; {
		more = false
		for i := len(steps) - 1; i >= 0; i-- { // later states are nearer to the end
			if from, to := steps[i][0], steps[i][1]; ends[to] && !ends[from] {
				ends[from], more = true, true
			}
		}
	}
	return ends
}

// trace returns the steps from the first state to another.
func (w World) trace(states []State, before []int32, at int32) (steps []Step) {
	for ; before[at] >= 0; at = before[at] {
		for _, step := range w.Steps(states[before[at]]) {
			if step.To == states[at] {
				steps = append([]Step{step}, steps...)
				break
			}
		}
	}
	return steps
}

// String returns the counts, or the rule that is broken and the way there.
func (f Found) String() string {
	if f.Broken == "" {
		return fmt.Sprintf("%d states, %d of them ends; %d transitions; no rule is broken", f.States, f.Ends, f.Transitions)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s; the shortest way has %d steps:\n", f.Broken, len(f.Trace))
	for i, step := range f.Trace {
		fmt.Fprintf(&text, "  %2d  %v\n", i+1, step)
	}
	return text.String()
}
