// Command signup is an HTTP service that signs up users. A user's row, the job of the
// welcome mail and the schedule of the nightly digest are committed in one transaction.
// README.md has commands to try it out.
package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	address := os.Getenv("LISTEN")
	if address == "" {
		address = "localhost:8080"
	}
	if err := run(ctx, os.Getenv("DATABASE_URL"), address); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends, and then stops in order: no new requests, then no new jobs.
func run(ctx context.Context, url, address string) error {
	pool, err := openPool(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s, err := newService(ctx, pool, logMailer{})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer s.close()
	slog.Info("listening", "url", "http://"+listener.Addr().String())
	return s.serve(ctx, listener)
}

// openPool opens a pool that is larger than the number of jobs that run at a time, because
// each of them may hold a connection.
func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = concurrentJobs + 10
	return pgxpool.NewWithConfig(ctx, config)
}

// stopTime is how long requests may take after the service was told to stop.
const stopTime = 10 * time.Second

// serve answers requests and runs jobs until ctx ends or one of the two fails.
func (s *service) serve(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	jobs := make(chan error, 1)
	node, stopNode := context.WithCancel(context.WithoutCancel(ctx))
	defer stopNode()
	go func() {
		jobs <- s.client.Run(node) // returns after the running jobs have ended
		stop()
	}()
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second}
	requests := make(chan error, 1)
	go func() {
		requests <- server.Serve(listener)
		stop()
	}()

	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := server.Shutdown(end)
	if served := <-requests; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	stopNode()
	return errors.Join(err, <-jobs)
}
