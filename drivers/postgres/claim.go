package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Claim takes due jobs; see store.Jobs. It uses no cursors, so that it searches
// all due jobs. The node's row is locked first, so that the node cannot be
// declared dead before the claim is committed or rolled back.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	out, _, err := b.claim(ctx, req, cursors{})
	return out, err
}

// claim makes one claim with cursors, in one round trip where the connection allows it. If a
// pause has ended, it claims after a step that makes parked jobs claimable, which may lie
// before the cursors. Jobs that the step leaves are for later claims.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, from cursors) (store.ClaimResult, claimFound, error) {
	if !b.limited.has(req.Queue) {
		out, found, err := b.claimTended(ctx, req, from, false)
		if err != nil || len(out.Jobs) > 0 || !b.limited.has(req.Queue) {
			return out, found, err
		}
	}
	return b.claimLimited(ctx, req, from)
}

// claimTended makes one claim, after what is to be done for limits. If it finds that the queue is limited although limited is false, it
// has no jobs.
func (b *Backend) claimTended(ctx context.Context, req store.ClaimRequest, from cursors, limited bool) (store.ClaimResult, claimFound, error) {
	out, found, err := b.claimOnce(ctx, req, from, false, limited)
	if err == nil && !limited && found.limited {
		b.limited.set(req.Queue, true)
		return out, found, nil
	}
	if err != nil {
		return out, found, err
	}
	return b.tendAfterClaim(ctx, req, out, found, limited)
}

// tendAfterClaim tends to the pauses that a claim has found. If one has ended, so that the claim took no job, it claims again.
func (b *Backend) tendAfterClaim(ctx context.Context, req store.ClaimRequest, out store.ClaimResult, found claimFound, limited bool) (store.ClaimResult, claimFound, error) {
	if found.stored == (storedPauses{}) {
		return out, found, nil
	}
	err := b.tendPauses(ctx, req.Now, found.ended, !req.Now.IsZero())
	if found.ended && err == nil {
		out, found, err = b.claimOnce(ctx, req, cursors{}, true, limited)
	} else if err != nil && len(out.Jobs) > 0 {
		err = nil // the jobs are claimed; the next claim tends to the pauses
	}
	return out, found, err
}

// claimFound is what a claim has found in the store.
type claimFound struct {
	stored  storedPauses
	ended   bool // a pause has ended; unless it was told to claim all the same, the claim has no jobs
	queue   bool // the queue is paused
	limited bool // a limit concerns the queue whose permits jobs hold
	// left is after how long the next claim should come, because due jobs may be left before the claimed jobs that have neither permits
	// nor wait; 0: no job is left so.
	left time.Duration
}

// storedPauses changes whenever a pause begins, or is deleted after its end. The zero value: there
// are no pauses.
type storedPauses struct {
	count int64
	last  time.Time // when the last of them began
}

// claimOnce makes one claim; despiteEnds: also if a pause has ended. With limited, it leaves out jobs that need permits and hold none;
// without, it has no jobs if there may be such jobs.
func (b *Backend) claimOnce(ctx context.Context, req store.ClaimRequest, from cursors, despiteEnds, limited bool) (store.ClaimResult, claimFound, error) {
	if req.Permits.Rated() || limited && req.Starts {
		made, err := b.claimRated(ctx, req, from, despiteEnds, limited)
		return made.out, made.found, err
	}
	req.Starts = false // this claim is no transaction that uses starts
	text, args := b.claimStatement(&req, from, despiteEnds, limited, noPermits)
	made, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "claim jobs"), func(s sender) (madeClaim, error) {
		return b.sendClaim(ctx, s, req, text, args)
	})
	if err == nil {
		b.wakeAfterPoll(ctx, &req, &made.out)
	}
	return made.out, made.found, err
}

// madeClaim is what a claim has taken and found.
type madeClaim struct {
	out   store.ClaimResult
	found claimFound
}

// sendClaim sends the statements of a claim, and reads their answers.
func (b *Backend) sendClaim(ctx context.Context, s sender, req store.ClaimRequest, text string, args []any) (madeClaim, error) {
	var batch pgx.Batch
	batch.Queue(b.q(holdNode), when(req.Now), req.Node)
	batch.Queue(text, args...)
	batch.Queue(b.q(findNextDue), when(req.Now), req.Queue, req.Limited())
	b.queuePolled(&batch, req.Polled)
	answers := s.SendBatch(ctx, &batch)
	out, found, err := readClaim(answers, req)
	return madeClaim{out, found}, cmp.Or(err, answers.Close())
}

// wakeAfterPoll wakes other nodes after a shared poll whose claim may have left jobs. The jobs of the claim are claimed: if
// the call fails, other nodes poll after a while.
func (b *Backend) wakeAfterPoll(ctx context.Context, req *store.ClaimRequest, out *store.ClaimResult) {
	if req.Polled == "" || len(out.Jobs) < req.Limit {
		return
	}
	_ = b.pipeline(ctx, nodeConns, "wake other nodes")(func(s sender) error {
		var batch pgx.Batch
		b.queueWake(&batch, store.Wake{Kind: store.WakeJobs, Queue: req.Queue})
		return send(ctx, s, &batch)
	})
}

// noPermits are the permits that a claim brings for jobs that hold none: see claim_jobs.sql.
const noPermits = "{}"

// claimStatement returns the statement of a claim, and its arguments. limited is as for claimOnce; permits are permits for jobs that
// hold none, as claim_jobs.sql describes.
func (b *Backend) claimStatement(req *store.ClaimRequest, from cursors, despiteEnds, limited bool, permits string) (text string, args []any) {
	lowRunAt, lowID := from.columns()
	args = []any{
		when(req.Now), req.Node, req.Queue, req.Kinds, req.Limit, lowRunAt, lowID, req.Limit - req.Ahead, despiteEnds,
		req.Limited(), req.Permits.Revision,
	}
	name, limitedName := claimJobs, limitedJobs
	switch {
	case req.Suspects && len(req.Exact) > 0:
		name, limitedName = claimExactSuspects, limitedExactSuspects
	case req.Suspects:
		name, limitedName = claimSuspects, limitedSuspects
	case req.DueFor > 0 && len(req.Exact) > 0:
		name, limitedName = claimExactAgedJobs, limitedExactAgedJobs
	case req.DueFor > 0:
		name, limitedName = claimAgedJobs, limitedAgedJobs
	case len(req.Exact) > 0:
		name, limitedName = claimExactJobs, limitedExactJobs
	}
	if req.DueFor > 0 && !req.Suspects {
		args = append(args, req.DueFor.Microseconds())
	}
	if limited {
		name, args = limitedName, append(args, req.Starts, permits)
	}
	if len(req.Exact) > 0 {
		args = append(args, exactColumns(req.Exact)...)
	}
	return b.q(name), args
}

// BeginJobs lets claims begin; see store.Jobs.
func (b *Backend) BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error) {
	ids, tokens := make([]int64, len(req.Claims)), make([]int64, len(req.Claims))
	for i, ref := range req.Claims {
		ids[i], tokens[i] = ref.ID, ref.Token
	}
	if !req.HasHooks() {
		type begun struct {
			out     store.BeginResult
			handled bool
		}
		did, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "begin jobs"), func(s sender) (did begun, err error) {
			var batch pgx.Batch
			batch.Queue(b.q(beginJobs), when(req.Now), req.Node, req.Batch, ids, tokens, false)
			answers := s.SendBatch(ctx, &batch)
			var node int64
			err = nodeAlive(req.Node, answers.QueryRow().Scan(&node, &did.handled, &did.out.Paused))
			err = cmp.Or(err, answers.Close())
			return did, err
		})
		if err != nil || !did.handled {
			return did.out, err
		}
	}
	return b.beginHandled(ctx, req, ids, tokens)
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
func readClaim(answers pgx.BatchResults, req store.ClaimRequest) (out store.ClaimResult, found claimFound, err error) {
	if err := nodeAlive(req.Node, answers.QueryRow().Scan(into(&out.Now))); err != nil {
		return out, found, err
	}
	rows, err := answers.Query()
	if err != nil {
		return out, found, err
	}
	if out.Jobs, out.Batch, err = scanClaimed(rows, req); err != nil {
		return out, found, err
	}
	slices.SortFunc(out.Jobs, store.CompareClaimed)
	if err := answers.QueryRow().Scan(into(&out.NextDue), &found.stored.count, into(&found.stored.last), &found.ended, &found.queue, &out.Handled, &out.LimitRevision, into(&out.NextStart), &found.limited, &out.Rated); err != nil || len(out.Jobs) >= req.Limit || req.Suspects {
		out.NextDue = time.Time{} // not asked for
		return out, found, err
	}
	return out, found, nil
}

// nodeAlive turns the missing row of a node into ErrNodeGone.
func nodeAlive(node int64, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return store.NodeGone(node)
	}
	return err
}

// claimedColumns are the columns that scanClaimed scans.
const claimedColumns = "batch id token args headers attempt origin run_at created_at schedule_id schedule_name slot losses refunds {spec_claimed}"

// scanClaimed reads claimed jobs and the number of their batch.
func scanClaimed(rows pgx.Rows, req store.ClaimRequest) (jobs []store.Claimed, batch int64, err error) {
	j := store.Claimed{JobSpec: store.JobSpec{Queue: req.Queue}}
	targets := append([]any{
		&batch, &j.ID, &j.Token, &j.Args, &j.Headers, &j.Attempt, (*int16)(&j.Origin), into(&j.RunAt), into(&j.CreatedAt),
		(*number)(&j.Schedule), (*word)(&j.ScheduleName), into(&j.Slot), &j.Losses, &j.Refunds,
	}, specTargets(&j.JobSpec, "queue")...)
	_, err = pgx.ForEachRow(rows, targets, func() error {
		if len(jobs) == cap(jobs) { // a few, or all that were asked for: append would copy again and again
			jobs = slices.Grow(jobs, min(max(len(jobs)*len(jobs), 16), max(req.Limit-len(jobs), 1)))
		}
		jobs = append(jobs, j)
		return nil
	})
	return jobs, batch, err
}
