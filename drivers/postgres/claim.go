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

// Claim takes due jobs; see store.Jobs. Only a claim in part begins at the low-water cursors of the node and queue; any other claim
// searches all due jobs. The node's row is locked first, so that the node cannot be
// declared dead before the claim is committed or rolled back.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	// Suspects are few and have their own index; a claim with a rate may leave out jobs; cursors follow the clock of the store, not of a test.
	if !req.Part || !req.Now.IsZero() || req.Suspects || req.Permits.Rated() {
		out, err := b.claim(ctx, req, cursors{})
		return out.ClaimResult, err
	}
	return b.claimPart(ctx, req)
}

// claimed is the result of a claim, and what the next claim has to know of it.
type claimed struct {
	store.ClaimResult
	pauses   rowwise.PauseMark
	searched bool // the claim has looked for all due jobs after its cursors, up to its last job
	// left is after how long the next claim should come, because due jobs may be left before the claimed jobs that have neither permits
	// nor wait; 0: no job is left so.
	left time.Duration
}

// claim makes one claim with cursors. Most claims are one statement. A claim passes the gates of package rowwise instead if limits of kinds or keys
// concern its queue, or the queue has a rate, if it takes suspects or aged jobs, and from time to time while there are pauses.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, from cursors) (claimed, error) {
	if !req.Suspects && req.DueFor == 0 && !req.Permits.Rated() && !b.gated.has(req.Queue) {
		if out, gated, err := b.claimPlain(ctx, req, from); err != nil || !gated {
			return out, err
		}
	}
	return b.claimGated(ctx, req, from)
}

// claimPlain claims jobs of a queue that no limit of kinds or keys concerns, in one round trip where the connection allows it. If it is
// gated, because there is such a limit, or because a pause has ended, it has no jobs.
func (b *Backend) claimPlain(ctx context.Context, req store.ClaimRequest, from cursors) (claimed, bool, error) {
	made, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "claim jobs"), func(s sender) (made plainClaim, err error) {
		var batch pgx.Batch
		batch.Queue(b.q(holdNode), when(req.Now), req.Node)
		batch.Queue(b.q(claimJobs), claimArgs(req, from)...)
		batch.Queue(b.q(findNextDue), when(req.Now), req.Queue, req.Limited())
		b.queuePolled(&batch, req.Polled)
		answers := s.SendBatch(ctx, &batch)
		made, err = readPlain(answers, req)
		return made, cmp.Or(err, answers.Close())
	})
	if err != nil {
		return claimed{}, false, err
	}
	b.wakeAfterPoll(ctx, &req, &made.ClaimResult)
	if made.gated || made.pauses.Count > 0 && b.parks.due(!req.Now.IsZero()) {
		b.gated.set(req.Queue, true)
	}
	return made.claimed, made.gated, nil
}

// claimArgs are the arguments of claimJobs.
func claimArgs(req store.ClaimRequest, from cursors) []any {
	lowRunAt, lowID := from.columns()
	return append([]any{
		when(req.Now), req.Node, req.Queue, req.Limit, req.Limit - req.Ahead, req.Kinds, lowRunAt, lowID, req.Limited(), req.Permits.Revision,
	}, exactColumns(req.Exact)...)
}

// plainClaim is what a claim without gates has taken and found.
type plainClaim struct {
	claimed
	gated bool // claims have to pass gates
}

// readPlain reads the answers of hold_node, claim_jobs and find_next_due.
func readPlain(answers pgx.BatchResults, req store.ClaimRequest) (made plainClaim, err error) {
	if err := nodeAlive(req.Node, answers.QueryRow().Scan(into(&made.Now))); err != nil {
		return made, err
	}
	rows, err := answers.Query()
	if err != nil {
		return made, err
	}
	if made.Jobs, made.Batch, err = scanClaimed(rows, req); err != nil {
		return made, err
	}
	slices.SortFunc(made.Jobs, store.CompareClaimed)
	var next nextDue
	err = answers.QueryRow().Scan(next.targets()...)
	made.pauses, made.gated, made.Handled = next.pauses, next.gated, next.handled
	made.LimitRevision, made.NextStart, made.NoSuspects = next.limitRevision, next.notBefore, !next.suspects
	if req.WantsNextDue(len(made.Jobs)) {
		made.NextDue = next.at
	}
	made.searched = !next.gated && !next.paused && made.LimitRevision == req.Permits.Revision && made.NextStart.IsZero()
	return made, err
}

// nextDue is the answer of find_next_due.
type nextDue struct {
	at            time.Time
	pauses        rowwise.PauseMark
	paused, gated bool
	suspects      bool
	handled       bool
	limitRevision int64
	notBefore     time.Time
}

func (n *nextDue) targets() []any {
	return []any{into(&n.at), &n.pauses.Count, into(&n.pauses.Last), &n.paused, &n.handled, &n.limitRevision, into(&n.notBefore), &n.gated, &n.suspects}
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
