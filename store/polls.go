package store

import (
	"context"
	"time"
)

// PollSharer is implemented by backends whose nodes can share their polls, so that only one
// of all nodes that would poll for the same work polls in each interval. Such a backend is a Listener, too. Callers find it by assertion.
//
// A node that polls sends a note with the request (ClaimRequest.Polled,
// DueSchedulesRequest.Polled), at most 300 bytes. If the call succeeds, every Listen gets the note in
// a wake-up of kind WakePolled, also in the process that sent it. If a claim with a note returns as many jobs as
// it asked for, nodes are also woken for its queue, because more jobs may be due than the node that polls has room for.
//
// A wake-up of kind WakeWatch announces that wake-ups of a queue may be lost, because a process
// sends them after its callers' commits and may die in between. The backend sends it before the
// first of such commits, and repeats it while wake-ups are still to be sent, at least every 5
// seconds. Nodes that get it have to poll the queue every second for the time that SharePolls
// returns.
type PollSharer interface {
	// SharePolls returns for how long after a WakeWatch wake-ups of its queue may be lost.
	SharePolls() time.Duration
}

// Flusher is implemented by backends that send wake-ups after commits. Callers find it by assertion.
type Flusher interface {
	// Flush returns when the wake-ups for all transactions that this backend has inserted jobs in,
	// and that had ended when Flush was called, have been sent. It fails only if ctx ends before.
	Flush(ctx context.Context) error
}
