package main

import (
	"context"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/bench/river"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

func openRiver(ctx context.Context, req child.Request) (child.System, error) {
	callers := req
	if req.Do == child.Work && req.Mode != "default" {
		req.Connections = 10 // more than pgxpool's default of four was faster in trials, 20 was not
	}
	pool, err := pgxpool.New(ctx, pooled(req))
	if err != nil {
		return nil, err
	}
	own := pool // of the program's transactions
	if req.Do == child.Work && req.InTx {
		if own, err = pgxpool.New(ctx, pooled(callers)); err != nil {
			return nil, err
		}
	}
	system := &river.System[pgx.Tx]{
		Driver: riverpgxv5.New(pool), Request: req,
		InTx: func(ctx context.Context, do func(pgx.Tx) error) error {
			return pgx.BeginFunc(ctx, own, do)
		},
		Effect: insertEffect,
	}
	return system.Open()
}
