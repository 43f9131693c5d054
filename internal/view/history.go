package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// AcceptedRecord is the result of accept-history in machine-readable output.
// Fields are only ever added.
type AcceptedRecord struct {
	LostAt    *time.Time `json:"lost_at"`
	Schedules int        `json:"schedules"`
	Missed    int64      `json:"missed"`
	Fired     int64      `json:"fired"`
	Token     int64      `json:"token"`
}

// NewAcceptedRecord returns the record of an accepted loss of history.
func NewAcceptedRecord(a hourbell.AcceptedHistory) AcceptedRecord {
	return AcceptedRecord{LostAt: timeOrNull(a.LostAt), Schedules: a.Schedules, Missed: a.Missed, Fired: a.Fired, Token: a.Token}
}

// AcceptedFacts returns the facts about an accepted loss of history.
func AcceptedFacts(a hourbell.AcceptedHistory) []Fact {
	return []Fact{
		{"reported_at", plain.Stamp(a.LostAt)},
		{"schedules", fmt.Sprint(a.Schedules)},
		{"missed", fmt.Sprint(a.Missed)},
		{"fired", fmt.Sprint(a.Fired)},
		{"tokens_above", fmt.Sprint(a.Token)},
	}
}
