package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// newProgress is progress on its way to upsert_progress.sql.
type newProgress struct {
	ID    int64  `json:"id"`
	Token int64  `json:"token"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Note  string `json:"note"`
	Stuck *int64 `json:"stuck,omitempty"`
}

// SaveProgress stores progress; see store.Jobs.
func (b *Backend) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	if len(req.Claims) == 0 {
		return nil
	}
	return b.writeAt(ctx, "save progress", req.Now)(func(s *session, now time.Time) error {
		rows := make([]newProgress, len(req.Claims))
		for i, c := range req.Claims {
			rows[i] = newProgress{c.ID, c.Token, c.Done, c.Total, c.Note, sqlrows.Micros(c.StuckSince(now))}
		}
		return s.Exec(ctx, upsertProgress, args{"claims": sqlrows.JSON(rows), "now": sqlrows.Micros(now)})
	})
}
