package main

import (
	"context"

	"github.com/hourbell/hourbell/bench/child"
)

// system is one job queue.
type system struct {
	name string
	open func(context.Context, child.Request) (child.System, error) // opens the system in this program
	// A system that open cannot open has a script in ../node, or a program of
	// its own.
	node    string
	newNode bool // node needs the Node.js that ../node/package.json names
	program func(*bench) string
	// alive is a query that reports whether there are jobs whose outcome is not
	// in the store. For Hourbell the client is used instead.
	alive string
	mysql bool // it is measured on MySQL
}

const (
	riverAlive    = "SELECT EXISTS (SELECT 1 FROM river_job WHERE state NOT IN ('completed', 'scheduled'))"
	graphileAlive = "SELECT EXISTS (SELECT 1 FROM graphile_worker._private_jobs)"
	pgBossAlive   = "SELECT EXISTS (SELECT 1 FROM pgboss.job WHERE name = 'noop' AND state < 'completed')"
)

var systems = []system{
	{name: "hourbell", open: openOurs},
	{name: "river", open: openRiver, alive: riverAlive},
	{name: "river-sqlite", program: (*bench).riverSQLite, alive: riverAlive},
	{name: "gue", open: openGue, alive: "SELECT EXISTS (SELECT 1 FROM gue_jobs)"},
	{name: "graphile-worker", node: "graphile-worker.mjs", alive: graphileAlive},
	{name: "pg-boss", node: "pg-boss.mjs", alive: pgBossAlive},
	{name: "pg-boss-12", node: "pg-boss-12.mjs", newNode: true, alive: pgBossAlive},
	{name: "goqite", open: openGoqite, alive: "SELECT EXISTS (SELECT 1 FROM goqite)"},
	{name: "backlite", open: openBacklite, alive: "SELECT EXISTS (SELECT 1 FROM backlite_tasks)"},
	{name: "gocron", open: openGocron},
	{name: oursOnMySQL, open: openOurs, mysql: true},
	{name: bareOnMySQL, open: openBareMySQL, mysql: true, alive: "SELECT EXISTS (SELECT 1 FROM job)"},
}

// named returns the system with a name.
func named(name string) system {
	for _, s := range systems {
		if s.name == name {
			return s
		}
	}
	panic("no system is called " + name)
}
