package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// claimOutput is what is stored of the output of the claim with a token: the bytes
// from its first block on.
type claimOutput struct {
	token int64
	from  int64
	data  []byte
}

// SaveOutput stores output; see store.Jobs.
func (s *Store) SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error) {
	if _, err := s.beginWrite(ctx, "save output", time.Time{}); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var saved []store.ClaimRef
	for _, c := range req.Claims {
		j := s.live[c.ID]
		if j == nil || j.Token != c.Token || j.State != store.StateRunning || s.locked[c.ID] != nil {
			continue
		}
		saved = append(saved, c.ClaimRef)
		kept := s.output[c.ID]
		if end := kept.from + int64(len(kept.data)); kept.token != c.Token || c.From < kept.from || c.From > end {
			kept = claimOutput{c.Token, c.From, nil}
		}
		kept.data = append(copyOf(kept.data[:c.From-kept.from]), c.Data...)
		blocks := (int64(len(kept.data)) + store.OutputBlock - 1) / store.OutputBlock
		if over := blocks - store.OutputBlocks; over > 0 {
			kept.from += over * store.OutputBlock
			kept.data = kept.data[over*store.OutputBlock:]
		}
		s.output[c.ID] = kept
	}
	return saved, nil
}

// ReadOutput reads the output of an attempt; see store.Jobs.
func (s *Store) ReadOutput(ctx context.Context, req store.ReadOutputRequest) (store.JobOutput, error) {
	if _, err := s.begin(ctx, "read output", time.Time{}); err != nil {
		return store.JobOutput{}, err
	}
	defer s.mu.Unlock()
	j := s.live[req.ID]
	if j == nil {
		j = s.finished[req.ID]
	}
	if j == nil {
		return store.JobOutput{}, fmt.Errorf("read output: %w", store.ErrNotFound)
	}
	out := store.JobOutput{State: j.State, Last: j.Token, Token: req.Token, Printed: store.Printed{From: req.From}}
	if out.Token == 0 {
		out.Token = j.Token
	}
	if out.Token == j.Token && j.State == store.StateRunning {
		out.Running, out.Attempt = true, j.Attempt
		if kept := s.output[j.ID]; kept.token == j.Token {
			out.Printed = store.Printed{From: kept.from, Data: copyOf(kept.data)}.Since(req.From)
		}
		return out, nil
	}
	for _, a := range s.attempts[j.ID] {
		if a.Token == out.Token {
			out.Attempt = a.Attempt
			out.Printed = store.PrintedBy(a.Printed, copyOf(a.Output)).Since(req.From)
		}
	}
	return out, nil
}
