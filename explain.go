package hourbell

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/internal/engine"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// ExplainRequest is a time for Explain to play through.
type ExplainRequest struct {
	// Slots from From up to, but without, To are shown. From is also where
	// intervals count from that have no start, unless Anchor is given.
	From, To time.Time
	Anchor   time.Time
	// Down are times in which no node lives. A job that runs when one begins is
	// handed back, and starts anew when it ends.
	Down []Span
	// RunTime is how long each job runs.
	RunTime time.Duration
	// Limit is how many slots are shown at most; 0: 1000.
	Limit int
}

// Span is a time from From up to, but without, To.
type Span = engine.Span

// Explanation is what would become of the slots of a schedule, and why.
type Explanation struct {
	Slots []ExplainedSlot
	// ClockChanges are the changes of the clock that touched the rule.
	ClockChanges []recur.ClockChange
	// More says that there were more slots than Limit.
	More bool
}

// ExplainedSlot is a slot, or Count slots in a row that share a fate.
type ExplainedSlot struct {
	Slot    time.Time
	Last    time.Time // equals Slot for a single one
	Count   int64
	Outcome string // fired, missed or skipped
	Reason  string // why it did not fire; of one that fired, what is to be said of its job
	// Job numbers the slots that fired, from 1; 0: it did not.
	Job int64
	// Started and Ended are those of its job; zero: not before To.
	Started time.Time
	Ended   time.Time
}

// What Explain plays through at most.
const (
	defaultExplained = 1000
	maxExplained     = 100_000
)

// Explain plays a time through and says what would become of each slot of a
// schedule and why: when the clock changes, when no node lives for some time, and
// when jobs take long. It uses no store, and the very rules by which nodes
// decide: each slot is found the moment it is due, unless no node lives, jobs
// start as soon as they may, none fails, and one that is asked to cancel does so
// at once. A stored calendar counts as it is in s, as Client.Calendar returns it.
func Explain(s Schedule, req ExplainRequest) (Explanation, error) {
	return explain(s, store.Schedule{}, req)
}

// Explain is the function Explain for a schedule as it stands, with its anchor,
// pause and count.
func (s ScheduleInfo) Explain(req ExplainRequest) (Explanation, error) {
	row := store.Schedule{ID: s.ID, Name: s.Name, Anchor: s.Anchor}
	if !req.From.Before(s.Mark) {
		row.Fired, row.PausedAt, row.PausedUntil, row.Failures = s.Fired, s.PausedAt, s.PausedUntil, s.Failures
	}
	return explain(s.Schedule, row, req)
}

func explain(s Schedule, row store.Schedule, req ExplainRequest) (Explanation, error) {
	if req.Limit == 0 {
		req.Limit = defaultExplained
	}
	if err := errors.Join(s.Rule.Validate(), errors.Join(s.checkPolicies()...), req.validate()); err != nil {
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
	var err error
	if row.Definition, err = s.definition().Encode(); err != nil {
		return Explanation{}, err
	}
	plan, err := engine.NewPlan(row, engine.Given(s.Exclude))
	if err != nil {
		return Explanation{}, fmt.Errorf("explain: %w", err)
	}
	slots, complete := engine.Simulation{
		Plan: plan, Schedule: row, From: req.From, To: req.To, Down: slices.Clone(req.Down), RunTime: req.RunTime, Most: req.Limit,
	}.Run()
	out := Explanation{More: !complete}
	for _, slot := range slots {
		out.Slots = append(out.Slots, explained(slot))
	}
	until := req.To.Add(-time.Microsecond)
	if n := len(out.Slots); out.More && n > 0 {
		until = out.Slots[n-1].Last
	}
	out.ClockChanges = recur.ClockChanges(plan.Rule, row.Mark, until, req.Limit)
	return out, nil
}

// validate reports what is wrong with a request.
func (r ExplainRequest) validate() error {
	errs := []error{checkTime("from", r.From), checkTime("to", r.To), checkDuration("run time", r.RunTime), checkCount("limit", int64(r.Limit), maxExplained)}
	if !r.From.Before(r.To) {
		errs = append(errs, &FieldError{Field: "to", Value: r.To.Format(time.RFC3339), Problem: "is not after from", Remedy: "give a later instant"})
	}
	for _, span := range r.Down {
		if !span.From.Before(span.To) {
			errs = append(errs, &FieldError{
				Field: "down", Value: span.From.Format(time.RFC3339) + ".." + span.To.Format(time.RFC3339), Problem: "ends before it begins", Remedy: "give the earlier instant first",
			})
		}
	}
	return errors.Join(errs...)
}

func explained(s engine.SimulatedSlot) ExplainedSlot {
	return ExplainedSlot{
		Slot: s.Slot, Last: s.Last, Count: s.Count, Outcome: s.Outcome.String(), Reason: reasonOf(s),
		Job: s.Job, Started: s.Started, Ended: s.Ended,
	}
}

// reasonOf says why a slot did not fire, or what there is to say of its job.
func reasonOf(s engine.SimulatedSlot) string {
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
