// Package faultsql lets statements of a driver over database/sql fail, for storetest.RunFaults.
package faultsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/store/storetest"
)

// Way is how a statement or a commit fails.
type Way struct {
	Name string // has the word "after" if the statement is executed before it fails
	// Commits and Statements are where it can happen. A statement outside of a transaction that writes commits by itself. Rows is
	// where only statements that return rows can fail: at the end of the rows.
	Commits, Statements, Rows bool
	Executed                  bool  // the statement takes effect before it fails, or the commit
	RollsBack                 bool  // the server rolls the transaction back
	Cuts                      bool  // the connection is closed
	Err                       error // what the driver of database/sql returns
}

// Connector makes connections whose statements fail as Faults decides.
type Connector struct {
	driver.Connector
	Faults *storetest.Faults
	Ways   []Way
	Text   func(query string) string // what a statement is known by; nil: its text
}

// WaysOf returns the names of the ways in which a statement or a commit can fail, for storetest.Faults.
func WaysOf(ways []Way) func(storetest.FaultPoint) []string {
	return func(point storetest.FaultPoint) (names []string) {
		for _, way := range ways {
			if point.Commit && way.Commits || !point.Commit && (way.Statements || way.Rows && point.Text[0] == queryMark[0]) {
				names = append(names, way.Name)
			}
		}
		return names
	}
}

// queryMark begins the texts of statements that return rows.
const queryMark = "?"

// Connect implements driver.Connector.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	under, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: under, connector: c}, nil
}

// conn is a connection.
type conn struct {
	driver.Conn
	connector *Connector
	inTx      bool
	cut       bool
}

var (
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
	_ driver.Validator          = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
	_ driver.StmtExecContext    = (*stmt)(nil)
	_ driver.StmtQueryContext   = (*stmt)(nil)
	_ driver.NamedValueChecker  = (*stmt)(nil)
)

// way returns the way in which a statement fails now; nil: it does not fail.
func (c *conn) way(text string, commit bool) *Way {
	name := c.connector.Faults.At(text, commit)
	at := slices.IndexFunc(c.connector.Ways, func(w Way) bool { return w.Name == name })
	if at < 0 {
		return nil
	}
	return &c.connector.Ways[at]
}

// text returns what a statement is known by.
func (c *conn) text(query string) string {
	if c.connector.Text == nil {
		return query
	}
	return c.connector.Text(query)
}

// strike does to the transaction and to the connection what a way does, and returns its error.
func (c *conn) strike(way *Way) error {
	if c.inTx && (way.Cuts || way.RollsBack) { // a server rolls back when a connection has gone
		_, err := c.Conn.(driver.ExecerContext).ExecContext(context.Background(), "ROLLBACK", nil)
		if err != nil {
			return errors.Join(errors.New("the layer for faults could not roll back"), err)
		}
	}
	c.cut = way.Cuts // database/sql closes its statements, and then the connection
	return way.Err
}

// exec runs a statement that returns no rows.
func (c *conn) exec(query string, run func() (driver.Result, error)) (driver.Result, error) {
	if c.cut {
		return nil, driver.ErrBadConn
	}
	way := c.way(c.text(query), !c.inTx)
	if way == nil {
		return run()
	}
	if way.Executed {
		if _, err := run(); err != nil {
			return nil, err
		}
	}
	return nil, c.strike(way)
}

// query runs a statement that returns rows.
func (c *conn) query(query string, run func() (driver.Rows, error)) (driver.Rows, error) {
	if c.cut {
		return nil, driver.ErrBadConn
	}
	commits := !c.inTx && strings.Contains(query, "RETURNING")
	way := c.way(queryMark+c.text(query), commits)
	switch {
	case way == nil:
		return run()
	case !way.Executed:
		return nil, c.strike(way)
	}
	under, err := run()
	if err != nil {
		return nil, err
	}
	return &rows{Rows: under, conn: c, way: way}, nil
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.exec(query, func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args) })
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.query(query, func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args) })
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if c.cut {
		return nil, driver.ErrBadConn
	}
	under, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{Stmt: under, conn: c, query: query}, nil
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.cut {
		return nil, driver.ErrBadConn
	}
	if way := c.way("begin", false); way != nil && !way.Executed {
		return nil, c.strike(way)
	} else if way != nil {
		under, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
		if err != nil {
			return nil, err
		}
		if !way.Cuts { // the driver does not leave a transaction open that it could not begin
			if err := under.Rollback(); err != nil {
				return nil, err
			}
		}
		return nil, c.strike(way)
	}
	under, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return &tx{under, c, opts.ReadOnly}, nil
}

// ResetSession implements driver.SessionResetter.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.cut {
		return driver.ErrBadConn
	}
	if under, ok := c.Conn.(driver.SessionResetter); ok {
		return under.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool {
	if c.cut {
		return false
	}
	under, ok := c.Conn.(driver.Validator)
	return !ok || under.IsValid()
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *conn) CheckNamedValue(value *driver.NamedValue) error { return check(c.Conn, value) }

func check(under any, value *driver.NamedValue) error {
	if checker, ok := under.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// stmt is a prepared statement.
type stmt struct {
	driver.Stmt
	conn  *conn
	query string
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.exec(s.query, func() (driver.Result, error) { return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args) })
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.query(s.query, func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) })
}

// CheckNamedValue implements driver.NamedValueChecker.
func (s *stmt) CheckNamedValue(value *driver.NamedValue) error { return check(s.Stmt, value) }

// tx is a transaction.
type tx struct {
	under driver.Tx
	conn  *conn
	reads bool
}

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	defer func() { t.conn.inTx = false }()
	if t.conn.cut {
		return driver.ErrBadConn
	}
	way := t.conn.way("commit", !t.reads)
	if way == nil {
		return t.under.Commit()
	}
	if way.Executed {
		if err := t.under.Commit(); err != nil {
			return err
		}
		t.conn.inTx = false
	}
	return t.conn.strike(way)
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error {
	t.conn.inTx = false
	if t.conn.cut {
		return driver.ErrBadConn
	}
	return t.under.Rollback()
}

// rows are rows at whose end a statement fails.
type rows struct {
	driver.Rows
	conn *conn
	way  *Way // nil: it has failed
}

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	err := r.Rows.Next(dest)
	if !errors.Is(err, io.EOF) || r.way == nil {
		return err
	}
	return r.fail()
}

// fail ends the rows, and fails.
func (r *rows) fail() error {
	way := r.way
	r.way = nil
	if err := r.Rows.Close(); err != nil {
		return err
	}
	return r.conn.strike(way)
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	if r.way != nil { // the caller has enough rows
		return r.fail()
	}
	return nil
}
