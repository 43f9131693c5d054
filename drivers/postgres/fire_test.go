package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

var firstNow = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// planned puts n schedules whose next slot is at firstNow plus a minute.
func planned(t testing.TB, b *Backend, n int) []store.Schedule {
	t.Helper()
	puts := make([]store.PutSchedule, n)
	for i := range puts {
		puts[i] = store.PutSchedule{Name: fmt.Sprintf("s%06d", i), Definition: []byte(`{}`)}
	}
	_, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Now: firstNow, Schedules: puts})
	must(t, err)
	var plan []store.Firing
	for _, row := range dueAt(t, b, firstNow) {
		plan = append(plan, store.Firing{
			Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, NewMark: firstNow, NewNextAt: firstNow.Add(time.Minute),
		})
	}
	if len(plan) != n {
		t.Fatalf("%d schedules are to be planned, want %d", len(plan), n)
	}
	fire(t, b, firstNow, plan)
	return dueAt(t, b, firstNow.Add(time.Minute))
}

func dueAt(t testing.TB, b *Backend, now time.Time) []store.Schedule {
	t.Helper()
	res, err := b.DueSchedules(t.Context(), store.DueSchedulesRequest{Now: now, Limit: 1 << 20})
	must(t, err)
	return res.Schedules
}

func fire(t testing.TB, b *Backend, now time.Time, firings []store.Firing) store.FireResult {
	t.Helper()
	res, err := b.Fire(t.Context(), store.FireRequest{Now: now, Firings: firings})
	must(t, err)
	return res
}

// ringing fires the slots that are due.
func ringing(rows []store.Schedule) []store.Firing {
	var out []store.Firing
	for _, row := range rows {
		out = append(out, store.Firing{
			Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, NewMark: row.NextAt, NewNextAt: row.NextAt.Add(time.Minute),
			Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte(`{}`), Priority: 5, MaxAttempts: 1}, Origin: store.OriginSchedule, Schedule: row.ID, Slot: row.NextAt}},
		})
	}
	return out
}

// TestManySlotsFireFast fires thousands of slots in one call. The bound is
// generous; a plan that walks an index once for each firing takes far longer.
func TestManySlotsFireFast(t *testing.T) {
	b := fresh(t)
	const n = 5000
	rows := planned(t, b, n)
	start := time.Now()
	if got := len(fire(t, b, firstNow.Add(time.Minute), ringing(rows)).Fired); got != n {
		t.Errorf("%d slots fired, want %d", got, n)
	}
	took := time.Since(start)
	t.Logf("%d slots fired in %v", n, took)
	if took > 10*time.Second {
		t.Errorf("firing %d slots took %v", n, took)
	}
}

// TestSlotsFireOnceFromManyNodes lets nodes fire the same slots at once, in
// different orders, while their jobs are claimed and finished.
func TestSlotsFireOnceFromManyNodes(t *testing.T) {
	b := fresh(t)
	const n, nodes = 300, 4
	rows := planned(t, b, n)
	node := register(t, b)
	var wg sync.WaitGroup
	fired, errs := make([]int, nodes), make([]error, nodes)
	for i := range nodes {
		firings := ringing(rows)
		if i%2 == 1 {
			for a, z := 0, len(firings)-1; a < z; a, z = a+1, z-1 {
				firings[a], firings[z] = firings[z], firings[a]
			}
		}
		wg.Go(func() {
			res, err := b.Fire(t.Context(), store.FireRequest{Now: firstNow.Add(time.Minute), Firings: firings})
			fired[i], errs[i] = len(res.Fired), err
			for _, job := range claimN(t, b, node, 100) {
				_, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Retry, Error: "again"}}})
				errs[i] = firstOf(errs[i], err)
			}
		})
	}
	wg.Wait()
	sum := 0
	for i := range nodes {
		must(t, errs[i])
		sum += fired[i]
	}
	if sum != n {
		t.Errorf("%d slots fired together, want %d", sum, n)
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestResetFiresNoSlotTwice moves a mark back over a slot that has fired.
func TestResetFiresNoSlotTwice(t *testing.T) {
	b := fresh(t)
	rows := planned(t, b, 1)
	slot := rows[0].NextAt
	fire(t, b, slot, ringing(rows))
	err := b.ChangeSchedules(t.Context(), store.ChangeSchedulesRequest{Now: firstNow, Action: store.ResetSchedules, Names: []string{rows[0].Name}})
	must(t, err)
	row := dueAt(t, b, slot)[0]
	again := store.Firing{Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt, NewMark: slot, NewNextAt: slot.Add(time.Minute)}
	again.Jobs = ringing(rows)[0].Jobs
	res := fire(t, b, slot, []store.Firing{again})
	if len(res.Lost) != 0 || len(res.Fired) != 0 {
		t.Errorf("a slot that has fired was fired again: %+v", res)
	}
	if mark := dueAt(t, b, slot.Add(time.Minute))[0].Mark; !mark.Equal(slot) {
		t.Errorf("the mark is at %v, want %v", mark, slot)
	}
}

// TestCrowdedChanges lets everything that locks several jobs meet on the same
// ones: no deadlock may come through, and every job ends once.
func TestCrowdedChanges(t *testing.T) {
	b := fresh(t, MaxConns(8))
	node := register(t, b)
	const n = 300
	insertN(t, b, n)
	jobs := claimN(t, b, node, n)
	var ids []int64
	var up, down []store.Outcome
	for i, job := range jobs {
		ids = append([]int64{job.ID}, ids...)
		result := []store.Result{store.Completed, store.Retry, store.Failed}[i%3]
		up = append(up, store.Outcome{ID: job.ID, Token: job.Token, Result: result, Error: "e"})
		down = append([]store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed}}, down...)
	}
	tasks := []func() error{
		func() error { _, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: up}); return err },
		func() error { _, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: down}); return err },
		func() error {
			_, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids})
			return err
		},
		func() error {
			_, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.RetryJobs, IDs: ids})
			return err
		},
		func() error { _, err := b.Leave(t.Context(), store.LeaveRequest{Node: node}); return err },
	}
	var wg sync.WaitGroup
	errs := make([]error, len(tasks))
	for i, task := range tasks {
		wg.Go(func() { errs[i] = task() })
	}
	wg.Wait()
	must(t, firstOf(errs...))
	var living, finished int
	must(t, b.pool.QueryRow(t.Context(), withSchema("select (select count(*) from {schema}.job), (select count(*) from {schema}.history)", b.schema)).Scan(&living, &finished))
	if living+finished != n {
		t.Errorf("%d living and %d finished jobs, want %d together", living, finished, n)
	}
}
