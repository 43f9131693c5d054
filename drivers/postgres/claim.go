package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// Claim takes due jobs; see store.Jobs. The node's row is locked first, so that
// the node cannot be declared dead before the claim is committed or rolled back.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	if !req.Now.IsZero() || req.Suspects { // suspects are few and have their own index; cursors follow the clock of the store, not of a test
		return b.claim(ctx, req, cursors{})
	}
	scan := b.scans.of(req.Node, req.Queue)
	from, next, behind := scan.begin()
	switch next {
	case fullScan:
		return b.scanClaim(ctx, req, scan, cursors{}, scan.recordFullScan)
	case catchUpScan:
		look := func() { b.catchUp(b.background, req, scan, from, behind) }
		if behind.number < recentScans {
			// A recent scan is short: it begins after the claim, on the connection of the claim.
			defer b.catchUps.Go(look)
		} else {
			b.catchUps.Go(look)
		}
	}
	out, err := b.scanClaim(ctx, req, scan, from, scan.recordClaim)
	if err != nil || len(out.Jobs) >= req.Limit {
		return out, err
	}
	var over bool
	if out.Again, over = scan.again(len(out.Jobs)); out.Again > 0 || over {
		return out, nil
	}
	return b.scanClaim(ctx, req, scan, cursors{}, scan.recordFullScan)
}

// catchUpTimeout bounds the time of a catch-up scan or a recent scan.
const catchUpTimeout = time.Minute

// catchUp makes a catch-up scan or a recent scan, concurrently with claims. If it
// fails, the next scan repeats it.
func (b *Backend) catchUp(ctx context.Context, req store.ClaimRequest, scan *claimScan, from cursors, reach look) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	lowRunAt, lowID := from.columns()
	text, args := b.q(findBehindCursors), []any{req.Queue, req.Kinds, lowRunAt, lowID, orNegativeInfinity(reach.after)}
	if len(req.Exact) > 0 {
		text, args = b.q(findExactBehindCursors), append(args, exactColumns(req.Exact)...)
	}
	found := map[int16]cursor{}
	var began time.Time // after the wait for a connection; zero: there was none
	err := b.pipeline(ctx, nodeConns, "look for jobs behind the cursors", func(s sender) error {
		clear(found)
		began = time.Now()
		var priority int16
		var at cursor
		var batch pgx.Batch
		batch.Queue(text, args...).Query(scanEach([]any{&priority, into(&at.runAt), &at.id}, func() { found[priority] = at }))
		return send(ctx, s, &batch)
	})
	var took time.Duration
	if !began.IsZero() {
		took = time.Since(began)
	}
	scan.caughtUp(reach, found, took, err == nil)
}

// scanClaim makes a claim and records it in scan.
func (b *Backend) scanClaim(ctx context.Context, req store.ClaimRequest, scan *claimScan, from cursors, took func(jobs int, took time.Duration)) (store.ClaimResult, error) {
	began := time.Now()
	out, err := b.claim(ctx, req, from)
	switch {
	case err == nil:
		took(len(out.Jobs), time.Since(began))
		scan.found(out.Jobs, len(out.Jobs) >= req.Limit, out.Now)
	case errors.Is(err, store.ErrNodeGone):
		b.scans.forget(req.Node)
	}
	return out, err
}

// claim makes one claim with cursors, in one round trip where the connection allows it.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, from cursors) (store.ClaimResult, error) {
	lowRunAt, lowID := from.columns()
	args := []any{when(req.Now), req.Node, req.Queue, req.Kinds, req.Limit, lowRunAt, lowID, req.Limit - req.Ahead}
	name := claimJobs
	switch {
	case req.Suspects && len(req.Exact) > 0:
		name = claimExactSuspects
	case req.Suspects:
		name = claimSuspects
	case len(req.Exact) > 0:
		name = claimExactJobs
	}
	if len(req.Exact) > 0 {
		args = append(args, exactColumns(req.Exact)...)
	}
	text := b.q(name)
	var out store.ClaimResult
	err := b.pipeline(ctx, nodeConns, "claim jobs", func(s sender) (err error) {
		var batch pgx.Batch
		batch.Queue(b.q(holdNode), when(req.Now), req.Node)
		batch.Queue(text, args...)
		batch.Queue(b.q(findNextDue), when(req.Now), req.Queue)
		answers := s.SendBatch(ctx, &batch)
		out, err = readClaim(answers, req)
		return cmp.Or(err, answers.Close())
	})
	if err != nil {
		return store.ClaimResult{}, err
	}
	return out, nil
}

// BeginJobs lets claims begin; see store.Jobs.
func (b *Backend) BeginJobs(ctx context.Context, req store.BeginRequest) error {
	ids := make([]int64, len(req.Claims))
	for i, ref := range req.Claims {
		ids[i] = ref.ID
	}
	return b.pipeline(ctx, nodeConns, "begin jobs", func(s sender) error {
		var batch pgx.Batch
		batch.Queue(b.q(beginJobs), req.Node, req.Batch, ids)
		answers := s.SendBatch(ctx, &batch)
		var node int64
		err := nodeAlive(req.Node, answers.QueryRow().Scan(&node))
		return cmp.Or(err, answers.Close())
	})
}

// exactColumns are the kinds of exact jobs, each once, and the kind and digest of
// every one.
func exactColumns(jobs []store.ExactJob) []any {
	kinds, digests := make([]string, len(jobs)), make([][]byte, len(jobs))
	for i := range jobs {
		kinds[i], digests[i] = jobs[i].Kind, jobs[i].SHA256[:]
	}
	return []any{slices.Compact(slices.Sorted(slices.Values(kinds))), kinds, digests}
}

// readClaim reads the answers of hold_node, claim_jobs and find_next_due.
func readClaim(answers pgx.BatchResults, req store.ClaimRequest) (out store.ClaimResult, err error) {
	if err := nodeAlive(req.Node, answers.QueryRow().Scan(into(&out.Now))); err != nil {
		return out, err
	}
	rows, err := answers.Query()
	if err != nil {
		return out, err
	}
	if out.Jobs, out.Batch, err = scanClaimed(rows, req); err != nil {
		return out, err
	}
	slices.SortFunc(out.Jobs, inOrder)
	if err := answers.QueryRow().Scan(into(&out.NextDue)); err != nil || len(out.Jobs) >= req.Limit || req.Suspects {
		out.NextDue = time.Time{} // not asked for
		return out, err
	}
	return out, nil
}

// nodeAlive turns the missing row of a node into ErrNodeGone.
func nodeAlive(node int64, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("node %d: %w", node, store.ErrNodeGone)
	}
	return err
}

// scanClaimed reads claimed jobs and the number of their batch.
func scanClaimed(rows pgx.Rows, req store.ClaimRequest) (jobs []store.Claimed, batch int64, err error) {
	j := store.Claimed{Queue: req.Queue}
	targets := []any{
		&batch, &j.ID, &j.Token, &j.Kind, &j.Args, &j.Headers, &j.Priority, &j.Attempt, &j.MaxAttempts, (*int16)(&j.OnLoss), (*int16)(&j.Origin),
		(*int64)(&j.Timeout), into(&j.RunAt), into(&j.CreatedAt), (*number)(&j.Schedule), (*word)(&j.ScheduleName), into(&j.Slot),
		&j.Losses, &j.Refunds,
	}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		if len(jobs) == cap(jobs) { // a few, or all that were asked for: append would copy again and again
			jobs = slices.Grow(jobs, min(max(len(jobs)*len(jobs), 16), max(req.Limit-len(jobs), 1)))
		}
		jobs = append(jobs, j)
		return nil
	})
	return jobs, batch, err
}

// inOrder is the order in which claimed jobs are to start.
func inOrder(a, b store.Claimed) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
}
