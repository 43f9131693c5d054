package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// args are the values of a statement's parameters, by name.
type args = sqlrows.Args

// row is what scan functions get.
type row = sqlrows.Row

// conn is a transaction, or a pool, on which each statement is a transaction of its own.
type conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// session runs statements in one transaction. It implements rowwise.Tx.
type session struct {
	sqlrows.Session
	tx         conn
	backend    *Backend
	texts      texts
	rowBytes   int                      // of one insert of many rows
	callers    bool                     // the transaction is the program's
	impatient  bool                     // the transaction is a claim, which does not wait for lanes
	firstToken int64                    // of a claim: the first of the tokens that were taken for it; 0: none were taken
	cluster    bool                     // the server is a node of a cluster; see TouchJobs
	wakes      wakeSet                  // what the writes of the transaction wake
	plain      map[int64]bool           // jobs that LockClaims locked last, which have no row in hourbell_job_rare
	failing    map[int64]int64          // what LockFailing returned last
	again      bool                     // a row of another transaction prevented it before
	bound      func(text string) string // makes the server give up a slow statement; nil: no bound
}

// newSession returns a session in a transaction, or on a pool.
func (b *Backend) newSession(tx conn) *session {
	s := &session{tx: tx, backend: b, texts: b.texts, rowBytes: b.rowBytes, cluster: b.server.galera}
	s.Dialect = s
	return s
}

// Transactions that the server gives up because of other transactions are begun again, up to tries times, not counting waits for
// locks, and not after lockWait: a transaction outwaits several processes that are stopped one after the other while they hold
// a row. A statement waits for locks for rowWait at most, so that a transaction that its node has given up does not hold its
// rows for long.
const (
	tries    = 20
	lockWait = 4 * idleLimit
	rowWait  = time.Second
)

// errMoved: rows went from where they were looked for; the transaction begins again.
var errMoved = errors.New("rows were moved by another transaction")

// passing reports whether a transaction with this error may succeed when it is begun again.
func passing(err error) bool {
	switch numberOf(err) {
	case errDeadlock, errRecordChanged, errLockWaitTimeout, errDuplicate:
		return true
	}
	return errors.Is(err, errMoved) || wasEnded(err)
}

// wasEnded reports whether the server had ended the connection of a transaction before the next statement was sent. The server has
// rolled the transaction back, so that the transaction may begin again on another connection.
func wasEnded(err error) bool { return errors.Is(err, driver.ErrBadConn) }

// again runs a transaction until it succeeds, fails for its own reasons, or has been given up too often.
func (b *Backend) again(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(lockWait)
	for n := 0; ; {
		err := try()
		if numberOf(err) != errLockWaitTimeout {
			n++
		}
		if err == nil || !passing(err) || n == tries || time.Now().After(deadline) {
			return err
		}
		store.Repeated(ctx)
		b.countRetry(err)
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(min(n+1, 10)) * int64(2*time.Millisecond)))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Retries is how many transactions of a Backend were begun again, by the reason.
type Retries struct {
	Deadlocks int64 // error 1213: the server ended a deadlock or, in a cluster, the commit failed its certification
	Waits     int64 // error 1205: another transaction kept a row locked for too long
	Moved     int64 // errors 1020 and 1062: another transaction changed a row, or took a key, in between
}

// Retries returns how many transactions of this Backend were begun again since it was opened.
func (b *Backend) Retries() Retries {
	return Retries{Deadlocks: b.retries.deadlocks.Load(), Waits: b.retries.waits.Load(), Moved: b.retries.moved.Load()}
}

// retries counts for Retries.
type retries struct{ deadlocks, waits, moved atomic.Int64 }

// countRetry counts a transaction that is begun again after an error.
func (b *Backend) countRetry(err error) {
	switch numberOf(err) {
	case errDeadlock:
		b.retries.deadlocks.Add(1)
	case errLockWaitTimeout:
		b.retries.waits.Add(1)
	default:
		if !wasEnded(err) {
			b.retries.moved.Add(1)
		}
	}
}

// read runs work in a reading transaction: all it sees is of one instant.
func (b *Backend) read(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		return b.explain(ctx, doing, b.again(ctx, func() error {
			tx, err := b.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
			if err != nil {
				return err
			}
			defer tx.Rollback()
			return work(b.newSession(tx))
		}))
	}
}

// slowAnswer is how long the server may take to report that a statement has taken too long. Then the connection is closed.
const slowAnswer = 250 * time.Millisecond

// look runs work that reads without a transaction: each of its statements sees what was committed before it.
func (b *Backend) look(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		return b.explain(ctx, doing, b.again(ctx, func() error {
			return work(b.newSession(b.db))
		}))
	}
}

// writeOnce runs work that writes by one statement, which is a transaction of its own.
func (b *Backend) writeOnce(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		return b.explain(ctx, doing, b.again(ctx, func() error {
			s := b.newSession(b.db)
			if err := perhaps(work(s)); err != nil {
				return err
			}
			b.wake(s.wakes)
			return nil
		}))
	}
}

// readWithin returns what work finds out in a reading transaction that takes at most about that long; 0: no bound. After that the error is
// store.ErrSlow. The server itself gives the statement up, so that it does not go on without a reader.
func readWithin[T any](ctx context.Context, b *Backend, within time.Duration, doing string, work func(context.Context, *session) (T, error)) (T, error) {
	if within <= 0 {
		return rowwise.InTx(b.read(ctx, doing), func(s *session) (T, error) { return work(ctx, s) })
	}
	bounded, stop := context.WithTimeout(ctx, within+slowAnswer)
	defer stop()
	out, err := rowwise.InTx(b.read(bounded, doing), func(s *session) (T, error) {
		s.bound = func(text string) string { return b.server.bounded(text, within) }
		return work(bounded, s)
	})
	gaveUp := slices.Contains([]uint16{errStatementTimeout, errExecutionTimeout, errQueryInterrupted}, numberOf(err))
	if gaveUp && ctx.Err() == nil || err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return out, fmt.Errorf("%s: %w", doing, store.ErrSlow)
	}
	return out, err
}

// writeOnly runs work in a writing transaction.
func (b *Backend) writeOnly(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		return b.explain(ctx, doing, b.again(ctx, func() error {
			tx, err := b.db.BeginTx(ctx, b.writing)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			s := b.newSession(tx)
			if err := work(s); err != nil {
				return err
			}
			if err := perhaps(tx.Commit()); err != nil {
				return err
			}
			b.wake(s.wakes)
			return nil
		}))
	}
}

// callers returns a session in the caller's transaction.
func (b *Backend) callers(ctx context.Context, doing string, tx store.Tx) (*session, error) {
	callers, ok := tx.(callersTx)
	if !ok || callers.tx == nil {
		return nil, fmt.Errorf("%s: %w (use mysql.Tx)", doing, store.ErrForeignTx)
	}
	s := b.newSession(callers.tx)
	s.texts, s.callers = b.callersTexts, true
	if err := b.checkStore(ctx, s); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	return s, nil
}

// checkStore returns an error if a caller's transaction has ended, also if one of its statements has committed it, or is on another
// database than the Backend.
func (b *Backend) checkStore(ctx context.Context, s *session) error {
	query := "SELECT COALESCE(DATABASE(), ''), 1"
	if b.server.mariaDB {
		query = "SELECT COALESCE(DATABASE(), ''), @@in_transaction"
	}
	var name string
	var open bool
	if err := s.tx.QueryRowContext(ctx, query).Scan(&name, &open); err != nil {
		return err
	}
	if name != b.database {
		return fmt.Errorf("%w: it is in the database %q, and the store is in %q", store.ErrForeignTx, name, b.database)
	}
	if !b.server.mariaDB { // a savepoint outside of a transaction is gone at once
		err := s.inSavepoint(ctx, func(*session) error { return nil })
		if open = numberOf(err) != errNoSavepoint; open && err != nil {
			return err
		}
	}
	if !open {
		return fmt.Errorf("%w: one of its statements has committed it, such as CREATE TABLE, TRUNCATE or a procedure that "+
			"commits; what it did before stays; send such statements outside of the transaction", store.ErrTxEnded)
	}
	return nil
}

// inSavepoint runs work in a caller's transaction. After an error the transaction is as
// before, and can go on, unless the server has rolled it back.
func (s *session) inSavepoint(ctx context.Context, work func(*session) error) error {
	if _, err := s.tx.ExecContext(ctx, "SAVEPOINT hourbell"); err != nil {
		return err
	}
	err := work(s)
	if err == nil {
		_, err = s.tx.ExecContext(ctx, "RELEASE SAVEPOINT hourbell")
		return err
	}
	// If this fails, the server has rolled back the transaction itself.
	_, _ = s.tx.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO SAVEPOINT hourbell")
	return err
}

// Source implements sqlrows.Runner.
func (s *session) Source(name statement) sqlrows.Source { return sources[name] }

// Run implements sqlrows.Runner.
func (s *session) Run(ctx context.Context, name statement, a args) (sql.Result, error) {
	text, err := s.texts[name].complete(name, a)
	if err != nil {
		return nil, err
	}
	return s.runText(ctx, name, text)
}

// runText runs the text of a statement. All writes of a session come here.
func (s *session) runText(ctx context.Context, name statement, text string) (sql.Result, error) {
	result, err := s.tx.ExecContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.noteWakes(name, result)
	return result, nil
}

// Query implements sqlrows.Runner.
func (s *session) Query(ctx context.Context, name statement, a args, given ...string) (*sql.Rows, error) {
	text, err := s.texts[name].complete(name, a, given...)
	if err != nil {
		return nil, err
	}
	return s.query(ctx, text)
}

// united is how many statements unite sends at once.
const united = 100

// unite runs a statement with each of some arguments, several in one message, and hands all rows to scan.
func (s *session) unite(ctx context.Context, name statement, each []args, scan func(row) error) error {
	for some := range slices.Chunk(each, united) {
		var all strings.Builder
		for i, a := range some {
			one, err := s.texts[name].complete(name, a)
			if err != nil {
				return err
			}
			if i > 0 {
				all.WriteString("\nUNION ALL\n")
			}
			all.WriteString("(" + one + ")")
		}
		rows, err := s.query(ctx, all.String()) //nolint:rowserrcheck // EachRow returns rows.Err
		if err := sqlrows.EachRow(rows, err, scan); err != nil {
			return err
		}
	}
	return nil
}

// query is a statement with its arguments.
type query struct {
	name statement
	args args
}

// findsAny reports whether any of some statements returns a row. It sends them in one message.
func (s *session) findsAny(ctx context.Context, each []query) (found bool, err error) {
	var all strings.Builder
	for i, q := range each {
		one, err := s.texts[q.name].complete(q.name, q.args)
		if err != nil {
			return false, err
		}
		if i > 0 {
			all.WriteString("\nUNION ALL\n")
		}
		all.WriteString("SELECT 1 FROM (" + one + ") AS q")
	}
	rows, err := s.query(ctx, all.String()) //nolint:rowserrcheck // EachRow returns rows.Err
	err = sqlrows.EachRow(rows, err, func(row) error { found = true; return nil })
	return found, err
}

// query sends the text of a statement that returns rows.
func (s *session) query(ctx context.Context, text string) (*sql.Rows, error) {
	if s.bound != nil {
		text = s.bound(text)
	}
	return s.tx.QueryContext(ctx, text)
}

// onEach runs a statement for each of some arguments.
func (s *session) onEach(ctx context.Context, name statement, each []args) error {
	for _, a := range each {
		if err := s.Exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}

// inCallers runs work in the caller's transaction, between savepoints if it writes.
func (b *Backend) inCallers(ctx context.Context, doing string, tx store.Tx, writes bool) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		s, err := b.callers(ctx, doing, tx)
		if err != nil {
			return err
		}
		if !writes {
			return b.explainIn(ctx, doing, work(s))
		}
		for n := 1; ; n++ {
			err := s.inSavepoint(ctx, func(s *session) error {
				if err := work(s); err != nil {
					return err
				}
				return s.wakeInTx(ctx)
			})
			if !errors.Is(err, errMoved) && numberOf(err) != errDuplicate || n == tries {
				return b.explainIn(ctx, doing, err)
			}
			s.again = true
		}
	}
}

// InSavepoint implements sqlrows.Tx: inCallers has made the savepoint.
func (s *session) InSavepoint(_ context.Context, work func() error) error { return work() }

// AfterCommit implements sqlrows.Tx: the wake-ups are sent after the commit.
func (s *session) AfterCommit() func() {
	wakes := s.wakes
	s.wakes = 0
	return func() { s.backend.wake(wakes) }
}

// commit commits a caller's transaction.
func (b *Backend) commit(ctx context.Context, doing string, tx store.Tx) error {
	return b.explain(ctx, doing, perhaps(tx.(callersTx).tx.Commit()))
}

// rollback rolls a caller's transaction back.
func rollback(tx store.Tx) { _ = tx.(callersTx).tx.Rollback() }
