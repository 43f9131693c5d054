package hourbelltest

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// Locks returns the locks of a provider, such as memory.New of package lock/memory or the locks of a driver, by the kit's clock: a
// lock expires, its at-least time passes, and an interval of [lock.Options] comes, when the test moves the clock. A provider in Redis
// cannot be used, because its keys expire by the clock of the server.
//
// A holder keeps the time of the process: no call of the kit renews a lock or ends its context. So a clock that is moved past the
// lease or the at-most time is to the lock as a holder that stands still, or has died: another caller gets the lock, and the former
// holder's calls return [lock.ErrLost].
func (k *Kit) Locks(provider lock.Provider) lock.Provider {
	k.t.Helper()
	if provider == nil {
		k.t.Fatal("hourbelltest: the provider of locks is nil; pass lock/memory's New(), or the locks of a driver")
	}
	return locks{provider, func() time.Time { return k.Now().Truncate(time.Millisecond) }}
}

// locks is a provider with another clock.
type locks struct {
	provider lock.Provider
	now      func() time.Time // in whole milliseconds, as the contract of providers has it
}

// TryLock implements lock.Provider.
func (l locks) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	req.Now = l.now
	return l.provider.TryLock(ctx, req)
}
