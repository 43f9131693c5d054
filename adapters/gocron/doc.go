// Package gocron runs jobs of github.com/go-co-op/gocron/v2 on one server of
// many: it is a [gocron.Locker] over locks in a store that the servers share.
//
// A whole program, to be started on every server:
//
//	package main
//
//	import (
//		"context"
//		"log"
//		"os"
//		"time"
//
//		"github.com/go-co-op/gocron/v2"
//		hourbell "github.com/hourbell/hourbell/adapters/gocron"
//		"github.com/hourbell/hourbell/drivers/redis"
//		"github.com/hourbell/hourbell/lock"
//	)
//
//	func main() {
//		provider, err := redis.Open(context.Background(), os.Getenv("REDIS_URL"))
//		if err != nil {
//			log.Fatal(err)
//		}
//		locks, err := lock.New(provider, lock.Config{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		locker, err := hourbell.New(locks, hourbell.Config{Jobs: map[string]lock.Options{
//			"statistics": {Every: time.Hour},
//		}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//		if err != nil {
//			log.Fatal(err)
//		}
//		_, err = scheduler.NewJob(
//			gocron.CronJob("0 * * * *", false),
//			gocron.NewTask(func() {
//				held, ok := locker.Held("statistics")
//				if !ok {
//					return // lost already
//				}
//				send(held.Context(), held.Token())
//			}),
//			gocron.WithName("statistics"),
//		)
//		if err != nil {
//			log.Fatal(err)
//		}
//		scheduler.Start()
//		select {}
//	}
//
//	func send(ctx context.Context, token int64) {
//		log.Println("sending statistics with token", token)
//	}
//
// # Claim the slot
//
// gocron takes the lock when a job is due and releases it when the job has
// ended. That only prevents concurrent runs: if a job ends before another
// server's clock reaches the instant, that server finds the lock free and runs
// the job again. [lock.Options] prevent this with Every or Cron: they claim the
// slot, which is granted once, to whichever server asks first, however late
// others ask. The example of [New] shows both.
//
// # Names
//
// The lock's name is the job's name, set with gocron.WithName. gocron gives a
// job without a name the name of its function, such as "main.main.func1", which
// may mean another function after the next change of the code, and is the same
// for two jobs that share a function. The two kinds of name cannot be
// distinguished by their form, so a [Locker] serves only the names that it was
// made for, and refuses all others.
//
// # How gocron uses a Locker
//
// A job whose lock is not granted is skipped until it is due again; gocron
// reports that only to its listener AfterLockError, which is why a Locker has a
// logger. A job in singleton mode, or under a limit, requests the lock only
// when its turn has come in its own scheduler. A scheduler with an Elector does
// not use the Locker. A shutdown ends the context that the lock was taken with;
// the lock is kept until the job has ended. gocron cannot notify a job of a
// lost lock: a job that may outlast its lock uses [Locker.Held].
package gocron
