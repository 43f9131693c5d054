package sqlrows

import (
	"context"
	"database/sql"

	"github.com/hourbell/hourbell/store"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ReadVersion reads the newest step that a database has; an error if there is no schema. Steps that are no steps of this release or of a
// later release are an error with the remedy.
func ReadVersion(ctx context.Context, q Querier, steps []store.Migration, remedy string) (int, error) {
	var have []store.Migration
	rows, err := q.QueryContext(ctx, "SELECT version, name FROM hourbell_schema_version ORDER BY version")
	err = EachRow(rows, err, func(r Row) error {
		var step store.Migration
		err := r.Scan(&step.Version, &step.Name)
		have = append(have, step)
		return err
	})
	if err != nil {
		return 0, err
	}
	return store.Newest(have), store.CheckSteps(have, steps, remedy)
}
