// Package postgres keeps Hourbell's jobs, schedules and nodes in PostgreSQL. It is
// tested with PostgreSQL 15 and uses nothing that 13 lacks.
//
//	backend, err := postgres.Open(ctx, "postgres://user@host/db") // a pool of its own
//	backend := postgres.New(pool)                                 // the program's pgx pool
//	backend, err := postgres.NewDB(ctx, db)                       // the program's *sql.DB
//
// All tables live in one schema, "hourbell" unless Schema says otherwise. The
// statements name it, so nothing depends on a session's search_path.
//
// # Transactions of the program
//
// Tx and SQLTx make a job part of a transaction that the program began itself,
// with pgx or with any PostgreSQL driver for database/sql.
//
// # Poolers
//
// Nothing here needs a session: no prepared statement has to outlive a
// transaction, no advisory lock is held on a session, and behind a pooler settings
// are local to transactions. Open and NewDB notice a pooler such as PgBouncer and then send
// statements unprepared; for a pool of the program's own behind a pooler in
// transaction mode put default_query_exec_mode=exec into its URL. Wake-ups need
// one connection that does not go through the pooler; give it with ListenURL,
// or Listen answers store.ErrNoPush and Hourbell polls.
//
// # Connections
//
// What a node does of its own accord never waits for connections that handlers
// hold. From the first Register until Close there are three more pools with the
// settings and hooks of the program's pool: one for claims, outcomes and slots, as
// large as the program's pool and of 8 connections at most; one for heartbeats, which
// opens a connection when the node registers and keeps it; and one of 2 connections
// for renewals and releases of the locks of Backend.Locks. The first and the last
// close connections that were not used for a minute. Wake-ups take another
// connection. So a node at rest has three connections: for heartbeats, for wake-ups,
// and for polls. A program that only enqueues opens none of these.
//
// A program that enqueues in its own transactions in bursts, more than one in 5 ms, gets
// one connection for their wake-ups, which is closed when it was not used for a minute:
// these wake-ups are sent after the commits, because PostgreSQL lets commits with a
// notification wait for each other. Programs that exit right after a commit call
// Client.Flush, or Close, or enqueue with NotifyInTx.
//
// # Plans
//
// Queue tables are empty when they are first planned for and full a minute
// later, so statistics mislead the planner. This package therefore pins its plans:
// in a pool of its own by settings of the sessions, elsewhere by settings that end
// with each transaction.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// DefaultSchema is the schema of the tables unless the option Schema is given.
const DefaultSchema = "hourbell"

// Backend is a store.Backend, a store.Listener and a store.Migrator on
// PostgreSQL. It is safe for concurrent use.
type Backend struct {
	pool         *pgxpool.Pool
	ownsPool     bool
	pools        connPools // the connections of each class
	db           *sql.DB   // of NewDB: what handlers use
	schema       string
	channel      string
	listenURL    string
	listenConf   *pgx.ConnConfig // of listenURL; nil: there is none
	logins       logins          // at the store's URL
	listenLogins logins          // at listenURL
	maxConns     int32
	scans        claimScans
	catchUps     sync.WaitGroup  // catch-up scans that are under way
	background   context.Context // of catch-up scans; ends with Close
	end          context.CancelFunc
	away         atomic.Int64 // the shortest round trip that was seen, in nanoseconds
	pinned       bool         // the pool's sessions have the settings of pins
	sql          texts
	steps        []store.Migration
	insertWakes  *notifyThrottle
	commitWakes  *commitWakes // of inserts in callers' transactions
	ears         ears
	earlyWakes   *notifyThrottle // of slots that fire early
	handled      atomic.Bool     // there were handlers when the store was asked last; see handlers.go
	gated        gatedQueues
	parks        parks
	identity     atomic.Pointer[string] // of the store, once it has been read
	invalid      error                  // what is wrong with the options; every call answers it
}

var (
	_ store.Backend   = (*Backend)(nil)
	_ store.Deferring = (*Backend)(nil)
	_ store.Listener  = (*Backend)(nil)
	_ store.Flusher   = (*Backend)(nil)
	_ store.Connected = (*Backend)(nil)
	_ store.Migrator  = (*Backend)(nil)
)

// Option changes what Open, New and NewDB make.
type Option func(*Backend)

// Schema names the database schema of the tables: 1 to 63 bytes of UTF-8
// without control characters, not beginning with "pg_". It need not be quoted.
// MigrateUp creates it if it is missing.
func Schema(name string) Option {
	return func(b *Backend) { b.schema = name }
}

// ListenURL gives the URL of a direct connection for wake-ups, for stores that
// are reached through a pooler in transaction mode.
func ListenURL(url string) Option {
	return func(b *Backend) { b.listenURL = url }
}

// MaxConns bounds the pool that Open or NewDB makes, from 1 on. Without it the
// URL's pool_max_conns counts, else pgx's default: the number of cores, at
// least 4. New ignores it. Nodes have connections besides; see the package comment.
func MaxConns(n int32) Option {
	return func(b *Backend) { b.maxConns = n }
}

// Open connects to the database that url names, as pgxpool.ParseConfig reads
// it, with a pool of its own, which Close closes. It does not look at the
// schema; see CheckSchema and MigrateUp. Password and service files that the URL
// or the environment names are read again for each connection.
func Open(ctx context.Context, url string, opts ...Option) (*Backend, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", parseError(err))
	}
	modeGiven := strings.Contains(url, "default_query_exec_mode")
	return open(ctx, config, modeGiven, append(opts[:len(opts):len(opts)], func(b *Backend) { b.logins.fix(url) }))
}

// New uses a pool of the program's own, which stays open when the Backend is
// closed. Options that are not valid are reported by the first call.
//
// The pool should have more connections than there are workers whose handlers hold
// one; a node warns where it has not. Heartbeats, claims, outcomes and slots do not
// wait for it: they have connections of their own, which Close closes.
func New(pool *pgxpool.Pool, opts ...Option) *Backend {
	b := newBackend(opts)
	b.pool = pool
	return b
}

// NewDB uses the database of a *sql.DB that was opened with pgx's stdlib
// package. It reads the configuration of one of its connections and opens a
// small pool of its own with it, which Close closes; db stays as it is. Hooks
// that db runs for new connections are not run for that pool.
func NewDB(ctx context.Context, db *sql.DB, opts ...Option) (*Backend, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	defer conn.Close()
	var config *pgx.ConnConfig
	err = conn.Raw(func(driver any) error {
		own, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the *sql.DB uses another driver (%T); open it with github.com/jackc/pgx/v5/stdlib, or use postgres.Open", driver)
		}
		config = own.Conn().Config()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	pool, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", parseError(err))
	}
	config.OnNotification = nil // the parsed handler belongs to another connection; Listen needs its own
	pool.ConnConfig = config
	modeGiven := config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
	b, err := open(ctx, pool, modeGiven, opts)
	if err != nil {
		return nil, err
	}
	b.db = db
	return b, nil
}

// connectTimeout bounds an attempt to connect where the URL has no
// connect_timeout.
const connectTimeout = 10 * time.Second

// pingAfter is for how long a connection may rest before it is tried out on its
// next use: longer than heartbeats and polls of an idle node are apart, which use
// the one that rested least, so that such a node does not ask twice each time.
const pingAfter = 12 * time.Second

// open makes a backend with a pool of its own.
func open(ctx context.Context, config *pgxpool.Config, modeGiven bool, opts []Option) (*Backend, error) {
	b := newBackend(opts)
	if b.invalid != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", b.invalid)
	}
	b.setDefaults(config)
	pooled, err := b.behindPooler(ctx, config.ConnConfig)
	if err != nil {
		return nil, b.explain("open PostgreSQL", err)
	}
	if pooled && !modeGiven {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	b.pinned = !pooled
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		registerLists(conn.TypeMap())
		if !b.pinned {
			return nil
		}
		sent := time.Now()
		_, err := conn.Exec(ctx, pins)
		if err == nil {
			b.seen(time.Since(sent))
		}
		return err
	}
	b.logins.apply(config)
	b.pool, err = pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, b.explain("open PostgreSQL", err)
	}
	b.ownsPool = true
	return b, nil
}

// setDefaults sets what the URL of a pool does not give.
func (b *Backend) setDefaults(config *pgxpool.Config) {
	if b.maxConns > 0 {
		config.MaxConns = b.maxConns
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "hourbell"
	}
	config.ShouldPing = restedLong
}

// measured is how many round trips behindPooler makes, so that one of them meets a
// machine that is not busy with something else.
const measured = 5

// behindPooler connects once and reports whether the server process that answers
// differs from the process that was named when the connection was made, which
// means that there is a pooler in between.
func (b *Backend) behindPooler(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, config.ConnectTimeout)
	defer cancel()
	conn, err := b.logins.connect(ctx, config)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	pooled := false
	for range measured {
		var pid int64
		sent := time.Now()
		err := conn.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
		if err != nil {
			return false, err
		}
		b.seen(time.Since(sent))
		pooled = pooled || pid != int64(conn.PgConn().PID())
	}
	return pooled, nil
}

// seen learns how far away the server is from a round trip that took so long.
func (b *Backend) seen(took time.Duration) {
	for {
		away := b.away.Load()
		if away != 0 && away <= int64(took) || b.away.CompareAndSwap(away, int64(took)) {
			return
		}
	}
}

// Connection implements store.Connected. The round trip is known for a pool of the backend's own.
func (b *Backend) Connection() store.Connection {
	return store.Connection{RoundTrip: time.Duration(b.away.Load()), PoolSize: b.poolSize(), SharedPolls: watchTime}
}

// newBackend applies the options and prepares the statements' texts.
func newBackend(opts []Option) *Backend {
	b := &Backend{schema: DefaultSchema}
	for _, opt := range opts {
		opt(b)
	}
	b.invalid = checkSchemaName(b.schema)
	if b.maxConns < 0 {
		b.invalid = errors.New("MaxConns is negative; give 1 or more")
	}
	if err := b.parseListenURL(); err != nil {
		b.invalid = err
	}
	b.background, b.end = context.WithCancel(context.Background())
	b.channel = channelOf(b.schema)
	var err error
	if b.sql, err = readTexts(b.schema); err != nil {
		b.invalid = err
	}
	b.steps = readMigrations(b.schema)
	b.insertWakes, b.earlyWakes = newNotifyThrottle(notifyGap, b.sendWakes), newNotifyThrottle(earlyGap, b.sendWakes)
	b.commitWakes = newCommitWakes(commitWakesServer{b})
	return b
}

// parseListenURL reads the URL for listening as Open reads the store's URL.
func (b *Backend) parseListenURL() error {
	if b.listenURL == "" {
		return nil
	}
	config, err := pgxpool.ParseConfig(b.listenURL)
	if err != nil {
		return fmt.Errorf("the URL for listening: %w", parseError(err))
	}
	b.listenConf = config.ConnConfig
	b.listenLogins.fix(b.listenURL)
	if b.listenConf.ConnectTimeout == 0 {
		b.listenConf.ConnectTimeout = connectTimeout
	}
	if b.listenConf.RuntimeParams["application_name"] == "" {
		b.listenConf.RuntimeParams["application_name"] = "hourbell"
	}
	return nil
}

func checkSchemaName(name string) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if name == "" || len(name) > 63 || !utf8.ValidString(name) || strings.ContainsFunc(name, control) || strings.HasPrefix(name, "pg_") {
		return fmt.Errorf("schema name %q: give 1 to 63 bytes of UTF-8 without control characters, not beginning with pg_", name)
	}
	return nil
}

// Close sends the wake-ups that are still to be sent, and closes the pool if
// Open or NewDB made it. It waits for connections in use. Closing twice is
// harmless.
func (b *Backend) Close() error {
	b.end()
	b.catchUps.Wait()
	b.commitWakes.close()
	b.insertWakes.wait()
	b.earlyWakes.wait()
	b.closeNodePools()
	if b.ownsPool {
		b.pool.Close()
	}
	return nil
}

// Transactions that look for rows to work on pin their plans: a generic plan over
// the indexes, whatever the statistics say. Those that only write, and
// migrations, have none to pin. Compiling queries (jit) never pays here. DateStyle
// matters where statements go unprepared and times come back as text.
//
// PostgreSQL ends a transaction that waits ten seconds for its next statement. Otherwise a node
// that disappears from the network within a transaction would hold locks on schedules and jobs
// until TCP gives its connection up, which takes two hours by default.
//
// A pool of our own gives these settings to its sessions. Others may not keep
// them, or serve the program too: there each transaction begins with them, in
// one message.
const (
	writing = "begin isolation level read committed read write"
	limited = "; set local idle_in_transaction_session_timeout = '10s'"

	common = limited + "; set local jit = off; set local datestyle = 'ISO, YMD'"
	plans  = "; select set_config('plan_cache_mode', " + planMode + ", true); set local enable_seqscan = off; set local enable_hashjoin = off" +
		"; set local enable_mergejoin = off; set local enable_bitmapscan = off"
	working = writing + common + plans

	listing = "begin isolation level repeatable read read only" + common + "; set local plan_cache_mode = force_custom_plan" +
		"; set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on; set local enable_bitmapscan = on"
)

// planMode is the value of plan_cache_mode: a server with Citus refuses generic plans
// (docs/adr/0025-plans-are-generic-but-with-citus.md).
const planMode = "case when to_regclass('pg_catalog.pg_dist_partition') is null then 'force_generic_plan' else 'force_custom_plan' end"

// pins gives a session what transactions would begin with. It is sent when a
// connection is made, and not part of the connecting, which some proxies refuse.
const pins = "set default_transaction_isolation = 'read committed'; set default_transaction_read_only = off; set jit = off" +
	"; set idle_in_transaction_session_timeout = '10s'" +
	"; set datestyle = 'ISO, YMD'; select set_config('plan_cache_mode', " + planMode + ", false); set enable_seqscan = off; set enable_hashjoin = off" +
	"; set enable_mergejoin = off; set enable_bitmapscan = off"

// tries bounds how often a transaction is begun that the server gave up because
// of others.
const tries = 8

// work is a transaction that looks for rows and changes them.
func (b *Backend) work(ctx context.Context, class connClass, what string) rowwise.Transaction[pgx.Tx] {
	return b.transact(ctx, class, what, b.workBegin())
}

// writeBegin begins a transaction that only writes.
func (b *Backend) writeBegin() string {
	if b.pinned {
		return writing
	}
	return writing + limited
}

// workBegin begins a transaction of work.
func (b *Backend) workBegin() string {
	if b.pinned {
		return writing
	}
	return working
}

// sender sends statements in one message.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// pipeline is work that consists of one message. On a pool of our own the message
// is the whole transaction: it is committed when its answers are closed without
// an error. On a pool of the program it is a transaction like any other.
func (b *Backend) pipeline(ctx context.Context, class connClass, what string) rowwise.Transaction[sender] {
	if !b.pinned {
		return func(do func(s sender) error) error {
			return b.work(ctx, class, what)(func(tx pgx.Tx) error { return do(tx) })
		}
	}
	return func(do func(s sender) error) error {
		return b.alone(ctx, class, what)(func(conn *pgxpool.Conn) error { return do(conn) })
	}
}

// list is a transaction that only reads, all from one snapshot.
func (b *Backend) list(ctx context.Context, what string) rowwise.Transaction[pgx.Tx] {
	return b.transact(ctx, programConns, what, listing)
}

// listWithin is list whose statements take at most that long each; 0: no bound. After that
// the error is store.ErrSlow.
func (b *Backend) listWithin(ctx context.Context, within time.Duration, what string) rowwise.Transaction[pgx.Tx] {
	if within <= 0 {
		return b.list(ctx, what)
	}
	begin := fmt.Sprintf("%s; set local statement_timeout = %d", listing, max(within.Milliseconds(), 1))
	return func(do func(tx pgx.Tx) error) error {
		err := b.transact(ctx, programConns, what, begin)(do)
		if codeOf(err) == "57014" && ctx.Err() == nil { // query_canceled, by statement_timeout
			return fmt.Errorf("%s: %w", what, store.ErrSlow)
		}
		return err
	}
}

// transact is a transaction that a statement begins.
func (b *Backend) transact(ctx context.Context, class connClass, what, begin string) rowwise.Transaction[pgx.Tx] {
	return func(do func(tx pgx.Tx) error) error {
		return b.retry(ctx, what, func() error {
			return b.connected(ctx, class)(func(conn *pgxpool.Conn) error {
				tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
				if err != nil {
					return err
				}
				defer tx.Rollback(ctx) // does nothing after the commit
				if err := do(tx); err != nil {
					return err
				}
				return perhaps(conn, tx.Commit(ctx))
			})
		})
	}
}

// alone is one message that commits by itself.
func (b *Backend) alone(ctx context.Context, class connClass, what string) rowwise.Transaction[*pgxpool.Conn] {
	return func(do func(conn *pgxpool.Conn) error) error {
		return b.retry(ctx, what, func() error {
			return b.connected(ctx, class)(func(conn *pgxpool.Conn) error { return perhaps(conn, do(conn)) })
		})
	}
}

// retry does something again while it is retryable.
func (b *Backend) retry(ctx context.Context, what string, do func() error) error {
	if b.invalid != nil {
		return fmt.Errorf("%s: %w", what, b.invalid)
	}
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			return nil
		}
		if try == tries || !retryable(err) || !pause(ctx, try) {
			return b.explain(what, err)
		}
	}
}

// pause waits a little before a transaction is begun again, the longer the more tries there were. It reports whether ctx has not ended.
func pause(ctx context.Context, try int) bool {
	store.Repeated(ctx)
	timer := time.NewTimer(time.Duration(1+rand.IntN(5<<try)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
