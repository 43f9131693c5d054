package sqlrows

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// Migrations returns all steps of the schema; see store.Migrator.
func (c Calls[S]) Migrations() []store.Migration { return slices.Clone(c.Steps) }

// MigrateStatus returns which steps the database has; see store.Migrator. It creates nothing.
func (c Calls[S]) MigrateStatus(ctx context.Context) ([]store.MigrationStatus, error) {
	have, err := c.Version(ctx, "read the schema's version")
	if err != nil {
		return nil, err
	}
	return store.StatusOf(c.Steps, have), nil
}

// CheckSchema checks that this release can use the version of the schema; its error wraps store.ErrSchema. It only reads.
func (c Calls[S]) CheckSchema(ctx context.Context) error {
	const doing = "check the schema"
	have, err := c.Version(ctx, doing)
	if err != nil {
		return err
	}
	if err := store.CheckSchema(have, len(c.Steps)); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

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
