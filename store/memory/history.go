package memory

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

func (s *Store) position() store.Position {
	return store.Position{Store: s.identity, Token: s.lastToken, Node: s.lastNode, Accepted: s.accepted, LostAt: s.loss.LostAt}
}

// ReportLoss records that the store went back in time; see store.History.
func (s *Store) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	now, err := s.beginWrite(ctx, "report a loss of history", req.Now)
	if err != nil {
		return store.Position{}, err
	}
	defer s.mu.Unlock()
	if req.Accepted == s.accepted {
		s.loss = store.Position{
			Token:    max(s.loss.Token, req.Seen.Token),
			Node:     max(s.loss.Node, req.Seen.Node),
			Accepted: max(s.loss.Accepted, req.Seen.Accepted),
			LostAt:   earliest(s.loss.LostAt, now),
		}
	}
	return s.position(), nil
}

// AcceptLoss ends the suspension; see store.History.
func (s *Store) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	now, err := s.beginWrite(ctx, "accept a loss of history", req.Now)
	if err != nil {
		return store.Position{}, err
	}
	defer s.mu.Unlock()
	s.lastToken = max(s.lastToken, s.loss.Token) + store.LossMargin
	s.lastNode = max(s.lastNode, s.loss.Node) + store.LossNodes
	s.accepted = max(s.accepted, s.loss.Accepted) + 1
	s.loss = store.Position{}
	s.record(req.Entry(), 0, now)
	return s.position(), nil
}
