package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store/memory"
)

// town is a store and its nodes with a clock that jumps.
type town struct {
	*memory.Store
	t       *testing.T
	workers *hourbell.Workers
}

// newTown makes a town whose jobs of kind k run the given function.
func newTown(t *testing.T, do hourbell.Handler) town {
	workers := hourbell.NewWorkers()
	workers.Handle("k", do)
	return town{Store: memory.New(), t: t, workers: workers}
}

func (c town) client() *hourbell.Client {
	c.t.Helper()
	client, err := hourbell.New(c.Store, hourbell.Config{
		Workers: c.workers, Logger: slog.New(slog.DiscardHandler), Drain: -1,
		Keep: hourbell.Keep{Completed: -1}, Lease: time.Hour, PollIdle: time.Minute,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

// until runs nodes up to an instant.
func (c town) until(at time.Time, nodes int) {
	c.t.Helper()
	ctx, stop := context.WithDeadline(c.t.Context(), at)
	defer stop()
	var all sync.WaitGroup
	for range nodes {
		all.Go(func() {
			if err := c.client().Run(ctx); err != nil {
				c.t.Error(err)
			}
		})
	}
	all.Wait()
}

func (c town) put(s hourbell.Schedule) {
	c.t.Helper()
	s.Name = "s"
	if s.Job == nil {
		s.Job = hourbell.RawArgs{Name: "k"}
	}
	if _, err := c.client().Schedules.Put(c.t.Context(), s); err != nil {
		c.t.Fatal(err)
	}
}

// told returns the outcomes of all slots, as "15:04:05 outcome", oldest first.
func (c town) told() []string {
	c.t.Helper()
	slots, err := c.client().Slots.List(c.t.Context(), hourbell.SlotFilter{Limit: 1000})
	if err != nil {
		c.t.Fatal(err)
	}
	var told []string
	for _, slot := range slices.Backward(slots) {
		why, _, _ := strings.Cut(slot.Reason, ":")
		if slot.Count > 1 {
			why += fmt.Sprint(" ×", slot.Count)
		}
		told = append(told, strings.TrimSpace(slot.Slot.Format("15:04:05 ")+slot.Outcome.String()+" "+why))
	}
	return told
}

func (c town) wantTold(want ...string) {
	c.t.Helper()
	if got := c.told(); !slices.Equal(got, want) {
		c.t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func done(context.Context, *hourbell.JobRow) error { return nil }

// at returns an instant in March 2000, which is later than the clock of these
// tests at their start.
func at(day, hour, minute int) time.Time {
	return time.Date(2000, 3, day, hour, minute, 0, 0, time.UTC)
}

// TestIntervalsCountFromTheirStart has the examples in the documentation of
// calendar intervals.
func TestIntervalsCountFromTheirStart(t *testing.T) {
	hourly := hourbell.Schedule{Rule: recur.Spec{Every: "1 hour", Start: "2000-03-01T01:00:00Z"}}
	synctest.Test(t, func(t *testing.T) { // put long after its start
		c := newTown(t, done)
		time.Sleep(time.Until(at(3, 3, 5)))
		c.put(hourly)
		c.until(at(3, 4, 1), 1)
		c.wantTold("04:00:00 fired")
	})
	synctest.Test(t, func(t *testing.T) { // an outage
		c := newTown(t, done)
		time.Sleep(time.Until(at(4, 3, 30)))
		c.put(hourly)
		c.until(at(4, 4, 5), 1)
		time.Sleep(time.Until(at(4, 7, 30)))
		c.until(at(4, 8, 1), 1)
		c.wantTold("04:00:00 fired", "05:00:00 missed misfire", "06:00:00 missed misfire", "07:00:00 missed misfire", "08:00:00 fired")
	})
	synctest.Test(t, func(t *testing.T) { // another interval
		c := newTown(t, done)
		time.Sleep(time.Until(at(4, 2, 0)) - time.Second)
		c.put(hourbell.Schedule{Rule: recur.Spec{Every: "30 minutes", Start: "2000-03-04T02:00:00Z"}})
		c.until(at(4, 3, 40), 1)
		time.Sleep(time.Until(at(4, 3, 45)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Every: "1 hour", Start: "2000-03-04T02:00:00Z"}})
		c.until(at(4, 5, 1), 1)
		c.wantTold("02:00:00 fired", "02:30:00 fired", "03:00:00 fired", "03:30:00 fired", "04:00:00 fired", "05:00:00 fired")
	})
}

func TestStopAndCountEndAScheduleUntilTheyAreRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 30)))
		rule := recur.Spec{Every: "1 hour", Start: "2000-03-01T00:00:00Z", Stop: "2000-03-01T05:00:00Z"}
		state := func() string {
			info, err := c.client().Schedules.Get(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(info.State(), " ", info.Fired)
		}
		for _, step := range []struct {
			count int64
			stop  string
			until time.Time
			want  string
		}{
			{2, rule.Stop, at(1, 3, 30), "ended 2"},                  // 1:00 and 2:00
			{3, rule.Stop, at(1, 4, 30), "ended 3"},                  // 4:00
			{0, rule.Stop, at(1, 6, 30), "ended 4"},                  // 5:00, the stop itself
			{0, "2000-03-01T07:00:00Z", at(1, 6, 45), "active 4"},    // revived
			{0, "2000-03-01T07:00:00.5Z", at(1, 7, 30), "ended 5"},   // 7:00
			{0, "2000-03-01T05:30:00Z", at(1, 8, 30), "ended 5"},     // a stop in the past
			{0, "2000-03-01T09:00:00Z", at(1, 8, 59), "active 5"},    // revived again
			{5, "2000-03-01T09:00:00Z", at(1, 9, 30), "ended 5"},     // no slot of the count is left
			{6, "2000-03-01T19:00:00Z", at(1, 12, 30), "ended 6"},    // 10:00
			{100, "2000-03-01T19:00:00Z", at(1, 14, 30), "active 8"}, // 13:00 and 14:00
		} {
			rule.Stop = step.stop
			c.put(hourbell.Schedule{Rule: rule, Count: step.count})
			c.until(step.until, 1)
			if got := state(); got != step.want {
				t.Errorf("count %d, stop %s: %s, want %s", step.count, step.stop, got, step.want)
			}
		}
	})
}

func TestAPauseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 * * * *"}})
		client := c.client()
		if err := client.Schedules.PauseUntil(t.Context(), at(1, 3, 0), []string{"s"}); err != nil {
			t.Fatal(err)
		}
		if err := client.Schedules.PauseUntil(t.Context(), at(1, 0, 30), []string{"s"}); err == nil {
			t.Error("a pause until now was accepted")
		}
		info, err := client.Schedules.Get(t.Context(), "s")
		if err != nil || info.State() != "paused" || !info.PausedUntil.Equal(at(1, 3, 0)) {
			t.Errorf("%s until %v: %v", info.State(), info.PausedUntil, err)
		}
		c.until(at(1, 4, 1), 1)
		c.wantTold("01:00:00 skipped paused ×2", "03:00:00 fired", "04:00:00 fired")
		if info, _ = client.Schedules.Get(t.Context(), "s"); info.State() != "active" || !info.PausedAt.IsZero() {
			t.Errorf("after the pause: %s since %v", info.State(), info.PausedAt)
		}
	})
}

func TestFailuresInARowPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken sync.Map
		c := newTown(t, func(_ context.Context, job *hourbell.JobRow) error {
			if _, fails := broken.Load(job.Slot.Hour()); fails {
				return errors.New("broken")
			}
			return nil
		})
		for _, hour := range []int{1, 2, 4, 5, 6, 10} {
			broken.Store(hour, true)
		}
		time.Sleep(time.Until(at(1, 0, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 * * * *"}, MaxAttempts: 1, PauseAfterFailures: 3})
		c.until(at(1, 8, 1), 2)
		want := []string{
			"01:00:00 fired", "02:00:00 fired", "03:00:00 fired", "04:00:00 fired", "05:00:00 fired", "06:00:00 fired",
			"07:00:00 skipped paused ×2",
		}
		c.wantTold(want...)
		client := c.client()
		if info, err := client.Schedules.Get(t.Context(), "s"); err != nil || info.State() != "paused" || info.Failures != 3 {
			t.Errorf("%s after %d failures: %v", info.State(), info.Failures, err)
		}
		if err := client.Schedules.Resume(t.Context(), []string{"s"}); err != nil {
			t.Fatal(err)
		}
		c.until(at(1, 10, 1), 2)
		c.wantTold(append(want, "09:00:00 fired", "10:00:00 fired")...)
	})
}

// TestSlotsOfOtherNodesAreMissedInTime: a slot that this node leaves to other nodes is missed when its grace is over, and not when a
// node happens to poll.
func TestSlotsOfOtherNodesAreMissedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 * * * *"}, On: hourbell.Place{Host: "elsewhere"}, Grace: 4 * time.Second})
		c.until(at(1, 1, 0).Add(5*time.Second), 2)
		c.wantTold("01:00:00 missed misfire")
	})
}

func TestCountsBySchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 * * * *"}})
		time.Sleep(time.Until(at(1, 3, 30)))
		client := c.client()
		ctx, stop := context.WithDeadline(t.Context(), at(1, 5, 30))
		defer stop()
		if err := client.Run(ctx); err != nil {
			t.Fatal(err)
		}
		counts := client.Schedules.Counts("s")
		if counts[event.SlotMissed] != 3 || counts[event.SlotFired] != 2 || counts[event.JobCompleted] != 2 {
			t.Errorf("3 missed, 2 fired, 2 completed: %v", counts)
		}
		if other := client.Schedules.Counts("other"); len(other) != 0 {
			t.Errorf("of another schedule: %v", other)
		}
	})
}

func TestBackfill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ran []string
		running := 0
		c := newTown(t, func(_ context.Context, job *hourbell.JobRow) error {
			mu.Lock()
			running++
			ran = append(ran, fmt.Sprint(job.Origin, job.Slot.Format(" 15:04 "), running))
			mu.Unlock()
			time.Sleep(9 * time.Minute)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		time.Sleep(time.Until(at(1, 5, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 * * * *"}})
		client := c.client()
		past := hourbell.BackfillRequest{From: at(1, 2, 0), To: at(1, 5, 0), DryRun: true}
		if made, err := client.Schedules.Backfill(t.Context(), "s", past); err != nil || len(made.Slots) != 3 || made.Jobs != nil {
			t.Errorf("a dry run: %+v, %v", made, err)
		}
		past.DryRun = false
		if made, err := client.Schedules.Backfill(t.Context(), "s", past); err != nil || len(made.Jobs) != 3 {
			t.Errorf("%+v, %v", made, err)
		}
		c.until(at(1, 6, 15), 2)
		if want := []string{"backfill 02:00 1", "backfill 03:00 1", "backfill 04:00 1", "schedule 06:00 1"}; !slices.Equal(ran, want) {
			t.Errorf("ran %q, want %q", ran, want)
		}
		c.wantTold("06:00:00 fired")
		mu.Lock()
		ran = nil
		mu.Unlock()
		late := hourbell.BackfillRequest{From: at(1, 5, 0), To: at(1, 6, 15), Overlap: hourbell.OverlapAllow}
		var field *check.FieldError
		if _, err := client.Schedules.Backfill(t.Context(), "s", late); !errors.As(err, &field) || !strings.Contains(err.Error(), "06:00") {
			t.Errorf("a slot that has fired: %v", err)
		}
		late.Force = true
		if made, err := client.Schedules.Backfill(t.Context(), "s", late); err != nil || len(made.Jobs) != 2 {
			t.Errorf("by force: %+v, %v", made, err)
		}
		c.until(at(1, 6, 30), 1)
		if slices.Sort(ran); len(ran) != 2 || ran[0] == ran[1] {
			t.Errorf("at once: %q", ran)
		}
		time.Sleep(40 * 24 * time.Hour)
		past.To = at(1, 3, 0)
		if _, err := client.Schedules.Backfill(t.Context(), "s", past); !errors.As(err, &field) || field.Field != "from" {
			t.Errorf("older than the records that are kept: %v", err)
		}
		past.To = time.Now().Add(time.Hour)
		if _, err := client.Schedules.Backfill(t.Context(), "s", past); !errors.As(err, &field) || field.Field != "to" {
			t.Errorf("in the future: %v", err)
		}
	})
}

// TestDefaultsCanBeWrittenOut checks that the names of defaults are accepted
// like the names of all other choices, and make the same definition as an empty
// choice.
func TestDefaultsCanBeWrittenOut(t *testing.T) {
	c := newTown(t, done)
	client := c.client()
	plain := hourbell.Schedule{Name: "s", Job: hourbell.RawArgs{Name: "k"}, Rule: recur.Spec{Cron: "0 * * * *"}}
	named := plain
	named.Misfire, named.Overlap = "skip", "skip"
	if err := named.Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []hourbell.Schedule{plain, named} {
		saved, err := client.Schedules.Put(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		info := saved.Now
		if info.Misfire != hourbell.MisfireSkip || info.Overlap != hourbell.OverlapSkip || info.Revision != 1 {
			t.Errorf("misfire %q, overlap %q, revision %d", info.Misfire, info.Overlap, info.Revision)
		}
	}
	named.Window = time.Hour
	var field *check.FieldError
	if err := named.Validate(); !errors.As(err, &field) || field.Field != "window" {
		t.Errorf("a window for a schedule that makes up for nothing: %v", err)
	}
	for _, word := range []string{"Skip", "skip ", "none"} {
		if err := (hourbell.Schedule{Name: "s", Job: hourbell.RawArgs{Name: "k"}, Rule: plain.Rule, Misfire: hourbell.Misfire(word)}).Validate(); err == nil {
			t.Errorf("misfire %q was taken", word)
		}
	}
	past := hourbell.BackfillRequest{From: time.Now().Add(-2 * time.Hour), To: time.Now().Add(-time.Hour), Overlap: "skip", DryRun: true}
	if _, err := client.Schedules.Backfill(t.Context(), "s", past); err != nil {
		t.Error(err)
	}
}

// TestEditsWhileNodesRing edits a schedule each second while five nodes fire
// it: no slot fires twice, and no slot is lost between the versions.
func TestEditsWhileNodesRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		fired := map[time.Time]int{}
		c := newTown(t, func(_ context.Context, job *hourbell.JobRow) error {
			mu.Lock()
			defer mu.Unlock()
			fired[job.Slot]++
			return nil
		})
		time.Sleep(time.Until(at(1, 0, 0)))
		zones := []string{"UTC", "America/New_York", "Europe/Prague"}
		overlaps := []hourbell.Overlap{hourbell.OverlapAllow, hourbell.OverlapSkip, hourbell.OverlapQueue}
		edit := func(n int) {
			c.put(hourbell.Schedule{
				Rule: recur.Spec{Cron: "* * * * * *", Zone: zones[n%3]}, Overlap: overlaps[n%3], Grace: time.Duration(60+n%5) * time.Second,
				Misfire: []hourbell.Misfire{hourbell.MisfireSkip, hourbell.MisfireOnce}[n%2],
			})
		}
		edit(0)
		var editing sync.WaitGroup
		editing.Go(func() {
			for n := range 118 { // every second edit is at the exact instant of a slot
				time.Sleep(time.Until(at(1, 0, 0).Add(time.Duration(n+1) * 500 * time.Millisecond)))
				edit(n)
			}
		})
		c.until(at(1, 0, 1).Add(50*time.Millisecond), 5) // before the next slot fires ahead
		editing.Wait()
		for second := 1; second <= 60; second++ {
			if slot := at(1, 0, 0).Add(time.Duration(second) * time.Second); fired[slot] != 1 {
				t.Errorf("the slot %s made %d jobs", slot.Format("15:04:05"), fired[slot])
			}
		}
		if got := c.told(); len(got) != 60 {
			t.Errorf("%d slots are accounted for, of 60: %q", len(got), got)
		}
	})
}

// TestChangesJustBeforeASlot pauses, resumes, edits and deletes a schedule 300
// ms before a slot, which has fired ahead if no job lives. The call of the
// change returns when that slot has come, and no later slot fires as before the
// change. If the slot could not fire ahead, the change is in effect for it, and
// the call returns at once.
func TestChangesJustBeforeASlot(t *testing.T) {
	for _, test := range []struct {
		name    string
		takes   time.Duration // the duration of a job
		overlap hourbell.Overlap
		waits   []int // the minutes whose slot the change waits for
		told    string
		ran     string
	}{
		{"quick jobs", 0, hourbell.OverlapSkip, []int{1, 4, 6}, "1 fired, 2 paused, 3 fired, 4 fired, 5 fired, 6 fired", "1 a, 3 a, 4 a, 5 b, 6 b"},
		{"jobs that live on", 90 * time.Second, hourbell.OverlapSkip, []int{1}, "1 fired, 2 paused, 3 fired, 4 overlap, 5 fired", "1 a, 3 a, 5 b"},
		{"jobs side by side", 90 * time.Second, hourbell.OverlapAllow, []int{1, 4, 6}, "1 fired, 2 paused, 3 fired, 4 fired, 5 fired, 6 fired", "1 a, 3 a, 4 a, 5 b, 6 b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var ran []string
				c := newTown(t, func(_ context.Context, job *hourbell.JobRow) error {
					if time.Now().Before(job.Slot) {
						t.Errorf("the job of %v started at %v", job.Slot, time.Now())
					}
					mu.Lock()
					ran = append(ran, fmt.Sprint(job.Slot.Minute(), " ", strings.Trim(string(job.RawArgs), `"`)))
					mu.Unlock()
					time.Sleep(test.takes)
					return nil
				})
				time.Sleep(time.Until(at(1, 0, 0).Add(10 * time.Second)))
				put := func(args string) error {
					c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "* * * * *"}, Job: hourbell.RawArgs{Name: "k", JSON: []byte(args)}, Overlap: test.overlap})
					return nil
				}
				must := func(err error) {
					if err != nil {
						t.Error(err)
					}
				}
				must(put(`"a"`))
				client := c.client()
				var waits []int
				var changes sync.WaitGroup
				changes.Go(func() {
					for minute, change := range []func() error{
						1: func() error { return client.Schedules.Pause(t.Context(), []string{"s"}) },
						3: func() error { return client.Schedules.Resume(t.Context(), []string{"s"}) },
						4: func() error { return put(`"b"`) },
						6: func() error { return client.Schedules.Delete(t.Context(), []string{"s"}) },
					} {
						if change == nil {
							continue
						}
						slot := at(1, 0, minute)
						time.Sleep(time.Until(slot.Add(-300 * time.Millisecond)))
						must(change())
						switch late := time.Since(slot); late {
						case 0:
							waits = append(waits, minute)
						case -300 * time.Millisecond:
						default:
							t.Errorf("the change before minute %d was told %v after its slot", minute, late)
						}
					}
				})
				c.until(at(1, 0, 8).Add(time.Second), 3)
				changes.Wait()
				var told []string
				for _, line := range c.told() { // 00:01:00 skipped paused
					words := strings.Fields(line)
					told = append(told, strings.TrimPrefix(words[0][3:5], "0")+" "+words[len(words)-1])
				}
				if got := strings.Join(told, ", "); got != test.told {
					t.Errorf("told %q, want %q", got, test.told)
				}
				slices.Sort(ran)
				if got := strings.Join(ran, ", "); got != test.ran {
					t.Errorf("ran %q, want %q", got, test.ran)
				}
				if !slices.Equal(waits, test.waits) {
					t.Errorf("the changes before minutes %v waited for the slot, want %v", waits, test.waits)
				}
			})
		})
	}
}

// TestAChangeThatIsNotWaitedFor checks that a caller whose context ends while a
// change waits for a slot that had fired learns that the change was made.
func TestAChangeThatIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 0).Add(10 * time.Second)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "* * * * *"}})
		var pausing sync.WaitGroup
		pausing.Go(func() {
			time.Sleep(time.Until(at(1, 0, 1).Add(-300 * time.Millisecond)))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := c.client().Schedules.Pause(ctx, []string{"s"})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the change is made") {
				t.Errorf("a pause that is not waited for: %v", err)
			}
		})
		c.until(at(1, 0, 2).Add(time.Second), 1)
		pausing.Wait()
		c.wantTold("00:01:00 fired", "00:02:00 skipped paused")
	})
}

// TestSlotsBeforeTheFirstNodeAreAccountedFor puts and edits a schedule while no
// node lives: slots due in between are accounted for by the definition at that
// time.
func TestSlotsBeforeTheFirstNodeAreAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "0 * * * *"}})
		time.Sleep(time.Until(at(1, 3, 30)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "30 * * * *"}})
		time.Sleep(time.Until(at(1, 5, 45)))
		c.until(at(1, 6, 45), 1)
		c.wantTold("01:00:00 missed misfire", "02:00:00 missed misfire", "03:00:00 missed misfire", "04:30:00 missed misfire", "05:30:00 missed misfire", "06:30:00 fired")
	})
}
