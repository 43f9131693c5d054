package rowwise

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// BeginTx reads and writes what the beginnings of claims need.
type BeginTx interface {
	Tx
	ClaimTx

	// ListClaims returns what a node holds; see store.Nodes.
	ListClaims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error)

	// BeginClaims records that claims of a node may begin.
	BeginClaims(ctx context.Context, node int64, claims []store.ClaimRef) error
}

// BeginJobs lets claims begin, except claims of paused jobs; see store.Jobs.
func BeginJobs(ctx context.Context, tx BeginTx, asked store.BeginRequest) (out store.BeginResult, err error) {
	found, err := holdNode(ctx, tx, asked.Node)
	if err != nil {
		return out, err
	}
	if found.Pauses {
		paused, err := tx.ListClaims(ctx, store.ClaimsRequest{Node: asked.Node, Paused: true, Now: asked.Now})
		if err != nil {
			return out, err
		}
		for _, ref := range asked.Claims {
			if slices.Contains(paused, ref) {
				out.Paused = append(out.Paused, ref.ID)
			}
		}
	}
	req := asked.Without(out.Paused)
	if err := tx.BeginClaims(ctx, req.Node, req.Claims); err != nil || !found.Handled && !req.HasHooks() {
		return out, err
	}
	handlers, err := tx.ReadHandlers(ctx)
	if err != nil {
		return out, err
	}
	now, err := tx.Now(ctx, req.Now)
	if err != nil {
		return out, err
	}
	return out, begin(ctx, tx, req, handlers, now)
}

// begin inserts what the starts of attempts make. The claims were recorded as begun in the same transaction.
func begin(ctx context.Context, tx Tx, req store.BeginRequest, handlers store.Handlers, now time.Time) error {
	if len(req.Claims) == 0 || len(req.Starts) == 0 {
		return nil
	}
	held, err := tx.LockClaims(ctx, req.Claims)
	if err != nil {
		return err
	}
	holds := map[store.ClaimRef]bool{}
	for i, ref := range req.Claims {
		holds[ref] = held[i].Found && held[i].Running
	}
	jobs := handlers.AtStart(req, holds)
	if len(jobs) == 0 {
		return nil
	}
	_, err = tx.InsertJobs(ctx, jobs, now)
	return err
}
