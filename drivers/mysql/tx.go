package mysql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/sqltext"
)

// args are the values of a statement's parameters, by name.
type args map[string]any

// row is what scan functions get.
type row interface{ Scan(dest ...any) error }

// conn is a transaction, or a pool, on which each statement is a transaction of its own.
type conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// session runs statements in one transaction. It implements rowwise.Tx.
type session struct {
	tx       conn
	texts    *texts
	rowBytes int                      // of one insert of many rows
	callers  bool                     // the transaction is the program's
	cluster  bool                     // the server is a node of a cluster; see touchJobs
	noted    bool                     // the end of a job with dependents is noted
	asked    time.Time                // of the request; see now
	wakes    wakeSet                  // what the writes of the transaction wake
	apart    map[int64]bool           // jobs that LockClaims locked last, whose ends concern no dependents and no limits
	failing  map[int64]int64          // what LockFailing returned last
	again    bool                     // a row of another transaction prevented it before
	bound    func(text string) string // makes the server give up a slow statement; nil: no bound
}

// Transactions that the server gives up because of other transactions are begun again, up to
// tries times, and not after lockWait.
const (
	tries    = 20
	lockWait = 10 * time.Second
)

// errMoved: rows went from where they were looked for; the transaction begins again.
var errMoved = errors.New("rows were moved by another transaction")

// passing reports whether a transaction with this error may succeed when it is begun again.
func passing(err error) bool {
	switch numberOf(err) {
	case errDeadlock, errRecordChanged, errLockWaitTimeout, errDuplicate:
		return true
	}
	return errors.Is(err, errMoved)
}

// again runs a transaction until it succeeds, fails for its own reasons, or has been given up too often.
func (b *Backend) again(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(lockWait)
	for n := 1; ; n++ {
		err := try()
		if err == nil || !passing(err) || n == tries || time.Now().After(deadline) {
			return err
		}
		b.countRetry(err)
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(min(n, 10)) * int64(2*time.Millisecond)))):
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
		b.retries.moved.Add(1)
	}
}

// read runs work in a reading transaction: all it sees is of one instant.
func (b *Backend) read(ctx context.Context, doing string, work func(*session) error) error {
	return b.explain(ctx, doing, b.again(ctx, func() error {
		tx, err := b.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return work(&session{tx: tx, texts: b.texts, rowBytes: b.rowBytes, cluster: b.server.galera})
	}))
}

// slowAnswer is how long the server may take to report that a statement has taken too long. Then the connection is closed.
const slowAnswer = 250 * time.Millisecond

// look runs work that reads without a transaction: each of its statements sees what was committed before it.
func (b *Backend) look(ctx context.Context, doing string, work func(*session) error) error {
	return b.explain(ctx, doing, b.again(ctx, func() error {
		return work(&session{tx: b.db, texts: b.texts, rowBytes: b.rowBytes, cluster: b.server.galera})
	}))
}

// writeOnce runs work that writes by one statement, which is a transaction of its own.
func (b *Backend) writeOnce(ctx context.Context, doing string, work func(*session) error) error {
	return b.explain(ctx, doing, b.again(ctx, func() error {
		s := &session{tx: b.db, texts: b.texts, rowBytes: b.rowBytes, cluster: b.server.galera}
		if err := perhaps(work(s)); err != nil {
			return err
		}
		b.wake(s.wakes)
		return nil
	}))
}

// readWithin is read that takes at most about that long; 0: no bound. After that the error is
// store.ErrSlow. The server itself gives the statement up, so that it does not go on without a reader.
func (b *Backend) readWithin(ctx context.Context, within time.Duration, doing string, work func(context.Context, *session) error) error {
	if within <= 0 {
		return b.read(ctx, doing, func(s *session) error { return work(ctx, s) })
	}
	bounded, stop := context.WithTimeout(ctx, within+slowAnswer)
	defer stop()
	err := b.read(bounded, doing, func(s *session) error {
		s.bound = func(text string) string { return b.server.bounded(text, within) }
		return work(bounded, s)
	})
	gaveUp := slices.Contains([]uint16{errStatementTimeout, errExecutionTimeout, errQueryInterrupted}, numberOf(err))
	if gaveUp && ctx.Err() == nil || err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", doing, store.ErrSlow)
	}
	return err
}

// write runs work in a writing transaction, and again if the server gives the transaction up,
// so that work sets all of its results each time. Then it releases the dependents of jobs that have ended.
func (b *Backend) write(ctx context.Context, doing string, work func(*session) error) error {
	noted, asked := false, time.Time{}
	err := b.writeOnly(ctx, doing, func(s *session) error {
		err := work(s)
		noted, asked = s.noted, s.asked
		return err
	})
	if err == nil && noted {
		_ = b.ReleaseDependents(ctx, store.ReleaseRequest{Now: asked}) // after an error the nodes do it
	}
	return err
}

// writeOnly runs work in a writing transaction.
func (b *Backend) writeOnly(ctx context.Context, doing string, work func(*session) error) error {
	return b.explain(ctx, doing, b.again(ctx, func() error {
		tx, err := b.db.BeginTx(ctx, b.writing)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		s := &session{tx: tx, texts: b.texts, rowBytes: b.rowBytes, cluster: b.server.galera}
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

// writeAt is write for work that needs the instant of the call; see session.now.
func (b *Backend) writeAt(ctx context.Context, doing string, asked time.Time, work func(*session, time.Time) error) error {
	return b.write(ctx, doing, func(s *session) error {
		now, err := s.now(ctx, asked)
		if err != nil {
			return err
		}
		return work(s, now)
	})
}

// within runs work in the caller's transaction if there is one, else in one of
// our own.
func (b *Backend) within(ctx context.Context, doing string, tx store.Tx, work func(*session) error) error {
	if tx == nil {
		return b.write(ctx, doing, work)
	}
	s, err := b.callers(ctx, doing, tx)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := s.inSavepoint(ctx, func(s *session) error {
			if err := work(s); err != nil {
				return err
			}
			return s.wakeInTx(ctx)
		})
		if !errors.Is(err, errMoved) && numberOf(err) != errDuplicate || n == tries {
			return b.explain(ctx, doing, err)
		}
		s.again = true
	}
}

// withinAt is within for a change that needs the instant of the call; see session.now.
func (b *Backend) withinAt(ctx context.Context, doing string, tx store.Tx, asked time.Time, change func(*session, time.Time) error) error {
	return b.within(ctx, doing, tx, func(s *session) error {
		now, err := s.now(ctx, asked)
		if err != nil {
			return err
		}
		return change(s, now)
	})
}

// readIn calls work in the caller's transaction or, if tx is nil, does what read does.
func (b *Backend) readIn(ctx context.Context, doing string, tx store.Tx, work func(*session) error) error {
	if tx == nil {
		return b.read(ctx, doing, work)
	}
	s, err := b.callers(ctx, doing, tx)
	if err != nil {
		return err
	}
	return b.explain(ctx, doing, work(s))
}

// callers returns a session in the caller's transaction.
func (b *Backend) callers(ctx context.Context, doing string, tx store.Tx) (*session, error) {
	callers, ok := tx.(callersTx)
	if !ok || callers.tx == nil {
		return nil, fmt.Errorf("%s: %w (use mysql.Tx)", doing, store.ErrForeignTx)
	}
	s := &session{tx: callers.tx, texts: b.callersTexts, rowBytes: b.rowBytes, cluster: b.server.galera, callers: true}
	if err := b.checkStore(ctx, s); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	return s, nil
}

// checkStore returns an error if a caller's transaction has ended, or is on another
// database than the Backend.
func (b *Backend) checkStore(ctx context.Context, s *session) error {
	var name string
	if err := s.tx.QueryRowContext(ctx, "SELECT COALESCE(DATABASE(), '')").Scan(&name); err != nil {
		return err
	}
	if name != b.database {
		return fmt.Errorf("%w: it is in the database %q, and the store is in %q", store.ErrForeignTx, name, b.database)
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

// exec runs a statement for its effect.
func (s *session) exec(ctx context.Context, name statement, a args) error {
	_, err := s.run(ctx, name, a)
	return err
}

// count runs a statement that inserts or deletes, and returns how many rows it changed. The
// server counts updated rows in two ways, which a program's connections choose.
func (s *session) count(ctx context.Context, name statement, a args) (int, error) {
	result, err := s.run(ctx, name, a)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// run runs a statement that returns no rows.
func (s *session) run(ctx context.Context, name statement, a args) (sql.Result, error) {
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

// each runs a statement and hands its rows to scan, which may run no other statement.
func (s *session) each(ctx context.Context, name statement, a args, scan func(row) error) error {
	return s.list(ctx, name, nil, a, scan)
}

// list runs a listing with the lines whose conditions are given.
func (s *session) list(ctx context.Context, name statement, given []string, a args, scan func(row) error) error {
	text, err := s.texts[name].complete(name, a, given...)
	if err != nil {
		return err
	}
	rows, err := s.query(ctx, text)
	return eachRow(rows, err, scan)
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
		rows, err := s.query(ctx, all.String())
		if err := eachRow(rows, err, scan); err != nil {
			return err
		}
	}
	return nil
}

// query sends the text of a statement that returns rows.
func (s *session) query(ctx context.Context, text string) (*sql.Rows, error) {
	if s.bound != nil {
		text = s.bound(text)
	}
	return s.tx.QueryContext(ctx, text)
}

func eachRow(rows *sql.Rows, err error, scan func(row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one runs a statement that returns exactly one row, into dest.
func (s *session) one(ctx context.Context, name statement, a args, dest ...any) error {
	found := false
	err := s.each(ctx, name, a, func(r row) error {
		found = true
		return r.Scan(dest...)
	})
	if err == nil && !found {
		return fmt.Errorf("statement %v returned no row", name)
	}
	return err
}

// rowBytes is about how long the text of one insert of many rows may be, on servers that accept messages of
// four times this size. A row that is longer goes alone.
const rowBytes = 4 << 20

// insertRows runs a statement that ends in "VALUES" and a row in parentheses, perhaps with
// ON DUPLICATE KEY after it, with that row for each of the rows, in as many messages as are needed. It
// returns the numbers of the rows, which mean nothing where the table does not number its rows, or where rows were
// not inserted.
func (s *session) insertRows(ctx context.Context, name statement, rows []args) ([]int64, error) {
	t := &s.texts[name]
	const values = "VALUES\n"
	at := strings.Index(t.sql, values)
	if at < 0 {
		return nil, fmt.Errorf("statement %v has no line VALUES", name)
	}
	head, template, tail := t.sql[:at+len(values)], t.sql[at+len(values):], ""
	if end := strings.Index(template, "\nON DUPLICATE KEY"); end >= 0 {
		template, tail = template[:end], template[end:]
	}
	one := text{pieces: sqltext.Pieces(template), params: t.params}
	head = sqltext.Pieces(head)[0].Code
	ids := make([]int64, 0, len(rows))
	for len(rows) > 0 {
		var all strings.Builder
		all.WriteString(head)
		n := 0
		for ; n < len(rows) && (n == 0 || all.Len() < s.rowBytes); n++ {
			literal, err := one.complete(name, rows[n])
			if err != nil {
				return nil, err
			}
			if n > 0 {
				all.WriteString(",\n")
			}
			all.WriteString(literal)
		}
		all.WriteString(tail)
		result, err := s.runText(ctx, name, all.String())
		if err != nil {
			return nil, err
		}
		some, err := s.insertedNumbers(ctx, result, n)
		if err != nil {
			return nil, err
		}
		ids, rows = append(ids, some...), rows[n:]
	}
	return ids, nil
}

// insertedNumbers returns the numbers that an insert of n rows gave. The number of rows was known to the
// server before it inserted them, so that it reserved the numbers at once, whatever
// innodb_autoinc_lock_mode is: they are one increment of the session apart.
func (s *session) insertedNumbers(ctx context.Context, result sql.Result, n int) ([]int64, error) {
	first, err := result.LastInsertId()
	if err != nil {
		return nil, err
	}
	step := int64(1)
	if n > 1 && first > 0 {
		if err := s.one(ctx, readIncrement, nil, &step); err != nil {
			return nil, err
		}
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = first + int64(i)*step
	}
	return ids, nil
}

// onEach runs a statement for each of some arguments.
func (s *session) onEach(ctx context.Context, name statement, each []args) error {
	for _, a := range each {
		if err := s.exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}

// now is the instant of a call: the request's, else the server's clock.
func (s *session) now(ctx context.Context, asked time.Time) (time.Time, error) {
	s.asked = asked
	if !asked.IsZero() {
		return instant(asked), nil
	}
	var now time.Time
	err := s.one(ctx, readClock, nil, into(&now))
	return now, err
}

// jsonOf encodes rows for JSON_TABLE. Texts in them are valid UTF-8; bytes that
// must stay as they are go through insertRows.
func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types of numbers and texts come here
	}
	return string(text)
}

// jsonList is jsonOf for lists, with [] for none.
func jsonList[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	return jsonOf(list)
}

// packer gathers the bytes of many rows in one parameter, so that SQL can cut
// each row's part out with SUBSTRING, unchanged.
type packer struct{ bytes []byte }

// add returns where a part begins, counted from 1, and its length; nil comes
// back as an empty part.
func (p *packer) add(part []byte) (at, length int) {
	at = len(p.bytes) + 1
	p.bytes = append(p.bytes, part...)
	return at, len(part)
}

// parameter is the gathered bytes.
func (p *packer) parameter() []byte { return notNull(p.bytes) }

// notNull is bytes as a parameter; nil would be SQL's NULL.
func notNull(bytes []byte) []byte {
	if bytes == nil {
		return []byte{}
	}
	return bytes
}

// orNull is a number as a parameter: NULL for 0.
func orNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// instant brings a time to the form in which it is kept: UTC, microseconds.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// micros is a time as a parameter: microseconds since 1970, or nil for none.
func micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	n := t.UnixMicro()
	return &n
}

// timeScanner is the way back from micros.
type timeScanner struct{ t *time.Time }

// into scans an instant; NULL becomes the zero time.
func into(t *time.Time) timeScanner { return timeScanner{t} }

// Scan implements sql.Scanner.
func (s timeScanner) Scan(value any) error {
	if value == nil {
		*s.t = time.Time{}
		return nil
	}
	n, err := number(value)
	*s.t = time.UnixMicro(n).UTC()
	return err
}

// durationScanner reads microseconds.
type durationScanner struct{ d *time.Duration }

// Scan implements sql.Scanner.
func (s durationScanner) Scan(value any) error {
	n, err := number(value)
	*s.d = time.Duration(n) * time.Microsecond
	return err
}

// number returns a whole number as the server sends it.
func number(value any) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	}
	return 0, fmt.Errorf("a number came as %T", value)
}

// wordsScanner reads a JSON array of texts.
type wordsScanner struct{ words *[]string }

// Scan implements sql.Scanner.
func (s wordsScanner) Scan(value any) error {
	switch text := value.(type) {
	case string:
		return json.Unmarshal([]byte(text), s.words)
	case []byte:
		return json.Unmarshal(text, s.words)
	}
	return errors.New("a list of words is not kept as text")
}
