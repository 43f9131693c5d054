package store

import (
	"context"
	"time"
)

// Able returns an optional ability of a backend, such as Listener, and whether the backend has it. A
// backend that wraps another backend passes on the abilities of that backend, which its method
// Unwrap() Backend returns, and may replace abilities by its own.
func Able[Ability any](backend any) (able Ability, ok bool) {
	for {
		if able, ok = backend.(Ability); ok {
			return able, true
		}
		wrapper, wraps := backend.(interface{ Unwrap() Backend })
		if !wraps {
			return able, false
		}
		backend = wrapper.Unwrap()
	}
}

// Listener is implemented by backends that can push wake-ups. Callers find it by
// assertion and poll if it is missing.
type Listener interface {
	// Listen calls wake for each change by another connection that concerns
	// nodes, and blocks until ctx ends or the channel breaks. Each time it is
	// listening (again), and before callers rely on any push, it calls wake once
	// with WakeAll. wake returns at once. The error is the reason why it ended;
	// ErrNoPush means that pushes do not arrive here (because of a pooler, for
	// example), and the caller polls from then on.
	Listen(ctx context.Context, wake func(Wake)) error
}

// Distant is implemented by backends that measure the network latency to their
// store. Callers find it by assertion, and treat a store without it as near.
type Distant interface {
	// RoundTrip returns the shortest measured time of a message to the store and
	// its answer; 0 if none was measured.
	RoundTrip() time.Duration
}

// FarAway is the least round trip of a store that counts as far away. Within one
// building a round trip is shorter, and costs less than the work itself.
const FarAway = 700 * time.Microsecond

// RoundTrip returns the round trip of a backend that is far away; 0 if the
// backend is near, or does not measure it.
func RoundTrip(b Backend) time.Duration {
	if distant, ok := Able[Distant](b); ok {
		if d := distant.RoundTrip(); d >= FarAway {
			return d
		}
	}
	return 0
}

// Wake describes a change. Wake-ups are hints: a wake-up may be lost, repeated
// or without a change.
type Wake struct {
	Kind  WakeKind
	Queue string // for WakeJobs and WakeWatch; empty means any queue
	Note  string // for WakePolled: the text of the request
}

// WakeKind is the loop that a wake-up is for.
type WakeKind int

// The kinds of wake-up.
const (
	WakeAll WakeKind = iota
	WakeJobs
	WakeSchedules
	WakeCancels // also for ended jobs whose dependents are to be released (see Releaser), and for pauses
	WakeWatch   // wake-ups of the queue may be lost for a while; see PollSharer
	WakePolled  // a node has polled; see PollSharer
)

// CancelSettler is implemented by backends in which callers' transactions only
// request to cancel jobs that they must not lock. Callers find it by assertion.
type CancelSettler interface {
	// SettleCancels carries out requests to cancel jobs that are not running, or are
	// running on another node than when they were requested: it does what ChangeJobs
	// does without a Tx. Nodes call it after a wake-up of WakeCancels. A repetition
	// is harmless.
	SettleCancels(ctx context.Context, req SettleCancelsRequest) error
}

// SettleCancelsRequest is for SettleCancels.
type SettleCancelsRequest struct {
	Now time.Time // zero: the store's clock
}

// Pooled is implemented by backends that know the size of the program's own pool
// of connections. Callers find it by assertion.
type Pooled interface {
	// PoolSize returns the largest number of connections of that pool; 0 if it
	// has no bound, or there is no such pool.
	PoolSize() int
}
