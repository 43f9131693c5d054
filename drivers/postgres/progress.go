package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// SaveProgress stores progress; see store.Jobs.
func (b *Backend) SaveProgress(ctx context.Context, req store.SaveProgressRequest) error {
	if len(req.Claims) == 0 {
		return nil
	}
	claims := slices.SortedFunc(slices.Values(req.Claims), func(a, b store.ClaimProgress) int { return cmp.Compare(a.ID, b.ID) })
	n := len(claims)
	ids, tokens, done, total, notes := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]string, n)
	stuck := make([]int64, n) // for how long, in microseconds
	for i, c := range claims {
		ids[i], tokens[i], done[i], total[i], notes[i] = c.ID, c.Token, c.Done, c.Total, c.Note
		stuck[i] = c.StuckFor.Microseconds()
	}
	return b.alone(ctx, nodeConns, "save progress")(func(conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, b.q(upsertProgress), when(req.Now), ids, tokens, done, total, notes, stuck)
		return err
	})
}

// addProgress reads the progress of the last claims of jobs.
func (b *Backend) addProgress(ctx context.Context, tx pgx.Tx, jobs []store.JobInfo) error {
	place := map[store.ClaimRef]int{}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		place[store.ClaimRef{ID: job.ID, Token: job.Token}], ids[i] = i, job.ID
	}
	var ref store.ClaimRef
	var p store.Progress
	return each(ctx, tx, []any{&ref.ID, &ref.Token, &p.Done, &p.Total, &p.Note, into(&p.At), into(&p.Stuck)}, func() {
		if i, last := place[ref]; last {
			jobs[i].Progress = p
		}
	}, b.q(listProgress), ids)
}
