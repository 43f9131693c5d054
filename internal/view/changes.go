package view

import (
	"github.com/hourbell/hourbell/store"
)

// ChangeRecord is what became of one job, for programs. Fields are only ever added.
type ChangeRecord struct {
	ID     int64  `json:"id"`
	Change string `json:"change"`
	Holder int64  `json:"holder,omitempty"`  // of a conflict: the job that holds the unique key
	DryRun bool   `json:"dry_run,omitempty"` // the change was not made
}

// NewChangeRecord returns the record of a change, or of a change that a dry run would
// have made.
func NewChangeRecord(c store.JobChange, dryRun bool) ChangeRecord {
	return ChangeRecord{c.ID, changeWord(c.Change), c.Holder, dryRun}
}

// CountRecord is a number of jobs, for programs.
type CountRecord struct {
	Count int64 `json:"count"`
}

// changeWord returns a change as programs read it; empty for a value that the
// library does not define.
func changeWord(c store.Change) string {
	switch c {
	case store.Changed:
		return "changed"
	case store.Requested:
		return "requested"
	case store.Missing:
		return "not found"
	case store.Unchanged:
		return "unchanged"
	case store.KeyTaken:
		return "conflict"
	}
	return ""
}
