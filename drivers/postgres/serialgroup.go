package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// serialGroups is a set of serial groups. Jobs without a schedule are in none.
type serialGroups map[store.SerialGroup]bool

func (l serialGroups) add(one store.SerialGroup) {
	if one.Schedule != 0 {
		l[one] = true
	}
}

// scan runs a statement that returns the serial groups of jobs that were added
// or removed.
func (l serialGroups) scan(ctx context.Context, tx querier, text string, args ...any) error {
	var one groupScanner
	return each(ctx, tx, one.targets(), func() { l.add(one.group()) }, text, args...)
}

// groupScanner scans a schedule, which may be null, and Origin.Backfills.
type groupScanner struct {
	schedule int64
	backfill bool
}

func (g *groupScanner) targets() []any { return []any{(*number)(&g.schedule), &g.backfill} }

func (g *groupScanner) group() store.SerialGroup {
	if g.schedule == 0 {
		return store.SerialGroup{}
	}
	return store.SerialGroup{Schedule: g.schedule, Backfill: g.backfill}
}

// heads locks and returns the job that waits first in each serial group where one does.
func (b *Backend) heads(ctx context.Context, tx querier, l serialGroups) (map[store.SerialGroup]int64, error) {
	if len(l) == 0 {
		return nil, nil
	}
	var schedules []int64
	var backfills []bool
	for one := range l {
		schedules, backfills = append(schedules, one.Schedule), append(backfills, one.Backfill)
	}
	waiting := map[store.SerialGroup]int64{}
	var id int64
	var one groupScanner
	err := each(ctx, tx, append([]any{&id}, one.targets()...), func() { waiting[one.group()] = id }, b.q(lockWaitingJobs), schedules, backfills)
	return waiting, err
}

// release makes waiting jobs of serial groups ready if they need not wait any
// more.
func (b *Backend) release(ctx context.Context, tx querier, l serialGroups) error {
	waiting, err := b.heads(ctx, tx, l)
	if err != nil || len(waiting) == 0 {
		return err
	}
	var ids []int64
	for _, id := range waiting {
		ids = append(ids, id)
	}
	queues, err := collect(ctx, tx, pgx.RowTo[string], b.q(releaseJobs), ids)
	if err != nil {
		return err
	}
	return b.wakeQueues(ctx, tx, queues)
}

// endJobs moves locked jobs to history without an outcome, and releases jobs
// that waited for them.
func (b *Backend) endJobs(ctx context.Context, tx querier, now *time.Time, over ends) error {
	if len(over.ids) == 0 {
		return nil
	}
	freed := serialGroups{}
	if err := freed.scan(ctx, tx, b.q(endJobs), now, over.ids, over.states, over.reasons); err != nil {
		return err
	}
	return b.release(ctx, tx, freed)
}

// insertWaiting inserts jobs, some of them waiting. It locks their schedules, so
// that no other transaction adds jobs to their serial groups, and then the jobs
// in these groups, so that none of them ends unnoticed.
func (b *Backend) insertWaiting(ctx context.Context, tx querier, at time.Time, jobs []store.NewJob) ([]store.Inserted, error) {
	added := serialGroups{}
	var schedules []int64
	for _, job := range jobs {
		if job.Waiting {
			added.add(store.SerialGroupOf(job.Schedule, job.Origin))
			schedules = append(schedules, job.Schedule)
		}
	}
	slices.Sort(schedules)
	schedules = slices.Compact(schedules)
	for _, name := range []statement{lockSerialGroups, lockSerialGroupJobs} {
		if _, err := tx.Exec(ctx, b.q(name), schedules); err != nil {
			return nil, err
		}
	}
	inserted, err := b.insertionIn(tx, at).insert(ctx, jobs)
	if err != nil {
		return nil, err
	}
	if err := b.markNoted(ctx, tx, jobs, inserted); err != nil {
		return nil, err
	}
	return inserted, b.release(ctx, tx, added)
}
