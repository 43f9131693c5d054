package hourbell_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestSlotsFireAtTheirInstant runs a node on stores that do not fire early: slots
// are recorded, and their jobs start, at the instant of the slot, not before it and
// not at the next poll.
func TestSlotsFireAtTheirInstant(t *testing.T) {
	for name, option := range map[string]memory.Option{
		"hidden":  func(*memory.Store) {},
		"missing": memory.WithoutEarlyFiring(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				started := map[string]time.Duration{} // after the slot
				c := newTown(t, func(_ context.Context, job *hourbell.JobRow) error {
					mu.Lock()
					defer mu.Unlock()
					started[job.Slot.Format("15:04:05")] = time.Since(job.Slot)
					return nil
				})
				c.Store = memory.New(option)
				c.plain = true
				time.Sleep(time.Until(at(1, 0, 0).Add(10 * time.Second)))
				c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "*/20 * * * * *"}})
				c.until(at(1, 0, 5).Add(time.Second), 1)
				slots, err := store.List[store.SlotInfo](t.Context(), c, store.ListRequest{Limit: 100})
				if err != nil || len(slots) != 15 {
					t.Errorf("%d slots are recorded, want 15, %v", len(slots), err)
				}
				for _, slot := range slots {
					after, ran := started[slot.Slot.Format("15:04:05")]
					if slot.Outcome != store.SlotFired || !slot.RecordedAt.Equal(slot.Slot) || !ran || after.Truncate(time.Microsecond) != 0 { // the store counts microseconds
						t.Errorf("the slot of %s: %v, recorded %v after it; its job started: %v, %v after it",
							slot.Slot.Format("15:04:05"), slot.Outcome, slot.RecordedAt.Sub(slot.Slot), ran, after)
					}
				}
			})
		})
	}
}

// TestAClientHidesNoAbility checks that a client fires early where its store does,
// and only there: a change that comes just before a slot answers after the slot, or
// at once.
func TestAClientHidesNoAbility(t *testing.T) {
	for _, plain := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newTown(t, done)
			c.plain = plain
			time.Sleep(time.Until(at(1, 0, 0).Add(10 * time.Second)))
			c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "* * * * *"}})
			slot := at(1, 0, 1)
			var pausing sync.WaitGroup
			pausing.Go(func() {
				time.Sleep(time.Until(slot.Add(-300 * time.Millisecond)))
				if err := c.client().Schedules.Pause(t.Context(), []string{"s"}); err != nil {
					t.Error(err)
				}
				if early := !time.Now().Before(slot); early == plain {
					t.Errorf("with early firing: %v; the change answered %v after the slot", !plain, time.Since(slot))
				}
			})
			c.until(slot.Add(time.Second), 1)
			pausing.Wait()
			if plain {
				c.wantTold("00:01:00 skipped paused")
			} else {
				c.wantTold("00:01:00 fired")
			}
		})
	}
}
