package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// gatedQueues are the queues whose claims pass gates, as far as claims have found out. It is safe for concurrent use.
type gatedQueues struct {
	mu     sync.Mutex
	queues map[string]bool
	left   map[leftOffKey]leftOff
}

// leftOff is where the steps before a claim have left off, because very many due jobs have to wait. The next claim goes on there, so that
// it does not read the entries in the index again of all jobs that wait now.
type leftOff struct {
	node   int64
	kinds  []string
	from   cursors // where the claim began
	behind cursors
	took   time.Duration // of the last step, which looked for jobs that overtake
	at     time.Time
}

// leftOffRest is after which time a claim begins at the start again, because jobs may have appeared there.
const leftOffRest = time.Second

// leftOffKey separates claims with cursors from full scans, because both come in turn.
type leftOffKey struct {
	queue string
	full  bool
}

// leave records where the steps before a claim have left off.
func (q *gatedQueues) leave(req *store.ClaimRequest, from, behind cursors, took time.Duration) {
	if !resumable(req) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	key := leftOffKey{req.Queue, from == cursors{}}
	next := leftOff{node: req.Node, kinds: req.Kinds, from: from, behind: behind, took: took, at: time.Now()}
	if last := q.left[key]; last.fits(req, from) {
		next.at = last.at
	}
	if q.left == nil {
		q.left = map[leftOffKey]leftOff{}
	}
	q.left[key] = next
}

// resume returns where the steps of a claim begin, and how long the last step of the claim before took if that claim has left off.
func (q *gatedQueues) resume(req *store.ClaimRequest, from cursors) (cursors, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := leftOffKey{req.Queue, from == cursors{}}
	last := q.left[key]
	if !last.fits(req, from) {
		delete(q.left, key)
		return from, last.took
	}
	for i, at := range last.behind {
		if at.after(from[i]) {
			from[i] = at
		}
	}
	return from, last.took
}

// fits reports whether a claim may go on. It may not if it begins before a position where the last claim began.
func (l *leftOff) fits(req *store.ClaimRequest, from cursors) bool {
	for i, at := range l.from {
		if at.after(from[i]) {
			return false
		}
	}
	return resumable(req) && l.node == req.Node && time.Since(l.at) < leftOffRest && slices.Equal(l.kinds, req.Kinds)
}

// resumable reports whether a claim takes all due jobs of its kinds in the order of their priorities, so that the next such claim may go on.
func resumable(req *store.ClaimRequest) bool {
	return len(req.Exact) == 0 && !req.Suspects && req.DueFor == 0
}

// has reports whether claims from a queue pass gates.
func (q *gatedQueues) has(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queues[queue]
}

// any reports whether claims from a queue pass gates.
func (q *gatedQueues) any() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queues) > 0
}

// set records whether claims from a queue pass gates.
func (q *gatedQueues) set(queue string, gated bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !gated:
		delete(q.queues, queue)
	case q.queues == nil:
		q.queues = map[string]bool{queue: true}
	default:
		q.queues[queue] = true
	}
}

// parks is when a backend has parked jobs of paused groups last. It is safe for concurrent use.
type parks struct {
	mu   sync.Mutex
	last time.Time
}

// parkRest is the least time between two claims of a backend that park jobs. Until then claims scan these jobs and leave them.
const parkRest = 500 * time.Millisecond

// due reports whether a claim is to park jobs, and, if so, takes it as done. always: also if that was done a moment ago.
func (p *parks) due(always bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !always && time.Since(p.last) < parkRest {
		return false
	}
	p.last = time.Now()
	return true
}
