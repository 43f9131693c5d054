package loop

import (
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Wakes passes wake-ups from the store to the loops of a node. Concurrent calls are allowed.
type Wakes struct {
	schedules, cancels Signal
	queues             map[string]Signal // not changed after NewWakes
	turns              map[string]*Turn  // by queue; not changed after NewWakes
	scheduleTurn       *Turn
	pushed             atomic.Bool
	idle, idlePushed   time.Duration
	watchTime          time.Duration // 0: the store does not share polls
}

// rarer is how many times as long as the interval of a queue's fetcher the intervals of the loop of due schedules and of the fetchers of
// places are while the store sends wake-ups. Polls then only make up for lost wake-ups: an edit of a schedule sends its wake-up with its
// commit, and most places have no jobs.
const rarer = 4

// NewWakes returns the wake-ups of a node that serves queues. idle is the longest interval at which
// a loop without work reads the store while the store sends no wake-ups. idlePushed is the interval of the fetcher of a queue
// while it does; see rarer for the others. sharedPolls is the store's store.Connection.SharedPolls. Chance comes from around.
func NewWakes(queues []string, idle, idlePushed, sharedPolls time.Duration, around Ambient) *Wakes {
	w := &Wakes{
		queues: make(map[string]Signal, len(queues)), schedules: NewSignal(), cancels: NewSignal(),
		turns: make(map[string]*Turn, len(queues)), idle: idle, idlePushed: idlePushed, watchTime: sharedPolls,
	}
	self := strconv.FormatUint(math.Float64bits(around.Random("name of turns")), 36) +
		strconv.FormatUint(math.Float64bits(around.Random("name of turns")), 36)
	newTurn := func(work string, factor int) *Turn {
		random := func() float64 { return around.Random("turn " + work) }
		return &Turn{
			idle: func() time.Duration { return w.idlePoll(factor) }, shared: w.shared, random: random, self: self, changed: NewSignal(),
			work: work, last: Now(), own: Now(), noted: AlreadyDue, late: random(), rest: random(), watchUntil: AlreadyDue,
		}
	}
	w.scheduleTurn = newTurn("", rarer)
	for _, name := range queues {
		factor := 1
		if _, _, placed := store.CutPlace(name); placed {
			factor = rarer
		}
		w.queues[name], w.turns[name] = NewSignal(), newTurn(name, factor)
	}
	return w
}

// shared reports whether nodes share their polls at present.
func (w *Wakes) shared() bool { return w.watchTime > 0 && w.Pushed() }

// JobTurn returns the turn of a queue's fetcher; nil if the node does not serve the queue.
func (w *Wakes) JobTurn(queue string) *Turn { return w.turns[queue] }

// ScheduleTurn returns the turn of the firing loop.
func (w *Wakes) ScheduleTurn() *Turn { return w.scheduleTurn }

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
	case store.WakeWatch:
		w.watch(hint.Queue, w.watchTime)
	case store.WakePolled:
		w.hear(hint.Note)
	default:
		w.watch("", min(watchAtStart, w.watchTime))
		w.WakeJobs("")
		w.schedules.Notify()
		w.cancels.Notify()
	}
}

// watch shortens the polls of a queue, or of all queues if queue is empty, for d.
func (w *Wakes) watch(queue string, d time.Duration) {
	for name, turn := range w.turns {
		if queue == "" || name == queue {
			turn.watch(d)
		}
	}
}

// hear passes a note of a poll to the turns.
func (w *Wakes) hear(note string) {
	node, work, _ := strings.Cut(note, " ")
	w.scheduleTurn.hear(node, work)
	for _, turn := range w.turns {
		turn.hear(node, work)
	}
}

// SetPushed records whether the store sends wake-ups at present, and reports whether it did before.
func (w *Wakes) SetPushed(pushed bool) (before bool) { return w.pushed.Swap(pushed) }

// Pushed reports whether the store sends wake-ups at present.
func (w *Wakes) Pushed() bool { return w.pushed.Load() }

// idlePoll returns the longest interval at which a loop without work reads the store: factor times the interval of the fetcher of a
// queue while the store sends wake-ups.
func (w *Wakes) idlePoll(factor int) time.Duration {
	if w.Pushed() {
		return time.Duration(factor) * w.idlePushed
	}
	return w.idle
}
