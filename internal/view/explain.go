package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// explainedRow is a slot or a change of the clock, in tables and in
// machine-readable output.
type explainedRow struct {
	Slot    string     `json:"slot"` // on the clock of the rule
	Outcome string     `json:"outcome"`
	Reason  *string    `json:"reason"`
	Count   int64      `json:"count"`
	Last    string     `json:"last"`
	Job     *int64     `json:"job"` // jobs are numbered from 1
	Started *time.Time `json:"started_at"`
	Ended   *time.Time `json:"finished_at"`
	at      time.Time
}

// clockOutcome is the outcome shown for a change of the clock.
const clockOutcome = "clock"

func explainedRows(e hourbell.Explanation, zone string) []explainedRow {
	var rows []explainedRow
	for _, change := range e.ClockChanges {
		at := plain.InZone(change.At, zone)
		rows = append(rows, explainedRow{Slot: at, Last: at, Outcome: clockOutcome, Reason: orNull(change.Text), at: change.At})
	}
	for _, slot := range e.Slots {
		rows = append(rows, explainedRow{
			Slot: plain.InZone(slot.Slot, zone), Last: plain.InZone(slot.Last, zone), Outcome: slot.Outcome, Reason: orNull(slot.Reason), Count: slot.Count,
			Job: orNull(slot.Job), Started: timeOrNull(slot.Started), Ended: timeOrNull(slot.Ended), at: slot.Slot,
		})
	}
	slices.SortStableFunc(rows, func(a, b explainedRow) int { return a.at.Compare(b.at) })
	return rows
}

var explainListing = listing[explainedRow]{
	columns: []string{"SLOT", "OUTCOME", "JOB", "STARTS", "COUNT", "LAST", "REASON"},
	row: func(r explainedRow) []string {
		job, starts, count, last, reason := "-", "-", "-", "-", "-"
		if r.Job != nil {
			job = fmt.Sprint(*r.Job)
		}
		if r.Started != nil {
			starts = plain.Stamp(*r.Started)
		}
		if r.Count > 1 {
			count, last = fmt.Sprint(r.Count), r.Last
		}
		if r.Reason != nil {
			reason = *r.Reason
		}
		return []string{r.Slot, r.Outcome, job, starts, count, last, reason}
	},
	record: func(r explainedRow) any { return r },
}
