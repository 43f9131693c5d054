package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// SlotListing shows records of slots.
func SlotListing() Listing[store.SlotInfo] {
	return Listing[store.SlotInfo]{
		Columns: []string{"SCHEDULE", "HOST", "SLOT", "OUTCOME", "JOB", "RESULT", "COUNT", "LAST", "REASON"},
		Minor:   []string{"LAST", "HOST", "COUNT"},
		Row: func(s store.SlotInfo) []string {
			job, count, last := "-", "-", "-"
			if s.Job != 0 {
				job = fmt.Sprint(s.Job)
			}
			if s.Count > 1 {
				count, last = fmt.Sprint(s.Count), plain.Stamp(s.Last)
			}
			reason := s.Reason
			if s.After != 0 && reason == "" {
				reason = fmt.Sprintf("after job %d of %s", s.After, s.AfterSchedule)
			}
			return []string{s.ScheduleName, plain.Dash(s.Host), plain.Stamp(s.Slot), s.Outcome.String(), job, plain.Dash(ResultOf(s)), count, last, plain.Dash(reason)}
		},
		Record: func(s store.SlotInfo) any { return NewSlotRecord(s) },
	}
}

// SlotRecord is the record of a slot, or of several successive slots, in
// machine-readable output. Fields are only ever added.
type SlotRecord struct {
	Schedule   string     `json:"schedule"`
	Slot       *time.Time `json:"slot"`
	Outcome    string     `json:"outcome"`
	Reason     *string    `json:"reason"`
	JobID      *int64     `json:"job_id"`
	JobState   *string    `json:"job_state"` // null without a job, or if the job is not kept any more
	Last       *time.Time `json:"last"`
	Count      int64      `json:"count"`
	RecordedAt *time.Time `json:"recorded_at"`
	// The job whose end the slot is, and its schedule.
	AfterJob      *int64  `json:"after_job"`
	AfterSchedule *string `json:"after_schedule"`
	// The host for which the slot is accounted, if its schedule is on every host.
	Host *string `json:"host"`
}

// NewSlotRecord returns the record of a slot.
func NewSlotRecord(s store.SlotInfo) SlotRecord {
	var state *string
	if s.JobKept {
		state = orNull(s.JobState.String())
	}
	return SlotRecord{
		JobState: state,
		Schedule: s.ScheduleName, Slot: timeOrNull(s.Slot), Outcome: s.Outcome.String(),
		Reason: orNull(s.Reason), JobID: orNull(s.Job),
		Last: timeOrNull(s.Last), Count: s.Count, RecordedAt: timeOrNull(s.RecordedAt), AfterJob: orNull(s.After),
		AfterSchedule: orNull(s.AfterSchedule), Host: orNull(s.Host),
	}
}
