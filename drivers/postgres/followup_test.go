package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// spoilt is a follow-up whose job the server refuses.
func spoilt(schedule int64) *store.FollowUp {
	return &store.FollowUp{Schedule: schedule, Failing: true, Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("\x00"), Priority: 5, MaxAttempts: 1}}}}
}

// TestFollowUpFailsWithItsCall lets the last statement of calls fail: nothing
// of them may stay.
func TestFollowUpFailsWithItsCall(t *testing.T) {
	b := fresh(t)
	row := planned(t, b, 1)[0]
	node := register(t, b)
	jobs := noop(2)
	jobs[0].MaxAttempts, jobs[1].MaxAttempts = 1, 1
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	held := claimN(t, b, node, 2)
	f := ringing([]store.Schedule{row})[0]
	f.After = spoilt(row.ID)
	for what, call := range map[string]func() error{
		"Finish": func() error {
			o := store.Outcome{ID: held[0].ID, Token: held[0].Token, Result: store.Failed, Error: "e", After: spoilt(row.ID)}
			_, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{o, {ID: held[1].ID, Token: held[1].Token}}})
			return err
		},
		"Fire": func() error {
			_, err := b.Fire(t.Context(), store.FireRequest{Now: row.NextAt, Firings: []store.Firing{f}})
			return err
		},
		"Leave": func() error {
			after := func(store.LostJob) *store.FollowUp { return spoilt(row.ID) }
			_, err := b.Leave(t.Context(), store.LeaveRequest{Node: node, After: after})
			return err
		},
	} {
		if err := call(); err == nil {
			t.Errorf("%s: the server took the job", what)
		}
		if got := counts(t, b); got != "2 running, 0 finished, 0 attempts, 0 slots, 0 failing, 1 nodes" {
			t.Errorf("a %s that failed left something behind: %s", what, got)
		}
	}
}

func counts(t *testing.T, b *Backend) string {
	t.Helper()
	var n [6]int
	must(t, b.pool.QueryRow(t.Context(), withSchema(`select (select count(*) from {schema}.job where running), (select count(*) from {schema}.history),
		(select count(*) from {schema}.attempt), (select count(*) from {schema}.slot), (select count(*) from {schema}.failing),
		(select count(*) from {schema}.heartbeat)`, b.schema)).Scan(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5]))
	return fmt.Sprintf("%d running, %d finished, %d attempts, %d slots, %d failing, %d nodes", n[0], n[1], n[2], n[3], n[4], n[5])
}

// deadlocks counts what the server ends as a deadlock. The backend begins such
// transactions again, so nothing else shows it.
type deadlocks struct{ atomic.Int64 }

func (d *deadlocks) note(err error) {
	if codeOf(err) == "40P01" {
		d.Add(1)
	}
}

func (d *deadlocks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (d *deadlocks) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	d.note(data.Err)
}

func (d *deadlocks) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (d *deadlocks) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	d.note(data.Err)
}

func (d *deadlocks) TraceBatchEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	d.note(data.Err)
}

// TestFollowUpsDoNotDeadlock lets all that touches failing schedules meet on
// the same few: outcomes and firings in any order, losses, deletes and returns.
func TestFollowUpsDoNotDeadlock(t *testing.T) {
	var seen deadlocks
	config := newPool(t).Config()
	config.MaxConns = 10
	config.ConnConfig.Tracer = &seen
	b, err := open(t.Context(), config, false, []Option{Schema(newSchema(t))})
	must(t, err)
	t.Cleanup(func() { b.Close() })
	migrate(t, b)
	const schedules, writers, rounds = 5, 6, 40
	rows := planned(t, b, schedules)
	var wg sync.WaitGroup
	errs := make([]error, writers+3)
	for i := range writers {
		wg.Go(func() {
			node := register(t, b)
			for round := range rounds {
				errs[i] = firstOf(errs[i], endSome(t, b, node, rows, round%10 == 9))
				if round%10 == 9 {
					node = register(t, b)
				}
			}
		})
	}
	for i := range 2 {
		wg.Go(func() {
			for round := range rounds {
				now := firstNow.Add(time.Duration(round+1) * time.Minute)
				firings := ringing(dueAt(t, b, now))
				for k := range firings {
					firings[k].After = someFollowUp(firings[k].Schedule)
					firings[k].Jobs[0].Queue = "slots"
				}
				_, err := b.Fire(t.Context(), store.FireRequest{Now: now, Firings: firings})
				errs[writers+i] = firstOf(errs[writers+i], err)
			}
		})
	}
	wg.Go(func() {
		for range rounds {
			errs[writers+2] = firstOf(errs[writers+2], deleteAndPutBack(t, b, rows))
		}
	})
	wg.Wait()
	must(t, firstOf(errs...))
	if n := seen.Load(); n != 0 {
		t.Errorf("the server ended %d deadlocks", n)
	}
}

// endSome claims jobs and ends them, by their outcomes or by leaving.
func endSome(t *testing.T, b *Backend, node int64, rows []store.Schedule, leave bool) error {
	jobs := noop(2 * len(rows))
	for i := range jobs {
		jobs[i].MaxAttempts = 1
	}
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs}); err != nil {
		return err
	}
	res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: len(jobs)})
	if err != nil {
		return err
	}
	if leave {
		after := func(lost store.LostJob) *store.FollowUp { return someFollowUp(rows[lost.ID%int64(len(rows))].ID) }
		_, err := b.Leave(t.Context(), store.LeaveRequest{Node: node, After: after})
		return err
	}
	var outcomes []store.Outcome
	for i, job := range res.Jobs {
		outcomes = append(outcomes, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Result(i % 2), After: someFollowUp(rows[rand.IntN(len(rows))].ID)})
	}
	_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: outcomes})
	return err
}

// deleteAndPutBack names the schedules in descending order.
func deleteAndPutBack(t *testing.T, b *Backend, rows []store.Schedule) error {
	var names []string
	var puts []store.PutSchedule
	for _, row := range slices.Backward(rows) {
		names, puts = append(names, row.Name), append(puts, store.PutSchedule{Name: row.Name, Definition: []byte(`{}`)})
	}
	if err := b.ChangeSchedules(t.Context(), store.ChangeSchedulesRequest{Now: firstNow, Action: store.DeleteSchedules, Names: names}); err != nil {
		return err
	}
	_, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Now: firstNow, Schedules: puts})
	return err
}

func someFollowUp(schedule int64) *store.FollowUp {
	return &store.FollowUp{Schedule: schedule, Failing: rand.IntN(2) == 0, Jobs: noop(1)}
}
