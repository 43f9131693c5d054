package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// groupColumns are the columns that scanGroup scans.
const groupColumns = "name schedules ready scheduled running waiting"

func scanGroup(r pgx.CollectableRow) (g store.GroupInfo, err error) {
	err = r.Scan(&g.Name, &g.Schedules, &g.Ready, &g.Scheduled, &g.Running, &g.Waiting)
	return g, err
}
