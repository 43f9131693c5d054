// Command gorm enqueues a job in the transaction in which GORM creates a row.
//
//	go run ./gorm 'postgres://postgres@localhost/app'
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/postgres"
)

// Account is a row of GORM's table accounts.
type Account struct {
	ID    uint
	Email string
}

// Welcome is a job: a mail to a new account.
type Welcome struct {
	Account uint   `json:"account"`
	Email   string `json:"email"`
}

// Kind names the type of job.
func (Welcome) Kind() string { return "welcome" }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gorm URL")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run signs up two accounts, rolls one of them back, and runs the jobs until the mail
// of the other was sent.
func run(ctx context.Context, url string, out io.Writer) error {
	orm, err := gorm.Open(gormpostgres.Open(url), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return err
	}
	db, err := orm.DB()
	if err != nil {
		return err
	}
	defer db.Close()
	if err := orm.AutoMigrate(&Account{}); err != nil {
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

	if err := signUp(ctx, orm, client, "eve@example.org", errors.New("no")); err == nil {
		return errors.New("the transaction was committed")
	}
	if err := signUp(ctx, orm, client, "ada@example.org", nil); err != nil {
		return err
	}
	return client.Run(ctx)
}

// signUp creates an account and enqueues its mail; with an objection neither happens.
func signUp(ctx context.Context, orm *gorm.DB, client *hourbell.Client, email string, objection error) error {
	return orm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		account := Account{Email: email}
		if err := tx.Create(&account).Error; err != nil {
			return err
		}
		in, err := inTx(tx)
		if err != nil {
			return err
		}
		if _, err := client.Enqueue(ctx, Welcome{Account: account.ID, Email: email}, in); err != nil {
			return err
		}
		return objection
	})
}

// inTx returns the transaction of GORM as an option of Hourbell's calls. With
// PrepareStmt, GORM wraps the transaction.
func inTx(tx *gorm.DB) (hourbell.Option, error) {
	switch conn := tx.Statement.ConnPool.(type) {
	case *sql.Tx:
		return hourbell.InTx(postgres.SQLTx(conn)), nil
	case *gorm.PreparedStmtTX:
		if own, ok := conn.Tx.(*sql.Tx); ok {
			return hourbell.InTx(postgres.SQLTx(own)), nil
		}
	}
	return nil, fmt.Errorf("GORM runs no transaction of database/sql here, but %T", tx.Statement.ConnPool)
}
