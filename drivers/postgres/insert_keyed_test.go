package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// withKeys are plain jobs with keys.
func withKeys(keys ...string) []store.NewJob {
	jobs := noop(len(keys))
	for i, key := range keys {
		jobs[i].Unique = key
	}
	return jobs
}

// TestARejectedJobOfABatchWithKeys inserts batches with a job that a constraint of the
// database's owner forbids: nothing is stored, and the keys are free.
func TestARejectedJobOfABatchWithKeys(t *testing.T) {
	b := fresh(t)
	execute(t, "alter table "+pgx.Identifier{b.schema, "job"}.Sanitize()+" add check (args not like '%forbidden%')")
	held, err := b.Insert(t.Context(), store.InsertRequest{Jobs: withKeys("held")})
	must(t, err)
	jobs := withKeys("b", "", "held", "a")
	jobs[3].Args = []byte(`"forbidden"`)
	many := append(slices.Clone(jobs), withKeys(make([]string, chunkJobs)...)...) // two statements
	native, err := newPool(t).Begin(t.Context())
	must(t, err)
	for _, req := range []store.InsertRequest{{Jobs: jobs}, {Jobs: many}, {Jobs: jobs, Tx: Tx(native)}} {
		if _, err := b.Insert(t.Context(), req); !errors.Is(err, store.ErrRejected) {
			t.Errorf("an insert of %d jobs with a forbidden job: %v", len(req.Jobs), err)
		}
	}
	must(t, native.Rollback(t.Context()))
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: withKeys("a", "b", "held")})
	must(t, err)
	if got := res.Jobs; got[0].Existed || got[1].Existed || got[2] != (store.Inserted{ID: held.Jobs[0].ID, Existed: true, Conflict: store.ConflictKept}) {
		t.Errorf("after inserts that were rejected: %+v", got)
	}
}

// TestBatchesWithTheSameKeysDoNotDeadlock inserts the same keys at the same time, each
// rival in an order of its own: in transactions of the program, where a deadlock would
// be an error, and alone.
func TestBatchesWithTheSameKeysDoNotDeadlock(t *testing.T) {
	b := fresh(t)
	pool := newPool(t)
	const rounds, keys = 20, 40
	for round := range rounds {
		var wg sync.WaitGroup
		for rival, step := range []int{1, 3, 7, 9, 11, 13} { // without a factor in common with keys
			var names []string
			for i := range keys {
				names = append(names, fmt.Sprint(round, " ", (i*step+rival)%keys))
			}
			wg.Go(func() {
				req := store.InsertRequest{Jobs: withKeys(names...)}
				if rival == 0 {
					if _, err := b.Insert(t.Context(), req); err != nil {
						t.Error(err)
					}
					return
				}
				tx, err := pool.Begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer tx.Rollback(context.WithoutCancel(t.Context()))
				req.Tx = Tx(tx)
				if _, err := b.Insert(t.Context(), req); err != nil {
					t.Error(err)
				} else if err := tx.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 2 * rounds * keys})
	must(t, err)
	if len(jobs) != rounds*keys {
		t.Errorf("%d jobs for %d keys", len(jobs), rounds*keys)
	}
}

// TestAHoldThatAnInsertDidNotSee commits a hold between the insert of a job and the hold of
// its key: the job is not stored.
func TestAHoldThatAnInsertDidNotSee(t *testing.T) {
	b := fresh(t)
	tx, err := newPool(t).Begin(t.Context())
	must(t, err)
	in := b.insertionIn(tx, firstNow)
	run, sent := in.run, 0
	in.run = func(ctx context.Context) rowwise.Transaction[querier] {
		if sent++; sent == 2 {
			execute(t, withSchema("insert into {schema}.key_hold (job_id, until, kind, unique_key) values (77, 'infinity', 'k', 'a')", b.schema))
		}
		return run(ctx)
	}
	jobs := withKeys("b", "a", "c")
	for i := range jobs {
		jobs[i].UniqueFor = time.Hour
	}
	got, err := in.insert(t.Context(), jobs)
	must(t, err)
	must(t, tx.Commit(t.Context()))
	if want := (store.Inserted{ID: 77, Existed: true, Conflict: store.ConflictHeld}); got[1] != want || got[0].Existed || got[2].Existed {
		t.Errorf("%+v, want %+v for the second", got, want)
	}
	listed, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 10})
	must(t, err)
	if len(listed) != 2 {
		t.Errorf("%d jobs are stored, want 2", len(listed))
	}
}

// TestAHolderThatEndsIsTriedAgain ends the job with a key between the insert that meets
// it and the look for it: then the new job is stored. A failure in between is reported
// as unknown if a part of the batch is stored.
func TestAHolderThatEndsIsTriedAgain(t *testing.T) {
	for _, fails := range []bool{false, true} {
		b := fresh(t)
		held, err := b.Insert(t.Context(), store.InsertRequest{Jobs: withKeys("held")})
		must(t, err)
		in := b.insertionAlone(firstNow)
		run, sent := in.run, 0
		in.run = func(ctx context.Context) rowwise.Transaction[querier] {
			if sent++; sent == 2 { // the look
				if fails {
					return func(func(querier) error) error { return errors.New("the network failed") }
				}
				_, err := b.ChangeJobs(ctx, store.ChangeJobsRequest{Action: store.CancelJobs, IDs: held.IDs()})
				must(t, err)
			}
			return run(ctx)
		}
		got, err := in.insert(t.Context(), withKeys("new", "held"))
		if fails {
			if !errors.Is(err, store.ErrUnknown) {
				t.Errorf("error %v, want unknown", err)
			}
			continue
		}
		must(t, err)
		if got[0].Existed || got[1].Existed || got[1].ID == held.Jobs[0].ID || sent != 3 {
			t.Errorf("after %d statements: %+v; the job that ended was %d", sent, got, held.Jobs[0].ID)
		}
	}
}
