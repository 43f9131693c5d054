package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
	"github.com/hourbell/hourbell/store/sqltext"
)

// Tx makes a transaction of an application usable for Hourbell: what is
// enqueued with it becomes real with its commit and never was after its
// rollback. The transaction must be on the same file as the Backend. One that
// reads before it writes should have begun with the write lock
// (_txlock=immediate in the DSN): else SQLite refuses the first write where
// someone else wrote in between. Until it ends, no other writer gets on.
// For lock.Check it means the locks in hourbell_lock; see [Locks.Tx] for others.
func Tx(tx *sql.Tx) store.Tx { return callersTx{tx, nil} }

type callersTx struct {
	tx    *sql.Tx
	locks *Locks // whose tables lock.Check looks at; nil: the default ones
}

// HourbellTx marks the type as a store.Tx.
func (callersTx) HourbellTx() {}

// args are the values of a statement's parameters, by name.
type args = sqlrows.Args

// row is what scan functions get.
type row = sqlrows.Row

// session runs statements in one transaction. It implements rowwise.Tx: writers
// exclude each other, so plain reads are enough where other databases lock rows.
type session struct {
	sqlrows.Session
	tx       *sql.Tx
	texts    []sqlrows.Text
	prepared *prepared // nil in a caller's transaction
}

// newSession returns a session in a transaction.
func (b *Backend) newSession(tx *sql.Tx, prepared *prepared) *session {
	s := &session{tx: tx, texts: b.texts, prepared: prepared}
	s.Dialect = s
	return s
}

// read runs work in a reading transaction: all it sees is of one instant.
func (b *Backend) read(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		prepared := b.statementsOn(b.reader)
		prepared.prepare(ctx)
		tx, err := b.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return b.explain(ctx, doing, err)
		}
		defer tx.Rollback()
		return b.explain(ctx, doing, work(b.newSession(tx, prepared)))
	}
}

// readWithin returns what work finds out in a reading transaction that takes at most that long; 0: no bound. After that the error is
// store.ErrSlow.
func readWithin[T any](ctx context.Context, b *Backend, within time.Duration, doing string, work func(context.Context, *session) (T, error)) (T, error) {
	if within <= 0 {
		return rowwise.InTx(b.read(ctx, doing), func(s *session) (T, error) { return work(ctx, s) })
	}
	bounded, stop := context.WithTimeout(ctx, within)
	defer stop()
	out, err := rowwise.InTx(b.read(ctx, doing), func(s *session) (T, error) { return work(bounded, s) })
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return out, fmt.Errorf("%s: %w", doing, store.ErrSlow)
	}
	return out, err
}

// writeOnly runs work in a writing transaction.
func (b *Backend) writeOnly(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return b.writeInTurn(ctx, doing, b.turns.await)
}

// writeFirst is writeOnly for work that goes ahead of the other writers of this process.
func (b *Backend) writeFirst(ctx context.Context, doing string) rowwise.Transaction[*session] {
	return b.writeInTurn(ctx, doing, b.turns.awaitFirst)
}

func (b *Backend) writeInTurn(ctx context.Context, doing string, await func(context.Context) error) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		if err := await(ctx); err != nil {
			return b.explain(ctx, doing, err)
		}
		defer b.turns.end()
		prepared := b.statementsOn(b.writer)
		prepared.prepare(ctx)
		s, err := b.begin(ctx, prepared)
		if err != nil {
			return b.explain(ctx, doing, err)
		}
		defer s.tx.Rollback()
		if err := work(s); err != nil {
			return b.explain(ctx, doing, err)
		}
		return b.explain(ctx, doing, s.tx.Commit())
	}
}

// writeOnce runs one writing statement, in a transaction of its own.
func (b *Backend) writeOnce(ctx context.Context, doing string, name statement, a args) (result sql.Result, err error) {
	err = b.alone(ctx, doing, name, a, func(ctx context.Context, ready *sql.Stmt, values []any) (err error) {
		if ready != nil {
			result, err = ready.ExecContext(ctx, values...)
		} else {
			result, err = b.writer.ExecContext(ctx, b.texts[name].SQL, values...)
		}
		return err
	})
	return result, err
}

// writeReturning is writeOnce for a statement that returns rows.
func (b *Backend) writeReturning(ctx context.Context, doing string, name statement, a args, scan func(row) error) error {
	return b.alone(ctx, doing, name, a, func(ctx context.Context, ready *sql.Stmt, values []any) error {
		var rows *sql.Rows
		var err error
		if ready != nil {
			rows, err = ready.QueryContext(ctx, values...)
		} else {
			rows, err = b.writer.QueryContext(ctx, b.texts[name].SQL, values...)
		}
		return sqlrows.EachRow(rows, err, scan)
	})
}

// alone lets run run a writing statement in its turn; ready is nil if the statement is not prepared.
func (b *Backend) alone(ctx context.Context, doing string, name statement, a args, run func(ctx context.Context, ready *sql.Stmt, values []any) error) error {
	if err := b.turns.await(ctx); err != nil {
		return b.explain(ctx, doing, err)
	}
	defer b.turns.end()
	prepared := b.statementsOn(b.writer)
	prepared.prepare(ctx)
	values, err := valuesOf(name, &b.texts[name], a)
	if err != nil {
		return b.explain(ctx, doing, err)
	}
	unwatched := context.WithoutCancel(ctx) // SQLite waits at most for writerPatience here, and observing ctx costs a goroutine
	err = patiently(ctx, func() error { return run(unwatched, prepared.get(name), values) })
	return b.explain(ctx, doing, err)
}

// begin takes the write lock; while another connection has the lock, it waits,
// within bounds.
func (b *Backend) begin(ctx context.Context, prepared *prepared) (s *session, err error) {
	err = patiently(ctx, func() error {
		s, err = b.beginOnce(ctx, prepared)
		return err
	})
	return s, err
}

// patiently repeats what failed because others held a lock, until lockWait has
// passed or the context ends. Its pauses are short and not of equal length, so
// that no caller is always too late.
func patiently(ctx context.Context, try func() error) error {
	for deadline := time.Now().Add(lockWait); ; {
		err := try()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(2 * time.Millisecond)))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *Backend) beginOnce(ctx context.Context, prepared *prepared) (*session, error) {
	tx, err := b.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	s := b.newSession(tx, prepared)
	if err := s.Exec(ctx, lockFile, nil); err != nil {
		tx.Rollback()
		return nil, err
	}
	return s, nil
}

// callers returns a session in the caller's transaction.
func (b *Backend) callers(ctx context.Context, doing string, tx store.Tx) (*session, error) {
	callers, ok := tx.(callersTx)
	if !ok || callers.tx == nil {
		return nil, fmt.Errorf("%s: %w (use sqlite.Tx)", doing, store.ErrForeignTx)
	}
	if err := b.checkFile(ctx, callers.tx); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	return b.newSession(callers.tx, nil), nil
}

// InSavepoint implements sqlrows.Tx.
func (s *session) InSavepoint(ctx context.Context, work func() error) error {
	if _, err := s.tx.ExecContext(ctx, "SAVEPOINT hourbell"); err != nil {
		return err
	}
	err := work()
	if err == nil {
		_, err = s.tx.ExecContext(ctx, "RELEASE hourbell")
		return err
	}
	// If this fails, SQLite has rolled back the transaction itself.
	_, _ = s.tx.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO hourbell")
	_, _ = s.tx.ExecContext(context.WithoutCancel(ctx), "RELEASE hourbell")
	return err
}

// checkFile returns an error if a caller's transaction has ended, or is on another
// file than the Backend.
func (b *Backend) checkFile(ctx context.Context, tx *sql.Tx) error {
	var path string
	err := tx.QueryRowContext(ctx, mainFile).Scan(&path)
	if err != nil || path == b.path {
		return err
	}
	ours, err := os.Stat(b.path)
	if err != nil {
		return err
	}
	if theirs, err := os.Stat(path); err != nil || !os.SameFile(ours, theirs) {
		return fmt.Errorf("%w: it is on the file %q, and the store is %q", store.ErrForeignTx, path, b.path)
	}
	return nil
}

// Source implements sqlrows.Runner.
func (s *session) Source(name statement) sqlrows.Source { return sources[name] }

// ready returns a statement that is about to be run; nil: it is not prepared.
func (s *session) ready(name statement) *sql.Stmt {
	if s.prepared == nil {
		return nil
	}
	return s.prepared.get(name)
}

// Run implements sqlrows.Runner.
func (s *session) Run(ctx context.Context, name statement, a args) (sql.Result, error) {
	text := &s.texts[name]
	values, err := valuesOf(name, text, a)
	if err != nil {
		return nil, err
	}
	if ready := s.ready(name); ready != nil {
		return s.tx.StmtContext(ctx, ready).ExecContext(ctx, values...)
	}
	return s.tx.ExecContext(ctx, text.SQL, values...)
}

// Query implements sqlrows.Runner.
func (s *session) Query(ctx context.Context, name statement, a args, given ...string) (*sql.Rows, error) {
	text := &s.texts[name]
	if sources[name].Lists {
		given = append(strings.Fields(sources[name].Given), given...)
		return s.tx.QueryContext(ctx, sqltext.Pick(text.SQL, given...), named(a)...)
	}
	values, err := valuesOf(name, text, a)
	if err != nil {
		return nil, err
	}
	if ready := s.ready(name); ready != nil {
		return s.tx.StmtContext(ctx, ready).QueryContext(ctx, values...)
	}
	return s.tx.QueryContext(ctx, text.SQL, values...)
}

func named(a args) []any {
	list := make([]any, 0, len(a))
	for name, value := range a {
		list = append(list, parameter(name, value))
	}
	return list
}

// parameter is a value under its name; a list is JSON, for json_each.
func parameter(name string, value any) any {
	switch list := value.(type) {
	case []int64:
		value = sqlrows.JSONList(list)
	case []string:
		value = sqlrows.JSONList(list)
	}
	return sql.Named(name, value)
}

// inCallers runs work in the caller's transaction. A transaction that has only begun takes the write lock before work reads, so that no
// other connection writes in between.
func (b *Backend) inCallers(ctx context.Context, doing string, tx store.Tx, writes bool) rowwise.Transaction[*session] {
	return func(work func(*session) error) error {
		s, err := b.callers(ctx, doing, tx)
		if err != nil {
			return err
		}
		if writes {
			if err := s.Exec(ctx, lockFile, nil); err != nil {
				return b.explain(ctx, doing, err)
			}
		}
		return b.explain(ctx, doing, work(s))
	}
}

// commit commits a caller's transaction.
func (b *Backend) commit(ctx context.Context, doing string, tx store.Tx) error {
	return b.explain(ctx, doing, tx.(callersTx).tx.Commit())
}

// rollback rolls a caller's transaction back.
func rollback(tx store.Tx) { _ = tx.(callersTx).tx.Rollback() }
