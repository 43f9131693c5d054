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

var job *hourbell.Job[Invoice]

var errNoSuchInvoice, errMaintenance = errors.New("no such invoice"), errors.New("maintenance")

func render(ctx context.Context, number int) ([]byte, error)

func send(ctx context.Context, to string, pdf []byte) error

func step(ctx context.Context) error

func save(job *hourbell.Job[Invoice])

var body, day string
