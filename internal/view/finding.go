package view

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// FindingListing shows findings.
func FindingListing() Listing[store.Finding] {
	return Listing[store.Finding]{
		Columns: []string{"CHECK", "RESULT", "FOUND"},
		Row:     func(f store.Finding) []string { return []string{f.Check, f.Level.String(), f.Found} },
		Record: func(f store.Finding) any {
			return NewFindingRecord(f)
		},
	}
}

// NewFindingRecord returns the record of a finding.
func NewFindingRecord(f store.Finding) FindingRecord {
	return FindingRecord{
		Check: f.Check, Result: f.Level.String(), Found: f.Found, Remedy: f.Remedy, Since: timeOrNull(f.Since),
		Node: f.Node, Schedule: f.Schedule, Job: f.Job,
	}
}

// FindingRecord is a finding in machine-readable output. Fields are
// only ever added.
type FindingRecord struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, warning or error
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
	// Since when, by the store's clock, if it is known.
	Since *time.Time `json:"since,omitempty"`
	// What it is about, as far as it is one thing.
	Node     string `json:"node,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	Job      int64  `json:"job,omitempty"`
}

// FindingTone returns the tone of a level.
func FindingTone(l store.FindingLevel) string {
	switch l {
	case store.FindingOK:
		return Good
	case store.FindingWarning:
		return Warn
	}
	return Bad
}
