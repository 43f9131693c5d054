package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hourbell/hourbell/bench/child"
)

// cells returns all cells. Over a network, cells without PostgreSQL are left
// out, and Hourbell without the network becomes an additional row to compare
// with.
func cells(b *bench) []cell {
	all := localCells(b)
	if b.env.delay == 0 {
		return all
	}
	all = slices.DeleteFunc(all, func(c cell) bool { return strings.HasPrefix(c.name, "sqlite-") || strings.HasPrefix(c.name, "mysql-") })
	for i := range all {
		c := &all[i]
		c.far = true
		c.title += fmt.Sprintf(", with a network of %s each way", b.env.delay)
		switch c.name {
		case "drain":
			c.rows = slices.Insert(c.rows, 0, b.drainRow(loopback, drain{system: "hourbell", near: true}))
		case "insert":
			c.rows = slices.Insert(c.rows, 0, b.nearInsertRow(loopback, "hourbell", child.Request{Clients: 8}))
		default:
			continue
		}
		c.yardsticks = append([]string{loopback}, c.yardsticks...)
	}
	return all
}

// loopback is the row of Hourbell without the network.
const loopback = "hourbell, without the network"

// localCells returns all cells, with clients and server on one machine.
func localCells(b *bench) []cell {
	return append([]cell{
		{
			name: "drain", title: fmt.Sprintf("Drain %s no-op jobs, from the start of the node until the last outcome is in the store", thousands(b.env.jobs)),
			metrics:    []string{"jobs/s", "client µs", "server µs", "WAL B", "WAL B insert + work", "foreign %"},
			yardsticks: []string{"hourbell", "river", "gue", "graphile-worker", bareDelete},
			rows: []row{
				b.drainRow("hourbell", drain{system: "hourbell"}),
				b.drainRow("hourbell, two processes", drain{system: "hourbell", processes: 2}),
				b.drainRow("hourbell, with unique keys", drain{system: "hourbell", unique: true}),
				b.drainRow("hourbell, history none", drain{system: "hourbell", mode: historyNone}),
				b.drainRow("river", drain{system: "river"}),
				b.drainRow("river, default settings", drain{system: "river", mode: "default"}),
				b.drainRow("gue", drain{system: "gue"}),
				b.drainRow("graphile-worker", drain{system: "graphile-worker"}),
				b.drainRow("graphile-worker, two processes", drain{system: "graphile-worker", processes: 2}),
				b.drainRow("pg-boss", drain{system: "pg-boss"}),
				b.bareDrainRow(bareDelete, "claim_delete", 0),
				b.bareDrainRow(bareHOT, "claim_hot", 0),
			},
		},
		b.ownTxCell(),
		b.middlewareCell(),
		b.edgesCell(),
		b.limitsCell(),
		b.strangersCell(),
		b.hoursCell(),
		{
			name: "snapshot", title: fmt.Sprintf("The same while another session holds a snapshot from before %s jobs were inserted and worked", thousands(b.env.dead)),
			metrics: throughput, yardsticks: []string{undisturbed, "graphile-worker", "pg-boss"},
			rows: []row{
				b.drainRow(undisturbed, drain{system: "hourbell"}),
				b.drainRow("hourbell", drain{system: "hourbell", dead: b.env.dead}),
				b.drainRow("river", drain{system: "river", dead: b.env.dead}),
				b.drainRow("gue", drain{system: "gue", dead: b.env.dead}),
				b.drainRow("graphile-worker", drain{system: "graphile-worker", dead: b.env.dead}),
				b.drainRow("pg-boss", drain{system: "pg-boss", dead: b.env.dead}),
				b.bareDrainRow(bareDelete, "claim_delete", b.env.dead),
				b.bareDrainRow(bareHOT, "claim_hot", b.env.dead),
			},
		},
		{
			name: "backlog", title: fmt.Sprintf("Drain out of %s jobs that came in the order in which they are due, and in "+
				"others (the first %s of them)", thousands(b.env.backlog), thousands(b.backlogPart())),
			metrics: throughput, yardsticks: []string{"hourbell, " + thousands(b.env.jobs), "hourbell, backlog"},
			rows: []row{
				b.drainRow("hourbell, "+thousands(b.env.jobs), drain{system: "hourbell"}),
				b.drainRow("hourbell, backlog", drain{system: "hourbell", jobs: b.env.backlog, until: b.backlogPart()}),
				b.drainRow("hourbell, backlog of four priorities", drain{system: "hourbell", jobs: b.env.backlog, until: b.backlogPart(), order: child.Priority4}),
				b.drainRow("hourbell, backlog with run_at scattered", drain{system: "hourbell", jobs: b.env.backlog, until: b.backlogPart(), order: child.Scattered}),
			},
		},
		{
			name: "insert", title: "Insert one row a transaction, 8 clients",
			metrics: throughput, yardsticks: []string{bareInsert, bareNotify},
			rows: []row{
				b.insertRow("hourbell", "hourbell", child.Request{Clients: 8}),
				b.insertRow("hourbell, in the caller's transaction", "hourbell", child.Request{Clients: 8, InTx: true}),
				b.insertRow("hourbell, in the caller's transaction, with unique keys", "hourbell", child.Request{Clients: 8, InTx: true, Unique: true}),
				b.insertRow("river", "river", child.Request{Clients: 8}),
				b.insertRow("river, in the caller's transaction", "river", child.Request{Clients: 8, InTx: true}),
				b.insertRow("gue", "gue", child.Request{Clients: 8}),
				b.insertRow("graphile-worker", "graphile-worker", child.Request{Clients: 8}),
				b.insertRow("pg-boss", "pg-boss", child.Request{Clients: 8}),
				b.bareInsertRow(bareInsert, "insert"),
				b.bareInsertRow(bareNotify, "insert_notify"),
			},
		},
		{
			name: "callers", title: "Insert in callers' transactions of three round trips, 8 clients",
			metrics: throughput, yardsticks: []string{bareCaller, bareCaller + slow, bareCaller + manyOpen},
			rows: b.callersRows(),
		},
		{
			name: "callers-latency", title: "From before BEGIN in the caller's transaction to the start of the function, one job a transaction",
			metrics: latencies,
			rows: []row{
				b.latencyOf("hourbell, 50 a second", "hourbell", child.Request{Rate: 50, Batch: 1, InTx: true}),
				b.latencyOf("hourbell, 2,000 a second", "hourbell", child.Request{Rate: 2000, Batch: 1, InTx: true, Clients: connections, Connections: connections}),
			},
		},
		{
			name: "insert-many", title: "Insert 1,000 a call, one client",
			metrics: throughput, yardsticks: []string{bareUnnest},
			rows: []row{
				b.insertRow("hourbell", "hourbell", child.Request{Batch: 1000, Jobs: b.env.jobs}),
				b.insertRow("river", "river", child.Request{Batch: 1000, Jobs: b.env.jobs}),
				b.insertRow("river, by COPY", "river", child.Request{Batch: 1000, Jobs: b.env.jobs, Mode: "copy"}),
				b.insertRow("gue", "gue", child.Request{Batch: 1000, Jobs: b.env.jobs}),
				b.insertRow("graphile-worker", "graphile-worker", child.Request{Batch: 1000, Jobs: b.env.jobs}),
				b.insertRow("pg-boss", "pg-boss", child.Request{Batch: 1000, Jobs: b.env.jobs}),
				b.bareUnnestRow(bareUnnest),
			},
		},
		{
			name: "burst", title: "A burst of single enqueues from many goroutines, 8 connections",
			metrics: throughput, yardsticks: []string{bareInsert},
			rows: []row{
				b.insertRow("hourbell, 100 goroutines", "hourbell", child.Request{Clients: 100}),
				b.insertRow("hourbell, 1,000 goroutines", "hourbell", child.Request{Clients: 1000}),
				b.insertRow("river, 100 goroutines", "river", child.Request{Clients: 100}),
				b.insertRow("gue, 100 goroutines", "gue", child.Request{Clients: 100}),
				b.bareInsertRow(bareInsert, "insert"),
			},
		},
		{
			name: "latency", title: "From the call that enqueues to the start of the function, 50 jobs a second, one a call",
			metrics: latencies, yardsticks: []string{"graphile-worker"},
			rows: []row{
				b.latencyRow("hourbell", "hourbell", "", 50, 1),
				b.latencyRow("river", "river", "", 50, 1),
				b.latencyRow("river, default settings", "river", "default", 50, 1),
				b.latencyRow("gue", "gue", "", 50, 1),
				b.latencyRow("graphile-worker", "graphile-worker", "", 50, 1),
				b.latencyRow("pg-boss", "pg-boss", "", 50, 1),
			},
		},
		{
			name: "latency-busy", title: "The same at 50,000 jobs a second, 250 a call",
			metrics: append(latencies, "jobs/s"),
			rows:    []row{b.latencyRow("hourbell", "hourbell", "", 50_000, 250)},
		},
		{
			name: "idle", title: "Transactions a second of a node without work", once: true, together: true,
			metrics: []string{"tx/s"},
			rows: []row{
				b.idleRow("hourbell", "hourbell", ""),
				b.idleRow("hourbell, 100 nodes", "hourbell", hundredNodes),
				b.idleRow("river", "river", ""),
				b.idleRow("river, default settings", "river", "default"),
				b.idleRow("gue", "gue", ""),
				b.idleRow("graphile-worker", "graphile-worker", ""),
				b.idleRow("pg-boss", "pg-boss", ""),
				b.withoutNodeRow("hourbell"),
			},
		},
		{
			name: "schedules", title: fmt.Sprintf("From the instant of a schedule to the start of the function, some of %s "+
				"schedules due at one instant", thousands(b.env.schedules)),
			metrics: latencies, yardsticks: []string{"gocron, in memory, 1,000 due"},
			rows: []row{
				b.schedulesRow("hourbell, 1,000 due", "hourbell", 1000),
				b.schedulesRow("river, in memory, 1,000 due", "river", 1000),
				b.schedulesRow("gocron, in memory, 1,000 due", "gocron", 1000),
				b.schedulesRow("hourbell, 20,000 due", "hourbell", 20_000),
			},
		},
		{
			name: "memory", title: "Memory of a node's process", once: true,
			metrics: []string{"MB"},
			rows: []row{
				b.memoryRow("hourbell, no jobs", "hourbell", 0, 0),
				b.memoryRow("hourbell, 100,000 jobs wait", "hourbell", 100_000, 0),
				b.memoryRow("hourbell, 2,000 jobs run", "hourbell", 0, 2000),
				b.memoryRow("river, no jobs", "river", 0, 0),
				b.memoryRow("river, 2,000 jobs run", "river", 0, 2000),
			},
		},
		{
			name: "sqlite-drain", title: fmt.Sprintf("SQLite: drain %s no-op jobs", thousands(b.env.jobs)),
			metrics: onSQLite, yardsticks: []string{"river NORMAL", "river FULL"},
			rows: b.bothModes(func(name, system, mode string) row {
				return b.drainRow(name, drain{system: system, synchronous: mode})
			}),
		},
		{
			name: "sqlite-insert", title: "SQLite: enqueue one a call, 8 goroutines, and Hourbell with more goroutines",
			metrics: onSQLite, yardsticks: []string{"backlite NORMAL", "backlite FULL"},
			rows: append(b.bothModes(func(name, system, mode string) row {
				return b.sqliteInsertRow(name, system, mode, 8)
			}),
				b.sqliteInsertRow("hourbell NORMAL, 100 goroutines", "hourbell", "NORMAL", 100),
				b.sqliteInsertRow("hourbell FULL, 100 goroutines", "hourbell", "FULL", 100),
				b.sqliteInsertRow("hourbell NORMAL, 1,000 goroutines", "hourbell", "NORMAL", 1000),
				b.sqliteInsertRow("hourbell FULL, 1,000 goroutines", "hourbell", "FULL", 1000),
			),
		},
	}, slices.Concat(b.mysqlCells(), b.pagesCells(), b.stepsCells())...)
}

// undisturbed is the drain with which the drain under an old snapshot is
// compared.
const undisturbed = "hourbell, no snapshot"

var onSQLite = []string{"jobs/s", "client µs", "foreign %"}

// bothModes makes a row for each system on SQLite and each mode.
func (b *bench) bothModes(of func(name, system, mode string) row) []row {
	var rows []row
	for _, mode := range []string{"NORMAL", "FULL"} {
		rows = append(rows, of("hourbell "+mode, "hourbell", mode), of("river "+mode, "river-sqlite", mode),
			of("backlite "+mode, "backlite", mode), of("goqite "+mode, "goqite", mode))
	}
	return rows
}

// drainRow measures how fast jobs are worked.
func (b *bench) drainRow(name string, d drain) row {
	if d.jobs == 0 {
		d.jobs = b.env.jobs
	}
	return row{name, func(ctx context.Context) (metrics, error) { return b.drain(ctx, d) }}
}
