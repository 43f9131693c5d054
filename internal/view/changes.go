package view

import (
	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// ChangeRecord is what became of one job, for programs. Fields are only ever added.
type ChangeRecord struct {
	ID     int64  `json:"id"`
	Change string `json:"change"`
	Holder int64  `json:"holder,omitempty"` // of a conflict: the job that holds the unique key
}

// NewChangeRecord returns the record of a change.
func NewChangeRecord(c hourbell.JobChange) ChangeRecord {
	return ChangeRecord{c.ID, changeWord(c.Change), c.Holder}
}

// changeWord returns a change as programs read it; empty for a value that the
// library does not define.
func changeWord(c store.Change) string {
	switch c {
	case hourbell.JobChanged:
		return "changed"
	case hourbell.JobRequested:
		return "requested"
	case hourbell.JobNotFound:
		return "not found"
	case hourbell.JobUnchanged:
		return "unchanged"
	case hourbell.JobConflict:
		return "conflict"
	}
	return ""
}
