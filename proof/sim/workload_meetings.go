package sim

import (
	"fmt"
	"time"
)

// meetings draws what rarely meets otherwise: callers who enqueue at one instant, some of whom leave before they are answered, and
// pauses right after a claim, before its jobs begin. Every fifth seed draws them, so that the other seeds keep their plans.
func (w *workload) meetings() {
	if w.rng.IntN(2) == 0 {
		w.plan.Weather = weather{Latency: w.plan.Weather.Latency} // an error has a reason then
	}
	for i := range int(180 * w.plan.Length.Hours()) {
		at := w.at()
		for k := range 4 + w.rng.IntN(6) {
			e := event{At: at, Verb: "enqueue", Jobs: []job{w.job(fmt.Sprintf("c%d.%d", i, k))}}
			if w.rng.IntN(4) == 0 {
				e.For = 100*time.Microsecond + w.below(2*w.plan.Weather.Latency)
			}
			w.add(e)
		}
	}
	for range int(120 * w.plan.Length.Hours()) {
		s := []subject{{"queue", "bound"}, {"kind", kindPlain}, {"kind", kindTx}, {"group", pausedGroup}}[w.rng.IntN(4)]
		at := w.at()
		w.add(event{At: at, Verb: "pause", Of: s.Of, Name: s.Name, Node: 1 + w.rng.IntN(w.plan.Nodes), Trap: "claim"})
		w.add(event{At: at + time.Second + w.below(4*time.Second), Verb: "resume", Of: s.Of, Name: s.Name})
	}
}
