package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/api"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/demo"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/dashboard"
)

func (p *program) demoCommand() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use: "demo [--listen ADDR]", Short: "Runs sample work on a temporary store, and serves its pages and API", Args: takes(false),
		Long: "Runs a small cluster with sample work in this process, on a SQLite file in a temporary folder, and serves its\n" +
			"pages and its API on this machine. It prints the address of the pages and the URL of the store, which other\n" +
			"commands can use, and works until SIGINT or SIGTERM; then the folder is deleted.",
		Example:               "  hourbell demo\n  hourbell demo --listen 127.0.0.1:9000",
		DisableFlagsInUseLine: true,
		RunE:                  func(c *cobra.Command, _ []string) error { return p.demo(c.Context(), listen) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "the address of the pages and of the API; it must be a loopback address, and port 0 is any free port")
	return c
}

func (p *program) demo(ctx context.Context, listen string) error {
	if err := checkDemoListen(listen); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s for the pages: %w", listen, err)
	}
	defer listener.Close()
	folder, err := os.MkdirTemp("", "hourbell-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	at, err := stores.Parse("sqlite:"+filepath.Join(folder, "demo.db"), "")
	if err != nil {
		return err
	}
	backend, err := at.Open(ctx, true)
	if err != nil {
		return fmt.Errorf("open the store %s: %w", at, err)
	}
	defer backend.Close()
	log := slog.New(slog.DiscardHandler)
	client, err := demo.Open(backend, log)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", api.Handler(client, api.Options{Authorize: access.Local(), Logger: log}))
	mux.Handle("/", dashboard.Handler(client, dashboard.Options{Authorize: access.Local(), Logger: log}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // it ends with ErrServerClosed
	defer server.Close()
	if _, err := fmt.Fprintf(p.stdout, "pages: http://%s/\nstore: %s\n", listener.Addr(), at); err != nil {
		return err
	}
	if err := demo.Run(ctx, backend, client, log); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// checkDemoListen returns why an address is not a loopback address with a port, or nil.
func checkDemoListen(listen string) error {
	if host, _, err := net.SplitHostPort(listen); err == nil && access.LoopbackHost(host) {
		return nil
	}
	return &check.FieldError{
		Field: "listen", Value: check.Shorten(listen), Problem: "is not a loopback address with a port",
		Remedy: "use an address such as 127.0.0.1:8080; `hourbell serve` serves pages to others",
	}
}
