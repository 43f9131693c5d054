package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// claimOutput is what is stored of the output of the claim with a token, in blocks.
type claimOutput struct {
	token  int64
	blocks map[int64][]byte
}

// printed returns the output that is stored.
func (o claimOutput) printed() store.Printed {
	var blocks []store.StoredBlock
	for _, n := range slices.Sorted(maps.Keys(o.blocks)) {
		blocks = append(blocks, store.StoredBlock{N: n, Data: o.blocks[n]})
	}
	return store.PrintedIn(blocks)
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
		if kept.token != c.Token {
			kept = claimOutput{c.Token, map[int64][]byte{}}
		}
		first, last := c.Window()
		maps.DeleteFunc(kept.blocks, func(n int64, _ []byte) bool { return n < first || n > last })
		for _, block := range c.Blocks() {
			kept.blocks[block.N] = copyOf(block.Data)
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
			out.Printed = kept.printed().Since(req.From)
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
