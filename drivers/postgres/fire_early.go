package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// earlyFiring is what a firing knows of slots that are due later.
type earlyFiring struct {
	ahead  int64   // FireRequest.Ahead, in microseconds
	replan bool    // FireRequest.Replan
	fired  []int64 // the schedules that were moved on before their time
	onTime bool    // a schedule was moved on in its time
	// owed are wake-ups that are sent separately.
	owed []string
}

// begin forgets what an earlier try of the transaction did.
func (e *earlyFiring) begin() *earlyFiring {
	*e = earlyFiring{ahead: e.ahead, replan: e.replan}
	return e
}

// mayBe reports whether some of the firings may be early.
func (e *earlyFiring) mayBe() bool { return e.ahead > 0 }

// mayMove returns how long before its time a schedule may be moved on, in microseconds.
func (e *earlyFiring) mayMove() int64 {
	if e.replan {
		return evenFar
	}
	return e.ahead
}

// evenFar is a thousand years, in microseconds: longer than any schedule is due ahead.
const evenFar = 1_000 * 365 * 86_400 * 1_000_000

// note records that a schedule was moved on, and whether before its time.
func (e *earlyFiring) note(schedule int64, early bool) {
	if early && !e.replan {
		e.fired = append(e.fired, schedule)
	} else {
		e.onTime = true
	}
}

// check has the transaction begin again if a schedule that was moved on before its time has a live job: it got the job
// after leaveBusy had looked.
func (e *earlyFiring) check(live map[int64][]liveJob) error {
	if slices.ContainsFunc(e.fired, func(schedule int64) bool { return len(live[schedule]) > 0 }) {
		return errMoved
	}
	return nil
}

// oweWakes has the owed wake-ups sent, together with the wake-ups of other early
// firings.
func (e *earlyFiring) oweWakes(throttle *notifyThrottle) {
	for _, wake := range e.owed {
		throttle.owe(wake)
	}
}

// leaveBusy removes early firings whose schedule still has a live job.
func (f *firing) leaveBusy(ctx context.Context, all []store.Firing) ([]store.Firing, error) {
	if !f.early.mayBe() {
		return all, nil
	}
	var ids, revisions []int64
	var marks, nexts, paused []*time.Time
	for _, one := range all {
		if one.Overlap != store.OverlapAllow {
			ids, revisions = append(ids, one.Schedule), append(revisions, one.Revision)
			marks, nexts, paused = append(marks, when(one.Mark)), append(nexts, when(one.NextAt)), append(paused, when(one.PausedAt))
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	busy, err := collect(ctx, f.tx, pgx.RowTo[int64], f.b.q(findBusySchedules), f.now, f.until, f.early.ahead, ids, revisions, marks, nexts, paused)
	if err != nil || len(busy) == 0 {
		return all, err
	}
	f.out.Busy = busy
	return slices.DeleteFunc(slices.Clone(all), func(one store.Firing) bool { return slices.Contains(busy, one.Schedule) }), nil
}

// wake returns the wake-up for jobs of early firings only if it need not be sent
// separately; see insertion.wake.
func (f *firing) wake(text string) (sent *string, after func(*string)) {
	if !f.early.onTime && !f.b.earlyWakes.take(text) {
		f.early.owed = append(f.early.owed, text)
		return nil, noAfter
	}
	return &text, noAfter
}

// afterFired lets triggered jobs start after the slots of their schedules that have
// fired ahead. It locks these schedules, unless the transaction is a caller's.
func (b *Backend) afterFired(ctx context.Context, tx querier, req store.InsertRequest) ([]store.NewJob, error) {
	var schedules []int64
	for _, job := range req.Jobs {
		if job.Origin == store.OriginTrigger {
			schedules = append(schedules, job.Schedule)
		}
	}
	if len(schedules) == 0 {
		return req.Jobs, nil
	}
	marks := map[int64]time.Time{}
	var id int64
	var now, mark time.Time
	read := lockTriggeredSchedules
	if req.Tx != nil {
		read = findTriggeredSchedules
	}
	err := each(ctx, tx, []any{&id, into(&now), into(&mark)}, func() { marks[id] = mark }, b.q(read), when(req.Now), schedules)
	if err != nil {
		return nil, err
	}
	return store.StartAfter(req.Jobs, marks, now), nil
}
