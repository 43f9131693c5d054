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

// Claim takes due jobs; see store.Jobs. The node is held first, so that nobody
// can declare it dead before the claim is committed or gone.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	var out store.ClaimResult
	err := b.work(ctx, "claim jobs", func(tx pgx.Tx) (err error) {
		out, err = b.claim(ctx, tx, req)
		return err
	})
	if err != nil {
		return store.ClaimResult{}, err
	}
	return out, nil
}

func (b *Backend) claim(ctx context.Context, tx pgx.Tx, req store.ClaimRequest) (store.ClaimResult, error) {
	text, args := b.q("claim_jobs"), []any{when(req.Now), req.Node, req.Queue, req.Kinds, req.Limit}
	if len(req.Exact) > 0 {
		text, args = b.q("claim_exact"), append(args, exactColumns(req.Exact)...)
	}
	var batch pgx.Batch
	batch.Queue(b.q("hold_node"), when(req.Now), req.Node)
	batch.Queue(text, args...)
	answers := tx.SendBatch(ctx, &batch)
	out, err := readClaim(answers, req)
	if err := cmp.Or(err, answers.Close()); err != nil || len(out.Jobs) >= req.Limit {
		return out, err
	}
	err = tx.QueryRow(ctx, b.q("next_due"), when(req.Now), req.Queue).Scan(into(&out.NextDue))
	return out, err
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

// readClaim reads the answers of hold_node and claim_jobs.
func readClaim(answers pgx.BatchResults, req store.ClaimRequest) (out store.ClaimResult, err error) {
	if err := nodeAlive(req.Node, answers.QueryRow().Scan(into(&out.Now))); err != nil {
		return out, err
	}
	rows, err := answers.Query()
	if err != nil {
		return out, err
	}
	out.Jobs, out.Batch, err = scanClaimed(rows, req)
	slices.SortFunc(out.Jobs, inOrder)
	return out, err
}

// nodeAlive turns the missing row of a node into ErrNodeGone.
func nodeAlive(node int64, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("node %d: %w", node, store.ErrNodeGone)
	}
	return err
}

// scanClaimed reads claimed jobs and the number of their batch.
func scanClaimed(rows pgx.Rows, req store.ClaimRequest) ([]store.Claimed, int64, error) {
	defer rows.Close()
	var batch int64
	var jobs []store.Claimed
	for rows.Next() {
		j := store.Claimed{Queue: req.Queue}
		var onLoss, origin int16
		var timeout int64
		err := rows.Scan(&batch, &j.ID, &j.Token, &j.Kind, &j.Args, &j.Headers, &j.Priority, &j.Attempt, &j.MaxAttempts, &onLoss, &origin, &timeout,
			into(&j.RunAt), into(&j.CreatedAt), (*number)(&j.Schedule), (*word)(&j.ScheduleName), into(&j.Slot))
		if err != nil {
			return nil, 0, err
		}
		j.OnLoss, j.Origin, j.Timeout = store.OnLoss(onLoss), store.Origin(origin), time.Duration(timeout)
		jobs = append(jobs, j)
	}
	return jobs, batch, rows.Err()
}

// inOrder is the order in which claimed jobs are to start.
func inOrder(a, b store.Claimed) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
}
