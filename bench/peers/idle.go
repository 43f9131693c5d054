package main

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/bench/child"
)

// withoutNode is the name of the row of a database that no node uses:
// PostgreSQL itself causes the transactions that are counted there.
const withoutNode = "no node"

// idleRow counts the transactions of a node without work.
func (b *bench) idleRow(name, system, mode string) row {
	return row{name, func(ctx context.Context) (metrics, error) { return b.idle(ctx, named(system), mode, true) }}
}

// withoutNodeRow counts the transactions of a database with the tables of a
// system and no node.
func (b *bench) withoutNodeRow(system string) row {
	return row{withoutNode, func(ctx context.Context) (metrics, error) { return b.idle(ctx, named(system), "", false) }}
}

func (b *bench) idle(ctx context.Context, s system, mode string, used bool) (metrics, error) {
	const settle, watch = time.Minute, 5 * time.Minute
	db, err := b.createFor(ctx, s, "")
	if err != nil {
		return nil, err
	}
	defer db.drop()
	if used {
		node, err := b.node(ctx, s, db.measured(child.Request{Do: child.Work, Mode: mode}, false), settle)
		if err != nil {
			return nil, err
		}
		defer node.end()
	} else if err := rest(ctx, settle); err != nil {
		return nil, err
	}
	transactions := func() (n float64, err error) {
		err = b.admin.QueryRow(ctx, "SELECT (xact_commit + xact_rollback)::float8 FROM pg_stat_database WHERE datname = $1", db.name()).Scan(&n)
		return n, err
	}
	before, err := transactions()
	if err != nil {
		return nil, err
	}
	if err := rest(ctx, watch); err != nil {
		return nil, err
	}
	after, err := transactions()
	return metrics{"tx/s": (after - before) / watch.Seconds()}, err
}

// memoryRow measures how much memory a node uses while some jobs wait for their
// due time, or run.
func (b *bench) memoryRow(name, system string, waiting, running int) row {
	return row{name, func(ctx context.Context) (metrics, error) {
		return b.memory(ctx, named(system), waiting, running)
	}}
}

func (b *bench) memory(ctx context.Context, s system, waiting, running int) (metrics, error) {
	db, err := b.createFor(ctx, s, "")
	if err != nil {
		return nil, err
	}
	defer db.drop()
	insert := child.Request{Do: child.Insert, Jobs: max(waiting, running), Batch: 1000, Clients: 1}
	if waiting > 0 {
		insert.Delay = 3600
	}
	if insert.Jobs > 0 {
		if _, err := b.once(ctx, s, db.request(insert)); err != nil {
			return nil, err
		}
	}
	node, err := b.node(ctx, s, db.measured(child.Request{Do: child.Work, Workers: running, Hold: running > 0}, false), 5*time.Second)
	if err != nil {
		return nil, err
	}
	defer node.end()
	if running > 0 {
		if _, err := count(ctx, []*process{node}, running, b.env.limit); err != nil {
			return nil, err
		}
	}
	bytes, err := memoryOf(node.cmd.Process.Pid)
	return metrics{"MB": bytes / 1e6}, err
}
