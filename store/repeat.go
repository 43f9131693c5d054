package store

import (
	"context"
	"sync/atomic"
)

// repeatsKey is the key of the counter in contexts.
type repeatsKey struct{}

// CountRepeats returns a context whose calls of a store add to count how many transactions the driver began again, because the
// database had ended them in favour of other transactions: deadlocks, waits for locks that took too long, and, in a cluster,
// commits that conflicted with commits on other servers. The calls of a driver that never begins a transaction again add nothing.
func CountRepeats(ctx context.Context, count *atomic.Int64) context.Context {
	return context.WithValue(ctx, repeatsKey{}, count)
}

// Repeated counts a transaction that a driver begins again; see CountRepeats. Drivers call it before the transaction begins again.
func Repeated(ctx context.Context) {
	if count, ok := ctx.Value(repeatsKey{}).(*atomic.Int64); ok {
		count.Add(1)
	}
}
