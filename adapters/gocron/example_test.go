package gocron_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"

	hourbell "github.com/hourbell/hourbell/adapters/gocron"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

// Why Every is needed: a quick job is due at noon on two servers, and the clock
// of one server is ten seconds behind. When that clock shows noon, a lock
// without Every is free again and the job runs twice; with Every the slot has
// been granted already.
func ExampleNew() {
	for _, opts := range []lock.Options{{}, {Every: time.Hour}} {
		now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
		// In a real program use a provider of drivers/postgres, mysql, sqlite,
		// redis or mongodb, and its clock.
		locks, err := lock.New(memory.New(), lock.Config{Now: func() time.Time { return now }})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("every", opts.Every)
		err = noon("web-1", locks, opts)
		now = now.Add(10 * time.Second)
		if err := errors.Join(err, noon("web-2", locks, opts)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// every 0s
	// web-1 sends the statistics
	// web-2 sends the statistics
	// every 1h0m0s
	// web-1 sends the statistics
	// web-2 has nothing to do
}

// noon acts as a server whose clock shows noon.
func noon(server string, locks *lock.Locker, opts lock.Options) error {
	locker, err := hourbell.New(locks, hourbell.Config{Jobs: map[string]lock.Options{"statistics": opts}})
	if err != nil {
		return err
	}
	clock := clockwork.NewFakeClockAt(time.Date(2030, 1, 1, 11, 59, 0, 0, time.UTC))
	scheduler, err := gocron.NewScheduler(
		gocron.WithDistributedLocker(locker), gocron.WithClock(clock), gocron.WithLocation(time.UTC),
	)
	if err != nil {
		return err
	}
	struck := make(chan struct{})
	_, err = scheduler.NewJob(
		gocron.CronJob("0 12 * * *", false),
		gocron.NewTask(func() {
			fmt.Println(server, "sends the statistics")
			close(struck)
		}),
		gocron.WithName("statistics"),
		gocron.WithEventListeners(gocron.AfterLockError(func(uuid.UUID, string, error) {
			fmt.Println(server, "has nothing to do")
			close(struck)
		})),
	)
	if err != nil {
		return err
	}
	scheduler.Start()
	if err := clock.BlockUntilContext(context.Background(), 1); err != nil {
		return err
	}
	clock.Advance(time.Minute)
	<-struck
	return scheduler.Shutdown()
}

// A job that uses its lock: the context ends when the lock is lost, and the
// token is greater than the tokens of all earlier runs.
func ExampleLocker_Held() {
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	locker, err := hourbell.New(locks, hourbell.Config{Jobs: map[string]lock.Options{"import": {AtMost: time.Minute}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	_, err = scheduler.NewJob(
		gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
		gocron.NewTask(func() {
			defer close(done)
			held, ok := locker.Held("import")
			if !ok {
				return
			}
			fmt.Println("importing with token", held.Token(), "and error", held.Context().Err())
		}),
		gocron.WithName("import"),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	scheduler.Start()
	<-done
	if err := scheduler.Shutdown(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// importing with token 1 and error <nil>
}
