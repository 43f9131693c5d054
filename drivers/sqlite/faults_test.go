package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/storetest"
	"github.com/hourbell/hourbell/store/storetest/faultsql"
)

// TestFaults lets each statement and each commit fail. A commit that fails has not taken effect in SQLite, and the driver
// modernc.org/sqlite has rolled its transaction back.
func TestFaults(t *testing.T) {
	t.Parallel()
	busy, full := provoke(t)
	ways := []faultsql.Way{
		{Name: "SQLITE_BUSY before", Statements: true, Err: busy},
		{Name: "SQLITE_BUSY before, and rolled back", Commits: true, RollsBack: true, Err: busy},
		{Name: "SQLITE_BUSY after the rows", Rows: true, Executed: true, Err: busy},
		{Name: "SQLITE_FULL before", Commits: true, Statements: true, RollsBack: true, Err: full},
		{Name: "SQLITE_FULL after", Statements: true, Executed: true, RollsBack: true, Err: full},
		{Name: "cut before", Statements: true, Cuts: true, Err: driver.ErrBadConn},
		{Name: "cut after", Statements: true, Executed: true, Cuts: true, Err: driver.ErrBadConn},
	}
	faults := &storetest.Faults{Ways: faultsql.WaysOf(ways)}
	path := newFile(t)
	a, b := openFile(t, path, Synchronous("NORMAL")), openFile(t, path, Synchronous("NORMAL"))
	reader, writer := a.reader, a.writer
	a.reader = failing(t, dsnOf(path, a.s, lockWait, "_pragma=query_only(1)"), readers, faults, ways)
	a.writer = failing(t, dsnOf(path, a.s, writerPatience, "_txlock=immediate"), 1, faults, ways)
	must(t, reader.Close())
	must(t, writer.Close())
	storetest.RunFaults(t, faults, func(t *testing.T) storetest.Store {
		empty(t, b)
		return storetest.Store{Clients: [2]store.Backend{a, b}, Begin: beginOn(a.writer)}
	})
}

// empty empties the tables of a backend, because to open a file takes longer.
func empty(t *testing.T, b *Backend) {
	t.Helper()
	tx, err := b.writer.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	//nolint:rowserrcheck // EachRow returns rows.Err
	rows, err := tx.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'hourbell\_%' ESCAPE '\'
		AND name NOT IN ('hourbell_counter', 'hourbell_feed', 'hourbell_timeline', 'hourbell_schema_version')`)
	statements := []string{
		"UPDATE hourbell_feed SET keep = 86400000000",
		"UPDATE hourbell_timeline SET accepted = 0, lost_at = NULL, seen_token = 0, seen_node = 0, seen_accepted = 0",
	}
	must(t, sqlrows.EachRow(rows, err, func(r row) error {
		var name string
		err := r.Scan(&name)
		statements = append(statements, "DELETE FROM "+name)
		return err
	}))
	for _, text := range statements {
		_, err := tx.ExecContext(t.Context(), text)
		must(t, err)
	}
	must(t, tx.Commit())
}

// failing opens connections that fail.
func failing(t *testing.T, dsn string, limit int, faults *storetest.Faults, ways []faultsql.Way) *sql.DB {
	t.Helper()
	connector, err := sqlite.NewConnector(dsn)
	must(t, err)
	db := sql.OpenDB(&faultsql.Connector{Connector: connector, Faults: faults, Ways: ways})
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	return db
}

// provoke returns errors as SQLite returns them: for a lock that another connection holds, and for a file that may not grow.
func provoke(t *testing.T) (busy, full error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "errors.db")
	db := usersDB(t, path, "_txlock=immediate&_pragma=busy_timeout(0)&_pragma=max_page_count(3)")
	first, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	_, busy = db.BeginTx(t.Context(), nil)
	must(t, first.Rollback())
	_, full = db.ExecContext(t.Context(), "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
	if codeOf(busy)&0xff != codeBusy || codeOf(full)&0xff != codeFull {
		t.Fatalf("the errors must have the codes of a busy and of a full file: %v, %v", busy, full)
	}
	return busy, full
}
