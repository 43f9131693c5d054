package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/jackc/pgx/v5"
)

// drain describes how jobs are worked.
type drain struct {
	system      string
	mode        string
	processes   int // 0: one
	jobs        int
	order       child.Order
	edges       child.Edges
	limit       child.Limit
	held        bool   // while another session holds a snapshot from before the jobs were inserted
	lockWaits   bool   // find the longest wait for a lock
	unique      bool   // each job has a unique key
	delay       int    // seconds until the jobs are due
	later       int    // so many jobs are due in an hour
	parked      int    // so many jobs wait for a signal
	steps       int    // each job takes so many steps, which are counted instead of the jobs
	until       int    // stop after this many jobs; 0: when the last outcome is stored
	dead        int    // jobs worked before the measurement, under a snapshot that stays open
	synchronous string // the setting of SQLite
	near        bool   // without the delay of the network
	ownTx       bool   // each worker completes its job in a transaction with an effect
	workers     int    // how many jobs run at once; 0: the best setting for the system
}

// request returns the request for a node.
func (d drain) request() child.Request {
	req := child.Request{Do: child.Work, Mode: d.mode, Workers: d.workers, Limit: d.limit, Steps: d.steps}
	if d.ownTx {
		req.InTx, req.Connections = true, txConnections
	}
	if d.steps > 0 {
		req.Connections = connections
	}
	return req
}

// backlogPart returns how many jobs of the large backlog are worked.
func (b *bench) backlogPart() int { return min(b.env.backlog, 3*b.env.jobs) }

func (b *bench) drain(ctx context.Context, d drain) (metrics, error) {
	s := named(d.system)
	db, err := b.createFor(ctx, s, d.synchronous)
	if err != nil {
		return nil, err
	}
	defer db.drop()
	if d.ownTx {
		if err := bareExec(ctx, db, effectTable); err != nil {
			return nil, err
		}
	}
	if d.dead > 0 {
		release, err := holdSnapshot(ctx, db)
		if err != nil {
			return nil, err
		}
		defer release()
		if err := b.makeDead(ctx, db, s, d); err != nil {
			return nil, err
		}
	}
	if d.held {
		release, err := holdSnapshot(ctx, db)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	before, err := b.engineOf(db).logged(ctx)
	if err != nil {
		return nil, err
	}
	if d.later > 0 {
		if err := b.fill(ctx, db, s, drain{jobs: d.later, delay: 3600}); err != nil {
			return nil, err
		}
	}
	if d.parked > 0 {
		if err := b.park(ctx, db, s, d.parked); err != nil {
			return nil, err
		}
	}
	if err := b.fill(ctx, db, s, d); err != nil {
		return nil, err
	}
	after, err := b.engineOf(db).logged(ctx)
	if err != nil {
		return nil, err
	}
	if err := analyze(ctx, db); err != nil {
		return nil, err
	}
	stop := func() (float64, error) { return 0, nil }
	if d.lockWaits {
		if stop, err = watchLocks(ctx, db); err != nil {
			return nil, err
		}
	}
	m, err := b.workOff(ctx, db, s, d)
	longest, watched := stop()
	if err = cmp.Or(err, watched); err == nil && d.lockWaits {
		m[lockWait] = longest
	}
	if err == nil && d.ownTx {
		err = checkEffects(ctx, db, int(m["done"]), m["cut"] > 0)
	}
	if err == nil {
		m["WAL B insert"] = (after - before) / float64(d.jobs)
		m["WAL B insert + work"] = m["WAL B insert"] + m["WAL B"]
	}
	return m, err
}

// fill inserts the jobs of d, which are due, as fast as possible.
func (b *bench) fill(ctx context.Context, db database, s system, d drain) error {
	req := child.Request{Do: child.Insert, Jobs: d.jobs, Batch: 1000, Clients: 1, Order: d.order, Edges: d.edges, Limit: d.limit, Delay: d.delay}
	if d.unique {
		req.Unique, req.Batch, req.Clients, req.Connections = true, 1, connections, connections
	}
	_, err := b.once(ctx, s, db.request(req))
	return err
}

// analyze updates the statistics of a database on a server, so that no system is
// measured with query plans for the empty table that existed before.
func analyze(ctx context.Context, db database) error {
	switch {
	case db.synchronous != "":
		return nil
	case db.mysql:
		return analyzeMySQL(ctx, db)
	}
	return bareExec(ctx, db, "ANALYZE")
}

// holdSnapshot keeps a transaction open that sees the present state of the
// database.
func holdSnapshot(ctx context.Context, db database) (release func(), err error) {
	if db.mysql {
		return holdMySQLSnapshot(ctx, db)
	}
	conn, err := pgx.Connect(ctx, db.url)
	if err != nil {
		return nil, err
	}
	release = func() { _ = conn.Close(context.WithoutCancel(ctx)) }
	_, err = conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
	if err != nil {
		release()
	}
	return release, err
}

// makeDead works jobs that leave dead rows behind.
func (b *bench) makeDead(ctx context.Context, db database, s system, d drain) error {
	if err := b.fill(ctx, db, s, drain{jobs: d.dead}); err != nil {
		return err
	}
	if err := analyze(ctx, db); err != nil {
		return err
	}
	before := drain{mode: d.mode, jobs: d.dead}
	m, err := b.workOff(ctx, db, s, before)
	if err == nil && m["cut"] > 0 {
		return fmt.Errorf("under the snapshot it worked %s of the %s earlier jobs in %s",
			thousands(int(m["done"])), thousands(d.dead), b.deadLimit())
	}
	return err
}

// deadLimit returns how long the jobs before the measured jobs may take.
func (b *bench) deadLimit() time.Duration { return 3 * b.env.limit }

// workOff runs nodes until the jobs on db have ended, or the limit has passed;
// then the rate is the rate until the limit.
func (b *bench) workOff(ctx context.Context, db database, s system, d drain) (metrics, error) {
	var nodes []*process
	defer func() {
		for _, p := range nodes {
			p.end()
		}
	}()
	var pids []int
	for range max(1, d.processes) {
		p, err := b.start(ctx, s, db.measured(d.request(), d.near))
		if err != nil {
			return nil, err
		}
		nodes, pids = append(nodes, p), append(pids, p.cmd.Process.Pid)
	}
	alive, closeAlive, err := db.alive(ctx, s)
	if err != nil {
		return nil, err
	}
	defer closeAlive()

	meter, err := b.beginOn(ctx, db, pids...)
	if err != nil {
		return nil, err
	}
	for _, p := range nodes {
		if err := p.begin(); err != nil {
			return nil, err
		}
	}
	limit := b.env.limit
	if d.until == 0 && d.dead == 0 && d.jobs == b.env.dead {
		limit = b.deadLimit()
	}
	target := d.jobs
	if d.until > 0 {
		target = d.until
	}
	done, err := count(ctx, nodes, target, limit)
	if err != nil {
		return nil, err
	}
	cut := done < target
	for !cut && d.until == 0 && ctx.Err() == nil {
		left, err := alive()
		if err != nil {
			return nil, err
		}
		if !left {
			break
		}
		if cut = time.Since(meter.start) > limit+5*time.Second; cut {
			return nil, fmt.Errorf("%d functions have run, but not all outcomes are in the store", done)
		}
		time.Sleep(2 * time.Millisecond)
	}
	m, err := meter.end(ctx, done, time.Since(meter.start), 0)
	if err == nil {
		m["done"] = float64(done)
		if cut {
			m["cut"] = 1
		}
	}
	return m, err
}

// count waits until all nodes together have run target functions, or the limit
// has passed, and returns how many functions have run.
func count(ctx context.Context, nodes []*process, target int, limit time.Duration) (int, error) {
	type progress struct{ node, ended int }
	all := make(chan progress)
	done := make(chan struct{})
	defer close(done)
	for i, p := range nodes {
		go func() {
			for {
				select {
				case e, ok := <-p.events:
					if !ok {
						e.Ended = -1
					}
					select {
					case all <- progress{i, e.Ended}:
					case <-done:
						return
					}
					if !ok {
						return
					}
				case <-done:
					return
				}
			}
		}()
	}
	ended := make([]int, len(nodes))
	timeout := time.After(limit)
	for sum := 0; ; {
		select {
		case p := <-all:
			if p.ended < 0 {
				return sum, fmt.Errorf("%s ended early: %w", nodes[p.node].name, nodes[p.node].err)
			}
			ended[p.node] = p.ended
			sum = 0
			for _, n := range ended {
				sum += n
			}
			if sum >= target {
				return sum, nil
			}
		case <-timeout:
			return sum, nil
		case <-ctx.Done():
			return sum, ctx.Err()
		}
	}
}
