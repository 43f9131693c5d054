package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/postgres"
)

// Modes of Hourbell in callers' transactions.
const (
	modeBare   = "bare"   // an INSERT without a notification into Hourbell's table, by the same driver
	modeNotify = "notify" // each transaction notifies
)

// How transactions of callers are named in the cell "callers".
const (
	bareCaller       = "INSERT into the same table, no notification"
	slow             = ", flush of 1 ms"
	manyOpen         = ", 1,000 transactions open"
	openTransactions = 1000
)

// slowFlush imitates a disk that takes a millisecond to flush.
const slowFlush = "-c commit_delay=1000 -c commit_siblings=0"

// callersRows inserts in callers' transactions, and by bare transactions of the same driver.
func (b *bench) callersRows() []row {
	var rows []row
	for _, way := range []struct {
		name string
		req  child.Request
	}{
		{"", child.Request{}},
		{slow, child.Request{SlowFlush: true}},
		{manyOpen, child.Request{Open: openTransactions}},
	} {
		for _, one := range []struct{ name, mode string }{
			{"hourbell", ""}, {"hourbell, notifying in the transaction", modeNotify}, {bareCaller, modeBare},
		} {
			req := way.req
			req.Clients, req.InTx, req.Mode = connections, true, one.mode
			rows = append(rows, b.insertRow(one.name+way.name, "hourbell", req))
		}
	}
	return rows
}

// callersPool opens the pool of the caller, and the transactions that stay open.
func (s *ours) callersPool(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(pooled(s.req))
	if err != nil {
		return err
	}
	if s.req.SlowFlush {
		config.ConnConfig.RuntimeParams["options"] = strings.TrimSpace(config.ConnConfig.RuntimeParams["options"] + " " + slowFlush)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil || s.req.Open == 0 {
		return err
	}
	var most int
	if err := s.pool.QueryRow(ctx, "SELECT current_setting('max_connections')::int").Scan(&most); err != nil {
		return err
	}
	if most < s.req.Open+4*connections {
		return fmt.Errorf("max_connections is %d, too few for %d open transactions", most, s.req.Open)
	}
	return nil
}

// openTransactions opens transactions with an insert each, which stay open until the process ends.
func (s *ours) openTransactions(ctx context.Context) error {
	for i := range s.req.Open {
		conn, err := pgx.Connect(ctx, s.req.URL)
		if err != nil {
			return err
		}
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if err := s.insertWith(ctx, tx, child.Args{Number: i}, nil); err != nil {
			return err
		}
	}
	return nil
}

// insertInTx inserts in a transaction of the caller.
func (s *ours) insertInTx(ctx context.Context, job child.Args, options []hourbell.Option) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	if err := s.insertWith(ctx, tx, job, options); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// insertWith inserts in an open transaction.
func (s *ours) insertWith(ctx context.Context, tx pgx.Tx, job child.Args, options []hourbell.Option) error {
	switch s.req.Mode {
	case modeBare:
		const insert = "INSERT INTO hourbell.job (run_at, created_at, state, origin, kind, queue, args, priority, max_attempts, on_loss, timeout_ns)" +
			" VALUES (now(), now(), 0, 0, $1, 'default', $2, 5, 25, 0, 0) RETURNING id"
		args, err := json.Marshal(job)
		if err != nil {
			return err
		}
		var id int64
		return tx.QueryRow(ctx, insert, job.Kind(), string(args)).Scan(&id)
	case modeNotify:
		options = append(options[:len(options):len(options)], hourbell.NotifyInTx())
	}
	_, err := s.client.Enqueue(ctx, job, append(options[:len(options):len(options)], hourbell.InTx(postgres.Tx(tx)))...)
	return err
}
