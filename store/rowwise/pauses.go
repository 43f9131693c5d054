package rowwise

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PausesTx is a transaction that reads and writes pauses.
type PausesTx interface {
	// LockPauses returns pauses by name, also pauses that have ended. No transaction
	// changes them, or inserts pauses with other names, until this transaction ends.
	LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error)

	// SavePause inserts or updates a pause.
	SavePause(ctx context.Context, p store.Pause) error

	// LockGroupSchedules returns the living schedules of a group.
	LockGroupSchedules(ctx context.Context, group string) ([]*store.Schedule, error)

	// SaveSchedules is SaveSchedules of Schedules.
	SaveSchedules(ctx context.Context, rows []*store.Schedule) error

	AuditTx
}

// PauseSubject pauses a subject; see store.Pauses. Claims that have begun before may
// still take jobs.
func PauseSubject(ctx context.Context, tx PausesTx, req store.PauseRequest, now time.Time) error {
	pauses, err := tx.LockPauses(ctx, req.Subject, []string{req.Name})
	if err != nil {
		return err
	}
	if err := setPause(ctx, tx, req.Pause(pauses[req.Name], now), now); err != nil {
		return err
	}
	return Record(ctx, tx, req.Entry(), now)
}

// ResumeSubject ends a pause; see store.Pauses. The row of the pause stays, with an
// Until, because jobs may have to be released.
func ResumeSubject(ctx context.Context, tx PausesTx, req store.ResumeRequest, now time.Time) (out store.ResumeResult, err error) {
	pauses, err := tx.LockPauses(ctx, req.Subject, []string{req.Name})
	p := pauses[req.Name]
	if err != nil || !p.Active(now) {
		return out, err
	}
	p.Until, out.Resumed = now, true
	if err := setPause(ctx, tx, p, now); err != nil {
		return out, err
	}
	return out, Record(ctx, tx, req.Entry(), now)
}

// setPause stores a pause, and gives it to the schedules of a group.
func setPause(ctx context.Context, tx PausesTx, p store.Pause, now time.Time) error {
	if p.Subject != store.SubjectGroup {
		return tx.SavePause(ctx, p)
	}
	rows, err := tx.LockGroupSchedules(ctx, p.Name)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Unsettled(now) {
			return fmt.Errorf("schedule %q: %w", row.Name, store.ErrUnsettled)
		}
		row.FollowPause(p, now)
	}
	if len(rows) > 0 {
		if err := tx.SaveSchedules(ctx, rows); err != nil {
			return err
		}
	}
	return tx.SavePause(ctx, p)
}

// GroupsOf returns the groups of puts, each once.
func GroupsOf(puts []store.PutSchedule) (names []string) {
	seen := map[string]bool{"": true}
	for _, put := range puts {
		if !seen[put.Group] {
			seen[put.Group] = true
			names = append(names, put.Group)
		}
	}
	return names
}
