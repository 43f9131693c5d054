package mysql

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hourbell/hourbell/store"
)

// outputWindow has the blocks of a claim that are kept.
type outputWindow struct {
	ID    int64 `json:"id"`
	Token int64 `json:"token"`
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// SaveOutput stores output; see store.Jobs.
func (b *Backend) SaveOutput(ctx context.Context, req store.SaveOutputRequest) (saved []store.ClaimRef, err error) {
	if len(req.Claims) == 0 {
		return nil, nil
	}
	claims := make([]store.ClaimRef, len(req.Claims))
	for i, c := range req.Claims {
		claims[i] = c.ClaimRef
	}
	err = b.write(ctx, "save output", func(s *session) error {
		held, err := s.LockClaims(ctx, claims)
		if err != nil {
			return err
		}
		saved = nil
		var windows []outputWindow
		var rows []args
		for i, c := range req.Claims {
			if !held[i].Running {
				continue
			}
			saved = append(saved, c.ClaimRef)
			first, last := c.Window()
			windows = append(windows, outputWindow{c.ID, c.Token, first, last})
			for _, block := range c.Blocks() {
				rows = append(rows, args{"id": c.ID, "token": c.Token, "block": block.N, "data": notNull(block.Data)})
			}
		}
		if len(windows) == 0 {
			return nil
		}
		if err := s.exec(ctx, cutOutput, args{"windows": jsonOf(windows)}); err != nil {
			return err
		}
		_, err = s.insertRows(ctx, upsertOutput, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	return saved, nil
}

// ReadOutput reads the output of an attempt; see store.Jobs.
func (b *Backend) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (out store.JobOutput, err error) {
	err = b.read(ctx, "read output", func(s *session) error {
		given, a := jobConditions(store.JobFilter{IDs: []int64{req.ID}}, time.Time{})
		a["full"], a["before"], a["limit"] = false, int64(math.MaxInt64), 1
		found := false
		err := s.list(ctx, listJobs, given, a, func(r row) error {
			job, err := scanJob(r)
			out, found = job.OutputOf(req), true
			return err
		})
		if err == nil && !found {
			err = fmt.Errorf("job %d: %w", req.ID, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if out.Running {
			blocks, err := s.StoredOutput(ctx, []int64{req.ID}, req.From/store.OutputBlock)
			if found := blocks[req.ID]; len(found) > 0 {
				out.Printed = store.PrintedIn(found).Since(req.From)
			}
			return err
		}
		return s.each(ctx, readPrinted, args{"id": req.ID, "token": out.Token}, func(r row) error {
			var total int64
			var data []byte
			err := r.Scan(&out.Attempt, &total, &data)
			out.Printed = store.PrintedBy(total, data).Since(req.From)
			return err
		})
	})
	return out, err
}

// StoredOutput implements rowwise.Claims.
func (s *session) StoredOutput(ctx context.Context, ids []int64, first int64) (map[int64][]store.StoredBlock, error) {
	found := map[int64][]store.StoredBlock{}
	err := s.each(ctx, listOutput, args{"ids": ids, "first": first}, func(r row) error {
		var id int64
		var block store.StoredBlock
		err := r.Scan(&id, &block.N, &block.Data)
		found[id] = append(found[id], block)
		return err
	})
	return found, err
}

// DeleteOutput implements rowwise.Claims.
func (s *session) DeleteOutput(ctx context.Context, ids []int64) error {
	return s.onIDs(ctx, ids, deleteOutput)
}
