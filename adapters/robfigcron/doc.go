// Package robfigcron runs jobs of github.com/robfig/cron/v3 on one server of
// many: on every server the same cron, before each run a lock in the store that
// the servers share.
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
// A lock alone keeps two runs from being at work at the same time. If a job
// ends before another server's clock strikes, that server finds the lock free
// and runs it again. [lock.Options] prevent that by Every or Cron: the slot is
// granted once, whoever asks and however late. Give Every the time between two
// instants of the schedule where that is always the same, and Cron the schedule
// itself otherwise.
//
// A [cron.Schedule] from cron.ParseStandard can be that rule, if it begins with
// CRON_TZ=: without it the zone would be whichever the store answers in. What
// [github.com/hourbell/hourbell/recur.ParseCron] returns can be, too. A schedule
// "@every 1h" cannot, for it counts from the time it is asked at; use Every.
package robfigcron
