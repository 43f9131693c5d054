package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// groupColumns are the columns that ListGroups scans.
const groupColumns = "name schedules ready scheduled running waiting"

// ListGroups counts what is in groups; see store.Groups.
func (b *Backend) ListGroups(ctx context.Context, req store.ListGroupsRequest) ([]store.GroupInfo, error) {
	return rowwise.InTx(b.list(ctx, "list groups"), func(tx pgx.Tx) ([]store.GroupInfo, error) {
		return collect(ctx, tx, scanGroup, b.q(listGroups), when(req.Now), orNull(req.Name))
	})
}

func scanGroup(r pgx.CollectableRow) (g store.GroupInfo, err error) {
	err = r.Scan(&g.Name, &g.Schedules, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting)
	return g, err
}
