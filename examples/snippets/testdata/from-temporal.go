package page

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
)

type Trial struct{ Email string }

func (Trial) Kind() string { return "trial" }

type Month struct {
	Account string
	Number  int
}

func (Month) Kind() string { return "month" }

type (
	Account  struct{ ID string }
	Decision struct{ Buys bool }
)

var (
	pool *pgxpool.Pool
	tx   pgx.Tx
	job  *hourbell.Job[Month]
)

func openAccount(ctx context.Context, email string) (Account, error)

func settle(ctx context.Context, account Account, buys bool) error
