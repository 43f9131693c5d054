// Command locked is a timer that every server has, and that runs on one of them: what a timer of an application server with a
// lock, or Spring's @Scheduled with ShedLock, does in Java. Its table is ShedLock's table, so that Java programs and this
// program exclude each other.
//
//	go run ./locked 'postgres://postgres@localhost/app'
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/lock"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: locked URL")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1], 10*time.Second, func(_ context.Context, held *lock.Lock) error {
		fmt.Println(time.Now().Format(time.TimeOnly), "collecting the statistics, with token", held.Token())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

// run calls work once per interval on one of the servers that do the same, until ctx ends.
func run(ctx context.Context, url string, interval time.Duration, work func(ctx context.Context, held *lock.Lock) error) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	table := postgres.NewLocks(pool, postgres.Table("shedlock"))
	if err := table.CreateTables(ctx); err != nil { // shedlock, if Java has not made it yet, and shedlock_state
		return err
	}
	locks, err := lock.New(table, lock.Config{})
	if err != nil {
		return err
	}
	options := lock.Options{
		AtMost: 10 * time.Minute, // lockAtMostFor: the context of the work ends before another server can have the lock
		// lockAtLeastFor: a quick run does not free the lock for a server whose timer comes a little later.
		AtLeast: interval * 8 / 10,
	}
	for timer := time.NewTicker(interval); ; {
		// An error of the work, or of the store, must not end the timer: it is tried again after the interval.
		if _, err := locks.DoOrSkip(ctx, "statistics", options, work); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-ctx.Done():
			if err := ctx.Err(); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		case <-timer.C:
		}
	}
}
