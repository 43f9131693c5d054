package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/mikestefanello/backlite"
)

// backliteTask is the job; completed jobs are not kept, which is the default.
type backliteTask struct{ child.Args }

func (backliteTask) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: "noop", MaxAttempts: 25, Timeout: time.Minute}
}

type backliteSystem struct{ client *backlite.Client }

func openBacklite(_ context.Context, req child.Request) (child.System, error) {
	db, err := sql.Open("sqlite", child.SQLite(req))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // more connections only wait for each other: SQLite has one writer
	client, err := backlite.NewClient(backlite.ClientConfig{
		DB: db,
		// backlite fetches as many jobs as there are free workers, so many
		// workers cause large batches.
		NumWorkers:      1000,
		ReleaseAfter:    10 * time.Minute,
		CleanupInterval: time.Hour,
	})
	return &backliteSystem{client}, err
}

func (s *backliteSystem) Setup(context.Context) error { return s.client.Install() }

func (s *backliteSystem) Insert(ctx context.Context, jobs []child.Args) error {
	tasks := make([]backlite.Task, len(jobs))
	for i, j := range jobs {
		tasks[i] = backliteTask{j}
	}
	_, err := s.client.Add(tasks...).Ctx(ctx).Save()
	return err
}

func (s *backliteSystem) Work(ctx context.Context, do func(child.Args)) error {
	s.client.Register(backlite.NewQueue(func(_ context.Context, t backliteTask) error {
		do(t.Args)
		return nil
	}))
	s.client.Start(context.WithoutCancel(ctx))
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s.client.Stop(stopping)
	return nil
}
