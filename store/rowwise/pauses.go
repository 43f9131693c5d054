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

// PutPauses pauses subjects; see store.PutRequest. Claims that have begun before may still take jobs.
func PutPauses(ctx context.Context, tx PausesTx, req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	for _, put := range req.Pauses {
		pauses, err := tx.LockPauses(ctx, put.Subject, []string{put.Name})
		if err != nil {
			return out, err
		}
		old := pauses[put.Name]
		if !old.Active(now) {
			out.Changed++
		}
		if err := setPause(ctx, tx, put.Pause(old, now), now); err != nil {
			return out, err
		}
		if err := Record(ctx, tx, req.PauseEntry(put), now); err != nil {
			return out, err
		}
	}
	return out, nil
}

// DeletePauses ends pauses; see store.DeleteRequest. The rows of the pauses stay, with an Until, because jobs may have to be
// released.
func DeletePauses(ctx context.Context, tx PausesTx, req store.DeleteRequest, now time.Time) error {
	pauses, err := tx.LockPauses(ctx, req.Subject, req.Names)
	if err != nil {
		return err
	}
	for _, name := range req.Names {
		p := pauses[name]
		if err := store.CheckPaused(req.Subject, name, p, now); err != nil {
			return err
		}
		p.Until = now
		if err := setPause(ctx, tx, p, now); err != nil {
			return err
		}
	}
	return Record(ctx, tx, req.Entry(), now)
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
