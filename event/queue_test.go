package event

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueueDeliversInOrder checks that an observer gets every event of many
// senders, each sender's in order, and never two calls at once.
func TestQueueDeliversInOrder(t *testing.T) {
	const senders, each = 8, 1000
	next := map[int64]int64{}
	busy := atomic.Int32{}
	q := NewQueue(Sink(func(e Event) {
		if busy.Add(1) != 1 {
			t.Error("two calls at once")
		}
		if e.Kind == Dropped || next[e.Node] != e.Count {
			t.Errorf("%s: event %d of sender %d, want %d", e.Kind, e.Count, e.Node, next[e.Node])
		}
		next[e.Node]++
		busy.Add(-1)
	}), nil)
	var all sync.WaitGroup
	for sender := range int64(senders) {
		all.Go(func() {
			for n := range int64(each) {
				q.Send(Event{Kind: Step, Node: sender, Count: n})
			}
		})
	}
	all.Wait()
	q.Flush(t.Context())
	for sender := range int64(senders) {
		if next[sender] != each {
			t.Errorf("sender %d: %d events arrived", sender, next[sender])
		}
	}
}

// TestQueueDoesNotBlock checks that a slow observer delays no sender, and that it
// learns how many events it did not get.
func TestQueueDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var got, dropped int64
		q := NewQueue(Sink(func(e Event) {
			<-release
			if e.Kind == Dropped {
				dropped += e.Count
			} else {
				got++
			}
		}), nil)
		q.Send(Event{Kind: Step})
		synctest.Wait() // the observer has the first event
		for range queueLimit + 5 {
			q.Send(Event{Kind: Step})
		}
		ended, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if q.Flush(ended); ended.Err() == nil {
			t.Error("Flush returned before its events were delivered")
		}
		close(release)
		q.Flush(t.Context())
		if got != queueLimit+1 || dropped != 5 {
			t.Errorf("%d events arrived and %d were dropped, want %d and 5", got, dropped, queueLimit+1)
		}
		q.Send(Event{Kind: Step})
		q.Flush(t.Context())
		if got != queueLimit+2 {
			t.Error("nothing arrives after a pause")
		}
	})
}

// TestQueueIsolatesPanics checks that an observer that panics, or ends its
// goroutine, gets later events, and that its first panic is reported once.
func TestQueueIsolatesPanics(t *testing.T) {
	var got atomic.Int64
	var reports []Event
	q := NewQueue(Sink(func(e Event) {
		switch got.Add(1) {
		case 1, 2:
			panic("broken")
		case 3:
			runtime.Goexit()
		}
	}), func(e Event) { reports = append(reports, e) })
	for n := range int64(5) {
		q.Send(Event{Kind: JobCompleted, Count: n})
		q.Flush(t.Context())
	}
	if got.Load() != 5 {
		t.Errorf("%d events arrived, want 5", got.Load())
	}
	if len(reports) != 1 || reports[0].Kind != ObserverPanicked || reports[0].Err.Error() != "panic: broken" || reports[0].Trace == "" {
		t.Errorf("reported: %+v", reports)
	}
}
