package view

import (
	"cmp"
	"fmt"

	"github.com/hourbell/hourbell"
)

// EffortRecord is how hard the jobs of a schedule or of a handler are tried, in machine-readable output. Fields are only ever added.
type EffortRecord struct {
	Priority    int     `json:"priority"`
	MaxAttempts int     `json:"max_attempts"`
	OnLoss      string  `json:"on_loss"`
	Timeout     *string `json:"timeout"`
	Backoff     *string `json:"backoff"`
}

func scheduleEffort(s hourbell.Schedule) EffortRecord {
	return EffortRecord{s.Priority, s.MaxAttempts, s.OnLoss.String(), timeoutOrNull(s.Timeout), orNull(s.Backoff)}
}

func handlerEffort(h hourbell.EventHandler) EffortRecord {
	return EffortRecord{h.Priority, h.MaxAttempts, h.OnLoss.String(), timeoutOrNull(h.Timeout), orNull(h.Backoff)}
}

// facts returns the facts about the effort.
func (e EffortRecord) facts() []Fact {
	none := ""
	return []Fact{
		{"priority", fmt.Sprint(e.Priority)},
		{"max_attempts", fmt.Sprint(e.MaxAttempts)},
		{"on_loss", e.OnLoss},
		{"timeout", *cmp.Or(e.Timeout, &none)},
		{"backoff", *cmp.Or(e.Backoff, &none)},
	}
}
