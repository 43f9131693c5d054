package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// EventListing shows events of the feed.
func EventListing() Listing[hourbell.FeedEvent] {
	return Listing[hourbell.FeedEvent]{
		Columns: []string{"CURSOR", "AT", "EVENT", "JOB", "KIND", "SCHEDULE", "SLOT", "NODE", "REASON"},
		Minor:   []string{"CURSOR", "NODE", "SLOT", "KIND", "SCHEDULE"},
		Row: func(e hourbell.FeedEvent) []string {
			job, slot := "-", "-"
			if e.Job != 0 {
				job = fmt.Sprint(e.Job)
			}
			if !e.Slot.IsZero() {
				slot = plain.Stamp(e.Slot)
			}
			if e.Count > 1 {
				slot = fmt.Sprintf("%s and %d more", slot, e.Count-1)
			}
			at := "-"
			if !e.At.IsZero() {
				at = plain.Stamp(e.At)
			}
			return []string{e.Cursor, at, e.Event, job, plain.Dash(e.Kind), plain.Dash(e.Schedule), slot, plain.Dash(e.Node), plain.Dash(plain.OneLine(e.Reason))}
		},
		Record: func(e hourbell.FeedEvent) any { return NewEventRecord(e) },
	}
}

// EventLine returns an event as a line of text, for events that are shown as they come.
func EventLine(e hourbell.FeedEvent) string {
	row := EventListing().Row(e)
	line := []string{row[1], fmt.Sprintf("%-11s", e.Event)}
	for i, name := range []string{"job", "kind", "schedule", "slot", "node"} {
		if value := row[3+i]; value != "-" {
			line = append(line, name+" "+value)
		}
	}
	if e.Reason != "" {
		line = append(line, plain.OneLine(e.Reason))
	}
	return strings.Join(line, "  ")
}

// EventRecord is the record of an event of the feed in machine-readable output. Fields are only
// ever added.
type EventRecord struct {
	Cursor   string     `json:"cursor"`
	At       *time.Time `json:"at"`
	Event    string     `json:"event"`
	JobID    *int64     `json:"job"`
	Kind     *string    `json:"kind"`
	Queue    *string    `json:"queue"`
	Group    *string    `json:"group"`
	Node     *string    `json:"node"`
	Attempt  *int       `json:"attempt"`
	Schedule *string    `json:"schedule"`
	Slot     *time.Time `json:"slot"`
	Count    *int64     `json:"count"`
	Reason   *string    `json:"reason"`
}

// NewEventRecord returns the record of an event of the feed.
func NewEventRecord(e hourbell.FeedEvent) EventRecord {
	return EventRecord{
		Cursor: e.Cursor, At: timeOrNull(e.At), Event: e.Event, JobID: orNull(e.Job), Kind: orNull(e.Kind), Queue: orNull(e.Queue),
		Group: orNull(e.Group), Node: orNull(e.Node), Attempt: orNull(e.Attempt), Schedule: orNull(e.Schedule), Slot: timeOrNull(e.Slot),
		Count: orNull(e.Count), Reason: orNull(e.Reason),
	}
}
