package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"time"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// calls are the calls that need no code of this driver.
type calls = sqlrows.Calls[*session]

// Backend is a store.Backend, store.Listener and store.Migrator on a database of MySQL or
// MariaDB. Concurrent calls are allowed.
type Backend struct {
	calls

	db       *sql.DB
	leases   *leaseConns
	owned    bool           // closed by Close
	writing  *sql.TxOptions // of writing transactions
	database string
	server   server
	rowBytes int // about how long the text of one insert of many rows may be

	texts        texts
	callersTexts texts // of statements in transactions of the program
	retries      retries

	source int64 // the row of this Backend in the table of wake-ups
	wakes  *wakes
}

var (
	_ store.Backend   = (*Backend)(nil)
	_ store.Listener  = (*Backend)(nil)
	_ store.Flusher   = (*Backend)(nil)
	_ store.Migrator  = (*Backend)(nil)
	_ store.Connected = (*Backend)(nil)
	_ store.Deferring = (*Backend)(nil)
)

// connections is how many connections a Backend of Open has at most.
const connections = 10

// idleLimit is after how long the server ends a connection of Open that sends nothing, and rolls its transaction back:
// a process that is stopped within a transaction must not hold up others for long. It is shorter than lockWait, so that
// transactions that wait for its locks go on. The pool closes idle connections before.
const idleLimit = 5 * time.Second

// Open opens a database of MySQL or MariaDB. The URL is mysql://user:password@host:port/database,
// with special characters of user and password percent-encoded and, after a question mark,
// parameters of github.com/go-sql-driver/mysql such as tls=true. Open connects, and refuses servers
// and settings that do not fit. Messages of that driver are logged to slog.Default() at level DEBUG.
func Open(ctx context.Context, storeURL string, opts ...Option) (*Backend, error) {
	config, err := readURL(storeURL)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	config.Logger = driverLog{}
	config.Params = maps.Clone(config.Params)
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	config.MaxAllowedPacket = 0 // as the server has it, so that what it does not accept is an error that names the reason
	maps.Copy(config.Params, map[string]string{
		"sql_mode": "'" + sqlMode + "'", "time_zone": "'+00:00'", "autocommit": "1",
		"character_set_client": "utf8mb4", "character_set_connection": "utf8mb4", "character_set_results": "utf8mb4",
		"completion_type": "NO_CHAIN", "sql_select_limit": fmt.Sprint(uint64(math.MaxUint64)), "sql_safe_updates": "0", // DEFAULT would be what the server has
	})
	if config.Params["wait_timeout"] == "" {
		config.Params["wait_timeout"] = fmt.Sprint(int(idleLimit.Seconds()))
	}
	config.Params["innodb_lock_wait_timeout"] = fmt.Sprint(int(rowWait.Seconds()))
	var settings openSettings
	for _, opt := range opts {
		opt(&settings)
	}
	if err := settings.apply(config); err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	db := sql.OpenDB(patient{readCommitted{connector}, new(store.Logins)})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleLimit / 2)
	leases, err := openLeaseConns(config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open MySQL: %w", err), db.Close())
	}
	b, err := open(ctx, db, leases, &sql.TxOptions{})
	if err != nil {
		return nil, errors.Join(err, db.Close(), leases.close())
	}
	b.owned = true
	return b, nil
}

// readCommitted makes connections whose transactions are READ COMMITTED, in which the server
// locks only the rows that it finds, and no gaps between rows.
type readCommitted struct{ driver.Connector }

// setIsolation is the last statement by which a connection of Open gets its settings.
const setIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

// Connect implements driver.Connector.
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.(driver.ExecerContext).ExecContext(ctx, setIsolation, nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// New uses a program's own pool of connections, opened with github.com/go-sql-driver/mysql. The
// pool stays the program's to close. Its connections need autocommit, a sql_mode that is strict, utf8mb4 as the
// character set of client, connection and results, completion_type=0, sql_safe_updates=0, and no sql_select_limit.
// Most of these are what servers and go-sql-driver/mysql have without settings of yours. New checks them on one connection, and
// returns an error with the remedy if one does not fit. All other settings of the connections may differ. A node keeps one connection of
// the pool for its heartbeats, if the pool may have more than one.
func New(ctx context.Context, db *sql.DB) (*Backend, error) {
	return open(ctx, db, &leaseConns{pool: db}, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
}

func open(ctx context.Context, db *sql.DB, leases *leaseConns, writing *sql.TxOptions) (*Backend, error) {
	const doing = "open MySQL"
	b := &Backend{db: db, leases: leases, writing: writing, source: rand.Int64()}
	b.calls = calls{
		ReadOnly: b.read, WriteOnly: b.writeOnly, InCallers: b.inCallers, Commit: b.commit, Rollback: rollback,
		InsertStep: b.insertStep, Version: b.newestStep, Release: b.CarryOut,
	}
	b.wakes = newWakes(b.raise)
	var err error
	if b.server, b.database, err = probe(ctx, db); err != nil {
		return nil, b.explain(ctx, doing, err)
	}
	b.rowBytes = min(rowBytes, b.server.packet/4)
	if b.texts, err = textsFor(variant{mariaDB: b.server.mariaDB}); err != nil {
		return nil, err
	}
	if b.callersTexts, err = textsFor(variant{mariaDB: b.server.mariaDB, callers: true}); err != nil {
		return nil, err
	}
	if b.Steps, err = readSteps(b.server); err != nil {
		return nil, err
	}
	return b, nil
}

// Connection implements store.Connected.
func (b *Backend) Connection() (c store.Connection) {
	if !b.owned {
		c.PoolSize = b.db.Stats().MaxOpenConnections
	}
	return c
}

// Close sends the wake-ups that are still owed, and closes the connections that Open made. A pool that was handed to New stays open.
// Let calls that are under way end first, and make none afterwards.
func (b *Backend) Close() error {
	b.wakes.close()
	err := b.leases.close()
	if b.owned {
		err = errors.Join(err, b.db.Close())
	}
	if err != nil {
		return explain("close the connections to MySQL", err)
	}
	return nil
}

// Locks returns locks on the connections of the Backend, which stay open.
func (b *Backend) Locks(opts ...LockOption) *Locks { return NewLocks(b.db, opts...) }

// OpenDB opens a pool of connections for a program that has the URL of a store; see Open. Its sessions have
// the settings of the URL and of the server.
func OpenDB(storeURL string) (*sql.DB, error) {
	config, err := readURL(storeURL)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	config.Logger = driverLog{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("open MySQL: %w", err)
	}
	return sql.OpenDB(connector), nil
}
