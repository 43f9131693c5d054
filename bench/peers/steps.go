package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/mysql"
)

// The rows of the cells "steps" and "parked" are named by their stores.
const (
	stepRate    = "steps/s"
	bareStep    = ", bare INSERT"
	eightJobs   = ", 8 jobs at a time"
	amongParked = ", beside parked jobs"
)

// modePark lets each job wait for a signal that does not come.
const modePark = "park"

// stepStores are the stores on which steps and parked jobs are measured.
var stepStores = []struct {
	name string
	drain
	jobs []int // how many jobs take steps at a time
}{
	{"PostgreSQL", drain{system: "hourbell"}, []int{1, connections}},
	{"MariaDB", drain{system: oursOnMySQL}, []int{1, connections}},
	{"SQLite NORMAL", drain{system: "hourbell", synchronous: "NORMAL"}, []int{1}},
	{"SQLite FULL", drain{system: "hourbell", synchronous: "FULL"}, []int{1}},
}

// stepsCells measure steps of jobs beside bare inserts by the same driver, and drains beside parked jobs.
func (b *bench) stepsCells() []cell {
	steps := cell{
		name: "steps", title: fmt.Sprintf("%s steps of jobs (hourbell.Step), and bare INSERTs of the same rows by the same driver", thousands(b.env.steps)),
		metrics: append([]string{stepRate}, throughput[1:]...), // the goals have the ratios
	}
	parked := cell{
		name:    "parked",
		title:   fmt.Sprintf("Drain %s no-op jobs beside %s parked jobs", thousands(b.env.jobs), thousands(b.env.jobs)),
		metrics: throughput,
	}
	for _, on := range stepStores {
		for _, jobs := range on.jobs {
			d := on.drain
			d.jobs, d.steps = jobs, b.env.steps/jobs
			d.until = d.jobs * d.steps
			steps.rows = append(steps.rows, b.stepsRow(stepRow(on.name, jobs), d))
			d.mode = modeBare
			steps.rows = append(steps.rows, b.stepsRow(stepRow(on.name, jobs)+bareStep, d))
		}
		d := on.drain
		d.jobs, d.until = b.env.jobs, b.env.jobs
		parked.rows = append(parked.rows, b.drainRow(on.name, d))
		d.parked = b.env.jobs
		parked.rows = append(parked.rows, b.drainRow(on.name+amongParked, d))
	}
	return []cell{steps, parked}
}

// stepRow returns the name of a row of the cell "steps".
func stepRow(store string, jobs int) string {
	if jobs > 1 {
		return store + eightJobs
	}
	return store
}

// stepsGoals are the goals of stepsCells: a step takes at most 1.2 times as long as a bare INSERT.
func stepsGoals() (list []goal) {
	for _, on := range stepStores {
		for _, jobs := range on.jobs {
			name := stepRow(on.name, jobs)
			list = append(list, goal{
				text: name + ": steps, compared with bare INSERTs", cell: "steps", row: name, metric: stepRate,
				versus: []string{name + bareStep}, least: 0.83,
			})
		}
	}
	for _, on := range stepStores {
		list = append(list, goal{
			text: on.name + ": drain beside parked jobs, compared with none", cell: "parked", row: on.name + amongParked,
			metric: rate, versus: []string{on.name}, least: 0.99,
		})
	}
	return list
}

// stepsRow measures a drain of a few jobs with many steps.
func (b *bench) stepsRow(name string, d drain) row {
	return row{name, func(ctx context.Context) (metrics, error) {
		m, err := b.drain(ctx, d)
		if err == nil {
			m[stepRate] = m[rate]
		}
		return m, err
	}}
}

// park fills a database with jobs that wait for a signal.
func (b *bench) park(ctx context.Context, db database, s system, jobs int) error {
	if err := b.fill(ctx, db, s, drain{jobs: jobs}); err != nil {
		return err
	}
	node, err := b.start(ctx, s, db.request(child.Request{Do: child.Work, Mode: modePark}))
	if err != nil {
		return err
	}
	defer node.end()
	if err := node.begin(); err != nil {
		return err
	}
	begun, err := count(ctx, []*process{node}, jobs, 10*time.Minute)
	if err == nil && begun < jobs {
		err = errors.New("the jobs were not parked within ten minutes")
	}
	if err != nil {
		return err
	}
	_, err = node.stop() // after all outcomes are in the store
	return err
}

// stepper returns the worker whose jobs take steps, insert rows, or wait for a signal; nil: the request is for no such worker.
func (s *ours) stepper(ctx context.Context, do func(child.Args)) (func(context.Context, *hourbell.Job[child.Args]) error, error) {
	switch {
	case s.req.Mode == modePark:
		return func(ctx context.Context, job *hourbell.Job[child.Args]) error {
			do(job.Args)
			_, err := hourbell.Wait[int](ctx, job, "answer", 0)
			return err
		}, nil
	case s.req.Steps == 0:
		return nil, nil //nolint:nilnil // the nil worker is no worker
	case s.req.Mode != modeBare:
		return s.steps(do, func(ctx context.Context, job *hourbell.Job[child.Args], name string, result child.Args) error {
			_, err := hourbell.Step(ctx, job, name, func(context.Context) (child.Args, error) { return result, nil })
			return err
		}), nil
	}
	insert, err := s.bareStep(ctx)
	return s.steps(do, func(ctx context.Context, job *hourbell.Job[child.Args], name string, _ child.Args) error {
		return insert(ctx, job.ID, name, bareArgs)
	}), err
}

// steps returns a worker that calls step for each step of its job.
func (s *ours) steps(do func(child.Args), step func(ctx context.Context, job *hourbell.Job[child.Args], name string, result child.Args) error,
) func(context.Context, *hourbell.Job[child.Args]) error {
	return func(ctx context.Context, job *hourbell.Job[child.Args]) error {
		for i := range s.req.Steps {
			if err := step(ctx, job, "step "+strconv.Itoa(i), job.Args); err != nil {
				return err
			}
			do(job.Args)
		}
		return nil
	}
}

// bareStep returns what inserts the row of a step by the driver of the store, in a transaction of the statement alone.
func (s *ours) bareStep(ctx context.Context) (func(ctx context.Context, job int64, name, value string) error, error) {
	const columns = "(job_id, name, sort, place, version, value, waits, timed_out, at) VALUES "
	var db *sql.DB
	var err error
	text := "INSERT INTO hourbell_step " + columns + "(?, ?, 0, 1, 1, ?, 0, 0, "
	switch {
	case s.req.Synchronous != "":
		db, err = sql.Open("sqlite", child.SQLite(s.req))
		text += "0)"
	case named(s.req.System).mysql:
		db, err = mysql.OpenDB(s.req.URL)
		text += "UTC_TIMESTAMP(6))"
	default:
		pool, err := pgxpool.New(ctx, pooled(s.req))
		return func(ctx context.Context, job int64, name, value string) error {
			_, err := pool.Exec(ctx, "INSERT INTO hourbell.step "+columns+"($1, $2, 0, 1, 1, $3, false, false, now())", job, name, value)
			return err
		}, err
	}
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(connections)
	insert, err := db.PrepareContext(ctx, text)
	return func(ctx context.Context, job int64, name, value string) error {
		_, err := insert.ExecContext(ctx, job, name, value)
		return err
	}, err
}
