package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// bell wakes one loop. Rings that come while it has not woken yet are one.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (b signal) notify() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// wakes carries wake-ups from the store to the loops, and says how often to
// ask where none can be relied on.
type wakes struct {
	pushed    atomic.Bool
	queues    map[string]signal // fixed at start
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

// jobs wakes the fetcher of a queue, or of all for an empty name.
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

// idlePoll is how long a loop with nothing to do waits before it looks again
// unasked.
func (e *Engine) idlePoll() time.Duration {
	if e.wakes.pushed.Load() {
		return e.cfg.PollPushed
	}
	return e.cfg.PollIdle
}

// steadyPush is how long pushes must have come before it is believed that they
// will, and told.
const steadyPushTime = 10 * time.Second

// listen keeps pushes coming; while they do not, the loops poll.
func (e *Engine) listen(ctx context.Context) {
	listener, ok := e.cfg.Backend.(store.Listener)
	if !ok {
		return
	}
	told := false // that pushes are lost
	for attempt := 0; ; attempt++ {
		began := monotonic()
		err := listener.Listen(ctx, func(hint store.Wake) {
			if hint.Kind == store.WakeAll {
				e.wakes.pushed.Store(true)
			}
			if told && began.elapsed() > steadyPushTime {
				told = false
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
		e.wakes.wake(store.Wake{}) // sleeping loops must learn to poll
		if !told {
			told = true
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

// sleep waits, or returns ctx's error early.
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
