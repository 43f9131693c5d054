// Command steps is a shop whose jobs wait for days, for people and for a payment provider, on a SQLite file.
//
//	go run ./steps shop.db
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/api"
	"github.com/hourbell/hourbell/drivers/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: steps FILE.db")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], "127.0.0.1:8080", 10_000_000, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}

// run is a node on a file until ctx ends, with an order, a signup and an import of so many rows. It answers callbacks at address.
func run(ctx context.Context, file, address string, rows int64, out io.Writer) error {
	backend, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer backend.Close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	key := make([]byte, 32) // of this process; URLs that outlive it need a key that is kept
	if _, err := rand.Read(key); err != nil {
		return err
	}
	client, err := hourbell.New(backend, hourbell.Config{
		Workers:   printing(rows, out).workers(),
		Callbacks: hourbell.Callbacks{URL: "http://" + listener.Addr().String() + "/callbacks", Keys: [][]byte{key}},
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err := client.Migrate(ctx); err != nil {
		return err
	}
	for key, args := range map[string]hourbell.Args{
		"order-17": Order{Number: "17", Amount: 4200},
		"ada":      Signup{Email: "ada@example.org"},
		"rows":     Import{File: "rows.csv"},
	} {
		// A second start finds the same job, unless it has ended.
		if _, err := client.Enqueue(ctx, args, hourbell.Unique(key), hourbell.Key(key)); err != nil {
			return err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("POST /callbacks/{token}", api.Callbacks(client, nil))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer server.Close()
	go func() { _ = server.Serve(listener) }()
	return client.Run(ctx)
}

// printing returns a shop that prints what it does.
func printing(rows int64, out io.Writer) *shop {
	return &shop{
		remind: func(_ context.Context, to string) error {
			_, err := fmt.Fprintln(out, "reminder sent to", to)
			return err
		},
		askForApproval: func(_ context.Context, job int64) error {
			_, err := fmt.Fprintf(out, "approve it: hourbell signal %d approval '{\"by\": \"ann\", \"granted\": true}'\n", job)
			return err
		},
		requestPayment: func(_ context.Context, amount int64, url string) error {
			_, err := fmt.Fprintf(out, "pay %d: curl --json '{\"number\": \"p-1\"}' %s\n", amount, url)
			return err
		},
		ship: func(_ context.Context, number string, payment Payment) error {
			_, err := fmt.Fprintf(out, "order %s shipped, payment %s\n", number, payment.Number)
			return err
		},
		readRows: func(_ context.Context, _ string, after int64, most int) (page []row, err error) {
			for number := after + 1; number <= min(after+int64(most), rows); number++ {
				page = append(page, row{number})
			}
			return page, nil
		},
		importRows: func(ctx context.Context, page []row) error {
			first, last := page[0].Number, page[len(page)-1].Number
			if last/1_000_000 > (first-1)/1_000_000 || last == rows {
				if _, err := fmt.Fprintf(out, "rows to %d imported\n", last); err != nil {
					return err
				}
			}
			select {
			case <-time.After(time.Millisecond): // as long as a database takes
				return nil
			case <-ctx.Done():
				return errors.Join(ctx.Err(), context.Cause(ctx))
			}
		},
	}
}
