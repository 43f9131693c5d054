package main

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
)

// backfillRecord is a slot and its job in machine-readable output.
type backfillRecord struct {
	Slot  *time.Time `json:"slot"`
	JobID *int64     `json:"job_id"`
}

func backfilled(made hourbell.Backfill) []backfillRecord {
	records := make([]backfillRecord, len(made.Slots))
	for i := range made.Slots {
		records[i].Slot = timeOrNull(made.Slots[i])
		if len(made.Jobs) > 0 {
			records[i].JobID = orNull(made.Jobs[i])
		}
	}
	return records
}

var backfillListing = listing[backfillRecord]{
	columns: []string{"SLOT", "JOB"},
	row: func(r backfillRecord) []string {
		job := "-"
		if r.JobID != nil {
			job = fmt.Sprint(*r.JobID)
		}
		return []string{plain.Stamp(*r.Slot), job}
	},
	record: func(r backfillRecord) any { return r },
}
