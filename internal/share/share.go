// Package share lets concurrent calls that ask for the same share a result that is not older than any of them.
package share

import (
	"context"
	"sync"
)

// Group has calls by their keys. For each key, one call is made at a time. A caller waits for the next call, which has not begun when
// the caller asks, and all callers that wait for it get its result. So n callers that ask during a call cost one more call. The zero Group
// is ready for use, and concurrent calls of its methods are allowed.
type Group[K comparable, V any] struct {
	mu   sync.Mutex
	keys map[K]*queue[V]
}

// queue is what waits for a key.
type queue[V any] struct {
	callers int         // that have no result yet
	next    *pending[V] // the call that has not begun; nil: none. Group.mu guards both.
	calling sync.Mutex  // one call at a time
}

// pending is a call that is made, or will be.
type pending[V any] struct {
	done   chan struct{} // closed when the call has returned
	result V
}

// Do returns the result of a call that begins after Do was called, and reports whether there is one: ctx may end first. If call panics, the
// others get the zero value. A call of this caller goes on if ctx ends, because others may wait for it.
func (g *Group[K, V]) Do(ctx context.Context, key K, call func() V) (result V, ok bool) {
	q, p, own := g.join(key)
	defer g.leave(key, q)
	if own {
		g.make(q, p, call)
	}
	select {
	case <-p.done:
		return p.result, true
	case <-ctx.Done():
		return result, false
	}
}

// Callers returns how many callers have no result yet.
func (g *Group[K, V]) Callers() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.keys {
		n += q.callers
	}
	return n
}

// join returns the next call of a key, and reports whether the caller is the first and has to make it.
func (g *Group[K, V]) join(key K) (q *queue[V], p *pending[V], own bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q = g.keys[key]; q == nil {
		if g.keys == nil {
			g.keys = map[K]*queue[V]{}
		}
		q = &queue[V]{}
		g.keys[key] = q
	}
	q.callers++
	if own = q.next == nil; own {
		q.next = &pending[V]{done: make(chan struct{})}
	}
	return q, q.next, own
}

// make makes the call after the call before it has ended. Callers that come from now on wait for another call.
func (g *Group[K, V]) make(q *queue[V], p *pending[V], call func() V) {
	q.calling.Lock()
	defer q.calling.Unlock()
	defer close(p.done)
	g.mu.Lock()
	q.next = nil
	g.mu.Unlock()
	p.result = call()
}

func (g *Group[K, V]) leave(key K, q *queue[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q.callers--; q.callers == 0 {
		delete(g.keys, key)
	}
}
