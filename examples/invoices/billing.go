package main

import (
	"context"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// billing sends the invoices.
type billing struct {
	customers func(ctx context.Context) ([]string, error)
	send      func(ctx context.Context, to, month string) error

	client *hourbell.Client // of newClient
}

// Month is the job that makes the invoices of the month before.
type Month struct{}

// Kind names the job.
func (Month) Kind() string { return "month" }

// Invoice is the job that sends one invoice.
type Invoice struct {
	To    string `json:"to"`
	Month string `json:"month"`
}

// Kind names the job.
func (Invoice) Kind() string { return "invoice" }

// newClient returns a client with the workers and the schedule.
func (b *billing) newClient(ctx context.Context, backend store.Backend) (*hourbell.Client, error) {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, b.month)
	hourbell.Register(workers, b.invoice)
	client, err := hourbell.New(backend, hourbell.Config{Workers: workers})
	if err != nil {
		return nil, err
	}
	b.client = client
	if err := client.Migrate(ctx); err != nil {
		return nil, err
	}
	_, err = client.Schedules.Put(ctx, hourbell.Schedule{
		Name: "invoices", Rule: recur.Cron("0 9 1W * *").In("Europe/Prague"), Job: Month{},
	})
	return client, err
}

// month enqueues an invoice for each customer. The key makes a second attempt harmless: a customer gets
// the invoice of a month once.
func (b *billing) month(ctx context.Context, job *hourbell.Job[Month]) error {
	customers, err := b.customers(ctx)
	if err != nil {
		return err
	}
	now := job.Slot
	if now.IsZero() { // triggered by hand
		now = job.CreatedAt
	}
	month := now.AddDate(0, -1, 0).Format("2006-01")
	var requests []hourbell.Request
	for _, to := range customers {
		requests = append(requests, hourbell.Request{
			Args: Invoice{To: to, Month: month}, Options: []hourbell.Option{hourbell.UniqueArgs(), hourbell.UniqueFor(60 * 24 * time.Hour)},
		})
	}
	_, err = b.client.EnqueueMany(ctx, requests)
	return err
}

// invoice sends an invoice.
func (b *billing) invoice(ctx context.Context, job *hourbell.Job[Invoice]) error {
	return b.send(ctx, job.Args.To, job.Args.Month)
}
