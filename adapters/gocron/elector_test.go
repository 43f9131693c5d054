package gocron_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	hourbell "github.com/hourbell/hourbell/adapters/gocron"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

// TestOnlyTheLeaderRunsJobs runs two schedulers of gocron, and stops the leader.
func TestOnlyTheLeaderRunsJobs(t *testing.T) {
	provider := memory.New()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var runs [2]atomic.Int64
	server := func(ctx context.Context, i int) (*lock.Leader, chan error) {
		leader, err := lock.NewLeader(newLocks(t, provider), "scheduler")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- leader.Run(ctx, nil) }()
		scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(hourbell.NewElector(leader)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = scheduler.Shutdown() })
		if _, err := scheduler.NewJob(gocron.DurationJob(10*time.Millisecond), gocron.NewTask(func() { runs[i].Add(1) })); err != nil {
			t.Fatal(err)
		}
		scheduler.Start()
		return leader, ended
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		for begun := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Since(begun) > patience {
				t.Fatalf("%s: not within %v", what, patience)
			}
		}
	}
	first, ended := server(ctx, 0)
	await("the first leads", func() bool { _, leads := first.Leading(); return leads })
	await("the first runs jobs", func() bool { return runs[0].Load() > 3 })
	second, _ := server(t.Context(), 1)
	if err := hourbell.NewElector(second).IsLeader(ctx); !errors.Is(err, hourbell.ErrNotLeader) {
		t.Errorf("the second: %v", err)
	}
	seen := runs[0].Load()
	await("the first runs more jobs", func() bool { return runs[0].Load() > seen+3 })
	if n := runs[1].Load(); n != 0 {
		t.Errorf("the second ran %d jobs", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	await("the second runs jobs", func() bool { return runs[1].Load() > 3 })
}
