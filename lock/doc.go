// Package lock keeps work to one process at a time on any number of servers,
// with a row in a store that they share.
//
//	locks, err := lock.New(provider, lock.Config{})
//	…
//	err = locks.Do(ctx, "statistics", lock.Options{AtMost: 10 * time.Minute},
//		func(ctx context.Context, held *lock.Lock) error { … })
//
// A [Provider] comes from a driver and does the least that a store has to do;
// the [Locker] on top of it does what is the same for all of them. [Locker.Try]
// takes a lock at once or says who holds it, [Locker.Lock] waits for it, and
// [Locker.Do] runs work under it.
//
// # What is promised
//
// At any instant of the store's clock at most one owner holds a name. The lock
// of a dead holder is free after a lease (30 s), the lock of one that hangs after
// the at-most time (1 h). The context of the work ends before anyone else can
// have the lock: the holder counts from when it sent its last renewal, on a
// clock that nobody can set, and stops relying on the lock a tenth of the hold,
// at most 3 s, before the end.
//
// That is not enough where work cannot be stopped, or a process sleeps just
// before it writes. For that there is the token ([Lock.Token]): whatever the lock
// protects keeps the greatest it has seen and refuses lower ones. Tokens grow
// with every grant of a name, also after release, expiry and deletion of the
// lock's row. Where that is rows in the lock's own database, [Check] does it in one
// statement. Tokens do not survive a restore of the store from a backup: then
// raise the counters, or make the protected resources forget theirs.
//
// The store's clock decides. Setting it ahead while a lock is held ends a hold
// early that is shorter than the step, for it is what holds are measured with;
// the holder learns of it at its next renewal. Once per interval is not harmed by
// a step of less than a quarter of the interval, the token never; a hold of the
// whole at-most time ([Options.NoKeepAlive]) outlasts shorter steps. Setting it
// back while a lock is held does not prolong the lock for a holder that releases
// it: a release also counts the at-least time on the holder's clock that nobody
// can set. A holder that dies then, and a lock that was released before the step,
// block others for longer by the size of the step.
//
// # Once per interval
//
// With [Options.Every] or [Options.Cron] a lock is granted once per interval on
// the whole cluster, however many servers ask and however their clocks differ
// by less than a quarter of it: what is granted is a slot, an instant of a grid
// kept in the store, and it is spent by the grant.
//
// # Files
//
// For those who use locks: locker.go, lock.go, check.go, options.go, held.go. For
// those who implement a provider: provider.go, rest.go, errors.go, name.go; the
// suite is in lock/locktest and the reference in lock/memory. Pure decisions:
// trust.go (until when a holder relies on its lock), every.go (what is due). Loops:
// keep.go (watch and keep alive), poll.go (wait). watchers.go is the list of callers that wait.
//
// The words used here are defined in docs/glossary.md.
package lock
