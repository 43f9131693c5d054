package main

import (
	"bufio"
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// acceptedRecord is the result of accept-history in machine-readable output.
// Fields are only ever added.
type acceptedRecord struct {
	LostAt    *time.Time `json:"lost_at"`
	Schedules int        `json:"schedules"`
	Missed    int64      `json:"missed"`
	Fired     int64      `json:"fired"`
	Token     int64      `json:"token"`
}

func newAcceptedRecord(a hourbell.AcceptedHistory) acceptedRecord {
	return acceptedRecord{LostAt: timeOrNull(a.LostAt), Schedules: a.Schedules, Missed: a.Missed, Fired: a.Fired, Token: a.Token}
}

func printAccepted(out *bufio.Writer, a hourbell.AcceptedHistory) {
	printFacts(out, []fact{
		{"reported_at", plain.Stamp(a.LostAt)},
		{"schedules", fmt.Sprint(a.Schedules)},
		{"missed", fmt.Sprint(a.Missed)},
		{"fired", fmt.Sprint(a.Fired)},
		{"tokens_above", fmt.Sprint(a.Token)},
	})
}
