package page

import (
	"context"
	"errors"

	"github.com/hourbell/hourbell"
)

type Invoice struct {
	Number int
	Email  string
}

func (Invoice) Kind() string { return "invoice" }

type Import struct{}

func (Import) Kind() string { return "import" }

type Total struct{ Files int }

var job *hourbell.Job[Invoice]

var errNoSuchInvoice, errMaintenance = errors.New("no such invoice"), errors.New("maintenance")

var (
	workers   *hourbell.Workers
	files     []struct{ Name string }
	i         int
	value     any
	body, day string
)

func render(ctx context.Context, number int) ([]byte, error)

func send(ctx context.Context, to string, pdf []byte) error

func step(ctx context.Context) error

func save(job *hourbell.Job[Invoice])

func resize(context.Context, *hourbell.Job[Import]) error { return nil }
