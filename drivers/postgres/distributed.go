package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// checkUndistributed refuses a schema whose tables Citus has spread over its workers.
// Statements there would crash or be refused at some later time, one by one: claims lock
// rows in an order that only one server can keep.
func (b *Backend) checkUndistributed(ctx context.Context, tx pgx.Tx) error {
	const citus = `select exists (select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
		where n.nspname = 'pg_catalog' and c.relname = 'pg_dist_partition')`
	var there bool
	if err := tx.QueryRow(ctx, citus).Scan(&there); err != nil || !there {
		return err
	}
	const distributed = `select c.relname::text from pg_catalog.pg_dist_partition as p join pg_catalog.pg_class as c on c.oid = p.logicalrel
		join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where n.nspname = $1::text order by c.relname`
	tables, err := collect(ctx, tx, pgx.RowTo[string], distributed, b.schema)
	if err != nil || len(tables) == 0 {
		return err
	}
	return fmt.Errorf("%w: the tables %s are distributed by Citus, where Hourbell does not work; call undistribute_table "+
		"for each of them, or use a schema on one PostgreSQL server",
		store.ErrSchema, strings.Join(tables, ", "))
}
