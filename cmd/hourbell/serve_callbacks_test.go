package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/drivers/sqlite"
)

// TestServeCallbacks lets a node of the program answer a callback URL that a job of a Go program has made with the same key.
func TestServeCallbacks(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	key := strings.Repeat("k", 32)
	writeFile(t, "callback.keys", "\n"+key+"\n"+strings.Repeat("o", 32)+"\n")
	p := b.serve("--listen", "127.0.0.1:0", "--callback-keys", "callback.keys")
	base := "http://" + p.apiAddress()
	eventually(t, "the node is ready", func() bool {
		code, _ := call(t, http.DefaultClient, "GET", base+"/readyz", "")
		return code == http.StatusOK
	})
	backend, err := sqlite.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	urls := make(chan string, 1)
	workers := hourbell.NewWorkers()
	workers.Handle("order", func(ctx context.Context, job *hourbell.JobRow) error {
		_, err := hourbell.Step(ctx, job, "ask", func(ctx context.Context) (bool, error) {
			url, err := job.CallbackURL(ctx, "payment", time.Hour)
			urls <- url
			return true, err
		})
		if err != nil {
			return err
		}
		paid, err := hourbell.Wait[int](ctx, job, "payment", 0)
		if err != nil {
			return err
		}
		return job.SetResult(paid)
	})
	client, err := hourbell.New(backend, hourbell.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Callbacks: hourbell.Callbacks{URL: base + "/callbacks", Keys: [][]byte{[]byte(key)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- client.Run(ctx) }()
	defer func() { stop(); <-ended }()
	job, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "order"})
	if err != nil {
		t.Fatal(err)
	}
	url := <-urls
	if code, body := call(t, http.DefaultClient, "GET", url, ""); code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d %s", code, body)
	}
	if code, body := call(t, http.DefaultClient, "POST", url+"A", "12"); code != http.StatusNotFound {
		t.Errorf("a changed URL: %d %s", code, body)
	}
	if code, body := call(t, http.DefaultClient, "POST", url, "12"); code != http.StatusNoContent {
		t.Errorf("the answer: %d %s", code, body)
	}
	eventually(t, "the job completes", func() bool {
		job, err := client.Jobs.Get(t.Context(), job.ID)
		return err == nil && string(job.Result) == "12"
	})
	if code, body := call(t, http.DefaultClient, "POST", url, "13"); code != http.StatusConflict {
		t.Errorf("a second answer: %d %s", code, body)
	}
	if entries := b.objects("audit"); len(entries) != 1 || entries[0]["actor"] != "callback" {
		t.Errorf("the audit: %v", entries)
	}
	if log := p.logged(); strings.Contains(log, url[len(url)-30:]) {
		t.Errorf("the log has the URL: %s", log)
	}
}
