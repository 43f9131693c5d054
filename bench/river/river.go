// Package river measures River, on PostgreSQL and on SQLite.
package river

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
)

// args are the arguments of the benchmark's jobs as River requires them.
type args struct{ child.Args }

func (args) Kind() string { return "noop" }

// System is River on a driver whose transactions have type T.
type System[T any] struct {
	Driver  riverdriver.Driver[T]
	Request child.Request
	// InTx calls do in a transaction of the program, and commits if do returns nil.
	InTx func(ctx context.Context, do func(tx T) error) error
	// Effect is what a worker writes in the transaction in which it completes its job.
	Effect func(ctx context.Context, tx T, job child.Args) error

	client *river.Client[T]
}

// Open connects a client that only enqueues.
func (s *System[T]) Open() (child.System, error) {
	var err error
	s.client, err = river.NewClient(s.Driver, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	return s, err
}

// Setup runs River's migrations.
func (s *System[T]) Setup(ctx context.Context) error {
	migrator, err := rivermigrate.New(s.Driver, nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// Insert enqueues one job by Insert, or by InsertTx in the caller's
// transaction, and several jobs by InsertMany. In mode "copy" it uses
// InsertManyFast, which uses COPY on PostgreSQL and returns no rows.
func (s *System[T]) Insert(ctx context.Context, jobs []child.Args) error {
	var opts river.InsertOpts
	if s.Request.Delay > 0 {
		opts.ScheduledAt = time.Now().Add(time.Duration(s.Request.Delay) * time.Second)
	}
	if len(jobs) == 1 {
		if !s.Request.InTx {
			_, err := s.client.Insert(ctx, args{jobs[0]}, &opts)
			return err
		}
		return s.InTx(ctx, func(tx T) error {
			_, err := s.client.InsertTx(ctx, tx, args{jobs[0]}, &opts)
			return err
		})
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i] = river.InsertManyParams{Args: args{j}, InsertOpts: &opts}
	}
	var err error
	if s.Request.Mode == "copy" {
		_, err = s.client.InsertManyFast(ctx, params)
	} else {
		_, err = s.client.InsertMany(ctx, params)
	}
	return err
}

// Work runs a client that works jobs. In mode "default" it has the settings of
// River's introduction: 100 workers, and defaults for everything else.
// Otherwise it has the settings that were best in trials.
func (s *System[T]) Work(ctx context.Context, do func(child.Args)) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[args]) error {
		a := job.Args.Args
		if s.Request.At > 0 {
			a.Sent = s.Request.At
		}
		do(a)
		if s.Request.InTx {
			return s.complete(ctx, job)
		}
		return nil
	}))
	client, err := river.NewClient(s.Driver, s.config(workers))
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return client.Stop(stopping)
}

// complete completes a job in a transaction with an effect.
func (s *System[T]) complete(ctx context.Context, job *river.Job[args]) error {
	return s.InTx(ctx, func(tx T) error {
		if err := s.Effect(ctx, tx, job.Args.Args); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[riverdriver.Driver[T]](ctx, tx, job)
		return err
	})
}

func (s *System[T]) config(workers *river.Workers) *river.Config {
	queue := river.QueueConfig{MaxWorkers: 100}
	if s.Request.Mode != "default" {
		queue = river.QueueConfig{
			// A fetch takes at most as many jobs as there are free workers, so
			// many workers cause large batches; with more than 2,000 the Go
			// scheduler has too much to do.
			MaxWorkers: 2000,
			// The next fetch waits for the cool-down. With a shorter cool-down,
			// too few workers are free at the next fetch; with a longer one,
			// jobs start late.
			FetchCooldown:     2 * time.Millisecond,
			FetchPollInterval: 25 * time.Millisecond,
		}
	}
	if s.Request.Workers > 0 {
		queue.MaxWorkers = s.Request.Workers
	}
	return &river.Config{
		Logger: slog.New(slog.DiscardHandler), Workers: workers,
		Queues:       map[string]river.QueueConfig{river.QueueDefault: queue},
		PeriodicJobs: s.periodic(),
	}
}

// periodic returns the schedules, which River keeps in memory.
func (s *System[T]) periodic() []*river.PeriodicJob {
	jobs := make([]*river.PeriodicJob, s.Request.Schedules)
	due, far := time.UnixMicro(s.Request.At), time.Now().Add(240*time.Hour)
	for i := range jobs {
		at := far
		if i < s.Request.Due {
			at = due
		}
		jobs[i] = river.NewPeriodicJob(once{at, far}, func() (river.JobArgs, *river.InsertOpts) {
			return args{child.Args{Number: i, Text: "the quick brown fox"}}, nil
		}, &river.PeriodicJobOpts{ID: fmt.Sprintf("schedule%d", i)})
	}
	return jobs
}

// once is a schedule with one instant that is measured, and one instant far in
// the future.
type once struct{ at, far time.Time }

// Next returns the instant, and after it the instant far in the future.
func (o once) Next(current time.Time) time.Time {
	if current.Before(o.at) {
		return o.at
	}
	return o.far
}
