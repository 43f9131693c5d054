package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// record writes what became of the slots of firings that make no job.
func (f *firing) record(ctx context.Context, held []store.Firing, settled []store.Settled) error {
	newest, err := f.newestSlots(ctx, held, settled)
	if err != nil {
		return err
	}
	var r records
	for i, s := range settled {
		schedule := held[i].Schedule
		for _, record := range s.Slots {
			f.out.Slots = append(f.out.Slots, store.SkippedSlot{Schedule: schedule, Record: record})
			r.events.AddSlots(schedule, record)
			if last := newest[schedule]; last != nil && record.Extends(last.SlotRecord) {
				r.grow(last, record)
				continue
			}
			newest[schedule] = newerOf(newest[schedule], r.add(schedule, record))
		}
	}
	return f.writeSlots(ctx, r)
}

// slotRow is a record in the table or on its way there.
type slotRow struct {
	store.SlotRecord
	schedule int64
	id       int64 // 0: not in the table yet
	grown    bool  // in this call
}

// records are records to be written.
type records struct {
	added []*slotRow
	grown []*slotRow
	// events has all records, as they were before they became part of others.
	events store.EventRows
}

func (r *records) add(schedule int64, record store.SlotRecord) *slotRow {
	row := &slotRow{SlotRecord: record, schedule: schedule}
	r.added = append(r.added, row)
	return row
}

// grow prolongs a record. One that is not in the table yet is simply written
// as it has become.
func (r *records) grow(row *slotRow, by store.SlotRecord) {
	row.Last, row.Count = by.Last, row.Count+by.Count
	if row.id != 0 && !row.grown {
		row.grown = true
		r.grown = append(r.grown, row)
	}
}

// newerOf returns the newer of a record, which may be nil, and a later one.
func newerOf(a, added *slotRow) *slotRow {
	if a != nil && a.Slot.After(added.Slot) {
		return a
	}
	return added
}

// newestSlots reads the newest records of schedules where one may be prolonged.
func (f *firing) newestSlots(ctx context.Context, held []store.Firing, settled []store.Settled) (map[int64]*slotRow, error) {
	newest := map[int64]*slotRow{}
	var ids []int64
	for i, s := range settled {
		for _, record := range s.Slots {
			if record.Extend {
				ids = append(ids, held[i].Schedule)
				break
			}
		}
	}
	if len(ids) == 0 {
		return newest, nil
	}
	list, err := collect(ctx, f.tx, scanSlotRow, f.b.q(findNewestSlots), ids)
	for i := range list {
		newest[list[i].schedule] = &list[i]
	}
	return newest, err
}

func scanSlotRow(r pgx.CollectableRow) (row slotRow, err error) {
	var outcome int16
	err = r.Scan(&row.id, &row.schedule, into(&row.Slot), into(&row.Last), &row.Count, &outcome, &row.Reason)
	row.Outcome = store.SlotOutcome(outcome)
	return row, err
}

func (f *firing) writeSlots(ctx context.Context, r records) error {
	var batch pgx.Batch
	if len(r.added) > 0 {
		batch.Queue(f.b.q(insertSlots), append([]any{f.now}, slotColumns(r.added)...)...)
	}
	if len(r.grown) > 0 {
		batch.Queue(f.b.q(extendSlots), append([]any{f.now}, grownColumns(r.grown)...)...)
	}
	f.b.queueEvents(&batch, f.now, r.events)
	return send(ctx, f.tx, &batch)
}

func slotColumns(rows []*slotRow) []any {
	n := len(rows)
	schedules, counts := make([]int64, n), make([]int64, n)
	slots, lasts := make([]*time.Time, n), make([]*time.Time, n)
	outcomes, reasons := make([]int16, n), make([]string, n)
	for i, row := range rows {
		schedules[i], counts[i] = row.schedule, row.Count
		slots[i], lasts[i] = when(row.Slot), when(row.Last)
		outcomes[i], reasons[i] = int16(row.Outcome), row.Reason
	}
	return []any{schedules, slots, lasts, counts, outcomes, reasons}
}

func grownColumns(rows []*slotRow) []any {
	n := len(rows)
	schedules, ids, counts := make([]int64, n), make([]int64, n), make([]int64, n)
	slots, lasts := make([]*time.Time, n), make([]*time.Time, n)
	for i, row := range rows {
		schedules[i], ids[i], counts[i] = row.schedule, row.id, row.Count
		slots[i], lasts[i] = when(row.Slot), when(row.Last)
	}
	return []any{schedules, slots, ids, lasts, counts}
}

func (b *Backend) listSlots(ctx context.Context, tx querier, req store.ListRequest) ([]store.SlotInfo, error) {
	if len(req.IDs) > 0 {
		return collect(ctx, tx, scanSlot, b.q(listScheduleSlots), req.IDs, req.Limit)
	}
	return collect(ctx, tx, scanSlot, b.q(listSlots), orNull(req.Name()), when(req.From), when(req.To),
		when(req.Before.At), req.Before.ID, req.Limit, orNull(req.Group), orNull(req.HostsOf))
}

func scanSlot(r pgx.CollectableRow) (s store.SlotInfo, err error) {
	var outcome, state int16
	var owner string
	err = r.Scan(&s.ID, &s.Schedule, (*word)(&s.ScheduleName), (*word)(&owner), into(&s.Slot), into(&s.Last), &s.Count, &outcome, &s.Reason,
		(*number)(&s.Job), &state, into(&s.RecordedAt), (*number)(&s.After), (*word)(&s.AfterSchedule))
	s.Outcome, s.Host = store.SlotOutcome(outcome), store.HostOf(s.ScheduleName, owner)
	if s.JobKept = state >= 0; s.JobKept {
		s.JobState = store.State(state)
	}
	return s, err
}
