package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/drivers/postgres"
	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// ours is Hourbell as a user would use it: a client on a driver's backend, with
// all default settings except 100 workers.
type ours struct {
	req     child.Request
	backend store.Backend
	pool    *pgxpool.Pool // the caller's pool, for transactions of the caller
	client  *hourbell.Client
	options []hourbell.Option
	ids     []int64 // of the jobs that were inserted, if some wait for others
}

// Modes of Hourbell.
const (
	historyNone    = "none"       // nothing is kept of completed jobs
	modeMiddleware = "middleware" // calls pass a middleware that does nothing
	hundredNodes   = "hundred"    // a hundred nodes, each on a host of its own as far as the store knows
)

func openOurs(ctx context.Context, req child.Request) (child.System, error) {
	s := &ours{req: req}
	var err error
	its := req
	if req.Do == child.Work {
		its.Connections = 0 // the number is for the pool of the workers' transactions
	}
	if s.backend, err = openBackend(ctx, its); err != nil {
		return nil, err
	}
	if req.InTx {
		if err = s.callersPool(ctx); err != nil {
			return nil, err
		}
	}
	if req.Delay > 0 {
		s.options = append(s.options, hourbell.In(time.Duration(req.Delay)*time.Second))
	}
	if s.client, err = hourbell.New(s.backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler), EnqueueMiddleware: s.enqueueMiddleware()}); err != nil {
		return nil, err
	}
	if req.Do == child.Insert {
		if err := s.putLimit(ctx); err != nil {
			return nil, err
		}
	}
	return s, s.openTransactions(ctx)
}

func openBackend(ctx context.Context, req child.Request) (store.Backend, error) {
	if req.Synchronous != "" {
		return sqlite.Open(ctx, req.URL, sqlite.Synchronous(req.Synchronous))
	}
	if strings.HasPrefix(req.URL, "mysql://") {
		return mysql.Open(ctx, req.URL)
	}
	return postgres.Open(ctx, pooled(req))
}

// pooled returns the URL of req with the number of connections for pgxpool.
func pooled(req child.Request) string {
	if req.Connections == 0 {
		return req.URL
	}
	separator := "?"
	if strings.Contains(req.URL, "?") {
		separator = "&"
	}
	return fmt.Sprintf("%s%spool_max_conns=%d", req.URL, separator, req.Connections)
}

func (s *ours) Setup(ctx context.Context) error { return s.client.Migrate(ctx) }

func (s *ours) Insert(ctx context.Context, jobs []child.Args) error {
	options := s.options
	if s.req.Unique { // with one job per call
		options = append(slices.Clone(options), hourbell.Unique(strconv.Itoa(jobs[0].Number)))
	}
	if s.req.InTx {
		return s.insertInTx(ctx, jobs[0], options)
	}
	if s.req.Edges != child.NoEdges {
		return s.insertDependents(ctx, jobs)
	}
	if s.req.Order != child.Arrival {
		return s.insertOutOfOrder(ctx, jobs)
	}
	if len(jobs) == 1 {
		_, err := s.client.Enqueue(ctx, jobs[0], options...)
		return err
	}
	requests := make([]hourbell.Request, len(jobs))
	for i, j := range jobs {
		requests[i].Args = j
		if key := keyOf(s.req.Limit, j.Number); key != "" {
			requests[i].Options = []hourbell.Option{hourbell.Key(key)}
		}
	}
	_, err := s.client.EnqueueMany(ctx, requests, options...)
	return err
}

// insertOutOfOrder stores jobs that differ in more than their arguments; a
// client would need one call for each job. It only fills tables for a drain.
func (s *ours) insertOutOfOrder(ctx context.Context, jobs []child.Args) error {
	req := store.InsertRequest{Jobs: make([]store.NewJob, len(jobs))}
	for i, job := range jobs {
		args, err := json.Marshal(job)
		if err != nil {
			return err
		}
		req.Jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: job.Kind(), Queue: "default", Args: args, Priority: 5, MaxAttempts: 25}}
		switch s.req.Order {
		case child.Priority4:
			req.Jobs[i].Priority = int16(1 + job.Number%4)
		case child.Scattered:
			req.Jobs[i].RunAt = time.Now().Add(-rand.N(time.Hour))
		default:
			return fmt.Errorf("there is no order %q", s.req.Order)
		}
	}
	_, err := s.backend.Insert(ctx, req)
	return err
}

func (s *ours) Work(ctx context.Context, do func(child.Args)) error {
	workers := hourbell.NewWorkers()
	stepper, err := s.stepper(ctx, do)
	if err != nil {
		return err
	}
	switch {
	case s.req.InTx:
		s.registerTx(workers, do)
	case stepper != nil:
		hourbell.Register(workers, stepper)
	default:
		hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[child.Args]) error {
			a := job.Args
			if !job.Slot.IsZero() {
				a.Sent = job.Slot.UnixMicro()
			}
			do(a)
			return nil
		})
	}
	running := 100
	if s.req.Workers > 0 {
		running = s.req.Workers
	}
	config := hourbell.Config{
		Workers: workers, Queues: map[string]int{"default": running}, Logger: slog.New(slog.DiscardHandler),
		Drain: time.Second, Grace: time.Second, WorkMiddleware: s.workMiddleware(),
	}
	if s.req.Mode == historyNone {
		config.Keep.Completed = hourbell.KeepNone
	}
	if s.req.Keep > 0 {
		config.Keep.Completed = time.Duration(s.req.Keep) * time.Second
	}
	if s.req.Mode == hundredNodes {
		return s.runHundred(ctx, config)
	}
	client, err := hourbell.New(s.backend, config)
	if err != nil {
		return err
	}
	return client.Run(ctx)
}

// runHundred runs a hundred nodes over one backend, until ctx ends.
func (s *ours) runHundred(ctx context.Context, config hourbell.Config) error {
	const nodes = 100
	ended := make(chan error, nodes)
	for i := range nodes {
		config.Host = fmt.Sprintf("host%d", i)
		client, err := hourbell.New(s.backend, config)
		if err != nil {
			return err
		}
		go func() { ended <- client.Run(ctx) }()
	}
	var all []error
	for range nodes {
		all = append(all, <-ended)
	}
	return errors.Join(all...)
}

// Schedule stores schedules with one slot each: at req.At for schedules that
// are due, in ten days for the other schedules.
func (s *ours) Schedule(ctx context.Context, req child.Request) error {
	due, far := time.UnixMicro(req.At), time.Now().Add(240*time.Hour)
	const portion = 5000
	schedules := make([]hourbell.Schedule, 0, portion)
	for i := range req.Schedules {
		at := far
		if i < req.Due {
			at = due
		}
		schedules = append(schedules, hourbell.Schedule{
			Name: fmt.Sprintf("schedule%d", i), Owner: "bench",
			Rule: recur.At(at),
			Job:  hourbell.RawArgs{Name: "noop", JSON: []byte(`{"number":1,"text":"the quick brown fox"}`)},
		})
		if len(schedules) == portion || i == req.Schedules-1 {
			if _, err := s.client.Schedules.PutAll(ctx, "bench", 0, schedules); err != nil {
				return err
			}
			schedules = schedules[:0]
		}
	}
	if time.Until(due) < time.Second {
		return errors.New("the schedules were due before all of them were stored; set a greater BENCH_LEAD")
	}
	return nil
}

// oursAlive returns a function that reports whether there are jobs whose
// outcome is not in the store yet.
func oursAlive(ctx context.Context, req child.Request) (alive func() (bool, error), closeAll func(), err error) {
	backend, err := openBackend(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	return func() (bool, error) {
		queues, err := client.Queues.List(ctx)
		for _, q := range queues {
			if q.Ready+q.Running+q.Scheduled+q.Waiting > 0 {
				return true, nil
			}
		}
		return false, err
	}, func() { _ = backend.(io.Closer).Close() }, nil
}
