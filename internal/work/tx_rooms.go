package work

import (
	"context"
	"sync"
)

// txRooms limits how many transactions of workers are open at a time on a pool of connections. One connection of each pool remains for the
// statements that workers run outside their transactions: otherwise workers whose transactions hold all connections, and who
// each need another connection, would wait for each other without end.
type txRooms struct {
	mu    sync.Mutex
	rooms map[any]chan struct{} // by pool; a room holds one element for each open transaction
}

// enter waits until a transaction may begin on a pool of size connections, and returns the function to call at its end. A pool
// of one connection, or without a bound (0), has no limit.
func (r *txRooms) enter(ctx context.Context, pool any, size int) (leave func(), err error) {
	if size < 2 {
		return func() {}, nil
	}
	room := r.of(pool, size)
	select {
	case room <- struct{}{}:
		return func() { <-room }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *txRooms) of(pool any, size int) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rooms[pool] == nil {
		if r.rooms == nil {
			r.rooms = map[any]chan struct{}{}
		}
		r.rooms[pool] = make(chan struct{}, size-1)
	}
	return r.rooms[pool]
}
