package lock

import "context"

// heldKey finds the innermost lock of a context.
type heldKey struct{}

// Held returns the lock with the given name for which the context was made, if
// the lock can be relied on at this instant. It is an assertion for code that
// must only run under the lock:
//
//	l, held := lock.Held(ctx, "statistics")
//	if !held {
//		return errors.New("statistics are sent under their lock alone")
//	}
//
// The answer is valid for this instant, even if the end of the context has not
// been signalled yet, as in a process that was stopped for a while.
func Held(ctx context.Context, name string) (*Lock, bool) {
	l := find(ctx, func(l *Lock) bool { return l.name == name && l.relied() == nil })
	return l, l != nil
}

// find returns the innermost lock of a context that fits accepts, or nil.
func find(ctx context.Context, fits func(*Lock) bool) *Lock {
	l, _ := ctx.Value(heldKey{}).(*Lock)
	for l != nil && !fits(l) {
		l = l.outer
	}
	return l
}
