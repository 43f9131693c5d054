package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
)

// The rows of the cell "edges".
const (
	noEdges    = "no edges"
	chainsOf2  = "chains of two"
	chainsOf10 = "chains of ten"
	fanIn      = "one job waits for all others"
	fanOut     = "all others wait for one job"
	batches    = "one job waits for each batch of 10,000"
	random3    = "half as many jobs, each waits for three"
	twoNodes   = ", two processes"
)

// lockWait is the column of the longest wait for a lock in the database.
const lockWait = "lock wait ms"

// edgesCell compares drains of jobs that wait for other jobs with the plain drain.
func (b *bench) edgesCell() cell {
	c := cell{
		name:    "edges",
		title:   "Drain " + thousands(b.env.jobs) + " no-op jobs, some of which wait for the ends of others (After)",
		metrics: append(slices.Clone(throughput), lockWait), yardsticks: []string{noEdges},
	}
	for _, way := range []struct {
		name  string
		edges child.Edges
		jobs  int
	}{
		{noEdges, child.NoEdges, b.env.jobs},
		{chainsOf2, child.Chains2, b.env.jobs},
		{chainsOf10, child.Chains10, b.env.jobs},
		{fanIn, child.FanIn, b.env.jobs},
		{fanOut, child.FanOut, b.env.jobs},
		{batches, child.Batches, b.env.jobs},
		{random3, child.Random3, b.env.jobs / 2},
	} {
		d := drain{system: "hourbell", jobs: way.jobs, edges: way.edges, lockWaits: true}
		c.rows = append(c.rows, b.drainRow(way.name, d))
		d.processes = 2
		c.rows = append(c.rows, b.drainRow(way.name+twoNodes, d))
	}
	return c
}

// predecessors returns the places of the jobs that job i of n waits for.
func predecessors(edges child.Edges, i, n int) (on []int) {
	chain := func(length int) {
		if i >= n/length {
			on = []int{i - n/length}
		}
	}
	all := func(from int) {
		for k := from; k < i; k++ {
			on = append(on, k)
		}
	}
	switch edges {
	case child.Chains2:
		chain(2)
	case child.Chains10:
		chain(10)
	case child.FanIn:
		if i == n-1 {
			all(0)
		}
	case child.FanOut:
		if i > 0 {
			on = []int{0}
		}
	case child.Batches:
		if size := min(batchJobs, n); (i+1)%size == 0 {
			all(i + 1 - size)
		}
	case child.Random3:
		if first := min(1000, n/4); i >= first { // the first jobs wait for none
			for len(on) < 3 {
				if k := rand.IntN(i / first * first); !slices.Contains(on, k) {
					on = append(on, k)
				}
			}
		}
	}
	return on
}

const batchJobs = 10_000

// insertDependents enqueues jobs, some with predecessors. A job may only wait for jobs
// of earlier calls, whose numbers are known.
func (s *ours) insertDependents(ctx context.Context, jobs []child.Args) error {
	var requests []hourbell.Request
	flush := func() error {
		stored, err := s.client.EnqueueMany(ctx, requests)
		for _, job := range stored {
			s.ids = append(s.ids, job.ID)
		}
		requests = requests[:0]
		return err
	}
	for _, job := range jobs {
		on := predecessors(s.req.Edges, job.Number, s.req.Jobs)
		if slices.ContainsFunc(on, func(place int) bool { return place >= len(s.ids) }) {
			if err := flush(); err != nil {
				return err
			}
		}
		request := hourbell.Request{Args: job}
		for _, place := range on {
			request.Options = append(request.Options, hourbell.After(s.ids[place], hourbell.OnSuccess, 0))
		}
		requests = append(requests, request)
	}
	return flush()
}

// watchLocks reads, until stop is called, how long transactions of the database wait for
// locks of others. stop returns the longest wait that was seen, in milliseconds.
func watchLocks(ctx context.Context, db database) (stop func() (float64, error), err error) {
	conn, err := pgx.Connect(ctx, db.url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var longest float64
	ended := make(chan error, 1)
	go func() {
		const read = `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(waitstart)) * 1000, 0)::float8 FROM pg_locks
			WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`
		var err error
		for ctx.Err() == nil && err == nil {
			var waits float64
			if err = conn.QueryRow(ctx, read).Scan(&waits); err == nil {
				longest = max(longest, waits)
				time.Sleep(5 * time.Millisecond)
			}
		}
		if ctx.Err() != nil {
			err = nil
		}
		ended <- err
	}()
	return func() (float64, error) {
		cancel()
		err := <-ended
		_ = conn.Close(context.WithoutCancel(ctx))
		if err != nil {
			return 0, fmt.Errorf("read waits for locks: %w", err)
		}
		return longest, nil
	}, nil
}
