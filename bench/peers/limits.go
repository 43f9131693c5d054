package main

import (
	"context"
	"slices"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
)

// The rows of the cell "limits".
const (
	noLimit   = "no limit"
	queueWide = "a queue limit that does not bind"
	queue100  = "a queue limit of 100, with 200 workers"
	keysOfOne = "10,000 keys, one at a time each"
	windows   = "10 keys, 1,000 at a time each"
	oneKey    = "one key, 100 at a time"
	underHeld = ", under an old snapshot"
	byPgBoss  = ", pg-boss 12"
)

// limitsCell compares drains of limited jobs with the plain drain.
func (b *bench) limitsCell() cell {
	c := cell{
		name:    "limits",
		title:   "Drain " + thousands(b.env.jobs) + " no-op jobs whose number at a time is limited in the cluster",
		metrics: append(slices.Clone(throughput), lockWait), yardsticks: []string{noLimit},
	}
	for _, way := range []struct {
		name    string
		limit   child.Limit
		workers int
		held    bool // also under an old snapshot
		pgBoss  bool // pg-boss has this limit
	}{
		{noLimit, child.NoLimit, 100, true, true},
		{queueWide, child.QueueWide, 100, false, false},
		{queue100, child.Queue100, 200, false, false},
		{keysOfOne, child.KeysOfOne, 100, true, true},
		{windows, child.Windows, 100, true, true},
		{oneKey, child.OneKey, 100, true, true},
	} {
		d := drain{system: "hourbell", limit: way.limit, workers: way.workers, lockWaits: true}
		c.rows = append(c.rows, b.drainRow(way.name, d))
		two := d
		two.processes, two.workers = 2, way.workers/2
		c.rows = append(c.rows, b.drainRow(way.name+twoNodes, two))
		if way.held {
			d.held = true
			c.rows = append(c.rows, b.drainRow(way.name+underHeld, d))
		}
		if way.pgBoss {
			c.rows = append(c.rows, b.drainRow(way.name+byPgBoss, drain{system: "pg-boss-12", limit: way.limit}))
		}
	}
	return c
}

// limitOf returns the limit that a request asks for; ok is false if it asks for none.
func limitOf(l child.Limit) (limit hourbell.Limit, ok bool) {
	limit = hourbell.Limit{Name: "bench", Queue: "default"}
	switch l {
	case child.QueueWide:
		limit.Concurrency = 1_000_000
	case child.Queue100:
		limit.Concurrency = 100
	case child.KeysOfOne:
		limit.ByKey, limit.Concurrency = true, 1
	case child.Windows:
		limit.ByKey, limit.Concurrency = true, 1000
	case child.OneKey:
		limit.ByKey, limit.Concurrency = true, 100
	default:
		return limit, false
	}
	return limit, true
}

// keyOf returns the key of job i; empty: it has none.
func keyOf(l child.Limit, i int) string {
	switch l {
	case child.KeysOfOne:
		return strconv.Itoa(i % 10_000)
	case child.Windows:
		return strconv.Itoa(i % 10)
	case child.OneKey:
		return "one"
	}
	return ""
}

// putLimit puts the limit that the request asks for, before the jobs are inserted.
func (s *ours) putLimit(ctx context.Context) error {
	limit, ok := limitOf(s.req.Limit)
	if !ok {
		return nil
	}
	_, err := s.client.Limits.Put(ctx, limit, 0)
	return err
}
