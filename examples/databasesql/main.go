// Command databasesql enqueues a job in the transaction that inserts a row, with
// database/sql and pgx's driver for it.
//
//	go run ./databasesql 'postgres://postgres@localhost/app'
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

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
		log.Fatal("usage: databasesql URL")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run signs up two accounts, rolls one of them back, and runs the jobs until the mail
// of the other was sent.
func run(ctx context.Context, url string, out io.Writer) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS account (email text PRIMARY KEY)"); err != nil {
		return err
	}

	backend, err := postgres.NewDB(ctx, db)
	if err != nil {
		return err
	}
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

	if err := signUp(ctx, db, client, "eve@example.org", errors.New("no")); err == nil {
		return errors.New("the transaction was committed")
	}
	if err := signUp(ctx, db, client, "ada@example.org", nil); err != nil {
		return err
	}
	return client.Run(ctx)
}

// signUp inserts an account and enqueues its mail; with an objection neither happens.
func signUp(ctx context.Context, db *sql.DB, client *hourbell.Client, email string, objection error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after the commit
	if _, err := tx.ExecContext(ctx, "INSERT INTO account (email) VALUES ($1) ON CONFLICT DO NOTHING", email); err != nil {
		return err
	}
	if _, err := client.Enqueue(ctx, Welcome{Email: email}, hourbell.InTx(postgres.SQLTx(tx))); err != nil {
		return err
	}
	if objection != nil {
		return objection
	}
	return tx.Commit()
}
