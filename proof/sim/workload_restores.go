package sim

import (
	"slices"
	"time"
)

// restores lets the store go back to a backup once, in the plan of every tenth seed, so that the other seeds keep their plans. Node 1
// has no fault then: a loss that no node has seen is not noticed. Its chance is its own.
func (w *workload) restores() {
	w.plan.Events = slices.DeleteFunc(w.plan.Events, func(e event) bool { return e.Node == 1 })
	w.add(event{At: w.plan.Length/8 + w.below(w.plan.Length/3), Verb: restore, For: time.Second + w.below(90*time.Second)})
}

// restore is the verb of an event that makes a backup, and restores it later, which an operator accepts then.
const restore = "restore"
