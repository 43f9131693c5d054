package node

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// deaf is a store that does not answer.
type deaf struct{ *memory.Store }

func (deaf) List(ctx context.Context, _ store.ListRequest) (store.Listing, error) {
	<-ctx.Done()
	return store.Listing{}, ctx.Err()
}

func TestReadyzSaysWhyNot(t *testing.T) {
	p := &probes{}
	at := &site{name: "probes", what: "probes", handler: p.handler(), log: slog.New(slog.DiscardHandler)}
	if err := at.open(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer at.close()
	expect := func(code int, reason string) {
		t.Helper()
		got, body := get(t, "http://"+at.address()+"/readyz")
		if got != code || !strings.Contains(body["reason"], reason) {
			t.Errorf("readyz answers %d %v instead of %d, %q", got, body, code, reason)
		}
		if got, _ := get(t, "http://"+at.address()+"/healthz"); got != http.StatusOK {
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

func get(t *testing.T, url string) (int, map[string]string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]string
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%s answers %q: %v", url, text, err)
	}
	return response.StatusCode, body
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
