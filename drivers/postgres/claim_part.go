package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// claimPart takes due jobs. It begins at the low-water cursors of the node and queue.
func (b *Backend) claimPart(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	scan := b.scans.of(req.Node, req.Queue, req.DueFor > 0)
	from, next, behind := scan.begin()
	switch next {
	case fullScan:
		out, _, err := b.scanClaim(ctx, req, scan, cursors{}, scan.recordFullScan)
		return out, err
	case catchUpScan:
		catchUp := func() { b.catchUp(b.background, req, scan, from, behind) }
		if behind.number < recentScans {
			// A recent scan is short: it begins after the claim, on the connection of the claim.
			defer b.catchUps.Go(catchUp)
		} else {
			b.catchUps.Go(catchUp)
		}
	}
	out, unsearched, err := b.scanClaim(ctx, req, scan, from, scan.recordClaim)
	if err != nil || unsearched || len(out.Jobs) >= req.Limit {
		return out, err
	}
	var over bool
	if out.Again, over = scan.again(len(out.Jobs)); out.Again > 0 || over {
		return out, nil
	}
	out, _, err = b.scanClaim(ctx, req, scan, cursors{}, scan.recordFullScan)
	return out, err
}

// catchUpTimeout bounds the time of a catch-up scan or a recent scan.
const catchUpTimeout = time.Minute

// catchUp makes a catch-up scan or a recent scan, concurrently with claims. If it
// fails, the next scan repeats it.
func (b *Backend) catchUp(ctx context.Context, req store.ClaimRequest, scan *claimScan, from cursors, reach behindScan) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	lowRunAt, lowID := from.columns()
	args := append([]any{nil, req.Queue, req.Kinds, lowRunAt, lowID, orNegativeInfinity(reach.after)}, exactColumns(req.Exact)...)
	var began time.Time // after the wait for a connection; zero: there was none
	found, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "look for jobs behind the cursors"), func(s sender) (map[int16]cursor, error) {
		found := map[int16]cursor{}
		began = time.Now() // kept: the duration of the last try counts, also if it failed
		var priority int16
		var at cursor
		var batch pgx.Batch
		batch.Queue(b.q(findBehindCursors), args...).Query(scanEach([]any{&priority, into(&at.runAt), &at.id}, func() { found[priority] = at }))
		return found, send(ctx, s, &batch)
	})
	var took time.Duration
	if !began.IsZero() {
		took = time.Since(began)
	}
	scan.caughtUp(reach, found, took, err == nil)
}

// scanClaim makes a claim and records it in scan, unless it has not searched all due jobs up to its last job, as when the queue is paused,
// or when it has left due jobs without permits. If a pause began or ended since the last claim, jobs behind the cursors may have
// become claimable, and scan begins again.
func (b *Backend) scanClaim(
	ctx context.Context, req store.ClaimRequest, scan *claimScan, from cursors, took func(jobs int, took time.Duration),
) (out store.ClaimResult, unsearched bool, err error) {
	began := time.Now()
	claim, err := b.claim(ctx, req, from)
	out = claim.ClaimResult
	if err != nil {
		if errors.Is(err, store.ErrNodeGone) {
			b.scans.forget(req.Node)
		}
		return out, false, err
	}
	again := claim.left
	if again == 0 && claim.searched && scan.pausesChanged(claim.pauses) {
		again = time.Millisecond
	}
	if again > 0 && len(out.Jobs) < req.Limit {
		out.Again = again
	}
	if again > 0 || !claim.searched {
		return out, true, nil
	}
	took(len(out.Jobs), time.Since(began))
	scan.found(out.Jobs, len(out.Jobs) >= req.Limit, req.DueBy(out.Now))
	return out, false, nil
}
