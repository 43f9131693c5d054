package hourbell

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FailingAfter is how many jobs in a row have to fail for a schedule to be failing.
const FailingAfter = 3

// HealthSlots is how many records of slots ScheduleHealth has at most.
const HealthSlots = 20

// ScheduleHealth is what became of the newest slots of a schedule, as far as they and their jobs are kept.
type ScheduleHealth struct {
	Slots []store.SlotInfo // newest first
	// LastSuccess is the newest of the slots whose job completed; zero: none of them.
	LastSuccess time.Time
	// Failures is how many of the newest jobs failed in a row. Jobs that have not ended or are not kept, jobs that were cancelled,
	// and slots without a job neither count nor end the row.
	Failures int
	// FailedFirst is the slot of the first of these failures, and FailedLast the job of the last; zero: there is none.
	FailedFirst time.Time
	FailedLast  int64
}

// Failing reports whether the newest jobs failed: FailingAfter in a row, or more.
func (h ScheduleHealth) Failing() bool { return h.Failures >= FailingAfter }

// Health returns the health of schedules, in their order. A schedule on every host has no slots of its own: the schedules of its
// hosts have them (OnHosts).
func (s *ScheduleService) Health(ctx context.Context, schedules ...ScheduleInfo) ([]ScheduleHealth, error) {
	found := make([]ScheduleHealth, len(schedules))
	if len(schedules) == 0 {
		return found, nil
	}
	ids := converted(schedules, func(info ScheduleInfo) int64 { return info.ID })
	slots, err := store.List[store.SlotInfo](ctx, s.client.backend, store.ListRequest{IDs: ids, Limit: HealthSlots})
	if err != nil {
		return nil, fmt.Errorf("read the health of schedules: %w", err)
	}
	of := map[int64][]store.SlotInfo{}
	for _, slot := range slots {
		of[slot.Schedule] = append(of[slot.Schedule], slot)
	}
	for i, id := range ids {
		found[i] = healthOf(of[id])
	}
	return found, nil
}

// healthOf returns the health that follows from the newest slots, newest first.
func healthOf(slots []store.SlotInfo) ScheduleHealth {
	h, failing := ScheduleHealth{Slots: slots}, true
	for _, slot := range slots {
		switch {
		case !slot.JobKept:
		case slot.JobState == store.StateCompleted:
			if failing = false; h.LastSuccess.IsZero() {
				h.LastSuccess = slot.Slot
			}
		case slot.JobState == store.StateFailed && failing:
			if h.Failures++; h.FailedLast == 0 {
				h.FailedLast = slot.Job
			}
			h.FailedFirst = slot.Slot
		}
	}
	return h
}

// ListFailing returns active schedules that are failing, by name, with their health: at most limit of those with a job
// among the newest jobs of the store that did not complete (store.FailedAmong). A limit of 0 means 100.
func (s *ScheduleService) ListFailing(ctx context.Context, limit int) (failing []ScheduleInfo, health []ScheduleHealth, err error) {
	infos, err := s.list(ctx, store.ListRequest{Failed: true, Limit: pageSize(limit)})
	if err != nil {
		return nil, nil, fmt.Errorf("list failing schedules: %w", err)
	}
	all, err := s.Health(ctx, infos...)
	if err != nil {
		return nil, nil, err
	}
	for i, info := range infos {
		if info.State() == "active" && all[i].Failing() {
			failing, health = append(failing, info), append(health, all[i])
		}
	}
	return failing, health, nil
}
