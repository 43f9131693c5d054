package hourbell

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// ExplainRequest is a range of time for Explain to simulate.
type ExplainRequest struct {
	// The slots from From up to, but not including, To are shown. Intervals
	// without a start count from From, unless Anchor is given.
	From, To time.Time
	Anchor   time.Time
	// Down are the times in which no node lives. A job that runs when such a
	// time begins is handed back, and starts again when the time ends.
	Down []Span
	// RunTime is how long each job runs.
	RunTime time.Duration
	// Limit is the greatest number of slots to show; 0: 1000.
	Limit int
}

// Span is a range of time from From up to, but not including, To.
type Span struct{ From, To time.Time }

// Explanation has the outcomes that the slots of a schedule would have, and the
// reasons.
type Explanation struct {
	Slots []ExplainedSlot
	// ClockChanges are the changes of the clock that affected the rule.
	ClockChanges []recur.ClockChange
	// More reports that there are more slots than Limit.
	More bool
}

// ExplainedSlot is a slot, or Count successive slots with the same outcome.
type ExplainedSlot struct {
	Slot    time.Time
	Last    time.Time // equals Slot if Count is 1
	Count   int64
	Outcome string // fired, missed or skipped
	Reason  string // why it did not fire; for a slot that fired, remarks about its job
	// Job numbers the slots that fired, from 1; 0 for a slot that did not fire.
	Job int64
	// Started and Ended are the times of its job; zero: not before To.
	Started time.Time
	Ended   time.Time
}

// The limits of a simulation.
const (
	defaultExplained = 1000
	maxExplained     = 100_000
)

// Explain simulates a range of time and returns the outcome that each slot of s
// would have, and why: when the clock changes, when no node lives for some
// time, and when jobs take long. It uses no store, and the same rules as nodes
// do on PostgreSQL and SQLite, where slots can fire early. Each slot is found at
// the instant it is due, unless no node lives; jobs start as soon as they may, and
// none fails; a job that is asked to cancel ends at once. A stored calendar counts with its content in s, as
// CalendarService.Get returns it.
func (s Schedule) Explain(req ExplainRequest) (Explanation, error) {
	return explain(s, store.Schedule{}, req)
}

// Explain is Schedule.Explain for a stored schedule, with its anchor, pause and
// count.
func (s ScheduleInfo) Explain(req ExplainRequest) (Explanation, error) {
	row := store.Schedule{ID: s.ID, Name: s.Name, Anchor: s.Anchor}
	if !req.From.Before(s.Mark) {
		row.Fired, row.PausedAt, row.PausedUntil, row.Failures = s.Fired, s.PausedAt, s.PausedUntil, s.Failures
		row.Group, row.GroupPausedAt, row.GroupPausedUntil = s.Group, s.GroupPausedAt, s.GroupPausedUntil
	}
	if s.MadeFrom != "" {
		s.On = Place{Every: true} // so that its count counts instants
	}
	return explain(s.Schedule, row, req)
}

func explain(s Schedule, row store.Schedule, req ExplainRequest) (Explanation, error) {
	req.Limit = cmp.Or(req.Limit, defaultExplained)
	if s.Follows() {
		return Explanation{}, fmt.Errorf("explain: %w", s.noTimetable("explain the schedules that it follows"))
	}
	if err := check.Join(s.Rule.Validate(), check.Join(s.checkPolicies()...), req.validate()); err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	row.Name = s.Name
	switch {
	case !req.Anchor.IsZero():
		row.Anchor = req.Anchor
	case row.Anchor.IsZero():
		row.Anchor = req.From
	}
	row.Mark = req.From.Add(-time.Microsecond)
	definition := s.definition(RawArgs{}, plan.Hooks{})
	if definition.On.Every {
		definition = definition.ForHost(row, "", nil) // each host has the same slots
	}
	var err error
	if row.Definition, err = definition.Encode(); err != nil {
		return Explanation{}, err
	}
	p, err := plan.New(row, plan.Given(excluded(s.Exclude)))
	if err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	slots, complete := plan.Simulation{
		Plan: p, Schedule: row, From: req.From, To: req.To, Down: converted(req.Down,
			func(s Span) plan.Span { return plan.Span(s) }), RunTime: req.RunTime, Most: req.Limit,
	}.Run()
	out := Explanation{More: !complete}
	for _, slot := range slots {
		out.Slots = append(out.Slots, explained(slot))
	}
	out.ClockChanges = recur.ClockChanges(p.Rule, row.Mark, out.end(req.To), req.Limit)
	return out, nil
}

// end returns the last instant that is explained, for an explanation to an instant.
func (e Explanation) end(to time.Time) time.Time {
	if n := len(e.Slots); e.More && n > 0 {
		return e.Slots[n-1].Last
	}
	return to.Add(-time.Microsecond)
}

// validate returns what is wrong with a request.
func (r ExplainRequest) validate() error {
	errs := []error{checkTime("from", r.From), checkTime("to", r.To), checkDuration("run time", r.RunTime), checkCount("limit", int64(r.Limit), maxExplained)}
	if !r.From.Before(r.To) {
		errs = append(errs, &check.FieldError{Field: "to", Value: r.To.Format(time.RFC3339), Problem: "is not after from", Remedy: "give a later instant"})
	}
	for _, span := range r.Down {
		if !span.From.Before(span.To) {
			errs = append(errs, &check.FieldError{
				Field: "down", Value: span.From.Format(time.RFC3339) + ".." + span.To.Format(time.RFC3339),
				Problem: "ends before it begins", Remedy: "give the earlier instant first",
			})
		}
	}
	return check.Join(errs...)
}

func explained(s plan.SimulatedSlot) ExplainedSlot {
	return ExplainedSlot{
		Slot: s.Slot, Last: s.Last, Count: s.Count, Outcome: s.Outcome.String(), Reason: reasonOf(s),
		Job: s.Job, Started: s.Started, Ended: s.Ended,
	}
}

// reasonOf returns why a slot did not fire, or remarks about its job.
func reasonOf(s plan.SimulatedSlot) string {
	switch late := s.FoundAt.Sub(s.Slot); {
	case s.Outcome != store.SlotFired:
		return s.Reason
	case s.Why != "":
		return s.Why
	case s.Started.IsZero():
		return "its job does not start before the end"
	case s.Started.After(s.FoundAt) && s.Started.After(s.Slot):
		return fmt.Sprintf("its job starts %v later", s.Started.Sub(s.Slot))
	case late > 0:
		return fmt.Sprintf("late: found after %v", late)
	}
	return ""
}
