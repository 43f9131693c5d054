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

// Connected is implemented by backends that describe their connection with the store. Callers use ConnectionOf.
type Connected interface {
	// Connection returns what is known at present.
	Connection() Connection
}

// Connection describes the connection of a backend with its store. The zero value: nothing is known, so that the store
// counts as near, and its nodes do not share polls.
type Connection struct {
	// RoundTrip is the shortest measured time of a message to the store and its answer; 0 if none was measured.
	RoundTrip time.Duration
	// PoolSize is the largest number of connections of the program's own pool; 0 if it has no bound, or there is no such pool.
	PoolSize int
	// SharedPolls is greater than 0 if nodes can share their polls, so that only one of all nodes that would poll for the
	// same work polls in each interval. It is for how long after a WakeWatch wake-ups of its queue may be lost. Such a backend
	// is a Listener, too. It never changes.
	//
	// A node that polls sends a note with the request (ClaimRequest.Polled, DueSchedulesRequest.Polled), at most 300 bytes. If
	// the call succeeds, every Listen gets the note in a wake-up of kind WakePolled, also in the process that sent it. If a
	// claim with a note returns as many jobs as it asked for, nodes are also woken for its queue, because more jobs may be due
	// than the node that polls has room for.
	//
	// A wake-up of kind WakeWatch announces that wake-ups of a queue may be lost, because a process sends them after its
	// callers' commits and may die in between. The backend sends it before the first of such commits, and repeats it while
	// wake-ups are still to be sent, at least every 5 seconds. Nodes that get it poll the queue every second for SharedPolls.
	SharedPolls time.Duration
}

// ConnectionOf returns the connection of a backend; the zero value if the backend does not describe it.
func ConnectionOf(b Backend) Connection {
	if connected, ok := Able[Connected](b); ok {
		return connected.Connection()
	}
	return Connection{}
}

// FarAway is the least round trip of a store that counts as far away. Within one
// building a round trip is shorter, and costs less than the work itself.
const FarAway = 700 * time.Microsecond

// RoundTrip returns the round trip of a backend that is far away; 0 if the
// backend is near, or does not measure it.
func RoundTrip(b Backend) time.Duration {
	if d := ConnectionOf(b).RoundTrip; d >= FarAway {
		return d
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
	WakeCancels // also for ended jobs whose dependents are to be released (see Deferring), and for pauses
	WakeWatch   // wake-ups of the queue may be lost for a while; see Connection.SharedPolls
	WakePolled  // a node has polled; see Connection.SharedPolls
)

// Deferring is implemented by backends whose transactions leave work to later transactions, in durable notes, so that any
// node can do what a node that died left undone. Callers find it by assertion.
type Deferring interface {
	// CarryOut does what all notes ask for. Nodes call it after a wake-up of WakeCancels. A repetition is harmless. There are two
	// sorts of notes:
	//
	//   - Ends of jobs: the dependents of these jobs are released, in steps, and the ends are passed on to schedules that follow.
	//     The backend does so itself after each of its calls that ends jobs, or retries jobs with dependents by hand; what is left
	//     are ends in transactions of programs, and notes of nodes that have died.
	//   - Requests of programs' transactions to cancel jobs that these transactions must not lock: jobs that are not running, or are
	//     running on another node than when they were requested, are cancelled as ChangeJobs without a Tx does.
	CarryOut(ctx context.Context, req CarryOutRequest) error
}

// CarryOutRequest is for CarryOut.
type CarryOutRequest struct {
	Now time.Time // zero: the store's clock
	// Tx is the caller's transaction that is about to edit schedules; see FireRequest.Tx.
	Tx Tx
	// Ends leaves out requests to cancel jobs, which may have to wait for the transactions of others.
	Ends bool
}

// Flusher is implemented by backends that send wake-ups after commits. Callers find it by assertion.
type Flusher interface {
	// Flush returns when the wake-ups for all transactions that this backend has inserted jobs in,
	// and that had ended when Flush was called, have been sent. It fails only if ctx ends before.
	Flush(ctx context.Context) error
}
