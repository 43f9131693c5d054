package postgres

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestStaleOutcomeLeavesTheCancelRequest sends an outcome of an earlier claim
// for a job with a cancel request.
func TestStaleOutcomeLeavesTheCancelRequest(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 1)
	old := claimN(t, b, node, 1)[0]
	finish(t, b, store.Outcome{ID: old.ID, Token: old.Token, Result: store.Release})
	job := claimN(t, b, node, 1)[0]
	_, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{job.ID}, Reason: "enough"})
	must(t, err)
	if refused := finish(t, b, store.Outcome{ID: old.ID, Token: old.Token, Result: store.Completed}); len(refused) != 1 {
		t.Error("a stale outcome was accepted")
	}
	claims, err := b.Claims(t.Context(), store.ClaimsRequest{Node: node, Cancelled: true})
	must(t, err)
	if len(claims) != 1 {
		t.Error("a stale outcome took the cancel request away")
	}
	finish(t, b, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Retry})
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 1})
	must(t, err)
	if jobs[0].State != store.StateCancelled || jobs[0].Reason != "enough" {
		t.Errorf("the job is %v: %q", jobs[0].State, jobs[0].Reason)
	}
}

// TestOutcomesLockInOneOrder finishes jobs that are kept for different times while a
// transaction has locked the first of them, as a change of both jobs does. Had the outcomes
// locked the second job already, they and the change would wait for each other.
func TestOutcomesLockInOneOrder(t *testing.T) {
	keeps := []time.Duration{store.Forget, time.Hour, 0}
	for i, first := range keeps {
		b := fresh(t)
		node := register(t, b)
		insertN(t, b, 2)
		jobs := claimN(t, b, node, 2)
		tx, err := b.pool.Begin(t.Context())
		must(t, err)
		lock := withSchema("select from {schema}.job where id = $1 for update nowait", b.schema)
		_, err = tx.Exec(t.Context(), lock, jobs[0].ID)
		must(t, err)
		done := make(chan error, 1)
		go func() {
			_, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{
				{ID: jobs[0].ID, Token: jobs[0].Token, Result: store.Completed, Alone: true, Keep: first},
				{ID: jobs[1].ID, Token: jobs[1].Token, Result: store.Completed, Alone: true, Keep: keeps[(i+1)%len(keeps)]},
			}})
			done <- err
		}()
		const waiting = "select exists (select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid)))"
		for blocked := false; !blocked; time.Sleep(time.Millisecond) {
			must(t, tx.QueryRow(t.Context(), waiting).Scan(&blocked))
		}
		if _, err = tx.Exec(t.Context(), lock, jobs[1].ID); err != nil {
			t.Errorf("keep %v: the second job is locked: %v", first, err)
		}
		must(t, tx.Rollback(t.Context()))
		must(t, <-done)
	}
}

func finish(t *testing.T, b *Backend, outcomes ...store.Outcome) []store.ClaimRef {
	t.Helper()
	res, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: outcomes})
	must(t, err)
	return res.Refused
}
