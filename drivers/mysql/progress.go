package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// newProgress is progress on its way to upsert_progress.sql.
type newProgress struct {
	ID    int64  `json:"id"`
	Token int64  `json:"token"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Note  string `json:"note"`
}

// SaveProgress stores progress; see store.Jobs.
func (b *Backend) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	if len(req.Claims) == 0 {
		return nil
	}
	rows := make([]newProgress, len(req.Claims))
	for i, c := range req.Claims {
		rows[i] = newProgress{c.ID, c.Token, c.Done, c.Total, c.Note}
	}
	return b.writeAt(ctx, "save progress", req.Now, func(s *session, now time.Time) error {
		return s.exec(ctx, upsertProgress, args{"claims": jsonOf(rows), "now": micros(now)})
	})
}

// addProgress reads the progress of the last claims of listed jobs into them.
func (s *session) addProgress(ctx context.Context, jobs []store.JobInfo) error {
	place := map[store.ClaimRef]*store.JobInfo{}
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
		place[store.ClaimRef{ID: ids[i], Token: jobs[i].Token}] = &jobs[i]
	}
	return s.each(ctx, listProgress, args{"ids": ids}, func(r row) error {
		var ref store.ClaimRef
		var p store.Progress
		err := r.Scan(&ref.ID, &ref.Token, &p.Done, &p.Total, &p.Note, into(&p.At))
		if job := place[ref]; err == nil && job != nil {
			job.Progress = p
		}
		return err
	})
}
