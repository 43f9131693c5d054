// Command pgx enqueues a job in the transaction that inserts a row, with plain pgx.
//
//	go run ./pgx 'postgres://postgres@localhost/app'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
)

// Welcome is a job: a mail to a new account.
type Welcome struct {
	Email string `json:"email"`
}

// Kind names the type of job.
func (Welcome) Kind() string { return "welcome" }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: pgx URL")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run signs up two accounts, rolls one of them back, and runs the jobs until the mail
// of the other was sent.
func run(ctx context.Context, url string, out io.Writer) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS account (email text PRIMARY KEY)"); err != nil {
		return err
	}

	backend := postgres.New(pool)
	defer backend.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, func(_ context.Context, job *hourbell.Job[Welcome]) error {
		fmt.Fprintln(out, "welcome,", job.Args.Email)
		stop()
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}

	if err := signUp(ctx, pool, client, "eve@example.org", errors.New("no")); err == nil {
		return errors.New("the transaction was committed")
	}
	if err := signUp(ctx, pool, client, "ada@example.org", nil); err != nil {
		return err
	}
	return client.Run(ctx)
}

// signUp inserts an account and enqueues its mail; with an objection neither happens.
func signUp(ctx context.Context, pool *pgxpool.Pool, client *hourbell.Client, email string, objection error) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO account (email) VALUES ($1) ON CONFLICT DO NOTHING", email); err != nil {
			return err
		}
		if _, err := client.Enqueue(ctx, Welcome{Email: email}, hourbell.InTx(postgres.Tx(tx))); err != nil {
			return err
		}
		return objection
	})
}
