package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// ReadHealth reads the health of schedules.
func ReadHealth(ctx context.Context, client *hourbell.Client, schedules []Schedule) error {
	infos := make([]hourbell.ScheduleInfo, len(schedules))
	for i, s := range schedules {
		infos[i] = s.ScheduleInfo
	}
	health, err := client.Schedules.Health(ctx, infos...)
	for i := range health {
		schedules[i].Health = &health[i]
	}
	return err
}

// ResultOf returns what became of the job of a slot: the state of the job, "not kept" after it was deleted, or empty without a job.
func ResultOf(s store.SlotInfo) string {
	switch {
	case s.Job == 0:
		return ""
	case !s.JobKept:
		return "not kept"
	}
	return s.JobState.String()
}

// outcomeOf returns the result of the slot's job, or the outcome of a slot without a job.
func outcomeOf(s store.SlotInfo) string {
	if result := ResultOf(s); result != "" {
		return result
	}
	return s.Outcome.String()
}

// signs has a sign for each outcome. The signs differ in shape, so that a strip can be read without colours.
var signs = map[string]string{
	"completed": "✓", "failed": "✗", "cancelled": "⊘", "not_started": "⊘", "missed": "!", "skipped": "-", "not kept": "?",
}

// Sign is the outcome of a slot, or of several successive slots with one outcome, as one character.
type Sign struct {
	Text string
	Word string // for the outcome
	Slot time.Time
}

// Signs returns the newest outcomes of a schedule, the newest last; jobs that have not ended are dots.
func Signs(h hourbell.ScheduleHealth) (strip []Sign) {
	for _, slot := range slices.Backward(h.Slots) {
		word := outcomeOf(slot)
		strip = append(strip, Sign{cmp.Or(signs[word], "·"), word, slot.Slot})
	}
	return strip
}

// Strip returns Signs as one text.
func Strip(h hourbell.ScheduleHealth) string {
	var b strings.Builder
	for _, sign := range Signs(h) {
		b.WriteString(sign.Text)
	}
	return b.String()
}

// OutcomeCounts returns how many of the newest slots had which outcome, in words.
func OutcomeCounts(h hourbell.ScheduleHealth) string {
	counts := map[string]int{}
	var words []string
	for _, slot := range h.Slots {
		word := outcomeOf(slot)
		if counts[word]++; counts[word] == 1 {
			words = append(words, word)
		}
	}
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", counts[word], word)
	}
	return strings.Join(words, ", ")
}

// stateOf returns the state of a schedule, or "overdue" for an active schedule whose slots have passed without a node that fired them, and
// "failing" for an active schedule whose newest jobs failed.
func stateOf(s Schedule) string {
	switch {
	case s.State() != "active":
	case s.Overdue.Slots > 0: // the next slot alone would look as if the schedule fired
		return "overdue"
	case s.Health != nil && s.Health.Failing():
		return "failing"
	}
	return s.State()
}

// healthFacts returns the facts about the health of a schedule.
func healthFacts(s Schedule) []Fact {
	if s.Health == nil || len(s.Health.Slots) == 0 {
		return nil
	}
	success := "none of these"
	if at := s.Health.LastSuccess; !at.IsZero() {
		success = plain.Stamp(at)
	}
	facts := []Fact{{"last_outcomes", Strip(*s.Health) + "  " + OutcomeCounts(*s.Health)}, {"last_success", success}}
	if n := s.Health.Failures; n > 0 {
		facts = append(facts, Fact{"failures_in_a_row", fmt.Sprint(n)})
	}
	return facts
}

// HealthRecord is the health of a schedule in machine-readable output. Fields are only ever added.
type HealthRecord struct {
	// of up to 20 records of slots, newest first: states of jobs, "not kept", missed, skipped or not_started
	Outcomes    []string   `json:"outcomes" nullable:"false"`
	LastSuccess *time.Time `json:"last_success"` // the newest of these slots whose job completed
	Failures    int        `json:"failures"`     // how many of their newest jobs failed in a row
	FailedFirst *time.Time `json:"failed_first"` // the slot of the first of these failures
	FailedJob   *int64     `json:"failed_job"`   // the job of the last of them
	Failing     bool       `json:"failing"`      // three in a row, or more
}

// newHealthRecord returns the record of a health that was read; otherwise nil.
func newHealthRecord(h *hourbell.ScheduleHealth) *HealthRecord {
	if h == nil {
		return nil
	}
	outcomes := make([]string, len(h.Slots))
	for i, slot := range h.Slots {
		outcomes[i] = outcomeOf(slot)
	}
	return &HealthRecord{outcomes, timeOrNull(h.LastSuccess), h.Failures, timeOrNull(h.FailedFirst), orNull(h.FailedLast), h.Failing()}
}
