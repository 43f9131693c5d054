package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// ExplainRecord is a slot or a change of the clock, in tables and in
// machine-readable output.
type ExplainRecord struct {
	Slot    string     `json:"slot"` // on the clock of the rule
	Outcome string     `json:"outcome"`
	Reason  *string    `json:"reason"`
	Count   int64      `json:"count"`
	Last    string     `json:"last"`
	Job     *int64     `json:"job"` // jobs are numbered from 1
	Started *time.Time `json:"started_at"`
	Ended   *time.Time `json:"finished_at"`
	at      time.Time
	zone    string // of the rule
}

// clockOutcome is the outcome shown for a change of the clock.
const clockOutcome = "clock"

// ExplainRecords returns the slots and the changes of the clock of an
// explanation in the order of time, on the clock of the zone.
func ExplainRecords(e hourbell.Explanation, zone string) []ExplainRecord {
	var rows []ExplainRecord
	for _, change := range e.ClockChanges {
		at := plain.InZone(change.At, zone)
		rows = append(rows, ExplainRecord{Slot: at, Last: at, Outcome: clockOutcome, Reason: orNull(change.Text), at: change.At, zone: zone})
	}
	for _, slot := range e.Slots {
		rows = append(rows, ExplainRecord{
			Slot: plain.InZone(slot.Slot, zone), Last: plain.InZone(slot.Last, zone), Outcome: slot.Outcome, Reason: orNull(slot.Reason), Count: slot.Count,
			Job: orNull(slot.Job), Started: timeOrNull(slot.Started), Ended: timeOrNull(slot.Ended), at: slot.Slot, zone: zone,
		})
	}
	slices.SortStableFunc(rows, func(a, b ExplainRecord) int { return a.at.Compare(b.at) })
	return rows
}

// ExplainListing shows an explanation, with all instants on the clock of the rule.
func ExplainListing() Listing[ExplainRecord] {
	return Listing[ExplainRecord]{
		Columns: []string{"SLOT", "OUTCOME", "JOB", "STARTS", "COUNT", "LAST", "REASON"},
		Minor:   []string{"LAST", "COUNT", "STARTS"},
		Row: func(r ExplainRecord) []string {
			job, starts, count, last, reason := "-", "-", "-", "-", "-"
			if r.Job != nil {
				job = fmt.Sprint(*r.Job)
			}
			if r.Started != nil {
				starts = plain.InZone(*r.Started, r.zone)
			}
			if r.Count > 1 {
				count, last = fmt.Sprint(r.Count), r.Last
			}
			if r.Reason != nil {
				reason = *r.Reason
			}
			return []string{r.Slot, r.Outcome, job, starts, count, last, reason}
		},
		Record: func(r ExplainRecord) any { return r },
	}
}
