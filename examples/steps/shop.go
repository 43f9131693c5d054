package main

import (
	"context"
	"errors"
	"time"

	"github.com/hourbell/hourbell"
)

// shop has the jobs, and what they work with.
type shop struct {
	remind         func(ctx context.Context, to string) error
	askForApproval func(ctx context.Context, job int64) error
	requestPayment func(ctx context.Context, amount int64, url string) error
	ship           func(ctx context.Context, number string, payment Payment) error
	readRows       func(ctx context.Context, file string, after int64, most int) ([]row, error)
	importRows     func(ctx context.Context, rows []row) error
}

// workers returns the workers of the shop.
func (s *shop) workers() *hourbell.Workers {
	workers := hourbell.NewWorkers()
	hourbell.Register(workers, s.signup)
	hourbell.Register(workers, s.order)
	hourbell.Register(workers, s.load)
	return workers
}

// Signup is the job that reminds a customer.
type Signup struct {
	Email string `json:"email"`
}

// Kind names the job.
func (Signup) Kind() string { return "signup" }

// Order is the job of an order.
type Order struct {
	Number string `json:"number"`
	Amount int64  `json:"amount"`
}

// Kind names the job.
func (Order) Kind() string { return "order" }

// Approval is the answer of a person.
type Approval struct {
	By      string `json:"by"`
	Granted bool   `json:"granted"`
}

// Payment is the answer of the payment provider.
type Payment struct {
	Number string `json:"number"`
}

// Import is the job that imports a file.
type Import struct {
	File string `json:"file"`
}

// Kind names the job.
func (Import) Kind() string { return "import" }

// row is a row of a file.
type row struct{ Number int64 }

// signup reminds a customer, three days later and once.
func (s *shop) signup(ctx context.Context, job *hourbell.Job[Signup]) error {
	if err := job.Sleep(ctx, 72*time.Hour); err != nil {
		return err
	}
	_, err := hourbell.Step(ctx, job, "reminder", func(ctx context.Context) (bool, error) {
		return true, s.remind(ctx, job.Args.Email)
	})
	return err
}

// order waits for its approval.
func (s *shop) order(ctx context.Context, job *hourbell.Job[Order]) error {
	_, err := hourbell.Step(ctx, job, "ask", func(ctx context.Context) (bool, error) {
		return true, s.askForApproval(ctx, job.ID)
	})
	if err != nil {
		return err
	}
	answer, err := hourbell.Wait[Approval](ctx, job, "approval", 7*24*time.Hour)
	switch {
	case errors.Is(err, hourbell.ErrNoSignal):
		return hourbell.Cancel(errors.New("no approval within a week"))
	case err != nil:
		return err
	case !answer.Granted:
		return hourbell.Cancel(errors.New("refused by " + answer.By))
	}
	return s.payAndShip(ctx, job)
}

// payAndShip waits for the payment of an order, and ships it.
func (s *shop) payAndShip(ctx context.Context, job *hourbell.Job[Order]) error {
	_, err := hourbell.Step(ctx, job, "ask for payment", func(ctx context.Context) (bool, error) {
		url, err := job.CallbackURL(ctx, "payment", 3*24*time.Hour)
		if err != nil {
			return false, err
		}
		return true, s.requestPayment(ctx, job.Args.Amount, url)
	})
	if err != nil {
		return err
	}
	payment, err := hourbell.Wait[Payment](ctx, job, "payment", 3*24*time.Hour)
	if err != nil {
		return err
	}
	_, err = hourbell.Step(ctx, job, "ship", func(ctx context.Context) (bool, error) {
		return true, s.ship(ctx, job.Args.Number, payment)
	})
	return err
}

// load imports a file, and goes on where the attempt before has ended.
func (s *shop) load(ctx context.Context, job *hourbell.Job[Import]) error {
	var last int64 // the number of the last row that is imported
	cursor, err := job.Cursor(ctx, "import", &last)
	if err != nil {
		return err
	}
	for {
		rows, err := s.readRows(ctx, job.Args.File, last, 1000)
		if err == nil && len(rows) > 0 {
			err = s.importRows(ctx, rows)
		}
		if err != nil || len(rows) == 0 {
			return errors.Join(err, cursor.Flush(ctx))
		}
		last = rows[len(rows)-1].Number
		if err := cursor.Save(ctx); err != nil {
			return err
		}
	}
}
