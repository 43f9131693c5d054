package main

import (
	"context"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
)

// Rows of the cell "middleware" with which its other rows are compared.
const (
	plainDrain    = "drain"
	plainEnqueue  = "enqueue one a call, 100 goroutines"
	plainMany     = "enqueue 1,000 a call"
	throughMiddle = ", through middleware"
)

// middlewareCell compares work and enqueues with and without a middleware that does nothing.
func (b *bench) middlewareCell() cell {
	c := cell{
		name: "middleware", title: "Drain and enqueue through a middleware that does nothing",
		metrics: throughput, // the goals have the ratios
	}
	for _, way := range []struct{ name, mode string }{{"", ""}, {throughMiddle, modeMiddleware}} {
		c.rows = append(c.rows,
			b.drainRow(plainDrain+way.name, drain{system: "hourbell", mode: way.mode}),
			b.insertRow(plainEnqueue+way.name, "hourbell", child.Request{Clients: 100, Mode: way.mode}),
			b.insertRow(plainMany+way.name, "hourbell", child.Request{Batch: 1000, Jobs: b.env.jobs, Mode: way.mode}),
		)
	}
	return c
}

// workMiddleware returns middleware that does nothing, if it is requested.
func (s *ours) workMiddleware() []hourbell.WorkMiddleware {
	if s.req.Mode != modeMiddleware {
		return nil
	}
	return []hourbell.WorkMiddleware{func(ctx context.Context, job *hourbell.JobRow, next hourbell.Handler) error {
		return next(ctx, job)
	}}
}

// enqueueMiddleware is workMiddleware for enqueues.
func (s *ours) enqueueMiddleware() []hourbell.EnqueueMiddleware {
	if s.req.Mode != modeMiddleware {
		return nil
	}
	return []hourbell.EnqueueMiddleware{func(ctx context.Context, _ []*hourbell.Draft, next func(context.Context) error) error {
		return next(ctx)
	}}
}
