// Package lock restricts work to one process at a time on any number of
// servers, with a row in a store that the servers share.
//
//	locks, err := lock.New(provider, lock.Config{})
//	…
//	err = locks.Do(ctx, "statistics", lock.Options{AtMost: 10 * time.Minute},
//		func(ctx context.Context, held *lock.Lock) error { … })
//
// A [Provider] comes from a driver and has only the work that depends on the
// store; the [Locker] does the work that is the same for all stores.
// [Locker.Try] takes a lock at once or returns its holder, [Locker.Lock] waits
// for the lock, and [Locker.Do] runs work under it.
//
// # Promises
//
// At any instant of the store's clock at most one owner holds a name. The lock
// of a dead holder is free after a lease (30 s), and the lock of a holder that
// hangs is free after the at-most time (1 h). The context of the work ends
// before another owner can have the lock: the holder measures from the instant
// when it sent its last renewal, on a clock that cannot be set, and stops
// relying on the lock before its end, by a tenth of the hold, at most 3 s.
//
// This is not enough if work cannot be stopped, or if a process sleeps just
// before it writes. For such cases there is the token ([Lock.Token]): the
// protected resource keeps the greatest token that it has seen and refuses
// smaller tokens. Tokens grow with every grant of a name, also after release,
// expiry and deletion of the lock's row. If the protected resource is rows in
// the lock's own database, [Check] replaces the comparison of tokens by one
// statement. Tokens do not survive a restore of the store from a backup: after
// a restore, raise the counters, or make the protected resources forget their
// tokens.
//
// Holds are measured with the store's clock. Setting the store's clock ahead
// while a lock is held ends holds that are shorter than the step too early; the
// holder learns of it at its next renewal. Once per interval is not affected by
// a step of less than a quarter of the interval, and tokens are never affected;
// a hold of the whole at-most time ([Options.NoKeepAlive]) outlasts shorter
// steps. Setting the clock back while a lock is held does not prolong the lock
// of a holder that releases it, because a release also measures the at-least
// time on the holder's clock, which cannot be set. If the holder dies then, or
// if the lock was released before the step, the lock blocks other callers
// longer by the size of the step.
//
// # Once per interval
//
// With [Options.Every] or [Options.Cron] a lock is granted once per interval on
// the whole cluster, for any number of servers whose clocks differ by less than
// a quarter of the interval. A grant is for a slot, which is an instant of a
// grid that the store remembers, and uses up the slot.
//
// # Files
//
// For users of locks: locker.go, lock.go, check.go, options.go, held.go. For
// implementers of a provider: provider.go, rest.go, errors.go; the
// suite is in lock/locktest and the reference in lock/memory. Pure decisions:
// trust.go (until when a holder relies on its lock), every.go (which slot is
// due). Loops: keep.go (watch and keep alive), poll.go (wait). watchers.go is
// the list of callers that wait.
//
// The words used here are defined in docs/glossary.md.
package lock
