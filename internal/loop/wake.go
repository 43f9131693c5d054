package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// signal wakes one loop. Several signals before the loop wakes count as one.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (b signal) notify() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// wakes passes wake-ups from the store to the loops. pushed reports whether the store sends
// wake-ups at present.
type wakes struct {
	pushed    atomic.Bool
	queues    map[string]signal // not changed after newWakes
	schedules signal
	cancels   signal
}

func newWakes(queues map[string]int) *wakes {
	w := &wakes{queues: make(map[string]signal, len(queues)), schedules: newSignal(), cancels: newSignal()}
	for name := range queues {
		w.queues[name] = newSignal()
	}
	return w
}

// jobs wakes the fetcher of a queue; all fetchers if queue is empty.
func (w *wakes) jobs(queue string) {
	if queue != "" {
		if b, ours := w.queues[queue]; ours {
			b.notify()
		}
		return
	}
	for _, b := range w.queues {
		b.notify()
	}
}

func (w *wakes) wake(hint store.Wake) {
	switch hint.Kind {
	case store.WakeJobs:
		w.jobs(hint.Queue)
	case store.WakeSchedules:
		w.schedules.notify()
	case store.WakeCancels:
		w.cancels.notify()
	default:
		w.jobs("")
		w.schedules.notify()
		w.cancels.notify()
	}
}

// idlePoll returns the longest interval at which a loop without work reads the store.
func (e *Engine) idlePoll() time.Duration {
	if e.wakes.pushed.Load() {
		return e.cfg.PollPushed
	}
	return e.cfg.PollIdle
}

// steadyPushTime is how long wake-ups must have arrived until an event reports that they work
// again.
const steadyPushTime = 10 * time.Second

// listen receives wake-ups from the store until ctx ends. While it cannot, the loops poll.
func (e *Engine) listen(ctx context.Context) {
	listener, ok := e.cfg.Backend.(store.Listener)
	if !ok {
		return
	}
	reported := false // an event has reported that wake-ups are lost
	for attempt := 0; ; attempt++ {
		began := monotonic()
		err := listener.Listen(ctx, func(hint store.Wake) {
			if hint.Kind == store.WakeAll {
				e.wakes.pushed.Store(true)
			}
			if reported && began.elapsed() > steadyPushTime {
				reported = false
				e.emit(event.Event{Kind: event.PushBack})
			}
			e.wakes.wake(hint)
		})
		if ctx.Err() != nil {
			return
		}
		if e.wakes.pushed.Swap(false) && began.elapsed() > steadyPushTime {
			attempt = 0
		}
		e.storeFailed("listen", err)
		e.wakes.wake(store.Wake{}) // waiting loops have to begin polling
		if !reported {
			reported = true
			e.emit(event.Event{Kind: event.PushLost, Err: err})
		}
		if errors.Is(err, store.ErrNoPush) {
			return
		}
		if sleep(ctx, retryWait(attempt)) != nil {
			return
		}
	}
}

// sleep waits for d. It returns the error of ctx if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
