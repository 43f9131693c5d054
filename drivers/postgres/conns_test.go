package postgres

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx" of database/sql

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/lock"
)

// holdTime is for how long handlers hold a connection; the lease is 0.6 of it.
func holdTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("HOURBELL_POOLTEST_SECONDS")
	if text == "" {
		return 8 * time.Second
	}
	seconds, err := strconv.Atoi(text)
	must(t, err)
	return time.Duration(seconds) * time.Second
}

// The handlers of ten jobs hold the four connections of the program's pool for
// longer than a lease: no lease is lost, and each job ends at its first attempt.
func TestHandlersThatHoldThePoolLoseNoLease(t *testing.T) {
	t.Parallel()
	url, hold := urlFrom(t, serverVariable), holdTime(t)
	t.Run("New", func(t *testing.T) {
		t.Parallel()
		schema := newSchema(t)
		migrate(t, openAt(t, url, schema))
		pool := poolOf(t, url, 4)
		holdThePool(t, New(pool, Schema(schema)), func(ctx context.Context) error {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback(context.WithoutCancel(ctx))
			_, err = tx.Exec(ctx, "select pg_sleep($1)", hold.Seconds())
			return err
		})
	})
	t.Run("NewDB", func(t *testing.T) {
		t.Parallel()
		schema := newSchema(t)
		migrate(t, openAt(t, url, schema))
		db, err := sql.Open("pgx", url)
		must(t, err)
		t.Cleanup(func() { db.Close() })
		db.SetMaxOpenConns(4)
		b, err := NewDB(t.Context(), db, Schema(schema))
		must(t, err)
		holdThePool(t, b, func(ctx context.Context) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			_, err = tx.ExecContext(ctx, "select pg_sleep($1)", hold.Seconds())
			return err
		})
	})
}

// The handlers of ten jobs enqueue under a key that a transaction has taken and
// not committed, and so hold all connections of the backend's own pool.
func TestEnqueuesThatWaitLoseNoLease(t *testing.T) {
	t.Parallel()
	url, schema := urlFrom(t, serverVariable), newSchema(t)
	b := openAt(t, url, schema, MaxConns(4))
	migrate(t, b)
	pool := poolOf(t, url, 1)
	tx, err := pool.Begin(t.Context())
	must(t, err)
	var client *hourbell.Client
	var once sync.Once
	client = holdingClient(t, b, func(ctx context.Context) error {
		once.Do(func() { time.AfterFunc(holdTime(t), func() { tx.Commit(context.Background()) }) })
		_, err := client.Enqueue(ctx, note{Subject: "of a handler"}, hourbell.Queue("other"), hourbell.Unique("key"))
		return err
	})
	_, err = client.Enqueue(t.Context(), note{Subject: "first"}, hourbell.Queue("other"), hourbell.Unique("key"), hourbell.InTx(Tx(tx)))
	must(t, err)
	runToTheEnd(t, client)
}

// Code of the program holds all connections of the pool for longer than a lease of
// a lock, while the Backend has a node: the lock is kept, and can be released.
func TestHandlersThatHoldThePoolLoseNoLock(t *testing.T) {
	t.Parallel()
	const size, lease = 2, 2 * time.Second
	pool := poolOf(t, urlFrom(t, serverVariable), size)
	b := New(pool, Schema(newSchema(t)))
	t.Cleanup(func() { b.Close() })
	migrate(t, b)
	register(t, b)
	locker, err := lock.New(b.Locks(), lock.Config{Lease: lease})
	must(t, err)
	held, err := locker.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	for range size {
		conn, err := pool.Acquire(t.Context())
		must(t, err)
		defer conn.Release()
	}
	select {
	case <-held.Context().Done():
		t.Fatalf("the lock ended: %v", context.Cause(held.Context()))
	case <-time.After(2 * lease):
	}
	must(t, held.Release(t.Context()))
}

func poolOf(t *testing.T, url string, size int32) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	must(t, err)
	config.MaxConns = size
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// holdThePool runs ten jobs that hold a connection each.
func holdThePool(t *testing.T, b *Backend, hold func(ctx context.Context) error) {
	t.Helper()
	t.Cleanup(func() { b.Close() })
	client := holdingClient(t, b, hold)
	runToTheEnd(t, client)
	if client.Events.Counts()[event.PoolSmall] != 1 {
		t.Errorf("the start warned %d times of the pool", client.Events.Counts()[event.PoolSmall])
	}
}

// holder is a job that holds a connection for a while.
type holder struct{}

func (holder) Kind() string { return "holder" }

func holdingClient(t *testing.T, b *Backend, hold func(ctx context.Context) error) *hourbell.Client {
	t.Helper()
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[holder]) error { return hold(ctx) })
	client, err := hourbell.New(b, hourbell.Config{
		Workers: workers, Queues: map[string]int{"default": 10}, Lease: holdTime(t) * 6 / 10, NoMigrate: true,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	must(t, err)
	return client
}

// runToTheEnd enqueues ten jobs and runs them until they have ended: each at its
// first attempt, and without losing the lease.
func runToTheEnd(t *testing.T, client *hourbell.Client) {
	t.Helper()
	const jobs = 10
	events, unsubscribe := client.Events.Subscribe(10_000)
	defer unsubscribe()
	for range jobs {
		_, err := client.Enqueue(t.Context(), holder{})
		must(t, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	defer func() {
		if err := client.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
	}()
	// The connections serve four jobs at a time; the rest is for a busy machine.
	timeout := time.After(3*holdTime(t) + time.Minute)
	for completed := 0; completed < jobs; {
		select {
		case e := <-events:
			switch e.Kind {
			case event.JobCompleted:
				completed++
				if e.Attempt != 1 {
					t.Errorf("job %d completed at attempt %d", e.Job, e.Attempt)
				}
			case event.LeaseLost, event.JobReleased, event.JobRetried, event.JobFailed, event.ClaimLost:
				t.Fatalf("%s: job %d, %s %v", e.Kind, e.Job, e.Detail, e.Err)
			}
		case err := <-ended:
			ended <- err
			t.Fatalf("the node ended: %v", err)
		case <-timeout:
			t.Fatalf("%d of %d jobs have completed", completed, jobs)
		}
	}
}
