package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// BenchmarkTxWork drains jobs with 16 workers. Each attempt has a transaction of its
// own with one insert, in which the job is completed ("together"), or without the
// completion, which is written with others afterwards ("apart").
func BenchmarkTxWork(b *testing.B) {
	for _, together := range []bool{true, false} {
		b.Run(map[bool]string{true: "together", false: "apart"}[together], func(b *testing.B) { benchmarkTxWork(b, together) })
	}
}

func benchmarkTxWork(b *testing.B, together bool) {
	const workers, batch = 16, 500
	ctx := context.Background()
	backend := fresh(b)
	config, err := pgxpool.ParseConfig(urlFrom(b, serverVariable))
	must(b, err)
	config.MaxConns = workers
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(b, err)
	b.Cleanup(pool.Close)
	table := pgx.Identifier{backend.schema, "effect"}.Sanitize()
	execute(b, "create table "+table+" (job bigint not null)")
	txs := Transactions(pool)
	node := register(b, backend)
	for left := b.N; left > 0; left -= 10_000 {
		insertN(b, backend, min(left, 10_000))
	}
	var done atomic.Int64
	work := func(job store.Claimed) error {
		tx, err := txs.Begin(ctx, store.BeginTxRequest{Idle: time.Minute})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.Native.Exec(ctx, "insert into "+table+" values ($1)", job.ID); err != nil {
			return err
		}
		if !together {
			return tx.Native.(*workerTx).commit(ctx)
		}
		_, err = backend.Finish(ctx, completion(tx.Tx, job))
		return err
	}
	b.ResetTimer()
	for done.Load() < int64(b.N) {
		claimed := claimN(b, backend, node, batch)
		jobs := make(chan store.Claimed, len(claimed))
		for _, job := range claimed {
			jobs <- job
		}
		close(jobs)
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for job := range jobs {
					if err := work(job); err != nil {
						b.Error(err)
					}
					done.Add(1)
				}
			})
		}
		all.Wait()
		if !together && len(claimed) > 0 {
			outcomes := make([]store.Outcome, len(claimed))
			for i, job := range claimed {
				outcomes[i] = completion(nil, job).Outcomes[0]
			}
			_, err := backend.Finish(ctx, store.FinishRequest{Outcomes: outcomes})
			must(b, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// commit commits without a completion, for comparison.
func (t *workerTx) commit(ctx context.Context) error {
	err := t.Tx.Commit(ctx)
	t.release()
	return err
}
