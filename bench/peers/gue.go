package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/vgarvardt/gue/v5"
	"github.com/vgarvardt/gue/v5/adapter/pgxv5"
)

// gueSchema is the table that gue documents; it brings no migrations.
//
//go:embed gue.sql
var gueSchema string

type gueSystem struct {
	req    child.Request
	pool   *pgxpool.Pool
	client *gue.Client
}

// gueWorkers was the best number in trials on two cores. Each worker runs a job
// in a transaction of its own, on a connection of its own.
const gueWorkers = 16

func openGue(ctx context.Context, req child.Request) (child.System, error) {
	if req.Do == child.Work {
		req.Connections = gueWorkers + 1
	}
	pool, err := pgxpool.New(ctx, pooled(req))
	if err != nil {
		return nil, err
	}
	client, err := gue.NewClient(pgxv5.NewConnPool(pool))
	return &gueSystem{req, pool, client}, err
}

func (s *gueSystem) Setup(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, gueSchema)
	return err
}

// Insert enqueues one job by Enqueue and several jobs by EnqueueBatch.
func (s *gueSystem) Insert(ctx context.Context, jobs []child.Args) error {
	batch := make([]*gue.Job, len(jobs))
	for i, j := range jobs {
		args, err := json.Marshal(j)
		if err != nil {
			return err
		}
		batch[i] = &gue.Job{Type: "noop", Args: args}
	}
	if len(batch) == 1 {
		return s.client.Enqueue(ctx, batch[0])
	}
	return s.client.EnqueueBatch(ctx, batch)
}

// Work polls in the order of due times, which is the order of gue's index. Each
// worker polls every 50 ms, because gue has no wake-ups.
func (s *gueSystem) Work(ctx context.Context, do func(child.Args)) error {
	work := gue.WorkMap{"noop": func(_ context.Context, j *gue.Job) error {
		var a child.Args
		if err := json.Unmarshal(j.Args, &a); err != nil {
			return err
		}
		do(a)
		return nil
	}}
	pool, err := gue.NewWorkerPool(s.client, work, gueWorkers,
		gue.WithPoolPollStrategy(gue.RunAtPollStrategy), gue.WithPoolPollInterval(50*time.Millisecond))
	if err != nil {
		return err
	}
	return pool.Run(ctx)
}
