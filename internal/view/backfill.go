package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// BackfillRecord is a slot and its job in machine-readable output.
type BackfillRecord struct {
	Slot  *time.Time `json:"slot"`
	JobID *int64     `json:"job_id"`
}

// BackfillRecords returns the slots of a backfill.
func BackfillRecords(made hourbell.BackfillResult) []BackfillRecord {
	records := make([]BackfillRecord, len(made.Slots))
	for i := range made.Slots {
		records[i].Slot = timeOrNull(made.Slots[i])
		if len(made.Jobs) > 0 {
			records[i].JobID = orNull(made.Jobs[i])
		}
	}
	return records
}

// BackfillListing shows the slots of a backfill.
func BackfillListing() Listing[BackfillRecord] {
	return Listing[BackfillRecord]{
		Columns: []string{"SLOT", "JOB"},
		Row: func(r BackfillRecord) []string {
			job := "-"
			if r.JobID != nil {
				job = fmt.Sprint(*r.JobID)
			}
			return []string{plain.Stamp(*r.Slot), job}
		},
		Record: func(r BackfillRecord) any { return r },
	}
}
