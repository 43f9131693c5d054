package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/examples/internal/testdb"
	"github.com/hourbell/hourbell/lock"
)

// TestThreeServers lets three servers have the timer: runs are apart by the time for which the lock is held at least, and none
// begins while a Java program holds the lock.
func TestThreeServers(t *testing.T) {
	const interval = 400 * time.Millisecond
	url := testdb.New(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running, held atomic.Int32
	runs := make(chan time.Time, 1000)
	work := func(_ context.Context, _ *lock.Lock) error {
		if running.Add(1) > 1 {
			t.Error("two servers work at the same time")
		}
		if held.Load() != 0 {
			t.Error("a server works while Java holds the lock")
		}
		runs <- time.Now()
		running.Add(-1)
		return nil
	}
	ended := make(chan error, 3)
	for range cap(ended) {
		go func() { ended <- run(ctx, url, interval, work) }()
	}
	last := <-runs
	for range 4 {
		next := <-runs
		if apart := next.Sub(last); apart < interval/2 {
			t.Errorf("two runs are %v apart", apart)
		}
		last = next
	}

	// Java takes the lock as usingDbTime does, as soon as it is free, and frees it after a second.
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(context.Background())
	for {
		tag, err := conn.Exec(ctx, `update shedlock set lock_until = timezone('utc', clock_timestamp()) + interval '1 hour',
			locked_at = timezone('utc', clock_timestamp()), locked_by = 'java' where name = 'statistics' and lock_until <= timezone('utc', clock_timestamp())`)
		must(t, err)
		if tag.RowsAffected() == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	held.Store(1)
	for len(runs) > 0 {
		<-runs
	}
	time.Sleep(2 * interval)
	held.Store(0)
	_, err = conn.Exec(ctx, "update shedlock set lock_until = timezone('utc', clock_timestamp()) where name = 'statistics' and locked_by = 'java'")
	must(t, err)
	<-runs // the servers go on
	stop()
	for range cap(ended) {
		must(t, <-ended)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
