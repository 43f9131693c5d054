// Package robfigcron runs jobs of github.com/robfig/cron/v3 on one server of
// many: every server has the same cron, and takes a lock before each run, in
// the store that the servers share.
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
//		"github.com/hourbell/hourbell/adapters/robfigcron"
//		"github.com/hourbell/hourbell/drivers/redis"
//		"github.com/hourbell/hourbell/lock"
//		"github.com/robfig/cron/v3"
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
//		statistics, err := robfigcron.Job(locks, "statistics",
//			robfigcron.Options{Lock: lock.Options{Every: time.Hour}},
//			func(ctx context.Context, held *lock.Lock) error {
//				log.Println("sending statistics of", held.Slot())
//				return nil
//			})
//		if err != nil {
//			log.Fatal(err)
//		}
//		c := cron.New(cron.WithChain(cron.Recover(cron.DefaultLogger)))
//		if _, err := c.AddJob("0 * * * *", statistics); err != nil {
//			log.Fatal(err)
//		}
//		c.Run()
//	}
//
// # Claim the slot
//
// A lock by itself only prevents concurrent runs. If a job ends before another
// server's clock reaches the instant, that server finds the lock free and runs
// the job again. [lock.Options] prevent this with Every or Cron: the slot is
// granted once, to whichever server asks first, however late others ask. Set
// Every to the time between two instants of the schedule if that time is
// constant, and Cron to the schedule itself otherwise.
//
// Cron can be a [cron.Schedule] from cron.ParseStandard, if its text begins
// with CRON_TZ=: without it the zone would be the zone of the store's answers.
// Cron can also be a result of [github.com/hourbell/hourbell/recur.ParseCron].
// It cannot be a schedule "@every 1h", because that schedule counts from the
// time of each call; use Every.
package robfigcron
