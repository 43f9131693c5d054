package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/postgres"
)

// The drain whose workers complete their jobs in transactions of their own: the
// transactions of all systems are on a pool of txConnections, apart from the
// connections of the system.
const (
	txConnections = 16
	txWorkers     = 100
)

// effectTable has the effects of jobs.
const effectTable = "CREATE TABLE effect (number bigint NOT NULL)"

// insertEffect is what a worker writes in its transaction.
func insertEffect(ctx context.Context, tx pgx.Tx, job child.Args) error {
	_, err := tx.Exec(ctx, "INSERT INTO effect (number) VALUES ($1)", job.Number)
	return err
}

// checkEffects checks that each job that was worked left an effect. cut: the node was stopped while jobs ran.
func checkEffects(ctx context.Context, db database, done int, cut bool) error {
	conn, err := pgx.Connect(ctx, db.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var effects, jobs int
	if err := conn.QueryRow(ctx, "SELECT count(*), count(DISTINCT number) FROM effect").Scan(&effects, &jobs); err != nil {
		return err
	}
	if effects != jobs || !cut && jobs != done {
		return fmt.Errorf("%d jobs were worked, and %d of them left %d effects", done, jobs, effects)
	}
	return nil
}

// ownTxCell compares completions in transactions of workers.
func (b *bench) ownTxCell() cell {
	return cell{
		name: "own-tx",
		title: "Drain " + thousands(b.env.jobs) + " jobs, each with a row that its worker inserts and its completion in " +
			"one transaction; 100 workers, 16 connections for them",
		metrics: []string{rate, "client µs", "server µs", "WAL B", "foreign %"}, yardsticks: []string{"river, JobCompleteTx"},
		rows: []row{
			b.drainRow("hourbell, RegisterTx", drain{system: "hourbell", ownTx: true, workers: txWorkers}),
			b.drainRow("hourbell, RegisterTx, history none", drain{system: "hourbell", mode: historyNone, ownTx: true, workers: txWorkers}),
			b.drainRow("river, JobCompleteTx", drain{system: "river", ownTx: true, workers: txWorkers}),
		},
	}
}

// registerTx registers a worker that inserts an effect in the transaction in which its job is completed.
func (s *ours) registerTx(workers *hourbell.Workers, do func(child.Args)) {
	hourbell.RegisterTx(workers, postgres.Transactions(s.pool), func(ctx context.Context, job *hourbell.Job[child.Args], tx pgx.Tx) error {
		if err := insertEffect(ctx, tx, job.Args); err != nil {
			return err
		}
		do(job.Args)
		return nil
	})
}
