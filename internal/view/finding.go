package view

import "github.com/hourbell/hourbell/store"

// FindingListing shows what the examination of a store has found.
func FindingListing() Listing[store.Finding] {
	return Listing[store.Finding]{
		Columns: []string{"CHECK", "RESULT", "FOUND"},
		Row:     func(f store.Finding) []string { return []string{f.Check, f.Level.String(), f.Found} },
		Record: func(f store.Finding) any {
			return FindingRecord{Check: f.Check, Result: f.Level.String(), Found: f.Found, Remedy: f.Remedy}
		},
	}
}

// FindingRecord is what an examination has found about one subject, in machine-readable output. Fields are
// only ever added.
type FindingRecord struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, warning or error
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
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
