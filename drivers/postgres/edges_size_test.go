package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// edgesVariable is how many jobs one job waits for, or wait for one job, in
// TestManyDependents and TestManyPredecessors. The bounds of time are checked only if it is set: they are meant for
// 100,000 jobs on a machine without other work.
const edgesVariable = "HOURBELL_EDGETEST_JOBS"

// TestManyDependents releases one job that waits for many, and many jobs that wait for one,
// also while another transaction keeps an old snapshot. What a dependent costs may not grow
// with their number, and another session never waits for long for a job that is released, or
// for one that is to end.
func TestManyDependents(t *testing.T) {
	many, strict := edgesOfTest(t)
	for _, fanOut := range []bool{true, false} {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("fan-out %v, snapshot held %v", fanOut, held), func(t *testing.T) {
				few, _ := releaseMany(t, many/10, fanOut, held)
				all, wait := releaseMany(t, many, fanOut, held)
				t.Logf("each of %d dependents takes %v, each of %d takes %v; a lock was waited for %v at most", many/10, few, many, all, wait)
				if strict && all > few*3/2 {
					t.Errorf("each of %d dependents takes %v, each of %d takes %v", many/10, few, many, all)
				}
				if strict && wait > 200*time.Millisecond {
					t.Errorf("another session waited for %v for a lock", wait)
				}
			})
		}
	}
}

// edgesOfTest returns how many edges a test has, and whether it checks times.
func edgesOfTest(t *testing.T) (many int, strict bool) {
	t.Helper()
	text := os.Getenv(edgesVariable)
	if text == "" {
		return 5_000, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		t.Fatalf("%s=%s: give a whole number from 1000 on", edgesVariable, text)
	}
	return n, true
}

// TestManyPredecessors enqueues a job that waits for many older jobs. What a predecessor costs may
// not grow with their number, and another session never waits for long for one of them.
func TestManyPredecessors(t *testing.T) {
	many, strict := edgesOfTest(t)
	var few time.Duration
	for n := max(many/100, 1_000); n <= many; n *= 10 {
		b := fresh(t)
		insertN(t, b, n)
		var claims []store.Claimed
		var ids []int64
		for node := register(t, b); len(claims) < n; {
			claims = append(claims, claimN(t, b, node, min(1000, n-len(claims)))...)
		}
		for _, c := range claims {
			ids = append(ids, c.ID)
		}
		stop := watchJobs(t, b, ids)
		began := time.Now()
		dependent := insertAfter(t, b, claims...)
		each := time.Since(began) / time.Duration(n)
		wait := stop()
		if linked := count(t, b, "select count(*) from {schema}.job where releases"); linked != n {
			t.Errorf("%d of %d predecessors are linked", linked, n)
		}
		wantState(t, b, dependent, store.StateWaiting, "no predecessor has ended")
		t.Logf("each of %d predecessors takes %v; a lock was waited for %v at most", n, each, wait)
		if few == 0 {
			few = each
		}
		if strict && each > few*3/2 {
			t.Errorf("each of %d predecessors takes %v, and of few %v", n, each, few)
		}
		if strict && wait > 200*time.Millisecond {
			t.Errorf("another session waited for %v for a lock", wait)
		}
	}
}

// releaseMany ends the predecessors in batches. It returns how long the outcomes and the
// releases took for each edge, and how long another session waited for a lock at most.
func releaseMany(t *testing.T, n int, fanOut, held bool) (each, wait time.Duration) {
	b := fresh(t)
	node := register(t, b)
	const batch = 1000
	ends := n
	if fanOut {
		ends = 1
	}
	insertN(t, b, ends)
	var claims []store.Claimed
	for len(claims) < ends {
		claims = append(claims, claimN(t, b, node, min(batch, ends-len(claims)))...)
	}
	var watched []int64
	if fanOut {
		jobs := noop(n)
		for i := range jobs {
			jobs[i].After = []store.Edge{{Job: claims[0].ID}}
		}
		for part := range slices.Chunk(jobs, batch) {
			res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: part})
			must(t, err)
			for _, job := range res.Jobs {
				watched = append(watched, job.ID)
			}
		}
	} else {
		watched = append(watched, insertAfter(t, b, claims...))
		for _, c := range claims {
			watched = append(watched, c.ID)
		}
	}
	if held {
		conn, err := newPool(t).Acquire(t.Context())
		must(t, err)
		defer conn.Release()
		_, err = conn.Exec(t.Context(), "begin isolation level repeatable read; select count(*) from pg_class")
		must(t, err)
		defer conn.Exec(context.WithoutCancel(t.Context()), "rollback")
	}
	stop := watchJobs(t, b, watched)
	began := time.Now()
	for part := range slices.Chunk(claims, batch) {
		finishAll(t, b, part, len(part))
	}
	must(t, b.CarryOut(t.Context(), store.CarryOutRequest{}))
	took := time.Since(began)
	wait = stop()
	want := n
	if !fanOut {
		want = 1
	}
	if ready := count(t, b, "select count(*) from {schema}.job where state = 0"); ready != want {
		t.Fatalf("%d jobs are ready, not %d", ready, want)
	}
	return took / time.Duration(n), wait
}

// watchJobs locks one job after another in another session, until stop is called, which
// returns the longest time that a lock took.
func watchJobs(t *testing.T, b *Backend, ids []int64) (stop func() time.Duration) {
	t.Helper()
	pool := newPool(t)
	lock := withSchema("update {schema}.job set headers = headers where id = $1", b.schema)
	_, err := pool.Exec(t.Context(), lock, 0)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	longest := make(chan time.Duration, 1)
	go func() {
		var most time.Duration
		for ctx.Err() == nil {
			began := time.Now()
			err := pgx.BeginFunc(context.WithoutCancel(ctx), pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(context.WithoutCancel(ctx), lock, ids[rand.IntN(len(ids))])
				return err
			})
			if err != nil {
				t.Errorf("lock a job: %v", err)
				break
			}
			most = max(most, time.Since(began))
			time.Sleep(time.Millisecond)
		}
		longest <- most
	}()
	return func() time.Duration { cancel(); return <-longest }
}
