package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/bench/delay"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// bench is one run of the benchmark.
type bench struct {
	env       env
	admin     *pgxpool.Pool
	server    server
	mysql     *mysqlEngine // nil: there is no server
	proxy     *delay.Proxy // clients connect through it; nil: there is no delay
	dir       string       // temporary files
	self      string       // this program
	nodeDir   string       // the scripts for Node.js, with the packages that they need
	noNode    string       // the reason why Node.js is not available
	results   []sample
	databases int
	large     database   // of the cells of pages; zero: none yet
	mu        sync.Mutex // guards results and databases
}

// skippedError is the reason why a row is not measured here.
type skippedError string

func (e skippedError) Error() string { return "skipped: " + string(e) }

func newBench(ctx context.Context) (*bench, error) {
	e, err := readEnv()
	if err != nil {
		return nil, err
	}
	b := &bench{env: e}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "hourbell-bench."); err != nil {
		return nil, err
	}
	if b.admin, err = pgxpool.New(ctx, e.url); err != nil {
		return nil, err
	}
	if b.server, err = findServer(ctx, b.admin); err != nil {
		return nil, err
	}
	if err := b.findProxy(); err != nil {
		return nil, err
	}
	if b.mysql, err = findMySQL(ctx, e.mysql); err != nil {
		return nil, err
	}
	b.findNode(ctx)
	return b, b.printHead(ctx)
}

// findProxy starts the proxy in front of the server if a delay is requested.
func (b *bench) findProxy() error {
	if b.env.delay == 0 {
		return nil
	}
	u, err := url.Parse(b.env.url)
	if err != nil {
		return errors.New("HOURBELL_TEST_POSTGRES_URL is not a URL")
	}
	b.proxy, err = delay.Listen(u.Host, b.env.delay)
	return err
}

func (b *bench) close() {
	if b.large.drop != nil {
		b.large.drop()
	}
	if b.proxy != nil {
		_ = b.proxy.Close()
	}
	b.admin.Close()
	b.mysql.close()
	_ = os.RemoveAll(b.dir)
}

// findNode installs the packages that the scripts need, in the versions of
// their lock file.
func (b *bench) findNode(ctx context.Context) {
	b.nodeDir = "node"
	if _, err := exec.LookPath("node"); err != nil {
		b.noNode = "Node.js is not installed"
		return
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-save", "--no-audit", "--no-fund")
	install.Dir, install.Stdout, install.Stderr = b.nodeDir, os.Stderr, os.Stderr
	if err := install.Run(); err != nil {
		b.noNode = fmt.Sprintf("npm install in bench/node: %v", err)
	}
}

// riverSQLite returns the path of the program for River on SQLite, which is a
// separate program because it has its own requirements.
func (b *bench) riverSQLite() string { return filepath.Join(b.dir, "river-sqlite") }

// command returns the program that executes a request for a system.
func (b *bench) command(ctx context.Context, s system, request string) (*exec.Cmd, error) {
	switch {
	case s.node != "" && b.noNode != "":
		return nil, skippedError(b.noNode)
	case s.node != "":
		interpreter := "node"
		if s.newNode {
			interpreter = "./node_modules/.bin/node"
		}
		cmd := exec.CommandContext(ctx, interpreter, s.node, request)
		cmd.Dir = b.nodeDir
		return cmd, nil
	case s.program == nil:
		return exec.CommandContext(ctx, b.self, "child", request), nil
	}
	program := s.program(b)
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		build := exec.CommandContext(ctx, "go", "build", "-modfile=river/sqlite/go.sqlite.mod", "-o", program, "./river/sqlite/main.go")
		build.Env, build.Stderr = append(os.Environ(), "GOWORK=off"), os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build River for SQLite: %w", err)
		}
	}
	return exec.CommandContext(ctx, program, request), nil
}

// database is the place where one row is measured: it is new, and dropped
// afterwards.
type database struct {
	url         string
	far         string // the same database through the proxy, if there is a proxy
	synchronous string // of SQLite
	mysql       bool
	drop        func()
}

// create makes a database on the server, or, if synchronous is set, a file of
// SQLite.
func (b *bench) create(ctx context.Context, synchronous string) (database, error) {
	b.mu.Lock()
	b.databases++
	name := fmt.Sprintf("bench_%d_%d", os.Getpid(), b.databases)
	b.mu.Unlock()
	if synchronous != "" {
		path := filepath.Join(b.dir, name)
		return database{url: path, far: path, synchronous: synchronous, drop: func() {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
		}}, nil
	}
	if _, err := b.admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return database{}, fmt.Errorf("create a database: %w", err)
	}
	u, err := url.Parse(b.env.url)
	if err != nil {
		return database{}, errors.New("HOURBELL_TEST_POSTGRES_URL is not a URL")
	}
	u.Path = "/" + name
	near := u.String()
	if b.proxy != nil {
		u.Host = b.proxy.Addr()
	}
	return database{url: near, far: u.String(), drop: func() {
		_, _ = b.admin.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)")
	}}, nil
}

// createFor makes a database as create does, with the tables of a system.
func (b *bench) createFor(ctx context.Context, s system, synchronous string) (database, error) {
	var db database
	var err error
	if s.mysql {
		db, err = b.createMySQL(ctx)
	} else {
		db, err = b.create(ctx, synchronous)
	}
	if err != nil {
		return db, err
	}
	if _, err = b.once(ctx, s, db.request(child.Request{Do: child.Setup})); err != nil {
		db.drop()
	}
	return db, err
}

// name returns the database's name on the server.
func (d database) name() string {
	u, err := url.Parse(d.url)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Path, "/")
}

// request completes r for a system on d, for work that is not measured: the
// work uses the server directly.
func (d database) request(r child.Request) child.Request {
	r.URL, r.Synchronous = d.url, d.synchronous
	return r
}

// measured is request for work that is measured: the work goes through the
// proxy, if there is one, unless near is set.
func (d database) measured(r child.Request, near bool) child.Request {
	r = d.request(r)
	if !near {
		r.URL = d.far
	}
	return r
}

// alive returns a function that reports whether there are jobs of s on d whose
// outcome is not in the store.
func (d database) alive(ctx context.Context, s system) (func() (bool, error), func(), error) {
	switch {
	case s.alive == "":
		return oursAlive(ctx, d.request(child.Request{}))
	case d.synchronous != "":
		db, err := sql.Open("sqlite", child.SQLite(d.request(child.Request{})))
		if err != nil {
			return nil, nil, err
		}
		return func() (alive bool, err error) {
			err = db.QueryRowContext(ctx, s.alive).Scan(&alive)
			return alive, err
		}, func() { _ = db.Close() }, nil
	}
	if d.mysql {
		return aliveOnMySQL(ctx, d, s)
	}
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return nil, nil, err
	}
	return func() (alive bool, err error) {
		err = conn.QueryRow(ctx, s.alive).Scan(&alive)
		return alive, err
	}, func() { _ = conn.Close(context.WithoutCancel(ctx)) }, nil
}
