package robfigcron_test

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/hourbell/hourbell/adapters/robfigcron"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

// An existing job, wrapped: two servers each run their own cron, and one of
// them runs the job.
func ExampleOnce() {
	// In a real program use a provider of drivers/postgres, mysql, sqlite,
	// redis or mongodb.
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, server := range []string{"web-1", "web-2"} {
		once, err := robfigcron.Once(locks, "statistics", robfigcron.Options{Lock: lock.Options{Every: time.Hour}})
		if err != nil {
			fmt.Println(err)
			return
		}
		job := cron.FuncJob(func() { fmt.Println(server, "sends the statistics") })

		c := cron.New(cron.WithChain(cron.Recover(cron.DefaultLogger)))
		id, err := c.AddJob("0 * * * *", cron.NewChain(once).Then(job))
		if err != nil {
			fmt.Println(err)
			return
		}
		c.Entry(id).WrappedJob.Run() // as cron does on the hour
	}
	// Output:
	// web-1 sends the statistics
}

// A job that gets what robfig/cron does not pass: a context that ends when the
// lock is lost, and the lock with its token and its slot.
func ExampleJob() {
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	schedule, err := cron.ParseStandard("CRON_TZ=Europe/Berlin 30 3 * * *")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := robfigcron.Job(locks, "report", robfigcron.Options{Lock: lock.Options{Cron: schedule}},
		func(ctx context.Context, held *lock.Lock) error {
			berlin := schedule.(*cron.SpecSchedule).Location
			fmt.Println("reporting for", held.Slot().In(berlin).Format("15:04"), "with token", held.Token())
			return ctx.Err()
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := cron.New()
	id := c.Schedule(schedule, report)
	c.Entry(id).WrappedJob.Run() // as cron does at half past three
	// Output:
	// reporting for 03:30 with token 1
}

func ExampleOnce_name() {
	locks, err := lock.New(memory.New(), lock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = robfigcron.Once(locks, "", robfigcron.Options{})
	fmt.Println(err)
	// Output:
	// name is empty; give it a name of 1 to 200 bytes
}
