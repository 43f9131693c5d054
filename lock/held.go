package lock

import "context"

// heldKey finds the innermost lock of a context.
type heldKey struct{}

// Held returns the lock of that name which the context was made for, if it can
// be relied on at this moment. It is an assertion for code that must only run
// under the lock:
//
//	l, held := lock.Held(ctx, "statistics")
//	if !held {
//		return errors.New("statistics are sent under their lock alone")
//	}
//
// The answer is as of now, even if the context's own end has not got through
// yet, as in a process that was stopped for a while.
func Held(ctx context.Context, name string) (*Lock, bool) {
	l := find(ctx, func(l *Lock) bool { return l.name == name && l.relied() == nil })
	return l, l != nil
}

// find returns the innermost lock of a context that fits, or nil.
func find(ctx context.Context, fits func(*Lock) bool) *Lock {
	l, _ := ctx.Value(heldKey{}).(*Lock)
	for l != nil && !fits(l) {
		l = l.outer
	}
	return l
}
