package loop

import (
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Wakes passes wake-ups from the store to the loops of a node. Concurrent calls are allowed.
type Wakes struct {
	schedules, cancels Signal
	queues             map[string]Signal // not changed after NewWakes
	pushed             atomic.Bool
	idle, idlePushed   time.Duration
}

// NewWakes returns the wake-ups of a node that serves queues. idle is the longest interval at which
// a loop without work reads the store while the store sends no wake-ups, idlePushed while it does.
func NewWakes(queues []string, idle, idlePushed time.Duration) *Wakes {
	w := &Wakes{
		queues: make(map[string]Signal, len(queues)), schedules: NewSignal(), cancels: NewSignal(),
		idle: idle, idlePushed: idlePushed,
	}
	for _, name := range queues {
		w.queues[name] = NewSignal()
	}
	return w
}

// Jobs returns the signal that new jobs are due in a queue; nil if the node does not serve it.
func (w *Wakes) Jobs(queue string) Signal { return w.queues[queue] }

// Schedules returns the signal that schedules have changed.
func (w *Wakes) Schedules() Signal { return w.schedules }

// Cancels returns the signal that runs were asked to end.
func (w *Wakes) Cancels() Signal { return w.cancels }

// WakeJobs wakes the fetcher of a queue; all fetchers if queue is empty.
func (w *Wakes) WakeJobs(queue string) {
	if queue != "" {
		if s, ours := w.queues[queue]; ours {
			s.Notify()
		}
		return
	}
	for _, s := range w.queues {
		s.Notify()
	}
}

// Wake wakes the loops that a wake-up from the store concerns.
func (w *Wakes) Wake(hint store.Wake) {
	switch hint.Kind {
	case store.WakeJobs:
		w.WakeJobs(hint.Queue)
	case store.WakeSchedules:
		w.schedules.Notify()
	case store.WakeCancels:
		w.cancels.Notify()
	default:
		w.WakeJobs("")
		w.schedules.Notify()
		w.cancels.Notify()
	}
}

// SetPushed records whether the store sends wake-ups at present, and reports whether it did before.
func (w *Wakes) SetPushed(pushed bool) (before bool) { return w.pushed.Swap(pushed) }

// Pushed reports whether the store sends wake-ups at present.
func (w *Wakes) Pushed() bool { return w.pushed.Load() }

// IdlePoll returns the longest interval at which a loop without work reads the store.
func (w *Wakes) IdlePoll() time.Duration {
	if w.Pushed() {
		return w.idlePushed
	}
	return w.idle
}
