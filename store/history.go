package store

import (
	"context"
	"time"
)

// History is the role that knows how far the store has come, so that nodes can
// find out that it went back in time: a backup was restored, or a failover lost
// what had been committed.
type History interface {
	// Position reads how far the store has come. It only reads.
	Position(ctx context.Context) (Position, error)

	// ReportLoss remembers that a node has seen a position that is greater than
	// the store's: the store is Suspended from then on, until AcceptLoss. Several
	// reports keep the greatest numbers. A report whose Accepted is not the store's
	// is late (the loss has been accepted) and changes nothing. It
	// returns the position after that.
	ReportLoss(ctx context.Context, req ReportLossRequest) (Position, error)

	// AcceptLoss ends the suspension. It raises the store's numbers above all that
	// were reported and above its own: tokens by LossMargin (also those of the locks
	// in the same schema or file), numbers of nodes by LossNodes, Accepted by 1. Where
	// nothing was reported it does the same. It returns the position after that.
	AcceptLoss(ctx context.Context) (Position, error)
}

// What AcceptLoss adds to the numbers that it raises: more than any node can have
// seen that has not reported it.
const (
	LossMargin = int64(1) << 32
	LossNodes  = 10_000
)

// Position says how far a store has come, in numbers that only grow.
type Position struct {
	// Store is the identity of the store: a random word that was made with its
	// schema. A restored backup has the same. Empty: unknown.
	Store string
	Token int64 // no claim was given a greater token
	Node  int64 // no node was given a greater number
	// Accepted counts the losses of history that were accepted.
	Accepted int64
	// LostAt is when the first node reported a loss of history that has not
	// been accepted since; zero: none has.
	LostAt time.Time
}

// Suspended reports whether a loss of history waits to be accepted.
func (p Position) Suspended() bool { return !p.LostAt.IsZero() }

// ReportLossRequest says what a node has seen of a store that has gone back.
type ReportLossRequest struct {
	Now      time.Time
	Accepted int64    // of the store's present position, as the node read it
	Seen     Position // the greatest numbers that the node has seen; Store and LostAt mean nothing
}
