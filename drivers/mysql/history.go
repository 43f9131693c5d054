package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Position reads how far the store has come; see store.History.
func (b *Backend) Position(ctx context.Context) (store.Position, error) {
	var out store.Position
	err := b.read(ctx, "read how far the store has come", func(s *session) (err error) {
		out, err = s.position(ctx)
		return err
	})
	return out, err
}

func (s *session) position(ctx context.Context) (p store.Position, err error) {
	err = s.one(ctx, readPosition, nil, &p.Store, &p.Token, &p.Node, &p.Accepted, into(&p.LostAt))
	return p, err
}

// ReportLoss remembers that the store went back in time; see store.History.
func (b *Backend) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return b.changeHistory(ctx, "report a loss of history", req.Now, func(s *session, now time.Time) error {
		return s.exec(ctx, reportLoss, args{
			"now": micros(now), "accepted": req.Accepted, "token": req.Seen.Token, "node": req.Seen.Node, "seen_accepted": req.Seen.Accepted,
		})
	})
}

// AcceptLoss ends the suspension; see store.History.
func (b *Backend) AcceptLoss(ctx context.Context, req store.AcceptLossRequest) (store.Position, error) {
	return b.changeHistory(ctx, "accept a loss of history", req.Now, func(s *session, now time.Time) error {
		for _, step := range []struct {
			name statement
			args args
		}{
			{raiseTokens, args{"margin": store.LossMargin}},
			{raiseLocks, args{"margin": store.LossMargin}},
			{raiseNodes, args{"margin": store.LossNodes}},
			{acceptLoss, nil},
		} {
			if err := s.exec(ctx, step.name, step.args); err != nil {
				return err
			}
		}
		return rowwise.Record(ctx, s, req.Entry(), now)
	})
}

// changeHistory changes what is known of losses, and returns the position after that.
func (b *Backend) changeHistory(ctx context.Context, doing string, asked time.Time, change func(*session, time.Time) error) (store.Position, error) {
	var out store.Position
	err := b.write(ctx, doing, func(s *session) error {
		now, err := s.now(ctx, asked)
		if err != nil {
			return err
		}
		if err := change(s, now); err != nil {
			return err
		}
		out, err = s.position(ctx)
		return err
	})
	if err != nil {
		return store.Position{}, err
	}
	return out, nil
}
