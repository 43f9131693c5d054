package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// tick is the unit of the times in /proc: 10 ms.
const tick = 10 * time.Millisecond

// stat has figures of a process from /proc.
type stat struct {
	parent   int
	cpu      time.Duration
	children time.Duration // CPU time of child processes that have ended
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The name in brackets may contain any bytes.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	number := func(i int) int {
		n, _ := strconv.Atoi(fields[i-3]) // fields are numbered from 1, and the first two are cut off
		return n
	}
	return stat{
		parent:   number(4),
		cpu:      time.Duration(number(14)+number(15)) * tick,
		children: time.Duration(number(16)+number(17)) * tick,
	}, nil
}

// cpuOf returns the CPU time of a process; 0 if the process has ended.
func cpuOf(pid int) time.Duration {
	s, _ := readStat(pid)
	return s.cpu
}

// memoryOf returns how much memory a process uses, in bytes.
func memoryOf(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	return float64(pages * os.Getpagesize()), err
}

// busy returns how long all cores together have worked.
func busy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var total int
	for i, field := range strings.Fields(line)[1:] {
		if i == 3 || i == 4 || i > 7 { // idle, waiting for the disk, guests (counted in other columns)
			continue
		}
		n, _ := strconv.Atoi(field)
		total += n
	}
	return time.Duration(total) * tick
}

// server is the process number of PostgreSQL's first process; 0: the server is
// not on this machine.
type server int

func findServer(ctx context.Context, pool *pgxpool.Pool) (server, error) {
	var backend int
	var fsync, commit string
	if err := pool.QueryRow(ctx, "SELECT pg_backend_pid(), current_setting('fsync'), current_setting('synchronous_commit')").
		Scan(&backend, &fsync, &commit); err != nil {
		return 0, fmt.Errorf("read the state of the server: %w", err)
	}
	if fsync != "on" || commit != "on" {
		return 0, errors.New("the server has fsync or synchronous_commit off: its figures would not be comparable; make bench starts a server that has both on")
	}
	s, err := readStat(backend)
	if err != nil {
		return 0, nil //nolint:nilerr // the server is elsewhere: then its CPU time is not known
	}
	return server(s.parent), nil
}

// cpu returns the CPU time of all processes of the server, including processes
// that have ended.
func (s server) cpu() time.Duration {
	if s == 0 {
		return 0
	}
	for {
		before, err := readStat(int(s))
		if err != nil {
			return 0
		}
		total := before.cpu + before.children
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			if p, err := readStat(pid); err == nil && p.parent == int(s) {
				total += p.cpu
			}
		}
		if after, err := readStat(int(s)); err == nil && after.children == before.children {
			return total // otherwise a process has ended since the list was read: count again
		}
	}
}

// metrics are figures by name.
type metrics map[string]float64

// meter measures the time and the cost between begin and end.
type meter struct {
	engine engine
	pids   []int
	start  time.Time
	client time.Duration
	server time.Duration
	busy   time.Duration
	own    time.Duration
	wal    float64
}

// engine is the server on which a row is measured.
type engine interface {
	// checkpoint lets the server write what earlier rows left.
	checkpoint(ctx context.Context) error
	// logged returns how many bytes the server has written to its log.
	logged(ctx context.Context) (float64, error)
	// cpu returns the CPU time of the server; 0: it is not on this machine.
	cpu() time.Duration
}

// begin starts to measure on PostgreSQL; see beginOn.
func (b *bench) begin(ctx context.Context, pids ...int) (*meter, error) {
	return b.beginOn(ctx, database{}, pids...)
}

// beginOn makes a checkpoint and starts to measure; pids are the clients.
func (b *bench) beginOn(ctx context.Context, db database, pids ...int) (*meter, error) {
	m := &meter{engine: b.engineOf(db), pids: pids}
	if err := m.engine.checkpoint(ctx); err != nil {
		return nil, err
	}
	var err error
	if m.wal, err = m.engine.logged(ctx); err != nil {
		return nil, err
	}
	m.client, m.server, m.busy, m.own, m.start = m.clients(), m.engine.cpu(), busy(), cpuOf(os.Getpid()), time.Now()
	return m, nil
}

// engineOf returns the server of a database. SQLite has none, and is measured beside an idle PostgreSQL.
func (b *bench) engineOf(db database) engine {
	if db.mysql {
		return b.mysql
	}
	return postgresEngine{b}
}

// postgresEngine is the PostgreSQL of a bench.
type postgresEngine struct{ b *bench }

func (e postgresEngine) checkpoint(ctx context.Context) error {
	_, err := e.b.admin.Exec(ctx, "CHECKPOINT")
	return err
}

func (e postgresEngine) logged(ctx context.Context) (bytes float64, err error) {
	err = e.b.admin.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8").Scan(&bytes)
	return bytes, err
}

func (e postgresEngine) cpu() time.Duration { return e.b.server.cpu() }

func (m *meter) clients() time.Duration {
	var total time.Duration
	for _, pid := range m.pids {
		total += cpuOf(pid)
	}
	return total
}

// end returns the cost of n jobs in the given time. ended is the CPU time of
// clients that have ended.
func (m *meter) end(ctx context.Context, n int, took, ended time.Duration) (metrics, error) {
	client, server := m.clients()-m.client+ended, m.engine.cpu()-m.server
	foreign := busy() - m.busy - client - server - (cpuOf(os.Getpid()) - m.own)
	whole := time.Since(m.start).Seconds() * float64(runtime.NumCPU())
	wal, err := m.engine.logged(ctx)
	if err != nil {
		return nil, err
	}
	jobs := float64(n)
	return metrics{
		"jobs/s":    jobs / took.Seconds(),
		"client µs": micros(client) / jobs,
		"server µs": micros(server) / jobs,
		"WAL B":     (wal - m.wal) / jobs,
		"foreign %": max(0, 100*foreign.Seconds()/whole),
	}, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
