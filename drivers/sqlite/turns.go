package sqlite

import "context"

// turns lets the writers of this process write one after the other.
type turns struct {
	writing chan struct{} // holds one element while a writer writes
	next    chan struct{} // holds one element while an ordinary writer waits for writing
}

func newTurns() turns { return turns{make(chan struct{}, 1), make(chan struct{}, 1)} }

// await waits for the turn of an ordinary writer. Ordinary writers queue for the place of the next writer, so that a first writer waits
// for two of them at most.
func (t turns) await(ctx context.Context) error {
	if err := take(ctx, t.next); err != nil {
		return err
	}
	defer func() { <-t.next }()
	return take(ctx, t.writing)
}

// awaitFirst waits for the turn of a writer that goes ahead of ordinary writers, except of the writer that waits as the next.
func (t turns) awaitFirst(ctx context.Context) error { return take(ctx, t.writing) }

// end ends a turn.
func (t turns) end() { <-t.writing }

// take puts an element into a channel, in the order of the calls.
func take(ctx context.Context, place chan<- struct{}) error {
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
