package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/hourbell/hourbell/bench/child"
)

// gocronSystem keeps schedules in the memory of one process, and no jobs.
type gocronSystem struct{ req child.Request }

func openGocron(_ context.Context, req child.Request) (child.System, error) {
	return &gocronSystem{req}, nil
}

func (s *gocronSystem) Setup(context.Context) error { return nil }

func (s *gocronSystem) Insert(context.Context, []child.Args) error {
	return errors.New("gocron has no jobs to enqueue")
}

func (s *gocronSystem) Work(ctx context.Context, do func(child.Args)) error {
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		return err
	}
	due, far := time.UnixMicro(s.req.At), time.Now().Add(240*time.Hour)
	task := gocron.NewTask(func() { do(child.Args{Sent: s.req.At}) })
	for i := range s.req.Schedules {
		at := far
		if i < s.req.Due {
			at = due
		}
		if _, err := scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(at)), task); err != nil {
			return err
		}
	}
	scheduler.Start()
	<-ctx.Done()
	return scheduler.Shutdown()
}
