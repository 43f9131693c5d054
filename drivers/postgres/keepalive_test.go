package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/hourbell/hourbell/store"
)

// whileKept calls do while another goroutine keeps the transaction alive as often as it can, and
// then leaves the transaction idle for longer than allowed, but kept alive.
func whileKept(t *testing.T, idle time.Duration, keepAlive func(context.Context) error, do func()) {
	t.Helper()
	done, kept := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(kept)
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := keepAlive(t.Context()); err != nil {
				kept <- err
				return
			}
		}
	}()
	do()
	time.Sleep(2 * idle)
	close(done)
	must(t, <-kept)
}

// TestAWorkersStatementsAndTheNodesTakeTurns: whatever a worker does with its transaction, the node
// keeps it alive concurrently.
func TestAWorkersStatementsAndTheNodesTakeTurns(t *testing.T) {
	b, txs, job := txWorker(t)
	const idle = 300 * time.Millisecond
	ctx := t.Context()
	tx, err := txs.Begin(ctx, store.BeginTxRequest{Idle: idle})
	must(t, err)
	defer tx.Rollback()
	use := func(tx pgx.Tx) {
		_, err := tx.Exec(ctx, "create temporary table if not exists kept (n int)")
		must(t, err)
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"kept"}, []string{"n"}, pgx.CopyFromRows([][]any{{1}, {2}, {3}}))
		must(t, err)
		_, err = tx.Prepare(ctx, "count kept", "select count(*) from kept")
		must(t, err)
		var n int
		must(t, tx.QueryRow(ctx, "count kept").Scan(&n))
		rows, err := tx.Query(ctx, "select n from kept order by n")
		must(t, err)
		for rows.Next() {
			must(t, rows.Scan(&n))
			time.Sleep(time.Millisecond)
		}
		must(t, rows.Err())
		rows, err = tx.Query(ctx, "select n from kept")
		must(t, err)
		rows.Next()
		rows.Close()
		rows.Close() // may be called again
		var batch pgx.Batch
		batch.Queue("select 7").QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		batch.Queue("select n from kept").Query(func(rows pgx.Rows) error { _, err := pgx.CollectRows(rows, pgx.RowTo[int]); return err })
		must(t, tx.SendBatch(ctx, &batch).Close())
		if n != 7 {
			t.Errorf("the batch returned %d", n)
		}
	}
	whileKept(t, idle, tx.KeepAlive, func() {
		for range 5 {
			use(tx.Native)
			inner, err := tx.Native.Begin(ctx)
			must(t, err)
			use(inner)
			_, err = inner.Exec(ctx, "select * from nothing_of_this_name") // the node's statement is accepted nevertheless
			if err == nil {
				t.Error("no error")
			}
			if rows, err := inner.Query(ctx, "select 1"); err == nil {
				t.Error("a query in an aborted transaction succeeded")
			} else if rows.Next() {
				t.Error("a row in an aborted transaction")
			}
			must(t, inner.Rollback(ctx))
			inner, err = tx.Native.Begin(ctx)
			must(t, err)
			must(t, inner.Commit(ctx))
		}
	})
	res, err := b.Finish(ctx, completion(tx.Tx, job))
	if err != nil || len(res.Refused) > 0 {
		t.Error(res, err)
	}
}

// TestWorkersOfDatabaseSQLTakeTurns is TestAWorkersStatementsAndTheNodesTakeTurns for a *sql.Tx.
func TestWorkersOfDatabaseSQLTakeTurns(t *testing.T) {
	b, _, job := txWorker(t)
	const idle = 300 * time.Millisecond
	ctx := t.Context()
	db := openSQL(t, "cache_statement")
	tx, err := SQLTransactions(db).Begin(ctx, store.BeginTxRequest{Idle: idle})
	must(t, err)
	defer tx.Rollback()
	whileKept(t, idle, tx.KeepAlive, func() {
		for range 20 {
			rows, err := tx.Native.QueryContext(ctx, "select n from generate_series(1, 20) n")
			must(t, err)
			for n := 1; rows.Next(); n++ {
				var got int
				must(t, rows.Scan(&got))
				if got != n {
					t.Fatalf("row %d is %d", n, got)
				}
				time.Sleep(time.Millisecond)
			}
			must(t, rows.Err())
			must(t, rows.Close())
		}
	})
	res, err := b.Finish(ctx, completion(tx.Tx, job))
	if err != nil || len(res.Refused) > 0 {
		t.Error(res, err)
	}
	tx.Rollback()
	if inUse := db.Stats().InUse; inUse != 0 {
		t.Errorf("%d connections are still in use", inUse)
	}
}

// TestAConnectionThatTheWorkerTookIsLeftAlone: the node cannot know whether it is busy.
func TestAConnectionThatTheWorkerTookIsLeftAlone(t *testing.T) {
	_, txs, _ := txWorker(t)
	ctx := t.Context()
	for name, take := range map[string]func(pgx.Tx){
		"Conn":         func(tx pgx.Tx) { tx.Conn() },
		"LargeObjects": func(tx pgx.Tx) { tx.LargeObjects() },
		"Rows": func(tx pgx.Tx) {
			rows, err := tx.Query(ctx, "select 1")
			must(t, err)
			rows.Conn()
			rows.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := txs.Begin(ctx, store.BeginTxRequest{Idle: 200 * time.Millisecond})
			must(t, err)
			defer tx.Rollback()
			take(tx.Native)
			for range 10 {
				time.Sleep(50 * time.Millisecond)
				must(t, tx.KeepAlive(ctx))
			}
			if _, err := tx.Native.Exec(ctx, "select 1"); err == nil {
				t.Error("the transaction was kept alive")
			}
		})
	}
}

// TestTheServerEndsAStatementWhoseWorkerIsGone long before the statement would end.
func TestTheServerEndsAStatementWhoseWorkerIsGone(t *testing.T) {
	if !watchesConnections(t) {
		t.Skip("the server has no client_connection_check_interval: it is older than PostgreSQL 14")
	}
	_, txs, _ := txWorker(t)
	ctx := t.Context()
	db := openSQL(t, "cache_statement")
	observer := newPool(t)
	request := store.BeginTxRequest{Idle: 3 * time.Second}
	for name, run := range map[string]func(mark string) (cut func()){
		"pgx": func(mark string) func() {
			tx, err := txs.Begin(ctx, request)
			must(t, err)
			socket := tx.Native.(*workerTx).conn.Conn().PgConn().Conn()
			go func() { _, _ = tx.Native.Exec(ctx, mark); tx.Rollback() }()
			return func() { socket.Close() }
		},
		"database/sql": func(mark string) func() {
			conn, err := db.Conn(ctx)
			must(t, err)
			var own *pgx.Conn
			must(t, conn.Raw(func(c any) error { own = c.(interface{ Conn() *pgx.Conn }).Conn(); return nil }))
			must(t, conn.Close())
			tx, err := SQLTransactions(db).Begin(ctx, request) // on the only connection of the pool
			must(t, err)
			go func() { _, _ = tx.Native.ExecContext(ctx, mark); tx.Rollback() }()
			return func() { own.PgConn().Conn().Close() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			mark := fmt.Sprintf("select pg_sleep(120), '%s %d'", name, time.Now().UnixNano())
			running := func() (n int) {
				must(t, observer.QueryRow(ctx, "select count(*) from pg_stat_activity where query = $1", mark).Scan(&n))
				return n
			}
			cut := run(mark)
			eventually(t, "the statement runs", func() bool { return running() == 1 })
			cut()
			eventually(t, "the server has ended the statement", func() bool { return running() == 0 })
		})
	}
}

func watchesConnections(t *testing.T) bool {
	var value sql.NullString
	must(t, newPool(t).QueryRow(t.Context(), "select current_setting('client_connection_check_interval', true)").Scan(&value))
	return value.Valid
}

// eventually waits until is reports true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(60 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("waited in vain until " + what)
		}
	}
}

// TestStricterLimitsStay: what the session has, if it is stricter, and the limits of the driver, if
// they are stricter or the session has none.
func TestStricterLimitsStay(t *testing.T) {
	const idle = 30 * time.Second
	want := map[string]string{"idle_in_transaction_session_timeout": "5s", "client_connection_check_interval": "10s", "tcp_keepalives_idle": "3", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "2"}
	if !watchesConnections(t) {
		delete(want, "client_connection_check_interval")
	}
	config := newPool(t).Config()
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = "5s"
	config.ConnConfig.RuntimeParams["tcp_keepalives_idle"] = "3"
	config.ConnConfig.RuntimeParams["tcp_keepalives_interval"] = "100"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	native, err := Transactions(pool).Begin(t.Context(), store.BeginTxRequest{Idle: idle})
	must(t, err)
	defer native.Rollback()
	db := stdlib.OpenDB(*config.ConnConfig)
	t.Cleanup(func() { db.Close() })
	plain, err := SQLTransactions(db).Begin(t.Context(), store.BeginTxRequest{Idle: idle})
	must(t, err)
	defer plain.Rollback()
	for name, value := range want {
		var one, other string
		err := errors.Join(native.Native.QueryRow(t.Context(), "select current_setting($1)", name).Scan(&one),
			plain.Native.QueryRowContext(t.Context(), "select current_setting($1)", name).Scan(&other))
		if err != nil || one != value || other != value {
			t.Errorf("%s is %s with pgx, and %s with database/sql, want %s (%v)", name, one, other, value, err)
		}
	}
}
