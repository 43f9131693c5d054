package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// turns lets a node send statements on the connection of a worker's transaction between the
// statements of the worker.
type turns struct {
	conn *pgconn.PgConn
	mu   sync.Mutex // held while the node's statement is under way
	busy int        // statements of the worker under way
}

// enter begins a statement of the worker. It waits only for a statement of the node.
func (t *turns) enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy++
}

// leave ends a statement of the worker.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy--
}

// keepAlive is the KeepAlive of a store.WorkerTx.
func (t *turns) keepAlive(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy > 0 {
		return nil
	}
	return t.conn.Ping(ctx) // an empty statement, which also an aborted transaction accepts
}

// keepSQLAlive returns the KeepAlive of a transaction on conn. database/sql serialises the calls of
// the driver's connection, but does not say whether rows are being read; of the drivers only pgx does.
// Nil: the driver is another one.
func keepSQLAlive(conn *sql.Conn) (keepAlive func(context.Context) error) {
	_ = conn.Raw(func(own any) error {
		pgxConn, is := own.(interface{ Conn() *pgx.Conn })
		if !is {
			return nil
		}
		keepAlive = func(ctx context.Context) (err error) {
			raw := conn.Raw(func(any) error {
				if !pgxConn.Conn().PgConn().IsBusy() {
					err = pgxConn.Conn().Ping(ctx)
				}
				return nil // so that database/sql does not close the connection under the worker
			})
			if err == nil {
				err = raw
			}
			return err
		}
		return nil
	})
	return keepAlive
}

// sharedTx is a transaction, or a savepoint, whose connection a node uses in its turns.
type sharedTx struct {
	pgx.Tx
	turns *turns
}

// Begin begins a savepoint.
func (t sharedTx) Begin(ctx context.Context) (pgx.Tx, error) {
	t.turns.enter()
	defer t.turns.leave()
	inner, err := t.Tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return sharedTx{inner, t.turns}, nil
}

// Commit releases a savepoint.
func (t sharedTx) Commit(ctx context.Context) error {
	t.turns.enter()
	defer t.turns.leave()
	return t.Tx.Commit(ctx)
}

// Rollback rolls back to a savepoint.
func (t sharedTx) Rollback(ctx context.Context) error {
	t.turns.enter()
	defer t.turns.leave()
	return t.Tx.Rollback(ctx)
}

// CopyFrom implements pgx.Tx.
func (t sharedTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, source pgx.CopyFromSource) (int64, error) {
	t.turns.enter()
	defer t.turns.leave()
	return t.Tx.CopyFrom(ctx, table, columns, source)
}

// Prepare implements pgx.Tx.
func (t sharedTx) Prepare(ctx context.Context, name, text string) (*pgconn.StatementDescription, error) {
	t.turns.enter()
	defer t.turns.leave()
	return t.Tx.Prepare(ctx, name, text)
}

// Exec implements pgx.Tx.
func (t sharedTx) Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error) {
	t.turns.enter()
	defer t.turns.leave()
	return t.Tx.Exec(ctx, text, args...)
}

// Query implements pgx.Tx. Its turn ends with the rows.
func (t sharedTx) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	t.turns.enter()
	rows, err := t.Tx.Query(ctx, text, args...)
	shared := &sharedRows{Rows: rows, turns: t.turns}
	if err != nil {
		shared.end()
	}
	return shared, err
}

// QueryRow implements pgx.Tx. Its turn ends with Scan.
func (t sharedTx) QueryRow(ctx context.Context, text string, args ...any) pgx.Row {
	t.turns.enter()
	return &sharedRow{t.Tx.QueryRow(ctx, text, args...), t.turns}
}

// SendBatch implements pgx.Tx. Its turn ends when the results are closed.
func (t sharedTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	t.turns.enter()
	return &sharedResults{BatchResults: t.Tx.SendBatch(ctx, batch), turns: t.turns}
}

// LargeObjects implements pgx.Tx. Its turn never ends, because its statements do not pass here.
func (t sharedTx) LargeObjects() pgx.LargeObjects {
	t.turns.enter()
	return t.Tx.LargeObjects()
}

// Conn implements pgx.Tx. Its turn never ends, as in LargeObjects.
func (t sharedTx) Conn() *pgx.Conn {
	t.turns.enter()
	return t.Tx.Conn()
}

// sharedRows are the rows of a sharedTx.
type sharedRows struct {
	pgx.Rows
	turns *turns
	ended bool
}

func (r *sharedRows) end() {
	if !r.ended {
		r.ended = true
		r.turns.leave()
	}
}

// Next implements pgx.Rows.
func (r *sharedRows) Next() bool {
	more := r.Rows.Next()
	if !more { // pgx has closed the rows
		r.end()
	}
	return more
}

// Close implements pgx.Rows.
func (r *sharedRows) Close() {
	r.Rows.Close()
	r.end()
}

// Conn implements pgx.Rows. Its turn never ends, as in sharedTx.LargeObjects.
func (r *sharedRows) Conn() *pgx.Conn {
	r.turns.enter()
	return r.Rows.Conn()
}

// sharedRow is a row of a sharedTx.
type sharedRow struct {
	pgx.Row
	turns *turns // nil after the end
}

// Scan implements pgx.Row.
func (r *sharedRow) Scan(dest ...any) error {
	err := r.Row.Scan(dest...)
	if r.turns != nil {
		r.turns.leave()
		r.turns = nil
	}
	return err
}

// sharedResults are the results of a batch of a sharedTx.
type sharedResults struct {
	pgx.BatchResults
	turns *turns // nil after the end
}

// Close implements pgx.BatchResults.
func (r *sharedResults) Close() error {
	err := r.BatchResults.Close()
	if r.turns != nil {
		r.turns.leave()
		r.turns = nil
	}
	return err
}

// limits are the settings by which the server ends a transaction in about idle after the program was
// stopped between two statements, or after its process or its host has gone during a statement.
// There is no tcp_user_timeout, because it also ends a connection whose program reads rows slowly.
func limits(idle time.Duration) []limit {
	ms := max(idle.Milliseconds(), 1)
	probe := max(idle/3/time.Second, 1) // whole seconds: of silence, and between the probes
	return []limit{
		{"idle_in_transaction_session_timeout", ms, "ms"},
		{"client_connection_check_interval", max(ms/3, 1), "ms"},
		{"tcp_keepalives_idle", int64(probe), "s"},
		{"tcp_keepalives_interval", int64(probe), "s"},
		{"tcp_keepalives_count", 2, ""},
	}
}

// limit is a setting, which is at most value; 0 is no limit. A server may lack the setting.
type limit struct {
	name  string
	value int64
	unit  string
}

// onlyIdle are the servers that cannot watch connections: on Windows they refuse
// client_connection_check_interval, and log each setting of tcp_keepalives_count.
const onlyIdle = "(name = 'idle_in_transaction_session_timeout' or version() !~* 'windows|visual c|mingw')"

// limitSilence returns the statement that sets limits for the rest of a transaction, unless the
// session has stricter limits.
func limitSilence(idle time.Duration) string {
	var rows []string
	for _, l := range limits(idle) {
		rows = append(rows, fmt.Sprintf("('%s', '%d%s')", l.name, l.value, l.unit))
	}
	return "select set_config(name, value, true) from (values " + strings.Join(rows, ", ") + ") as wanted (name, value) where " + onlyIdle +
		" and not (current_setting(name, true)::interval > interval '0' and current_setting(name, true)::interval <= value::interval)"
}

// beginLimited returns the statements that begin a transaction with limits. The limits that the
// session has are read once for each connection: a query in each BEGIN took a tenth of the server's
// CPU time for a transaction with one insert.
func beginLimited(ctx context.Context, conn *pgx.Conn, idle time.Duration) (string, error) {
	const (
		known = "hourbell: the limits of a silent transaction"
		read  = "select name, setting::bigint from pg_settings where name = any ($1::text[]) and " + onlyIdle
	)
	wanted, data := limits(idle), conn.PgConn().CustomData()
	own, found := data[known].(map[string]int64)
	if !found {
		names := make([]string, len(wanted))
		for i, l := range wanted {
			names[i] = l.name
		}
		rows, err := conn.Query(ctx, read, pgx.QueryExecModeExec, names)
		if err != nil {
			return "", err
		}
		own = map[string]int64{}
		var name string
		var value int64
		if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error { own[name] = value; return nil }); err != nil {
			return "", err
		}
		data[known] = own
	}
	begin := "begin"
	for _, l := range wanted {
		if value, has := own[l.name]; has && (value == 0 || value > l.value) {
			begin += fmt.Sprintf("; set local %s = %d", l.name, l.value)
		}
	}
	return begin, nil
}
