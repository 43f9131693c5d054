package sim

import "fmt"

// killerRuns is in how many runs a job of kindKiller ends its process: twice until it is a suspect, and once when it runs alone.
const killerRuns = 3

// killers draws jobs that end their processes, so that they become suspects. Every fifth seed draws them, so that the other seeds
// keep their plans.
func (w *workload) killers() {
	for i := range int(18 * w.plan.Length.Hours()) {
		j := w.job(fmt.Sprintf("killer%d", i))
		j.Kind, j.Unique, j.Timeout, j.MaxAttempts, j.FailOnLoss = kindKiller, "", 0, 3*killerRuns, false
		w.add(event{At: w.at(), Verb: "enqueue", Jobs: []job{j}})
	}
}
