package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/mysql"
)

// The systems on MySQL or MariaDB.
const (
	oursOnMySQL = "hourbell-mysql"
	bareOnMySQL = "bare-mysql"
)

// mysqlEngine is the MySQL or MariaDB of a bench. The nil mysqlEngine is no server.
type mysqlEngine struct {
	url   string
	admin *sql.DB
	pid   int    // of the server; 0: it is not on this machine
	about string // its version and settings
}

// findMySQL connects to a server whose figures are comparable; "" and "none" are no server.
func findMySQL(ctx context.Context, storeURL string) (*mysqlEngine, error) {
	e, err := connectMySQL(ctx, storeURL)
	if e == nil || err != nil {
		return nil, err
	}
	var pool string
	var flush int
	if err := e.admin.QueryRowContext(ctx, "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_buffer_pool_size DIV 1048576").Scan(&flush, &pool); err != nil {
		return nil, fmt.Errorf("read the state of MySQL: %w", err)
	}
	if flush != 1 {
		return nil, errors.New("MySQL has innodb_flush_log_at_trx_commit other than 1: its figures would not be comparable; make bench starts a server that has 1")
	}
	e.about = fmt.Sprintf("MySQL or MariaDB %s, innodb_buffer_pool_size=%sMB, innodb_flush_log_at_trx_commit=1", e.about, pool)
	return e, nil
}

// connectMySQL connects to a server; "" and "none" are no server.
func connectMySQL(ctx context.Context, storeURL string) (*mysqlEngine, error) {
	if storeURL == "" || storeURL == "none" {
		return nil, nil //nolint:nilnil // the nil mysqlEngine is no server
	}
	admin, err := mysql.OpenDB(storeURL)
	if err != nil {
		return nil, err
	}
	e := &mysqlEngine{url: storeURL, admin: admin}
	var file string
	if err := admin.QueryRowContext(ctx, "SELECT VERSION(), @@pid_file").Scan(&e.about, &file); err != nil {
		return nil, fmt.Errorf("read the state of MySQL: %w", err)
	}
	if text, err := os.ReadFile(file); err == nil { // otherwise the server is elsewhere
		e.pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return e, nil
}

func (e *mysqlEngine) close() {
	if e != nil {
		_ = e.admin.Close()
	}
}

// checkpoint waits until the server has removed the rows that earlier measurements deleted, unless a
// snapshot keeps them.
func (e *mysqlEngine) checkpoint(ctx context.Context) error {
	const purged, patience = 100, 10 * time.Second
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		left, err := e.status(ctx, "Innodb_history_list_length")
		if err != nil || left < purged {
			return err
		}
		held, err := e.held(ctx)
		if err != nil || held {
			return err
		}
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// held reports whether a transaction is open.
func (e *mysqlEngine) held(ctx context.Context) (held bool, err error) {
	err = e.admin.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM information_schema.innodb_trx WHERE trx_started < NOW() - INTERVAL 1 SECOND)").Scan(&held)
	return held, err
}

func (e *mysqlEngine) logged(ctx context.Context) (float64, error) {
	return e.status(ctx, "Innodb_os_log_written")
}

// status reads a figure that the server counts; 0: the server does not count it.
func (e *mysqlEngine) status(ctx context.Context, name string) (value float64, err error) {
	var key string
	err = e.admin.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&key, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return value, err
}

func (e *mysqlEngine) cpu() time.Duration {
	if e.pid == 0 {
		return 0
	}
	return cpuOf(e.pid)
}

// createMySQL makes a database on the MySQL server.
func (b *bench) createMySQL(ctx context.Context) (database, error) {
	if b.mysql == nil {
		return database{}, skippedError("HOURBELL_TEST_MYSQL_URL is not set")
	}
	b.mu.Lock()
	b.databases++
	name := fmt.Sprintf("bench_%d_%d", os.Getpid(), b.databases)
	b.mu.Unlock()
	if _, err := b.mysql.admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return database{}, fmt.Errorf("create a database: %w", err)
	}
	u, err := url.Parse(b.mysql.url)
	if err != nil {
		return database{}, errors.New("HOURBELL_TEST_MYSQL_URL is not a URL")
	}
	u.Path = "/" + name
	return database{url: u.String(), far: u.String(), mysql: true, drop: func() {
		_, _ = b.mysql.admin.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name)
	}}, nil
}

// aliveOnMySQL is database.alive on MySQL.
func aliveOnMySQL(ctx context.Context, d database, s system) (alive func() (bool, error), closeAll func(), err error) {
	db, err := mysql.OpenDB(d.url)
	if err != nil {
		return nil, nil, err
	}
	return func() (alive bool, err error) {
		err = db.QueryRowContext(ctx, s.alive).Scan(&alive)
		return alive, err
	}, func() { _ = db.Close() }, nil
}

// analyzeMySQL updates the statistics of all tables of a database.
func analyzeMySQL(ctx context.Context, d database) error {
	db, err := mysql.OpenDB(d.url)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		return err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil || len(names) == 0 {
		return err
	}
	_, err = db.ExecContext(ctx, "ANALYZE TABLE "+strings.Join(names, ", "))
	return err
}

// holdMySQLSnapshot is holdSnapshot on MySQL.
func holdMySQLSnapshot(ctx context.Context, d database) (release func(), err error) {
	db, err := mysql.OpenDB(d.url)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return func() {
		_ = conn.Close()
		_ = db.Close()
	}, nil
}

// mysqlCells measure on MySQL what the cells with the same names measure on PostgreSQL, beside the bare limits of the same server.
func (b *bench) mysqlCells() []cell {
	const later = "hourbell, beside jobs for later"
	jobs := b.env.jobs
	return []cell{
		{
			name: "mysql-drain", title: fmt.Sprintf("MySQL: drain %s no-op jobs", thousands(jobs)),
			metrics: throughput, yardsticks: []string{"hourbell", bareOnMySQL},
			rows: []row{
				b.drainRow("hourbell", drain{system: oursOnMySQL}),
				b.drainRow("hourbell, two processes", drain{system: oursOnMySQL, processes: 2}),
				b.drainRow("hourbell, history none", drain{system: oursOnMySQL, mode: historyNone}),
				b.drainRow(later, drain{system: oursOnMySQL, later: jobs, until: jobs}),
				b.drainRow(bareOnMySQL, drain{system: bareOnMySQL}),
			},
		},
		{
			name: "mysql-snapshot", title: fmt.Sprintf("MySQL: the same while another session holds a snapshot from before %s "+
				"jobs were inserted and worked", thousands(jobs)),
			metrics: throughput, yardsticks: []string{undisturbed},
			rows: []row{
				b.drainRow(undisturbed, drain{system: oursOnMySQL}),
				b.drainRow("hourbell", drain{system: oursOnMySQL, dead: jobs}),
				b.drainRow(bareOnMySQL, drain{system: bareOnMySQL, dead: jobs}),
			},
		},
		{
			name: "mysql-insert", title: "MySQL: insert one row a transaction, 8 clients",
			metrics: throughput, yardsticks: []string{bareOnMySQL},
			rows: []row{
				b.insertRow("hourbell", oursOnMySQL, child.Request{Clients: connections}),
				b.insertRow(bareOnMySQL, bareOnMySQL, child.Request{Clients: connections}),
			},
		},
		{
			name: "mysql-insert-many", title: "MySQL: insert 1,000 a call, one client",
			metrics: throughput, yardsticks: []string{bareOnMySQL},
			rows: []row{
				b.insertRow("hourbell", oursOnMySQL, child.Request{Batch: 1000, Jobs: jobs}),
				b.insertRow(bareOnMySQL, bareOnMySQL, child.Request{Batch: 1000, Jobs: jobs}),
			},
		},
		{
			name: "mysql-latency", title: "MySQL: from the call that enqueues to the start of the function, 50 jobs a second, one a call",
			metrics: latencies,
			rows: []row{
				{inOneProcess, func(ctx context.Context) (metrics, error) { return b.ownLatency(ctx, named(oursOnMySQL), 50) }},
				b.latencyRow("hourbell, in another process", oursOnMySQL, "", 50, 1),
			},
		},
		{
			name: "mysql-schedules", title: fmt.Sprintf("MySQL: from the instant of a schedule to the start of the function, "+
				"some of %s schedules due at one instant", thousands(b.env.schedules)),
			metrics: latencies,
			rows:    []row{b.schedulesRow("hourbell, 1,000 due", oursOnMySQL, 1000)},
		},
	}
}

// inOneProcess is the row of the process that enqueues and works.
const inOneProcess = "hourbell, in the enqueuing process"

// mysqlGoals are the goals of the cells on MySQL.
func mysqlGoals() []goal {
	bare := []string{bareOnMySQL}
	return []goal{
		{text: "MySQL drain, compared with the bare UPDATE + DELETE", cell: "mysql-drain", row: "hourbell", metric: rate, versus: bare, least: 0.35},
		{text: "MySQL drain", cell: "mysql-drain", row: "hourbell", metric: rate, least: 15_000},
		{
			text: "MySQL drain beside jobs for later, compared with none", cell: "mysql-drain",
			row: "hourbell, beside jobs for later", metric: rate, versus: []string{"hourbell"}, least: 0.9,
		},
		{
			text: "MySQL drain under an old snapshot, compared with no snapshot", cell: "mysql-snapshot", row: "hourbell",
			metric: rate, versus: []string{undisturbed}, least: 0.6,
		},
		{text: "MySQL insert one by one, compared with bare inserts", cell: "mysql-insert", row: "hourbell", metric: rate, versus: bare, least: 0.95},
		{text: "MySQL insert 1,000 a call, compared with bare inserts", cell: "mysql-insert-many", row: "hourbell", metric: rate, versus: bare, least: 0.6},
		{text: "MySQL enqueue to start at 50/s in the enqueuing process, p99", cell: "mysql-latency", row: inOneProcess, metric: "p99 ms", most: 10},
		{text: "MySQL enqueue to start at 50/s elsewhere, p99", cell: "mysql-latency", row: "hourbell, in another process", metric: "p99 ms", most: 120},
		{text: "MySQL 1,000 schedules due at once, p99", cell: "mysql-schedules", row: "hourbell, 1,000 due", metric: "p99 ms", most: 60},
	}
}
