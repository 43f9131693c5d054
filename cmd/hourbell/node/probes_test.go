package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// deaf is a store that does not answer.
type deaf struct{ *memory.Store }

func (deaf) ListNodes(ctx context.Context) ([]store.NodeInfo, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestReadyzSaysWhyNot(t *testing.T) {
	p, addr, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	expect := func(code int, reason string) {
		t.Helper()
		got, body := get(t, "http://"+addr.String()+"/readyz")
		if got != code || !strings.Contains(body["reason"], reason) {
			t.Errorf("readyz answers %d %v instead of %d, %q", got, body, code, reason)
		}
		if got, _ := get(t, "http://"+addr.String()+"/healthz"); got != http.StatusOK {
			t.Errorf("healthz answers %d", got)
		}
	}
	expect(http.StatusServiceUnavailable, "starting")

	quiet := hourbell.Config{Name: "tower", Logger: slog.New(slog.DiscardHandler)}
	client, err := hourbell.New(memory.New(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	p.client.Store(client)
	expect(http.StatusServiceUnavailable, "not registered")

	go client.Run(t.Context())
	eventually(t, "the node is registered", func() bool { return p.ready(t.Context()) == nil })
	expect(http.StatusOK, "")

	p.ending.Store(true)
	expect(http.StatusServiceUnavailable, "stopping")
	p.ending.Store(false)
	if err := client.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(http.StatusServiceUnavailable, "not registered")

	silent, err := hourbell.New(deaf{memory.New()}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	p.client.Store(silent)
	expect(http.StatusServiceUnavailable, "has not answered within 2s")
}
