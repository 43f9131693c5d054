package hourbell_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
)

// TestAChangeAnswersAfterASlotThatFiredEarly checks that a change that comes just before a slot answers after the slot.
func TestAChangeAnswersAfterASlotThatFiredEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTown(t, done)
		time.Sleep(time.Until(at(1, 0, 0).Add(10 * time.Second)))
		c.put(hourbell.Schedule{Rule: recur.Spec{Cron: "* * * * *"}})
		slot := at(1, 0, 1)
		var pausing sync.WaitGroup
		pausing.Go(func() {
			time.Sleep(time.Until(slot.Add(-300 * time.Millisecond)))
			if err := c.client().Schedules.Pause(t.Context(), []string{"s"}); err != nil {
				t.Error(err)
			}
			if time.Now().Before(slot) {
				t.Errorf("the change answered %v before the slot", time.Until(slot))
			}
		})
		c.until(slot.Add(time.Second), 1)
		pausing.Wait()
		c.wantTold("00:01:00 fired")
	})
}
