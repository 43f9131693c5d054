package mysql

import (
	"database/sql"
	"database/sql/driver"
	"regexp"
	"testing"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
	"github.com/hourbell/hourbell/store/storetest/faultsql"
)

// TestFaults lets each statement and each commit fail. After error 1213 the server has rolled the transaction back; after error 1205
// it has undone the statement, or the transaction with innodb_rollback_on_timeout. An error of a commit that has taken effect comes
// only with the end of its connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	url, _ := newDatabase(t, "")
	waited, deadlock := &mysql.MySQLError{Number: errLockWaitTimeout, Message: "a fault of the test"}, &mysql.MySQLError{Number: errDeadlock, Message: "a fault of the test"}
	ways := []faultsql.Way{
		{Name: "1205 before", Statements: true, Err: waited},
		{Name: "1205 before, and rolled back", Commits: true, Statements: true, RollsBack: true, Err: waited},
		{Name: "1205 after the rows", Rows: true, Executed: true, Err: waited},
		{Name: "1213 before", Commits: true, Statements: true, RollsBack: true, Err: deadlock},
		{Name: "1213 after", Statements: true, Executed: true, RollsBack: true, Err: deadlock},
		{Name: "not sent", Commits: true, Statements: true, Cuts: true, Err: driver.ErrBadConn},
		{Name: "cut before", Commits: true, Statements: true, Cuts: true, Err: mysql.ErrInvalidConn},
		{Name: "cut after", Commits: true, Statements: true, Executed: true, Cuts: true, Err: mysql.ErrInvalidConn},
	}
	faults := &storetest.Faults{Ways: faultsql.WaysOf(ways)}
	config, err := readURL(url)
	must(t, err)
	connector, err := mysql.NewConnector(config)
	must(t, err)
	pool := sql.OpenDB(&faultsql.Connector{Connector: connector, Faults: faults, Ways: ways, Text: withoutValues})
	pool.SetMaxIdleConns(connections)
	pool.SetMaxOpenConns(connections)
	t.Cleanup(func() { pool.Close() })
	a, err := New(t.Context(), pool)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	fresh := emptied(t, openStore(t, url), openStore(t, url), beginOn(pool, sql.LevelReadCommitted))
	storetest.RunFaults(t, faults, func(t *testing.T) storetest.Store {
		s := fresh(t)
		_, err := pool.ExecContext(t.Context(), "UPDATE hourbell_timeline SET accepted = 0, lost_at = NULL, seen_token = 0, seen_node = 0, seen_accepted = 0")
		must(t, err)
		s.Clients = [2]store.Backend{a, s.Clients[1]}
		return s
	})
}

// values are the values in the text of a statement.
var values = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|\b[0-9][0-9a-zA-Z.]*\b`)

// withoutValues returns the text of a statement without its values, which differ from call to call.
func withoutValues(text string) string { return values.ReplaceAllString(text, "?") }
