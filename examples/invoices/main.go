// Invoices sends monthly invoices: a schedule, a job for each month and a job for each customer.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/hourbell/hourbell/drivers/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "invoices:", err)
		os.Exit(1)
	}
}

// run runs the program until ctx ends, on the store in a file.
func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: invoices FILE.db")
	}
	backend, err := sqlite.Open(ctx, args[0])
	if err != nil {
		return err
	}
	defer func() { _ = backend.Close() }()
	b := billing{
		customers: func(context.Context) ([]string, error) { return []string{"ada@example.org", "eve@example.org"}, nil },
		send: func(_ context.Context, to, month string) error {
			slog.Info("invoice sent", "to", to, "month", month)
			return nil
		},
	}
	client, err := b.newClient(ctx, backend)
	if err != nil {
		return err
	}
	return client.Run(ctx)
}
