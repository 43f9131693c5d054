package sqlite

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/event"
)

// holder is a job that holds a connection for a while.
type holder struct{}

func (holder) Kind() string { return "holder" }

// The handlers of ten jobs hold the four connections of the application's pool, in
// transactions that read, for longer than a lease: no lease is lost, and each job
// ends at its first attempt.
func TestHandlersThatHoldThePoolLoseNoLease(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for leases")
	}
	const jobs, hold = 10, 8 * time.Second // the lease outlasts the pauses of a busy machine
	db := usersDB(t, filepath.Join(t.TempDir(), "app.db"), goodPragmas)
	db.SetMaxOpenConns(4)
	b, err := New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[holder]) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "BEGIN DEFERRED; SELECT count(*) FROM sqlite_schema"); err != nil {
			return err
		}
		select {
		case <-time.After(hold):
		case <-ctx.Done():
		}
		_, err = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return err
	})
	client, err := hourbell.New(b, hourbell.Config{
		Workers: workers, Queues: map[string]int{"default": jobs}, Lease: hold * 6 / 10,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	events, unsubscribe := client.Events.Subscribe(10_000)
	defer unsubscribe()
	ended := make(chan error, 1)
	go func() { ended <- client.Run(context.Background()) }()
	defer func() {
		if err := client.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
	}()
	timeout := time.After(time.Minute)
	for completed := 0; completed < jobs; {
		select {
		case e := <-events:
			switch e.Kind {
			case event.NodeStarted: // and the schema is there
				for range jobs {
					if _, err := client.Enqueue(t.Context(), holder{}); err != nil {
						t.Fatal(err)
					}
				}
			case event.JobCompleted:
				completed++
				if e.Attempt != 1 {
					t.Errorf("job %d completed at attempt %d", e.Job, e.Attempt)
				}
			case event.LeaseLost, event.JobReleased, event.JobRetried, event.JobFailed, event.ClaimLost:
				t.Fatalf("%s: job %d, %s %v", e.Kind, e.Job, e.Detail, e.Err)
			}
		case <-timeout:
			t.Fatalf("%d of %d jobs have completed", completed, jobs)
		}
	}
	if n := client.Events.Counts()[event.PoolSmall]; n != 1 {
		t.Errorf("the start warned %d times of the pool", n)
	}
}
