package main

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/bench/child"
)

// connections is the number of connections, which equals the number of
// pgbench's clients.
const connections = 8

// insertRow measures how fast jobs are enqueued; no node runs.
func (b *bench) insertRow(name, system string, req child.Request) row {
	req.Connections = connections
	return row{name, func(ctx context.Context) (metrics, error) { return b.insert(ctx, named(system), req, false) }}
}

// nearInsertRow is insertRow without the delay of the network.
func (b *bench) nearInsertRow(name, system string, req child.Request) row {
	req.Connections = connections
	return row{name, func(ctx context.Context) (metrics, error) { return b.insert(ctx, named(system), req, true) }}
}

// sqliteInsertRow is insertRow on SQLite, with one job per call.
func (b *bench) sqliteInsertRow(name, system, synchronous string, clients int) row {
	return row{name, func(ctx context.Context) (metrics, error) {
		return b.insert(ctx, named(system), child.Request{Clients: clients, Synchronous: synchronous}, false)
	}}
}

func (b *bench) insert(ctx context.Context, s system, req child.Request, near bool) (metrics, error) {
	req.Do = child.Insert
	req.Clients, req.Batch = max(1, req.Clients), max(1, req.Batch)
	if req.Jobs == 0 {
		req.Jobs = b.env.inserts
	}
	db, err := b.createFor(ctx, s, req.Synchronous)
	if err != nil {
		return nil, err
	}
	defer db.drop()
	p, err := b.start(ctx, s, db.measured(req, near))
	if err != nil {
		return nil, err
	}
	defer p.end()
	m, err := b.beginOn(ctx, db, p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	if err := p.begin(); err != nil {
		return nil, err
	}
	e, err := p.final()
	if err != nil {
		return nil, err
	}
	return m.end(ctx, e.Ended, time.Duration(e.Seconds*float64(time.Second)), 0)
}
