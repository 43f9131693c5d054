package page

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell"
)

type Order struct {
	Number, Card, Email string
	Amount              int64
}

func (Order) Kind() string { return "order" }

type Signup struct{ Email string }

func (Signup) Kind() string { return "signup" }

type Import struct{ File string }

func (Import) Kind() string { return "import" }

type Report struct {
	Month   string
	Regions []string
}

func (Report) Kind() string { return "report" }

type Region struct{ Name, Month string }

func (Region) Kind() string { return "region" }

type (
	Receipt  struct{ Number string }
	Approval struct {
		By      string
		Granted bool
	}
	Payment struct{ Number string }
	row     struct{ Number int64 }
)

var (
	ctx     context.Context
	client  *hourbell.Client
	workers *hourbell.Workers
	pool    *pgxpool.Pool
	job     *hourbell.Job[Order]
	id      int64
)

func charge(ctx context.Context, card string, amount int64) (Receipt, error)

func send(ctx context.Context, to string, receipt Receipt) error

func ship(ctx context.Context, number string) error

type shop struct {
	remind         func(ctx context.Context, to string) error
	askForApproval func(ctx context.Context, job int64) error
	requestPayment func(ctx context.Context, amount int64, url string) error
	ship           func(ctx context.Context, number string, payment Payment) error
	readRows       func(ctx context.Context, file string, after int64, most int) ([]row, error)
	importRows     func(ctx context.Context, rows []row) error
}
