// Command bun enqueues a job in the transaction in which bun inserts a row, and completes the job in
// the transaction in which bun updates the row.
//
//	go run ./bun 'postgres://postgres@localhost/app'
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
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
)

// Account is a row of bun's table accounts.
type Account struct {
	ID      int64 `bun:",pk,autoincrement"`
	Email   string
	Greeted bool
}

// Welcome is a job: a mail to a new account.
type Welcome struct {
	Account int64 `json:"account"`
}

// Kind names the type of job.
func (Welcome) Kind() string { return "welcome" }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: bun URL")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run signs up two accounts, rolls one of them back, and runs jobs until the other account
// is greeted.
func run(ctx context.Context, url string, out io.Writer) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close()
	orm := bun.NewDB(db, pgdialect.New())
	if _, err := orm.NewCreateTable().Model((*Account)(nil)).IfNotExists().Exec(ctx); err != nil {
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
	hourbell.RegisterTx(workers, postgres.SQLTransactions(db), func(ctx context.Context, job *hourbell.Job[Welcome], tx *sql.Tx) error {
		account, err := greet(ctx, orm, tx, job.Args.Account)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "welcome,", account.Email)
		stop() // Run returns after the transaction
		return nil
	})
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}

	if err := signUp(ctx, orm, client, "eve@example.org", errors.New("no")); err == nil {
		return errors.New("the transaction was committed")
	}
	if err := signUp(ctx, orm, client, "ada@example.org", nil); err != nil {
		return err
	}
	return client.Run(ctx)
}

// signUp inserts an account and enqueues its mail; with an objection neither happens.
func signUp(ctx context.Context, orm *bun.DB, client *hourbell.Client, email string, objection error) error {
	return orm.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		account := Account{Email: email}
		if _, err := tx.NewInsert().Model(&account).Exec(ctx); err != nil {
			return err
		}
		if _, err := client.Enqueue(ctx, Welcome{Account: account.ID}, hourbell.InTx(postgres.SQLTx(tx.Tx))); err != nil {
			return err
		}
		return objection
	})
}

// greet marks an account as greeted, in the transaction in which the job is completed.
func greet(ctx context.Context, orm *bun.DB, tx *sql.Tx, id int64) (Account, error) {
	account := Account{ID: id, Greeted: true}
	_, err := orm.NewUpdate().Conn(tx).Model(&account).Column("greeted").WherePK().Returning("*").Exec(ctx)
	return account, err
}
