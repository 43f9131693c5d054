package sqlrows

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// SavePause implements rowwise.PausesTx.
func (s *Session) SavePause(ctx context.Context, p store.Pause) error {
	return s.Exec(ctx, UpsertPauses, Args{
		"subject": int16(p.Subject), "name": p.Name, "paused_at": Micros(p.At), "until": Micros(p.Until), "reason": p.Reason, "actor": p.Actor,
	})
}

// LockGroupSchedules implements rowwise.PausesTx.
func (s *Session) LockGroupSchedules(ctx context.Context, group string) (rows []*store.Schedule, err error) {
	err = s.EachSchedule(ctx, LockGroupSchedules, Args{"group_name": group}, func(row *store.Schedule) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// PauseColumns are the columns that ScanPause scans.
const PauseColumns = "subject name paused_at until reason actor"

// ScanPause scans a pause.
func ScanPause(r Row) (p store.Pause, err error) {
	err = r.Scan(&p.Subject, &p.Name, IntoTime(&p.At), IntoTime(&p.Until), &p.Reason, &p.Actor)
	return p, err
}
