package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// parked is the state of a ready job that is not among the jobs that claims scan, because
// its group is paused.
const parked = -1

const (
	// pauseStep is how many jobs one transaction parks, or makes claimable.
	pauseStep = 1000
)

// putPauses pauses subjects. A claim that does not see a pause has begun before its commit, so that the next
// transaction waits for it, and then wakes nodes that have such claims. Then due jobs of groups are parked in steps.
func (b *Backend) putPauses(ctx context.Context, req store.PutRequest) (store.PutResult, error) {
	what := req.String()
	out, err := rowwise.InTxAt(b.changePause(ctx, what, req.Now), func(tx pausesTx, now time.Time) (store.PutResult, error) {
		return rowwise.PutPauses(ctx, tx, req, now)
	})
	if err != nil {
		return out, err
	}
	err = b.work(ctx, programConns, what)(func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, b.q(lockClaimingNodes)); err != nil {
			return err
		}
		for _, put := range req.Pauses {
			if _, err := tx.Exec(ctx, b.q(returnPausedPermits), int16(put.Subject), put.Name); err != nil {
				return err
			}
		}
		return b.wake(ctx, tx, store.Wake{Kind: store.WakeCancels})
	})
	parks := slices.ContainsFunc(req.Pauses, func(put store.PutPause) bool { return put.Subject == store.SubjectGroup })
	for n := int64(pauseStep); parks && err == nil && n == pauseStep; {
		n, err = rowwise.InTx(b.work(ctx, programConns, what), func(tx pgx.Tx) (int64, error) { return b.park(ctx, tx, req.Now) })
	}
	return out, err
}

// deletePauses ends pauses. Then it makes parked jobs claimable in steps. If a step fails, claims go on.
func (b *Backend) deletePauses(ctx context.Context, req store.DeleteRequest) error {
	what := req.String()
	err := b.changePause(ctx, what, req.Now)(func(tx pausesTx, now time.Time) error { return rowwise.DeletePauses(ctx, tx, req, now) })
	if err != nil {
		return err
	}
	for n, err := int64(pauseStep), error(nil); err == nil && n == pauseStep; {
		n, err = rowwise.InTx(b.work(ctx, programConns, what), func(tx pgx.Tx) (int64, error) {
			released, _, err := b.endPauses(ctx, tx, req.Now)
			return released, err
		})
	}
	return nil
}

// changePause is a change of a pause that wakes nodes. It waits for transactions that put
// schedules of groups, and for parkers.
func (b *Backend) changePause(ctx context.Context, what string, asked time.Time) rowwise.TransactionAt[pausesTx] {
	return func(change func(tx pausesTx, now time.Time) error) error {
		return b.work(ctx, programConns, what)(func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, b.q(lockPauseTable)); err != nil {
				return err
			}
			var now time.Time
			if err := tx.QueryRow(ctx, b.q(readClock), when(asked)).Scan(into(&now)); err != nil {
				return err
			}
			if err := change(pausesTx{auditTx{b, tx}}, now); err != nil {
				return err
			}
			var batch pgx.Batch
			b.queueWake(&batch, store.Wake{Kind: store.WakeSchedules})
			b.queueWake(&batch, store.Wake{Kind: store.WakeJobs})
			return send(ctx, tx, &batch)
		})
	}
}

// park parks due jobs of paused groups, and returns how many.
func (b *Backend) park(ctx context.Context, tx querier, now time.Time) (int64, error) {
	tag, err := tx.Exec(ctx, b.q(parkJobs), when(now), pauseStep)
	return tag.RowsAffected(), err
}

// endPauses makes parked jobs claimable whose pauses have ended, and returns how many, and whether a pause has ended.
func (b *Backend) endPauses(ctx context.Context, tx querier, now time.Time) (released int64, ended bool, err error) {
	var subjects []int16
	var names, groups []string
	var subject int16
	var name string
	err = each(ctx, tx, []any{&subject, &name}, func() {
		subjects, names = append(subjects, subject), append(names, name)
		if subject == int16(store.SubjectGroup) {
			groups = append(groups, name)
		}
	}, b.q(lockEndedPauses), when(now))
	if err != nil || len(names) == 0 {
		return 0, false, err
	}
	tag, err := tx.Exec(ctx, b.q(unparkJobs), groups, pauseStep)
	if err != nil {
		return 0, false, err
	}
	if len(groups) < len(names) {
		if _, err := tx.Exec(ctx, b.q(insertLimitVacancies)); err != nil {
			return 0, false, err
		}
	}
	if _, err := tx.Exec(ctx, b.q(deletePauses), when(now), subjects, names); err != nil || tag.RowsAffected() == 0 {
		return 0, true, err
	}
	return tag.RowsAffected(), true, b.wake(ctx, tx, store.Wake{Kind: store.WakeJobs})
}

// pausesTx is a transaction in which package rowwise changes pauses.
type pausesTx struct{ auditTx }

// LockPauses implements rowwise.PausesTx.
func (t pausesTx) LockPauses(ctx context.Context, subject store.PauseSubject, names []string) (map[string]store.Pause, error) {
	list, err := collect(ctx, t.tx, scanPause, t.b.q(lockPauses), int16(subject), names)
	pauses := map[string]store.Pause{}
	for _, p := range list {
		pauses[p.Name] = p
	}
	return pauses, err
}

// SavePause implements rowwise.PausesTx.
func (t pausesTx) SavePause(ctx context.Context, p store.Pause) error {
	_, err := t.tx.Exec(ctx, t.b.q(upsertPauses), int16(p.Subject), p.Name, when(p.At), when(p.Until), p.Reason, p.Actor)
	return err
}

// LockGroupSchedules implements rowwise.PausesTx.
func (t pausesTx) LockGroupSchedules(ctx context.Context, group string) ([]*store.Schedule, error) {
	list, err := collect(ctx, t.tx, scanSchedule, t.b.q(lockGroupSchedules), group)
	rows := make([]*store.Schedule, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	return rows, err
}

// SaveSchedules implements rowwise.PausesTx.
func (t pausesTx) SaveSchedules(ctx context.Context, rows []*store.Schedule) error {
	return t.b.writeSchedules(ctx, t.tx, rows)
}

// pauseColumns are the columns that scanPause scans.
const pauseColumns = "subject name paused_at until reason actor"

func scanPause(r pgx.CollectableRow) (p store.Pause, err error) {
	err = r.Scan((*int16)(&p.Subject), &p.Name, into(&p.At), into(&p.Until), &p.Reason, &p.Actor)
	return p, err
}
