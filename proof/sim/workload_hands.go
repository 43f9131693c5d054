package sim

import (
	"fmt"
	"time"
)

// The verbs of events that only workload.hands draws.
const (
	enqueueInTx   = "enqueue in a transaction" // Of: rolledBack or empty; For: how long the transaction is open
	rolledBack    = "rolled back"
	moveJob       = "move"
	cancelGroup   = "cancel group"
	retryGroup    = "retry group"
	resetSchedule = "reset schedule"
	pauseFor      = "pause schedule for a while"
	backfill      = "backfill"
	setWorkers    = "set workers" // Of: a queue; Seconds: how many
	setMaxRunning = "set max running"
)

// changedGroup is the group whose jobs users change all at once.
const changedGroup = "g2"

// hands draws what users do less often: transactions that stay open, and are rolled back now and then; jobs that move to another
// queue; changes of all jobs of a group; schedules that are reset, paused for a while and run again for a past range; nodes that get more or
// fewer workers. Every tenth seed draws these, so that the other seeds keep their plans.
func (w *workload) hands() {
	hours := w.plan.Length.Hours()
	for i := range int(240 * hours) {
		e := event{At: w.at(), Verb: enqueueInTx, For: w.below(3 * time.Second)}
		if w.rng.IntN(2) == 0 {
			e.Of = rolledBack
		}
		for k := range 1 + w.rng.IntN(3) {
			e.Jobs = append(e.Jobs, w.job(fmt.Sprintf("t%d.%d", i, k)))
		}
		w.add(e)
	}
	var labels []string
	for _, e := range w.plan.Events {
		if e.Verb == "enqueue" {
			labels = append(labels, e.Jobs[0].Label)
		}
	}
	for range int(120 * hours) {
		w.add(event{At: w.at(), Verb: moveJob, Of: w.queue(), Name: labels[w.rng.IntN(len(labels))]})
	}
	for range int(120 * hours) {
		name := fmt.Sprintf("s%d", w.rng.IntN(10))
		verb := []string{resetSchedule, pauseFor, backfill}[w.rng.IntN(3)]
		w.add(event{At: w.at(), Verb: verb, Name: name, For: time.Second + w.below(time.Minute)})
	}
	for range int(30 * hours) {
		w.add(event{At: w.at(), Verb: []string{cancelGroup, retryGroup}[w.rng.IntN(2)], Name: changedGroup})
	}
	for range int(60 * hours) {
		e := event{At: w.at(), Verb: setWorkers, Node: 1 + w.rng.IntN(w.plan.Nodes), Of: w.queue()}
		if w.rng.IntN(2) == 0 {
			e.Verb, e.Of = setMaxRunning, []string{kindPlain, kindTx, kindOwn}[w.rng.IntN(3)]
		}
		e.Seconds = []int{max(1, w.plan.Workers-1) + w.rng.IntN(4)}
		w.add(e)
	}
}

// queue draws a queue.
func (w *workload) queue() string { return []string{"default", "bound"}[w.rng.IntN(2)] }
