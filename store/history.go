package store

import (
	"context"
	"errors"
	"time"
)

// History stores the position of the store, so that nodes notice if the store
// went back in time: a backup was restored, or a failover lost committed
// transactions. ReadPosition reads it.
type History interface {
	// ReportLoss records that a node has seen a position that is greater than
	// the store's: the store is Suspended from then on, until AcceptLoss. Of
	// several reports the greatest numbers are kept. A report whose Accepted is
	// not the store's is late (the loss has been accepted) and changes nothing.
	// It returns the resulting position.
	ReportLoss(ctx context.Context, req ReportLossRequest) (Position, error)

	// AcceptLoss ends the suspension. It raises the store's numbers above all
	// reported numbers and above its own: tokens by LossMargin (also the tokens
	// of locks in the same schema or file), numbers of nodes by LossNodes,
	// Accepted by 1. It does the same if nothing was reported. It returns the
	// resulting position.
	AcceptLoss(ctx context.Context, req AcceptLossRequest) (Position, error)
}

// AcceptLossRequest accepts a loss of history.
type AcceptLossRequest struct {
	Now time.Time // of the entry in the audit; zero: the store's clock
	By  Actor     // recorded in the audit
}

// What AcceptLoss adds to the numbers that it raises: more than a node can have
// seen without having reported it.
const (
	LossMargin = int64(1) << 32
	LossNodes  = 10_000
)

// Position is how far a store has come, in numbers that only grow.
type Position struct {
	// Store is the identity of the store: a random word that was made with its
	// schema. A restored backup has the same. Empty: unknown; no call returns that.
	Store string
	Token int64 // no claim was given a greater token
	Node  int64 // no node was given a greater number
	// Accepted counts the losses of history that were accepted.
	Accepted int64
	// LostAt is when the first node reported a loss of history that has not been
	// accepted yet; zero: there is no such loss.
	LostAt time.Time
}

// Check returns the error of a call that reads a position of which rows are missing; nil: it is whole. A backup that is
// restored table by table shows such positions for a while, and no node may take them for the position of another store.
// Token and Node are negative where their rows are missing.
func (p Position) Check() error {
	if p.Store == "" || p.Token < 0 || p.Node < 0 {
		return errors.New("the store's record of its own history is missing, as while a backup is restored; " +
			"if no restore is under way, restore the database again as a whole")
	}
	return nil
}

// ReadPosition reads how far a store has come.
func ReadPosition(ctx context.Context, from Listings) (Position, error) {
	rows, err := List[Position](ctx, from, ListRequest{})
	if err != nil {
		return Position{}, err
	}
	return rows[0], nil
}

// Suspended reports whether there is a loss of history that has not been
// accepted.
func (p Position) Suspended() bool { return !p.LostAt.IsZero() }

// ReportLossRequest is what a node has seen of a store before it went back in
// time.
type ReportLossRequest struct {
	Now      time.Time
	Accepted int64    // of the store's present position, as the node read it
	Seen     Position // the greatest numbers that the node has seen; Store and LostAt mean nothing
}
