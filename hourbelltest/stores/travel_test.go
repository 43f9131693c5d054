package stores

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/hourbelltest"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

type invoice struct{}

func (invoice) Kind() string { return "invoice" }

type mail struct {
	To string `json:"to"`
}

func (mail) Kind() string { return "mail" }

type alarm struct{}

func (alarm) Kind() string { return "alarm" }

// TestMonthOfAFailingPredecessor lets a month pass of a monthly schedule whose jobs fail, with a
// schedule that follows its successes and a hook for its failures, and measures the time.
func TestMonthOfAFailingPredecessor(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[invoice]) error { return errors.New("the tax office is closed") })
		hourbell.Register(workers, func(context.Context, *hourbell.Job[mail]) error { return nil })
		hourbell.Register(workers, func(context.Context, *hourbell.Job[alarm]) error { return nil })
		kit := s.kit(workers)
		for _, schedule := range []hourbell.Schedule{
			{Name: "invoices", Rule: recur.Cron("0 9 15 * *"), Job: invoice{}, MaxAttempts: 3, Hooks: hourbell.Hooks{OnFailure: alarm{}}},
			{Name: "mails", After: []hourbell.ScheduleEdge{{Schedule: "invoices"}}, Job: mail{To: "all"}},
		} {
			_, err := kit.Client.Schedules.Put(s.t.Context(), schedule)
			must(s.t, err)
		}

		begun := time.Now()
		attempts := kit.TravelTo(january.AddDate(0, 1, 0))
		took := time.Since(begun)

		want(s.t, lines(attempts), fmt.Sprintf("invoice 1 %v; invoice 2 %v; invoice 3 %v; alarm 1 %v", store.Retry, store.Retry, store.Failed, store.Completed), "attempts")
		want(s.t, kit.Now(), january.AddDate(0, 1, 0), "the clock")
		want(s.t, attempts[0].RunAt, january.AddDate(0, 0, 14).Add(9*time.Hour), "the first attempt")
		slots, err := kit.Client.Slots.List(s.t.Context(), hourbell.SlotFilter{Schedule: "mails"})
		must(s.t, err)
		if len(slots) != 1 || slots[0].Outcome != store.SlotNotStarted {
			s.t.Errorf("slots of the follower: %+v", slots)
		}
		kit.RequireNotEnqueued(hourbelltest.Any("mail"))
		s.t.Logf("%s: a month took %v", s.t.Name(), took)
		if took > 30*time.Second {
			s.t.Errorf("a month took %v", took)
		}
	})
}

// TestDaysOfADailySchedule checks that no slot is late or left out, over two changes of the clocks of
// Prague.
func TestDaysOfADailySchedule(t *testing.T) {
	onEach(t, func(s target) {
		var slots []time.Time
		workers := hourbell.NewWorkers()
		var kit *hourbelltest.Kit
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[invoice]) error {
			slots = append(slots, job.Slot)
			if now := kit.Now(); !now.Equal(job.Slot) || !now.Equal(job.CreatedAt) {
				return fmt.Errorf("slot %v, made at %v, runs at %v", job.Slot, job.CreatedAt, now)
			}
			return nil
		})
		kit = s.kit(workers)
		_, err := kit.Client.Schedules.Put(s.t.Context(), hourbell.Schedule{Name: "daily", Rule: recur.Cron("30 2 * * *").In("Europe/Prague"), Job: invoice{}})
		must(s.t, err)
		for _, a := range kit.Advance(90 * 24 * time.Hour) {
			must(s.t, a.Err)
		}
		want(s.t, len(slots), 90, "slots")
		want(s.t, slots[len(slots)-1].UTC(), time.Date(2026, 3, 31, 0, 30, 0, 0, time.UTC), "the last slot")
	})
}

// TestJobsThatTakeLong checks overlaps, a timeout and a cancellation of jobs that sleep.
func TestJobsThatTakeLong(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(ctx context.Context, _ *hourbell.Job[invoice]) error {
			return hourbelltest.Sleep(ctx, 90*time.Minute)
		})
		kit := s.kit(workers)
		_, err := kit.Client.Schedules.Put(s.t.Context(), hourbell.Schedule{Name: "hourly", Rule: recur.Cron("0 * * * *"), Job: invoice{}})
		must(s.t, err)
		want(s.t, lines(kit.Advance(2*time.Hour)), "", "attempts in two hours") // 1:00 runs until 2:30
		want(s.t, len(kit.Advance(30*time.Minute)), 1, "attempts until 2:30")
		kit.TravelTo(january.Add(6 * time.Hour)) // 3:00 runs until 4:30, 5:00 until 6:30
		slots, err := kit.Client.Slots.List(s.t.Context(), hourbell.SlotFilter{Schedule: "hourly"})
		must(s.t, err)
		var outcomes []string
		for _, slot := range slots {
			outcomes = append(outcomes, slot.Outcome.String())
		}
		want(s.t, strings.Join(outcomes, " "), "skipped fired skipped fired skipped fired", "slots from 6:00 back")
		err = kit.Client.Schedules.Pause(s.t.Context(), []string{"hourly"})
		must(s.t, err)
		kit.Advance(time.Hour)

		_, err = kit.Client.Enqueue(s.t.Context(), invoice{}, hourbell.Timeout(time.Hour), hourbell.MaxAttempts(1))
		must(s.t, err)
		began := kit.Now()
		ended := kit.Advance(24 * time.Hour)
		if len(ended) != 1 || !errors.Is(ended[0].Err, hourbell.ErrTimeout) || ended[0].Result != store.Failed {
			s.t.Errorf("a job that is too slow: %v", ended)
		}
		job, err := kit.Client.Jobs.Get(s.t.Context(), ended[0].ID)
		must(s.t, err)
		want(s.t, job.FinishedAt, began.Add(time.Hour), "its end")

		enqueued, err := kit.Client.Enqueue(s.t.Context(), invoice{})
		must(s.t, err)
		want(s.t, len(kit.RunDue()), 0, "attempts that ended at once")
		_, err = kit.Client.Jobs.Cancel(s.t.Context(), hourbell.JobFilter{IDs: []int64{enqueued.ID}})
		must(s.t, err)
		ended = kit.RunDue()
		if len(ended) != 1 || !errors.Is(ended[0].Err, hourbell.ErrCancelled) || ended[0].Result != store.Cancelled {
			s.t.Errorf("a job that was cancelled: %v", ended)
		}
	})
}

// TestDrain checks that retries, snoozes, delays and dependents run, each at its time.
func TestDrain(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[mail]) error {
			if job.Args.To == "snooze" && job.Attempt == 1 {
				job.Args.To = ""
				return hourbell.RetryIn(time.Hour, errors.New("later"))
			}
			return nil
		})
		kit := s.kit(workers)
		first, err := kit.Client.Enqueue(s.t.Context(), mail{"snooze"}, hourbell.In(24*time.Hour))
		must(s.t, err)
		_, err = kit.Client.Enqueue(s.t.Context(), mail{"after"}, hourbell.After(first.ID, hourbell.OnSuccess, 30*time.Minute))
		must(s.t, err)
		want(s.t, len(kit.RunDue()), 0, "attempts at once")
		ended := kit.Drain()
		want(s.t, lines(ended), fmt.Sprintf("mail 1 %v; mail 2 %v; mail 1 %v", store.Retry, store.Completed, store.Completed), "attempts")
		want(s.t, kit.Now(), january.Add(25*time.Hour+30*time.Minute), "the clock")
		want(s.t, len(kit.Drain()), 0, "attempts of another Drain")
	})
}

// TestClientsOfOneKit checks that further clients go by the clock, also with jobs of places, and that
// nothing runs by itself.
func TestClientsOfOneKit(t *testing.T) {
	onEach(t, func(s target) {
		var ran []string
		worker := func(name string) *hourbell.Workers {
			workers := hourbell.NewWorkers()
			hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[mail]) error {
				ran = append(ran, name)
				return nil
			})
			return workers
		}
		kit := s.kit(nil)
		other, err := hourbell.New(kit.Backend, hourbell.Config{Workers: worker("other"), Host: "db1"})
		must(s.t, err)
		kit.Run(other)
		now, err := other.Now(s.t.Context())
		must(s.t, err)
		want(s.t, now, january, "the clock of the other client")
		_, err = other.Schedules.Put(s.t.Context(), hourbell.Schedule{Name: "there", Rule: recur.Cron("0 1 * * *"), On: hourbell.Place{Host: "db1"}, Job: mail{"there"}})
		must(s.t, err)
		_, err = kit.Client.Enqueue(s.t.Context(), mail{"anywhere"})
		must(s.t, err)
		queues, err := other.Queues.List(s.t.Context())
		must(s.t, err)
		want(s.t, queues[0].Ready, 1, "due jobs before RunDue")
		want(s.t, len(kit.RunDue()), 1, "attempts now")
		want(s.t, len(kit.Advance(24*time.Hour)), 1, "attempts in a day")
		want(s.t, len(ran), 2, "runs of the other client")
	})
}

// TestEndsOfTransactions checks that what transactions of callers did happens after their commits.
func TestEndsOfTransactions(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		hourbell.Register(workers, func(context.Context, *hourbell.Job[mail]) error { return nil })
		kit := s.kit(workers)
		first, err := kit.Client.Enqueue(s.t.Context(), mail{"first"}, hourbell.In(time.Hour))
		must(s.t, err)
		_, err = kit.Client.Enqueue(s.t.Context(), mail{"then"}, hourbell.After(first.ID, hourbell.OnFailure, 0))
		must(s.t, err)
		tx, commit, _ := s.begin()
		_, err = kit.Client.Jobs.Cancel(s.t.Context(), hourbell.JobFilter{IDs: []int64{first.ID}}, hourbell.InTx(tx))
		must(s.t, err)
		commit()
		want(s.t, len(kit.RunDue()), 1, "attempts at the job that follows a cancellation")
		job, err := kit.Client.Jobs.Get(s.t.Context(), first.ID)
		must(s.t, err)
		want(s.t, job.FinishedAt, january, "the end of the job that was cancelled")
	})
}

// TestRunOnStart puts a schedule as programs do that start: together, after half a minute, and after two minutes.
func TestRunOnStart(t *testing.T) {
	onEach(t, func(s target) {
		workers := hourbell.NewWorkers()
		cleanup := hourbell.Func(workers, "cleanup", func(context.Context) error { return nil })
		kit := s.kit(workers)
		for i, step := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {0, 0}, {30 * time.Second, 0}, {2 * time.Minute, 1}, {time.Hour, 2}} { // the slot of the hour, too
			slots := len(kit.Advance(step.after))
			_, err := kit.Client.Schedules.Put(s.t.Context(), hourbell.Schedule{Name: "cleanup", Rule: recur.Every(time.Hour), Job: cleanup}, hourbell.RunOnStart())
			must(s.t, err)
			want(s.t, slots+len(kit.RunDue()), step.want, fmt.Sprintf("jobs of start %d", i))
		}
	})
}
