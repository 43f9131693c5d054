package memory

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// claimProgress is the progress of the claim with a token.
type claimProgress struct {
	token int64
	store.Progress
}

// SaveProgress stores progress; see store.Jobs.
func (s *Store) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	now, err := s.beginWrite(ctx, "save progress", req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, c := range req.Claims {
		j := s.live[c.ID]
		if j == nil {
			j = s.finished[c.ID]
		}
		if j != nil && j.Token == c.Token {
			c.At, c.Stuck = now, c.StuckSince(now)
			s.progress[c.ID] = claimProgress{c.Token, c.Progress}
		}
	}
	return nil
}
