package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// SaveOutput stores output; see store.Jobs.
func (b *Backend) SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error) {
	if len(req.Claims) == 0 {
		return nil, nil
	}
	claims := slices.SortedFunc(slices.Values(req.Claims), func(a, b store.ClaimOutput) int { return cmp.Compare(a.ID, b.ID) })
	n := len(claims)
	ids, tokens, firsts, lasts := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	var of, blocks []int64
	var data [][]byte
	for i, c := range claims {
		ids[i], tokens[i] = c.ID, c.Token
		firsts[i], lasts[i] = c.Window()
		for _, block := range c.Blocks() {
			of, blocks, data = append(of, c.ID), append(blocks, block.N), append(data, block.Data)
		}
	}
	return rowwise.InTx(b.alone(ctx, nodeConns, "save output"), func(conn *pgxpool.Conn) (saved []store.ClaimRef, err error) {
		rows, err := conn.Query(ctx, b.q(upsertOutput), ids, tokens, firsts, lasts, of, blocks, data)
		if err == nil {
			saved, err = pgx.CollectRows(rows, scanClaimRef)
		}
		return saved, err
	})
}

// ReadOutput reads the output of an attempt; see store.Jobs.
func (b *Backend) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (store.JobOutput, error) {
	return rowwise.InTx(b.list(ctx, "read output"), func(tx pgx.Tx) (out store.JobOutput, err error) {
		values := append(jobFilterValues(store.JobFilter{IDs: []int64{req.ID}}, time.Time{}), nil, nil, 1, false)
		jobs, err := collect(ctx, tx, scanJob, b.q(listJobs), values...)
		if err != nil {
			return out, err
		}
		if len(jobs) == 0 {
			return out, fmt.Errorf("job %d: %w", req.ID, store.ErrNotFound)
		}
		job := jobs[0]
		out = job.OutputOf(req)
		if out.Running {
			blocks, err := b.storedOutput(ctx, tx, []int64{req.ID}, req.From/store.OutputBlock)
			if found := blocks[req.ID]; len(found) > 0 {
				out.Printed = store.PrintedIn(found).Since(req.From)
			}
			return out, err
		}
		var total int64
		var data []byte
		err = tx.QueryRow(ctx, b.q(readPrinted), req.ID, out.Token).Scan(&out.Attempt, &total, &data)
		if errors.Is(err, pgx.ErrNoRows) {
			return out, nil
		}
		out.Printed = store.PrintedBy(total, data).Since(req.From)
		return out, err
	})
}

// storedOutput reads what is stored of the output of attempts that run, from block first
// on, by job.
func (b *Backend) storedOutput(ctx context.Context, tx querier, ids []int64, first int64) (map[int64][]store.StoredBlock, error) {
	found := map[int64][]store.StoredBlock{}
	var id int64
	var block store.StoredBlock
	err := each(ctx, tx, []any{&id, &block.N, &block.Data}, func() {
		found[id] = append(found[id], block)
		block.Data = nil // the next one gets bytes of its own
	}, b.q(listOutput), ids, first)
	return found, err
}

// takeOutput gives the records of lost attempts the output that is stored of them, and
// deletes what is stored. The jobs are locked.
func (b *Backend) takeOutput(ctx context.Context, tx querier, records []store.AttemptRecord) error {
	ids := store.TakingSaved(records)
	if len(ids) == 0 {
		return nil
	}
	found, err := b.storedOutput(ctx, tx, ids, 0)
	if err != nil || len(found) == 0 {
		return err
	}
	store.TakeSaved(records, found)
	return b.deleteOutput(ctx, tx, ids)
}

// deleteOutput deletes the stored output of attempts that end, if there are any.
func (b *Backend) deleteOutput(ctx context.Context, tx querier, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, b.q(deleteOutput), ids)
	return err
}
