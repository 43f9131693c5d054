package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/store"
)

// sentWake is a wake-up that a notify throttle sent by itself.
type sentWake struct {
	at       time.Duration // since the notify throttle was made
	payloads []string
}

// recorded returns a notify throttle and the wake-ups that it sends.
func recorded() (*notifyThrottle, *[]sentWake) {
	var sent []sentWake
	start := time.Now()
	return newNotifyThrottle(notifyGap, func(_ context.Context, payloads []string) {
		sent = append(sent, sentWake{time.Since(start), payloads})
	}), &sent
}

func TestTheFirstWakeUpGoesWithItsInsert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, sent := recorded()
		for range 3 {
			if !r.take("ja") || !r.take("jb") {
				t.Error("an insert after a pause does not take its wake-up along")
			}
			time.Sleep(notifyGap)
		}
		r.wait()
		if len(*sent) > 0 {
			t.Errorf("sent %v, though nothing was owed", *sent)
		}
	})
}

func TestABurstSharesItsWakeUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, sent := recorded()
		taken := 0
		for i := range 100 { // 9.7 ms of inserts into two queues
			payload := [...]string{"jb", "ja"}[i%2]
			if r.take(payload) {
				taken++
			} else {
				r.owe(payload)
			}
			time.Sleep(97 * time.Microsecond)
		}
		r.wait()
		if taken != 2 {
			t.Errorf("%d inserts took their wake-up along, want the first of each queue", taken)
		}
		if len(*sent) < 3 || len(*sent) > 5 {
			t.Errorf("%d messages in 10 ms: %v", len(*sent), *sent)
		}
		for _, s := range *sent {
			if !slices.Equal(s.payloads, []string{"ja", "jb"}) {
				t.Errorf("a message wakes %q", s.payloads)
			}
		}
		if last := (*sent)[len(*sent)-1].at; last < 99*97*time.Microsecond || last > 99*97*time.Microsecond+notifyGap {
			t.Errorf("the last message left after %v, the last insert was after 9.6ms", last)
		}
	})
}

func TestANotifyThrottleForgetsQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := recorded()
		for i := range 3 * maxRemembered {
			r.take(fmt.Sprint("j", i))
			time.Sleep(notifyGap / 100)
		}
		if len(r.last) > maxRemembered {
			t.Errorf("%d queues are remembered", len(r.last))
		}
	})
}

// After the last of a burst of inserts a wake-up comes, also where it is the
// last thing that the process does.
func TestTheLastOfABurstWakes(t *testing.T) {
	listener := fresh(t)
	wakes, _ := listening(t, listener)
	b, err := Open(t.Context(), urlFrom(t, serverVariable), Schema(listener.schema))
	must(t, err)
	insertN(t, b, 1)
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "q"})
	for len(wakes) == 0 { // until a wake-up is owed, and then leaves
		insertN(t, b, 1)
	}
	drainWakes(wakes)
	for !b.owes() {
		insertN(t, b, 1)
	}
	b.Close()
	if b.owes() {
		t.Error("Close has left a wake-up unsent")
	}
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "q"})
}

func (b *Backend) owes() bool {
	b.insertWakes.mu.Lock()
	defer b.insertWakes.mu.Unlock()
	return len(b.insertWakes.owed) > 0
}

func drainWakes(wakes chan store.Wake) {
	for len(wakes) > 0 {
		<-wakes
	}
}

func TestWakeUpsOfManyQueuesAreOne(t *testing.T) {
	b := fresh(t)
	wakes, _ := listening(t, b)
	payloads := make([]string, maxPayloads+1)
	for i := range payloads {
		payloads[i] = fmt.Sprint("j", i)
	}
	b.sendWakes(t.Context(), payloads)
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs})
	b.sendWakes(t.Context(), payloads[:2])
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "0"})
	wantWake(t, wakes, store.Wake{Kind: store.WakeJobs, Queue: "1"})
}
