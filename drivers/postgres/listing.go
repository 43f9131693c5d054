package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// List reads rows; see store.Listings.
func (b *Backend) List(ctx context.Context, req store.ListRequest) (store.Listing, error) {
	if req.Estimate {
		return b.estimate(ctx, req)
	}
	if req.Of == store.OfEnds {
		return b.listEnds(ctx, req)
	}
	if nodes := req.Of == store.OfCalendars || req.Of == store.OfLimits; nodes && req.Tx == nil { // they cannot go on without these
		return rowwise.InTx(b.transact(ctx, nodeConns, req.String(), listing), func(tx pgx.Tx) (store.Listing, error) { return b.rows(ctx, tx, req) })
	}
	return rowwise.InTx(b.listIn(ctx, req.String(), req.Tx), func(tx querier) (store.Listing, error) { return b.rows(ctx, tx, req) })
}

// rows reads the rows that a listing asks for.
func (b *Backend) rows(ctx context.Context, tx querier, req store.ListRequest) (out store.Listing, err error) {
	switch req.Of {
	case store.OfAudit:
		out.Audit, err = b.listAudit(ctx, tx, req)
	case store.OfBatches:
		out.Batches, err = b.listBatches(ctx, tx, req)
	case store.OfCalendars:
		out.Calendars, err = b.listCalendars(ctx, tx, req)
	case store.OfGroups:
		out.Groups, err = collect(ctx, tx, scanGroup, b.q(listGroups), when(req.Now), orNull(req.Name()))
	case store.OfHandlers:
		out.Handlers, err = b.readHandlers(ctx, tx)
	case store.OfKinds:
		out.Kinds, err = collect(ctx, tx, scanKind, b.q(listKinds), when(req.Now))
	case store.OfLimits:
		out.Limits, err = b.listLimits(ctx, tx, req)
	case store.OfLimitWaits:
		out.LimitWaits, err = b.listLimitWaits(ctx, tx, req)
	case store.OfLinks:
		out.Links, err = b.listLinks(ctx, tx, req)
	case store.OfNodes:
		out.Nodes, err = collect(ctx, tx, scanNode, b.q(listNodes))
	case store.OfOwners:
		out.Owners, err = b.listOwners(ctx, tx, req)
	case store.OfPauses:
		out.Pauses, err = collect(ctx, tx, scanPause, b.q(listPauses), when(req.Now))
	case store.OfPosition:
		out.Position, err = b.listPosition(ctx, tx)
	case store.OfQueues:
		out.Queues, err = collect(ctx, tx, scanQueue, b.q(listQueues), when(req.Now))
	case store.OfSchedules:
		out.Schedules, err = b.listSchedules(ctx, tx, req)
	case store.OfSlots:
		out.Slots, err = b.listSlots(ctx, tx, req)
	case store.OfStats:
		out.Stats, err = b.listStats(ctx, tx, req)
	case store.OfSteps:
		out.Steps, err = collect(ctx, tx, scanStep, b.q(listSteps), req.IDs)
	}
	return out, err
}
