package view

import "slices"

// The columns and facts that hold instants, numbers, sentences, or words for states. Other columns
// hold texts of users.
var (
	instants = []string{
		"AT", "RUN AT", "STARTED", "SEEN", "UPDATED", "UNTIL", "SINCE", "STARTED AT", "FINISHED AT", "OLDEST", "LAST SLOT",
		"SLOT", "LAST", "NEXT", "STARTS", "CREATED", "EXPIRES",
		"created_at", "run_at", "started_at", "finished_at", "slot", "next_at", "mark", "anchor", "updated_at", "paused_at",
		"paused_until", "failing_since", "last_success", "LAST RUN", "last_run",
		"locked_at", "lock_until", "granted_at",
	}
	numbers = []string{
		"ID", "JOB", "ATTEMPT", "TOKEN", "COUNT", "FIRED", "REVISION", "READY", "SCHEDULED", "RUNNING", "WAITING",
		"SCHEDULES", "TOOK", "MEDIAN", "FAILURES", "ELAPSED", "EXPECTED", "NEWEST",
	}
	prose  = []string{"RESULT", "REASON", "ERROR", "PROGRESS", "DETAIL", "PAUSED", "FOUND", "RULE"}
	states = []string{"STATE", "OUTCOME", "RESULT", "state"}
)

// IsInstant reports whether a column or a fact has instants, as plain.Stamp formats them.
func IsInstant(column string) bool { return slices.Contains(instants, column) }

// IsSlot reports whether the instants of a column are slots. An instant names its slot, so it
// is shown as it is, and not relative to now.
func IsSlot(column string) bool {
	return slices.Contains([]string{"SLOT", "LAST", "LAST SLOT", "STARTS", "slot"}, column)
}

// IsNumber reports whether a column has numbers.
func IsNumber(column string) bool { return slices.Contains(numbers, column) }

// IsProse reports whether a column has sentences, such as errors. A terminal shows them in full.
func IsProse(column string) bool { return slices.Contains(prose, column) }

// IsState reports whether a column or a fact has words for states.
func IsState(column string) bool { return slices.Contains(states, column) }

// The tones of words for states.
const (
	Good = "good" // as it should be
	Busy = "busy" // at work
	Wait = "wait" // waits for its turn or its time
	Warn = "warn" // may need attention
	Bad  = "bad"  // needs attention
	Mute = "mute" // everything else
)

// Tone returns how the word of a state is marked. The word itself is always shown too.
func Tone(word string) string {
	switch word {
	case "completed", "active", "alive":
		return Good
	case "running", "held":
		return Busy
	case "ready", "scheduled", "waiting", "due":
		return Wait
	case "retrying", "retry", "silent", "ahead", "paused", "snoozed", "clock":
		return Warn
	case "failed", "failing", "overdue", "missed", "died", "broken", "suspended", "lost", "error", "timeout":
		return Bad
	}
	return Mute
}
