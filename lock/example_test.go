package lock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

func ExampleLocker_Do() {
	// In production: a provider of drivers/postgres, mysql, sqlite, redis or
	// mongodb.
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = locks.Do(context.Background(), "statistics", lock.Options{AtMost: 10 * time.Minute},
		func(ctx context.Context, held *lock.Lock) error {
			// ctx ends before another owner can have the lock. A table that
			// keeps the greatest token can refuse processes that slept for too
			// long.
			fmt.Println("sending, with token", held.Token())
			return nil
		})
	fmt.Println(err)
	// Output:
	// sending, with token 1
	// <nil>
}

// Work once per interval on a whole cluster: every server calls this, and one
// server does the work.
func ExampleOptions_every() {
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, server := range []string{"web-1", "web-2", "web-3"} {
		err := locks.Do(context.Background(), "statistics", lock.Options{Every: time.Hour},
			func(context.Context, *lock.Lock) error {
				fmt.Println(server, "sends the statistics")
				return nil
			})
		switch {
		case errors.Is(err, lock.ErrNotDue), errors.Is(err, lock.ErrHeld):
			fmt.Println(server, "has nothing to do")
		case err != nil:
			fmt.Println(err)
		}
	}
	// Output:
	// web-1 sends the statistics
	// web-2 has nothing to do
	// web-3 has nothing to do
}

func ExampleHeld() {
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	send := func(ctx context.Context) error {
		if _, held := lock.Held(ctx, "statistics"); !held {
			return errors.New("statistics are sent under their lock alone")
		}
		return nil
	}
	fmt.Println(send(context.Background()))
	fmt.Println(locks.Do(context.Background(), "statistics", lock.Options{}, func(ctx context.Context, _ *lock.Lock) error {
		return send(ctx)
	}))
	// Output:
	// statistics are sent under their lock alone
	// <nil>
}

func ExampleLocker_Try() {
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	held, err := locks.Try(ctx, "import", lock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = locks.Try(ctx, "import", lock.Options{})
	fmt.Println("held:", errors.Is(err, lock.ErrHeld))
	fmt.Println("released:", held.Release(ctx) == nil)
	// Output:
	// held: true
	// released: true
}
