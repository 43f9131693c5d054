package main

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell/bench/child"
)

var latencies = []string{"p50 ms", "p99 ms", "max ms"}

// warm is how many seconds at the start of a steady rate do not count for
// latencies: new connections load the catalogue and make their query plans, and
// the jobs that this delays must be caught up with.
const warm = 2

// latencyRow measures the time from the call that enqueues, in one process, to
// the start of the function, in another process.
func (b *bench) latencyRow(name, system, mode string, rate, batch int) row {
	return b.latencyOf(name, system, child.Request{Mode: mode, Rate: rate, Batch: batch})
}

// latencyOf is latencyRow for inserts with other settings.
func (b *bench) latencyOf(name, system string, insert child.Request) row {
	return row{name, func(ctx context.Context) (metrics, error) {
		return b.latency(ctx, named(system), insert)
	}}
}

func (b *bench) latency(ctx context.Context, s system, insert child.Request) (metrics, error) {
	mode, rate := insert.Mode, insert.Rate
	db, err := b.createFor(ctx, s, "")
	if err != nil {
		return nil, err
	}
	defer db.drop()
	node, err := b.node(ctx, s, db.measured(child.Request{Do: child.Work, Mode: mode, Rate: rate, Warm: warm * rate}, false), 3*time.Second)
	if err != nil {
		return nil, err
	}
	defer node.end()
	meter, err := b.beginOn(ctx, db, node.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	insert.Do, insert.Mode, insert.Jobs = child.Insert, "", rate*(warm+b.env.latencySeconds)
	insert.Clients, insert.Connections = max(insert.Clients, 2), max(insert.Connections, 2)
	sent, err := b.once(ctx, s, db.measured(insert, false))
	if err != nil {
		return nil, err
	}
	if _, err := count(ctx, []*process{node}, sent.Ended, b.env.limit); err != nil {
		return nil, err
	}
	m, err := meter.end(ctx, sent.Ended, time.Duration(sent.Seconds*float64(time.Second)), 0)
	if err != nil {
		return nil, err
	}
	last, err := node.stop()
	if err != nil {
		return nil, err
	}
	if last.Ended < sent.Ended {
		return nil, errors.New("not all jobs had started at the end")
	}
	m["p50 ms"], m["p99 ms"], m["max ms"] = last.P50, last.P99, last.Max
	return m, nil
}

// ownLatency measures the time from the call that enqueues to the start of the function in the same process, which
// enqueues rate jobs a second, one a call.
func (b *bench) ownLatency(ctx context.Context, s system, rate int) (metrics, error) {
	db, err := b.createFor(ctx, s, "")
	if err != nil {
		return nil, err
	}
	defer db.drop()
	all := rate * (warm + b.env.latencySeconds)
	req := child.Request{Do: child.Work, Own: true, Rate: rate, Batch: 1, Clients: 2, Jobs: all, Warm: warm * rate}
	node, err := b.node(ctx, s, db.measured(req, false), 0)
	if err != nil {
		return nil, err
	}
	defer node.end()
	if _, err := count(ctx, []*process{node}, all, time.Duration(warm+b.env.latencySeconds)*time.Second+b.env.limit); err != nil {
		return nil, err
	}
	last, err := node.stop()
	if err != nil {
		return nil, err
	}
	if last.Ended < all {
		return nil, errors.New("not all jobs had started at the end")
	}
	return metrics{"p50 ms": last.P50, "p99 ms": last.P99, "max ms": last.Max}, nil
}

// node starts a node and waits until it has settled.
func (b *bench) node(ctx context.Context, s system, req child.Request, settle time.Duration) (*process, error) {
	p, err := b.start(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if err := p.begin(); err != nil {
		p.end()
		return nil, err
	}
	if err := rest(ctx, settle); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// rest waits for a time, or until ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// schedulesRow measures the time from the instant of schedules to the start of
// their functions.
func (b *bench) schedulesRow(name, system string, due int) row {
	return row{name, func(ctx context.Context) (metrics, error) { return b.schedules(ctx, named(system), due) }}
}

func (b *bench) schedules(ctx context.Context, s system, due int) (metrics, error) {
	db, err := b.createFor(ctx, s, "")
	if err != nil {
		return nil, err
	}
	defer db.drop()
	stored := s.name == "hourbell" || s.name == oursOnMySQL
	req := child.Request{Schedules: b.env.schedules, Due: due}
	if stored { // the schedules that are not due take long, and are stored first
		far := child.Request{Do: child.Insert, Schedules: req.Schedules - due, First: due, At: time.Now().Add(time.Hour).UnixMicro()}
		if _, err := b.once(ctx, s, db.request(far)); err != nil {
			return nil, err
		}
	}
	at := time.Now().Add(time.Duration(b.env.leadSec) * time.Second)
	req.At = at.UnixMicro()
	if stored {
		soon := child.Request{Do: child.Insert, Schedules: due, Due: due, At: req.At}
		if _, err := b.once(ctx, s, db.request(soon)); err != nil {
			return nil, err
		}
	}
	req.Do = child.Work
	node, err := b.node(ctx, s, db.measured(req, false), 0)
	if err != nil {
		return nil, err
	}
	defer node.end()
	if _, err := b.beginOn(ctx, db); err != nil { // makes a checkpoint
		return nil, err
	}
	if _, err := count(ctx, []*process{node}, due, time.Until(at)+b.env.limit); err != nil {
		return nil, err
	}
	last, err := node.stop()
	if err != nil {
		return nil, err
	}
	if last.Ended < due {
		return nil, errors.New("not all functions had started at the end")
	}
	return metrics{"p50 ms": last.P50, "p99 ms": last.P99, "max ms": last.Max}, nil
}
