package sim

import (
	"encoding/json"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// cause is what a job of a hook or of a handler says about its cause.
type cause struct {
	Event    string
	Schedule string
	Handler  string
	Job      int64
	Attempt  int
}

// notesOf returns the jobs that hooks and handlers have made, by their causes.
func (e *evidence) notesOf() map[cause][]int64 {
	notes := map[cause][]int64{}
	for i := range e.jobs {
		if e.jobs[i].Origin == store.OriginHook {
			var headers map[string]string
			var c cause
			_ = json.Unmarshal(e.jobs[i].Headers, &headers) // without a cause it is of no job, and fails
			_ = json.Unmarshal([]byte(headers[hourbell.HookHeader]), &c)
			notes[c] = append(notes[c], e.jobs[i].ID)
		}
	}
	return notes
}

// eventOf is the event that the end of a job is to its hooks and handlers; empty: none.
func eventOf(state store.State) string {
	switch state {
	case store.StateCompleted:
		return hourbell.HookSuccess
	case store.StateFailed:
		return hourbell.HookFailure
	}
	return ""
}

// hooksAreMadeOnce: the end of a job makes each job of its hooks and handlers once, and nothing else makes one.
func hooksAreMadeOnce(e *evidence) {
	notes := e.notesOf()
	ends := map[[3]any]int{} // by who asked for it, the event, and the job
	for c, ids := range notes {
		if len(ids) > 1 {
			e.fail("jobs %v are all for %+v", ids, c)
		}
		if c.Event == hourbell.HookRetry {
			continue
		}
		who := "handler " + c.Handler
		if c.Handler == "" {
			who = "hook of " + c.Schedule
		}
		ends[[3]any{who, c.Event, c.Job}]++
		if j := e.byID[c.Job]; j != nil && !e.changed[c.Job] && eventOf(j.State) != c.Event {
			e.fail("job %d is for the %s of job %d, which is in state %d", ids[0], c.Event, c.Job, j.State)
		}
	}
	for i := range e.jobs {
		j := &e.jobs[i]
		if eventOf(j.State) == "" || e.changed[j.ID] || j.Origin == store.OriginHook {
			continue
		}
		made := func(who string) int { return ends[[3]any{who, eventOf(j.State), j.ID}] }
		slot := j.Origin == store.OriginSchedule || j.Origin == store.OriginAfter
		if want := e.hooked[j.ScheduleName]; slot && !e.halted[j.ScheduleName] && (made("hook of "+j.ScheduleName) == 1) != want {
			e.fail("the end of job %d of %s in state %d made %d jobs of hooks", j.ID, j.ScheduleName, j.State, made("hook of "+j.ScheduleName))
		}
		for _, in := range e.handlers {
			to := in.To.Store
			if in.What != j.Kind || e.clockWasSet() || !j.FinishedAt.After(in.From.Store) || !to.IsZero() && !j.FinishedAt.Before(to) {
				continue
			}
			if n := made("handler of " + j.Kind); n != 1 {
				e.fail("the end of job %d at %s made %d jobs of the handler of its kind, which was put at %s",
					j.ID, clock(j.FinishedAt), n, clock(in.From.Store))
			}
		}
	}
}

// calendarsAreKept: after a calendar was put, and a schedule that excludes it, none of its seconds fires.
func calendarsAreKept(e *evidence) {
	if e.clockWasSet() {
		return
	}
	for _, rule := range e.rules {
		for _, calendar := range e.calendars {
			for _, s := range e.slots {
				in := func(from, to moment) bool {
					return s.Slot.After(from.Store) && (to.Store.IsZero() || s.Slot.Before(to.Store))
				}
				excluded := slices.Contains(calendar.What, s.Slot.Second()) && rule.What.Excludes && rule.What.Name == baseOf(s.ScheduleName)
				if excluded && s.Outcome == store.SlotFired && in(rule.From, rule.To) && in(calendar.From, calendar.To) {
					e.fail("%s: the slot %s fired, although its calendar has excluded it since %s",
						s.ScheduleName, clock(s.Slot), clock(calendar.From.Store))
				}
			}
		}
	}
}
