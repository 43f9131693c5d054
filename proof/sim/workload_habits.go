package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
)

// habits draws what makes rare situations frequent: a schedule that fires every second or two, so that edits and pauses meet its slots;
// schedules in a group that is paused; grace and counts; two schedules that follow one; users who change jobs that have just been
// enqueued; callers who do not wait for their answers; workers with transactions of their own. Its chance is its own.
func (w *workload) habits() {
	w.fastSchedule()
	w.schedulesOf()
	w.jobs()
	w.followers()
}

// schedulesOf changes the schedules of the plan, and their edits in the same way.
func (w *workload) schedulesOf() {
	type habit struct {
		grace   time.Duration
		count   int64
		grouped bool
	}
	habits := map[string]habit{}
	for i := range w.plan.Events {
		s := w.plan.Events[i].Sched
		if s == nil {
			continue
		}
		h, drawn := habits[s.Name]
		if !drawn {
			if w.rng.IntN(3) == 0 {
				h.grace = time.Duration(3+w.rng.IntN(8)) * time.Second
			}
			if w.rng.IntN(8) == 0 {
				h.count = int64(5 + w.rng.IntN(30))
			}
			h.grouped = w.rng.IntN(5) == 0
			habits[s.Name] = h
		}
		if s.After == "" {
			s.Grace, s.Count = h.grace, h.count
		}
		if h.grouped {
			s.Group = pausedGroup
		}
	}
}

// followers lets two schedules follow one, without users who change them.
func (w *workload) followers() {
	if w.rng.IntN(3) > 0 {
		return
	}
	const followed, one, other = "s7", "s8", "s9"
	w.plan.Events = slices.DeleteFunc(w.plan.Events, func(e event) bool {
		return strings.HasSuffix(e.Verb, " schedule") && slices.Contains([]string{followed, one, other}, e.Name)
	})
	for i := range w.plan.Events {
		if s := w.plan.Events[i].Sched; s != nil && (s.Name == one || s.Name == other) {
			*s = schedule{Name: s.Name, Kind: s.Kind, Overlap: hourbell.OverlapAllow, After: followed, Hooks: s.Hooks}
		} else if s != nil && s.Name == followed {
			s.Group, s.After = "", ""
		}
	}
}

// fastName is the schedule that often fires fast.
const fastName = "s1"

// pausedGroup is the group of jobs, and of some schedules, that pauses concern.
const pausedGroup = "g1"

// fastSchedule makes a schedule fire every few seconds, and pauses it and its group for some seconds.
func (w *workload) fastSchedule() {
	if w.rng.IntN(2) == 0 {
		return
	}
	every := time.Duration(1+w.rng.IntN(3)) * time.Second
	for i := range w.plan.Events {
		if s := w.plan.Events[i].Sched; s != nil && s.Name == fastName && s.After == "" && len(s.Seconds) == 0 {
			s.Every = every
		}
	}
	for range w.rng.IntN(6) {
		at := w.at()
		w.add(event{At: at, Verb: "pause schedule", Name: fastName})
		w.add(event{At: at + w.below(20*time.Second), Verb: "resume schedule", Name: fastName})
	}
	for range w.rng.IntN(3) {
		at := w.at()
		w.add(event{At: at, Verb: "pause", Of: "group", Name: pausedGroup})
		w.add(event{At: at + w.below(30*time.Second), Verb: "resume", Of: "group", Name: pausedGroup})
	}
}

// jobs changes jobs of the plan, and what users do to them.
func (w *workload) jobs() {
	var enqueued []event
	for i := range w.plan.Events {
		e := &w.plan.Events[i]
		for k := range e.Jobs {
			if e.Jobs[k].Kind == kindTx && w.rng.IntN(4) == 0 {
				e.Jobs[k].Kind = kindOwn
			}
		}
		if e.Verb == "enqueue" {
			enqueued = append(enqueued, *e)
			if w.rng.IntN(15) == 0 {
				e.For = time.Millisecond + w.below(60*time.Millisecond)
			}
		}
	}
	slices.SortStableFunc(enqueued, func(a, b event) int { return int(a.At - b.At) })
	for range int(120 * w.plan.Length.Hours()) { // of a job that has just been enqueued
		of := enqueued[w.rng.IntN(len(enqueued))]
		verb := []string{"cancel", "cancel", "retry", "delete", "reprioritise"}[w.rng.IntN(5)]
		w.add(event{At: of.At + w.below(4*time.Second), Verb: verb, Name: of.Jobs[0].Label})
	}
}
