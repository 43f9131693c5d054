package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/stats"
	"github.com/hourbell/hourbell/store"
)

const (
	statsEvery = time.Minute
	// statsSpread is over how long the nodes of a cluster spread their writes.
	statsSpread = 5 * time.Second
	// statsRarely is in how many minutes a node that does nothing writes once: an idle cluster is sampled that often, too.
	statsRarely = 4
	// sampleShare is which part of the time samples take at most, because counting very many jobs takes long.
	sampleShare = 100
	// statsLast is how long a node that stops tries to write what it has counted.
	statsLast = time.Second
)

// statsWriter writes the statistics of a node once a minute (docs/adr/0098-statistics-are-rows-of-each-node.md). One goroutine uses it.
type statsWriter struct {
	store       store.Backend
	node        *node.Node
	collector   *stats.Collector
	callTimeout time.Duration

	oldest  bool          // the node is the oldest: it samples what concerns the whole cluster
	resting time.Duration // for how long it does not sample
}

// run writes statistics at the end of each minute of the store's clock, and once more when ctx ends.
func (w *statsWriter) run(ctx context.Context) {
	for minute := 1; ; minute++ {
		now := w.node.StoreNow()
		if loop.Sleep(ctx, now.Truncate(statsEvery).Add(statsEvery).Sub(now)) != nil {
			break
		}
		if w.collector.Empty() && minute%statsRarely != 0 {
			continue
		}
		if w.oldest {
			w.sample(ctx)
		}
		rows := w.collector.Close(now)
		if loop.Sleep(ctx, time.Duration(loop.Around(w.store).Random("stats")*float64(statsSpread))) == nil {
			w.write(ctx, rows)
		}
	}
	if rows := w.collector.Close(w.node.StoreNow()); len(rows) > 0 {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), statsLast)
		defer cancel()
		w.write(last, rows)
	}
}

// write writes rows, and finds out whether the node is the oldest.
func (w *statsWriter) write(ctx context.Context, rows []store.StatsRow) {
	number, _, _ := w.node.Session()
	call, cancel := context.WithTimeout(ctx, w.callTimeout)
	defer cancel()
	oldest, err := w.store.AddStats(call, store.AddStatsRequest{Node: number, Rows: rows})
	report := w.node.Report()
	if err != nil {
		if ctx.Err() == nil {
			report.StoreFailed("store statistics", err)
		}
		return
	}
	report.StoreWorks("store statistics")
	w.collector.Written()
	w.oldest = oldest
}

// sample counts the living nodes and the due jobs of queues, unless the samples before have taken long.
func (w *statsWriter) sample(ctx context.Context) {
	if w.resting -= statsEvery; w.resting > 0 {
		return
	}
	call, cancel := context.WithTimeout(ctx, w.callTimeout)
	defer cancel()
	began := loop.Now()
	nodes, err := store.List[store.NodeInfo](call, w.store, store.ListRequest{})
	if err != nil {
		return // the write that follows fails, too
	}
	queues, err := store.List[store.QueueInfo](call, w.store, store.ListRequest{Estimate: true, Within: time.Second})
	if err == nil {
		w.collector.Sample(w.node.StoreNow(), nodes, queues)
	}
	w.resting = sampleShare * began.Elapsed()
}
