// Package sqlite keeps Hourbell's jobs and schedules in one SQLite file.
//
//	backend, err := sqlite.Open(ctx, "hourbell.db")
//	if err != nil { … }
//	defer backend.Close()
//	if _, err := backend.MigrateUp(ctx); err != nil { … }
//
// It needs no server and no C compiler. Any number of goroutines and several
// processes on one host may use the same file; a file on a network share is not
// supported, because SQLite's locks and its shared memory do not work there.
//
// # How it works
//
// The file is in WAL mode: readers never wait. SQLite has one writer at a time,
// so each Backend sends its writing transactions one after the other through a
// single connection, heartbeats first, and takes the write lock before it reads anything. Other
// processes wait for the lock, up to ten seconds, and then get an error that
// says so. Calls that find nothing to do (an empty Claim, DueSchedules, Claims,
// a Rescue without dead nodes) do not write, so that nodes at rest do not wake
// each other.
//
// SQLite's clock is the clock of the host, in milliseconds. It is read once a
// call, in SQL, inside the transaction.
//
// All tables and indexes begin with hourbell_, so that they can live in an
// application's own database file beside its tables. Then jobs can be enqueued
// in the application's transactions: see Tx. Triggers that are added to them
// have to refuse a row with RAISE(ABORT): RAISE(FAIL) would keep the rows before
// it, which no call expects.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite" of database/sql

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// calls are the calls that need no code of this driver.
type calls = sqlrows.Calls[*session]

// Backend is a store.Backend, store.Listener and store.Migrator on a SQLite
// file. It is safe for concurrent use.
type Backend struct {
	calls

	path   string
	s      settings
	reader *sql.DB
	writer *sql.DB
	shared *sql.DB // of New: what handlers use; nil for Open
	turns  turns

	texts []sqlrows.Text

	mu       sync.Mutex // guards what follows
	prepared map[*sql.DB]*prepared
}

var (
	_ store.Backend   = (*Backend)(nil)
	_ store.Listener  = (*Backend)(nil)
	_ store.Migrator  = (*Backend)(nil)
	_ store.Connected = (*Backend)(nil)
	_ store.Deferring = (*Backend)(nil)
)

const (
	// lockWait is how long a call waits for a lock that others hold.
	lockWait = 10 * time.Second
	// writerPatience is how long SQLite itself waits in a writing connection:
	// short, because SQLite does not observe contexts while it waits, and
	// because its pauses grow, so that later callers would overtake. After it,
	// patiently tries again.
	writerPatience = 25 * time.Millisecond
	// readers is the number of reading connections of Open; each Listen has
	// one more of its own.
	readers = 4
)

// settings are what options change.
type settings struct {
	synchronous string // FULL or NORMAL
}

// Option changes how Open and New work.
type Option func(*settings) error

// Synchronous chooses what a commit waits for. With "FULL", the default, it
// waits until the disk has the data: what was acknowledged survives a loss of
// power. With "NORMAL" the last commits before a loss of power may be gone; a
// crash of the process loses nothing, and small writes are several times
// faster. Other words are refused. With New the connections must have been
// opened that way; New only checks it.
func Synchronous(mode string) Option {
	return func(s *settings) error {
		s.synchronous = strings.ToUpper(mode)
		if s.synchronous != "FULL" && s.synchronous != "NORMAL" {
			return fmt.Errorf("synchronous %q is not known: use FULL or NORMAL", mode)
		}
		return nil
	}
}

// configure applies options to the defaults.
func configure(options []Option) (settings, error) {
	s := settings{synchronous: "FULL"}
	for _, option := range options {
		if err := option(&s); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

// Open opens the SQLite file at path. A file that is missing is created by
// MigrateUp, with mode 0600, and not before: until then every other call answers
// store.ErrSchema. The folder must exist. A path that is not a plain file (also
// ":memory:", which every connection would have for itself) is refused.
func Open(ctx context.Context, path string, options ...Option) (*Backend, error) {
	s, err := configure(options)
	if err != nil {
		return nil, fmt.Errorf("open SQLite file %q: %w", path, err)
	}
	return open(ctx, path, s)
}

// open makes a backend with connections of its own.
func open(ctx context.Context, path string, s settings) (_ *Backend, err error) {
	doing := fmt.Sprintf("open SQLite file %q", path)
	path, err = checkPath(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	b, err := newBackend(path)
	if err != nil {
		return nil, err
	}
	b.s = s
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	b.writer, err = openPool(path, s, 1, writerPatience, "_txlock=immediate")
	if err != nil {
		return nil, explain(doing, err)
	}
	b.reader, err = openPool(path, s, readers, lockWait, "_pragma=query_only(1)")
	if err != nil {
		return nil, explain(doing, err)
	}
	if _, err := os.Stat(path); err == nil {
		if err := probe(ctx, b.reader); err != nil {
			return nil, explain(doing, err)
		}
	}
	return b, nil
}

// checkPath returns path in absolute form, or why it cannot be used.
func checkPath(path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("the path is empty: name a file")
	case path == ":memory:" || strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf("give the plain path of a file: databases in memory and URIs are not supported (for tests without a file use store/memory)")
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("the path contains a NUL byte")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("it is not a regular file")
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return "", fmt.Errorf("there is no folder %q: create it first", filepath.Dir(path))
	}
	return path, nil
}

// openPool opens connections to an existing file.
func openPool(path string, s settings, limit int, patience time.Duration, extra string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsnOf(path, s, patience, extra))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	return db, nil
}

// dsnOf returns the DSN by which connections to an existing file are opened.
func dsnOf(path string, s settings, patience time.Duration, extra string) string {
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: fmt.Sprintf(
		"mode=rw&_pragma=busy_timeout(%d)&_pragma=synchronous(%s)&%s", patience.Milliseconds(), s.synchronous, extra)}
	return dsn.String()
}

// probe reads the head of the file: whether it is a database, and one whose
// texts are in UTF-8, in which names sort by their bytes.
func probe(ctx context.Context, db *sql.DB) error {
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	encoding, err := pragma(ctx, db, "encoding")
	if err == nil && encoding != "UTF-8" {
		err = fmt.Errorf("its text encoding is %s: only UTF-8 is supported, use another file", encoding)
	}
	return err
}

// New uses the SQLite file of an application's own pool of connections, opened
// with the driver "sqlite" of modernc.org/sqlite. The pool stays the caller's to
// close. Its connections must all be in WAL mode, with a busy_timeout of at
// least one second and a synchronous setting as of the option Synchronous; New
// checks these settings, and its error has the remedy:
//
//	sql.Open("sqlite", "file:app.db?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(full)")
//
// The Backend opens connections of its own to that file, as Open does, so that
// nothing of it waits for connections that handlers hold. It does wait for their
// writing transactions, for SQLite has one writer at a time: a handler that keeps
// one open for longer than half of a node's lease loses that lease.
func New(ctx context.Context, db *sql.DB, options ...Option) (*Backend, error) {
	const doing = "use the SQLite connections"
	s, err := configure(options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if err := checkPool(ctx, db, s); err != nil {
		return nil, explain(doing, err)
	}
	path, err := fileOf(ctx, db)
	if err != nil {
		return nil, explain(doing, err)
	}
	b, err := open(ctx, path, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	b.shared = db
	return b, nil
}

// fileOf is the path of the file that a pool is on.
func fileOf(ctx context.Context, db *sql.DB) (path string, err error) {
	err = db.QueryRowContext(ctx, mainFile).Scan(&path)
	return path, err
}

// mainFile reads the path of the file that a connection is on.
const mainFile = "SELECT file FROM pragma_database_list WHERE name = 'main'"

// Connection implements store.Connected.
func (b *Backend) Connection() (c store.Connection) {
	if b.shared != nil {
		c.PoolSize = b.shared.Stats().MaxOpenConnections
	}
	return c
}

func newBackend(path string) (*Backend, error) {
	texts, err := allTexts()
	if err != nil {
		return nil, err
	}
	steps, err := store.ReadMigrations(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	b := &Backend{
		path: path, texts: texts,
		turns: newTurns(), prepared: map[*sql.DB]*prepared{},
	}
	b.calls = calls{
		ReadOnly: b.read, WriteOnly: b.writeOnly, InCallers: b.inCallers, Commit: b.commit, Rollback: rollback,
		InsertStep: b.insertStep, Steps: steps, Version: b.newestStep,
	}
	return b, nil
}

// checkPool checks two connections at once where the pool allows it, so that a
// pragma that was set by a mere Exec, which reaches only one, is found out.
func checkPool(ctx context.Context, db *sql.DB, s settings) error {
	first, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer first.Close()
	if err := checkConn(ctx, first, s); err != nil {
		return err
	}
	if db.Stats().MaxOpenConnections == 1 {
		return nil
	}
	second, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer second.Close()
	if err := checkConn(ctx, second, s); err != nil {
		return fmt.Errorf("only some of the connections are set up; put pragmas into the DSN, where they reach all: %w", err)
	}
	return nil
}

// checkConn checks the pragmas of one connection.
func checkConn(ctx context.Context, conn querier, s settings) error {
	rules := []struct {
		pragma string
		holds  func(value string) bool
		remedy string
	}{
		{"journal_mode", equals("wal"), "writers would lock readers out; add _pragma=journal_mode(wal) to the DSN (a database in memory cannot be used)"},
		{"busy_timeout", atLeast("1000"), "writers would fail instead of waiting for each other; add _pragma=busy_timeout(10000) to the DSN"},
		{"synchronous", synchronousAtLeast(s.synchronous), "acknowledged jobs could be lost with the power; add " +
			"_pragma=synchronous(" + strings.ToLower(s.synchronous) +
			") to the DSN, or pass Synchronous(\"NORMAL\") if it is NORMAL and that is meant"},
		{"query_only", equals("0"), "nothing could be written; leave query_only out of the DSN"},
		{"locking_mode", equals("normal"), "other connections would be locked out; leave locking_mode out of the DSN"},
		{"encoding", equals("UTF-8"), "names would not sort by their bytes; use a file in UTF-8"},
	}
	for _, rule := range rules {
		value, err := pragma(ctx, conn, rule.pragma)
		if err != nil {
			return err
		}
		if !rule.holds(value) {
			return fmt.Errorf("%s is %s: %s", rule.pragma, value, rule.remedy)
		}
	}
	return nil
}

func equals(want string) func(string) bool {
	return func(value string) bool { return value == want }
}

// atLeast compares whole numbers in decimal.
func atLeast(want string) func(string) bool {
	return func(value string) bool {
		return len(value) > len(want) || (len(value) == len(want) && value >= want)
	}
}

// synchronousAtLeast knows SQLite's numbers: 1 is NORMAL, 2 FULL, 3 EXTRA.
func synchronousAtLeast(mode string) func(string) bool {
	if mode == "NORMAL" {
		return atLeast("1")
	}
	return atLeast("2")
}

// pragma reads one of SQLite's settings; name is one of ours, never input.
func pragma(ctx context.Context, q querier, name string) (string, error) {
	var value string
	err := q.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
	return value, err
}

// Close closes what Open or New opened. Connections handed to New stay open.
// Let calls that are under way end first, and make none afterwards.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ready := range b.prepared {
		ready.close()
	}
	clear(b.prepared)
	var err error
	for _, pool := range []*sql.DB{b.reader, b.writer} {
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	if err != nil {
		return explain("close the SQLite file", err)
	}
	return nil
}

// querier is a pool, a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
