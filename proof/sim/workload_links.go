package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// links draws what makes jobs of others: graphs, hooks of schedules, handlers, and calendars that keep slots from making
// any. Its chance is its own, so that a seed keeps the other events of its plan.
func (w *workload) links() {
	w.graphs()
	w.hooks()
	w.handlers()
	w.calendars()
}

// graphs draws jobs that follow each other and are enqueued together.
func (w *workload) graphs() {
	for i := range int(24 * w.plan.Length.Hours()) {
		e := event{At: w.at(), Verb: "graph"}
		for k := range 2 + w.rng.IntN(5) {
			j := w.job(fmt.Sprintf("g%d.%d", i, k))
			j.Unique, j.UniqueFor = "", 0
			for range min(k, w.rng.IntN(3)) {
				next := edge{Of: e.Jobs[w.rng.IntN(k)].Label, On: store.On(w.rng.IntN(4))}
				if w.rng.IntN(2) == 0 {
					next.Delay = w.below(3 * time.Second).Truncate(time.Microsecond)
				}
				if !slices.ContainsFunc(j.After, func(other edge) bool { return other.Of == next.Of }) {
					j.After = append(j.After, next)
				}
			}
			if len(j.After) > 0 {
				j.In, j.Any = 0, w.rng.IntN(4) == 0
			}
			e.Jobs = append(e.Jobs, j)
		}
		w.add(e)
	}
}

// hooks gives some schedules hooks, which their edits keep.
func (w *workload) hooks() {
	has := map[string]bool{}
	for i := range w.plan.Events {
		if s := w.plan.Events[i].Sched; s != nil {
			if _, drawn := has[s.Name]; !drawn {
				has[s.Name] = w.rng.IntN(2) == 0
			}
			s.Hooks = has[s.Name]
		}
	}
}

// handlers draws handlers that come and go.
func (w *workload) handlers() {
	for range w.rng.IntN(3) {
		kind := []string{kindPlain, kindTx, kindSlow}[w.rng.IntN(3)]
		at := w.at()
		w.add(event{At: at, Verb: "handler", Name: "of " + kind, Of: kind})
		if w.rng.IntN(2) == 0 {
			w.add(event{At: at + w.at(), Verb: "end handler", Name: "of " + kind})
		}
	}
}

// calendarName is the calendar that some schedules exclude.
const calendarName = "some seconds"

// calendars draws a calendar, its changes, and the schedules that exclude it: some of those with seconds.
func (w *workload) calendars() {
	if w.rng.IntN(2) == 0 {
		return
	}
	for at := time.Duration(0); at < w.plan.Length; at += time.Minute + w.at() {
		seconds := w.rng.Perm(60)[:30]
		slices.Sort(seconds)
		w.add(event{At: at, Verb: "calendar", Name: calendarName, Seconds: seconds})
	}
	for i := range w.plan.Events {
		if s := w.plan.Events[i].Sched; s != nil && len(s.Seconds) > 0 && s.After == "" && w.rng.IntN(3) > 0 {
			s.Excludes = true
			w.plan.Events[i].At = max(w.plan.Events[i].At, 100*time.Millisecond)
		}
	}
}
