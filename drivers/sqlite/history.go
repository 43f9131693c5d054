package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Position reads how far the store has come; see store.History.
func (b *Backend) Position(ctx context.Context) (store.Position, error) {
	return rowwise.InTx(b.read(ctx, "read how far the store has come"), func(s *session) (store.Position, error) { return s.Position(ctx) })
}

// ReportLoss remembers that the store went back in time; see store.History.
func (b *Backend) ReportLoss(ctx context.Context, req store.ReportLossRequest) (store.Position, error) {
	return b.changeHistory(ctx, "report a loss of history", req.Now, func(s *session, now time.Time) error {
		return s.Exec(ctx, reportLoss, args{
			"now": sqlrows.Micros(now), "accepted": req.Accepted, "token": req.Seen.Token, "node": req.Seen.Node, "seen_accepted": req.Seen.Accepted,
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
			{insertNodeSequence, nil},
			{raiseNodes, args{"margin": store.LossNodes}},
			{acceptLoss, nil},
		} {
			if err := s.Exec(ctx, step.name, step.args); err != nil {
				return err
			}
		}
		return rowwise.Record(ctx, s, req.Entry(), now)
	})
}

// changeHistory changes what is known of losses, and returns the position after that.
func (b *Backend) changeHistory(ctx context.Context, doing string, asked time.Time, change func(*session, time.Time) error) (store.Position, error) {
	return rowwise.InTx(b.write(ctx, doing), func(s *session) (out store.Position, err error) {
		now, err := s.Now(ctx, asked)
		if err != nil {
			return out, err
		}
		if err := change(s, now); err != nil {
			return out, err
		}
		out, err = s.Position(ctx)
		return out, err
	})
}
