package loop

import (
	"sync"
	"time"
)

const (
	// watchPoll is the interval of polls while wake-ups of the store may be lost, so that a job is
	// found within a second, also if the node that polls dies at the same time.
	watchPoll = 750 * time.Millisecond
	// watchAtStart is for how long a node polls at this interval after it began to receive wake-ups,
	// because it may have missed a store.WakeWatch. Stores repeat these at least every 5 seconds.
	watchAtStart = 6 * time.Second
	// ownPoll is after how many idle intervals a node polls itself, although other nodes poll. It
	// waits up to twice as long, by chance, so that nodes that began at once do not poll at once.
	ownPoll = 12
	// notedPolls is how many polls a node makes for each note while no wake-ups may be lost: a note is a transaction of each node that
	// listens, because the database server counts it so.
	notedPolls = 3
)

// Turn decides when a loop polls while it has no work. If the store shares polls
// (store.Connection), then of all nodes that poll for the same work only one does per interval: the
// node that polled last polls again after the interval, with a note at every third poll. Each of the others polls after three intervals
// and a random time of a tenth to a fifth of an interval, unless it hears of a poll before. So a node that ends is
// replaced. While wake-ups may be lost, each poll has a note, and others wait for one interval only. Concurrent calls are allowed.
type Turn struct {
	idle    func() time.Duration // the interval at present
	shared  func() bool          // whether polls are shared at present
	random  func() float64       // a random number from 0 to 1
	self    string               // identifies the node in notes
	changed Signal

	mu         sync.Mutex
	work       string  // what is polled for
	last       Instant // the last shared poll of any node
	mine       bool    // this node made it
	heard      bool    // another node made it, which polls again before its next note
	noted      Instant // the last note of this node
	own        Instant // the last poll of this node
	late       float64 // 0 to 1: by how much this node waits longer than others
	rest       float64 // 0 to 1: by how much the next poll is sooner, or later if this node relies on others
	watchUntil Instant
}

// Changed returns the signal that Next may return an earlier instant than before.
func (t *Turn) Changed() Signal { return t.changed }

// SetWork sets what this loop polls for: loops with the same text, of any node, share their polls.
func (t *Turn) SetWork(work string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.work = work
}

// Note returns the note of a poll that other nodes rely on; empty: polls are not shared at present, or other nodes rely on an earlier note,
// of this node or of another.
func (t *Turn) Note() string {
	if !t.shared() {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := Now(); now < t.due() || t.mine && !t.watching() && now < t.nextNote() {
		return ""
	}
	return t.self + " " + t.work
}

// nextNote returns from when on a poll of this node has a note. It is half an interval early, because polls are late.
func (t *Turn) nextNote() Instant {
	interval := t.interval()
	return t.noted.Add(notedPolls*interval - interval/2)
}

// watching reports whether wake-ups may be lost.
func (t *Turn) watching() bool { return Now() < t.watchUntil }

// Next returns when to poll.
func (t *Turn) Next() Instant {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next()
}

func (t *Turn) next() Instant {
	idle := t.idle()
	if !t.shared() { // sooner by up to a tenth, by chance, so that loops that began at once do not poll at once
		return t.own.Add(idle - time.Duration(t.rest/10*float64(idle)))
	}
	return min(t.due(), t.own.Add(time.Duration((1+t.rest)*ownPoll*float64(idle))))
}

// due returns when it is the turn of this node.
func (t *Turn) due() Instant {
	interval := t.interval()
	wait := interval
	if t.heard && !t.watching() {
		wait = notedPolls * interval
	}
	if !t.mine {
		wait += time.Duration((1 + t.late) / 10 * float64(interval))
	}
	return t.last.Add(wait)
}

// Interval returns the interval of polls.
func (t *Turn) Interval() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.interval()
}

func (t *Turn) interval() time.Duration {
	if t.shared() && t.watching() {
		return min(watchPoll, t.idle())
	}
	return t.idle()
}

// Polled records that this node has polled; shared: with a note. A poll without a note that was due counts as the turn
// of this node, too: otherwise a node that can share no poll, because its claims leave jobs out, would poll without a pause.
func (t *Turn) Polled(shared bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := Now()
	if shared || t.due() <= now {
		t.last, t.mine, t.heard = now, shared || t.mine && now < t.nextNote(), false
	}
	if shared {
		t.noted = now
	}
	t.own, t.rest = now, t.random()
}

// hear records the poll of a node, perhaps of this one.
func (t *Turn) hear(node, work string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work == t.work {
		t.last, t.mine, t.heard, t.late = Now(), node == t.self, node != t.self, t.random()
	}
}

// watch shortens the interval for d, because wake-ups may be lost.
func (t *Turn) watch(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := Now()
	if now >= t.watchUntil && now.Sub(t.last) > watchPoll {
		t.last, t.mine, t.heard, t.late = now, false, false, t.random() // so that not all nodes poll at once
	}
	t.watchUntil = max(t.watchUntil, now.Add(d))
	t.changed.Notify()
}
