// Command mysql enqueues a job in the transaction in which GORM creates a row in MySQL or MariaDB, and completes the
// job in the transaction in which GORM updates the row.
//
//	go run ./mysql 'app:secret@tcp(localhost:3306)/app'
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/mysql"
)

// Account is a row of GORM's table accounts.
type Account struct {
	ID      int64
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
		log.Fatal("usage: mysql DSN")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run signs up two accounts, rolls one of them back, and runs jobs until the other account
// is greeted.
func run(ctx context.Context, dsn string, out io.Writer) error {
	orm, err := gorm.Open(gormmysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
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

	backend, err := mysql.New(ctx, db)
	if err != nil {
		return err
	}
	defer backend.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	workers := hourbell.NewWorkers()
	hourbell.RegisterTx(workers, mysql.Transactions(db), func(ctx context.Context, job *hourbell.Job[Welcome], tx *sql.Tx) error {
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

// signUp creates an account and enqueues its mail; with an objection neither happens. The transaction is
// READ COMMITTED, so that it locks no gaps between rows, for which other transactions would wait.
func signUp(ctx context.Context, orm *gorm.DB, client *hourbell.Client, email string, objection error) error {
	return orm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		account := Account{Email: email}
		if err := tx.Create(&account).Error; err != nil {
			return err
		}
		own, ok := tx.Statement.ConnPool.(*sql.Tx)
		if !ok { // with PrepareStmt, GORM wraps the transaction: see the example gorm
			return fmt.Errorf("GORM runs no transaction of database/sql here, but %T", tx.Statement.ConnPool)
		}
		if _, err := client.Enqueue(ctx, Welcome{Account: account.ID}, hourbell.InTx(mysql.Tx(own))); err != nil {
			return err
		}
		return objection
	}, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
}

// greet marks an account as greeted, in the transaction in which the job is completed.
func greet(ctx context.Context, orm *gorm.DB, tx *sql.Tx, id int64) (account Account, err error) {
	in := orm.Session(&gorm.Session{NewDB: true, Context: ctx})
	in.Statement.ConnPool = tx
	if err = in.First(&account, id).Error; err == nil {
		err = in.Model(&account).Update("greeted", true).Error
	}
	return account, err
}
