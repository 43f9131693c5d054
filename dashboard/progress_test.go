package dashboard

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// heldStore lets a change of jobs begin when pass has a value.
type heldStore struct {
	store.Backend
	pass chan struct{}
}

func (s heldStore) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	select {
	case <-s.pass:
		return s.Backend.ChangeJobs(ctx, req)
	case <-ctx.Done():
		return store.ChangeJobsResult{}, ctx.Err()
	}
}

// TestProgress sees how far a change of many jobs has come, stops another, and is refused what is not there.
func TestProgress(t *testing.T) {
	b := &bench{T: t, role: access.Operator}
	held := heldStore{memory.New(), make(chan struct{})}
	var err error
	b.client, err = hourbell.New(held, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	b.must(err)
	b.server = httptest.NewServer(Handler(b.client, Options{Logger: slog.New(slog.DiscardHandler), Authorize: func(*http.Request) (access.Identity, error) {
		return access.Identity{Name: "ada", Role: b.role, Source: "test"}, nil
	}}))
	t.Cleanup(b.server.Close)
	var requests []hourbell.Request
	for i := range 3500 {
		requests = append(requests, hourbell.Request{Args: hourbell.RawArgs{Name: fmt.Sprint("k", i%2)}})
	}
	_, err = b.client.EnqueueMany(b.ctx(), requests)
	b.must(err)
	begin := func(kind string) string {
		t.Helper()
		res := b.post("change-jobs", url.Values{"action": {"cancel"}, "kind": {kind}, "all": {"yes"}})
		if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(res.Header.Get("Location"), "progress?key=") {
			t.Fatalf("status %d, then %s", res.StatusCode, res.Header.Get("Location"))
		}
		return res.Header.Get("Location")
	}
	shows := func(path, text string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !strings.Contains(b.ok(path), text); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not show %q:\n%s", path, text, b.ok(path))
			}
		}
	}
	path := begin("k0")
	shows(path, "0 of 1750 jobs so far.")
	held.pass <- struct{}{}
	shows(path, "1000 of 1750 jobs so far.")
	b.contains("the page", b.ok(path), "Stop", `href="jobs?kind=k0"`, "<progress")
	for !strings.Contains(b.ok(path), "1750 jobs cancelled.") { // a store that was slow gets smaller batches
		select {
		case held.pass <- struct{}{}:
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	if body := b.ok(path); strings.Contains(body, "Stop") {
		t.Errorf("a change that has ended can be stopped:\n%s", body)
	}
	path = begin("k1")
	held.pass <- struct{}{}
	shows(path, "1000 of 1750 jobs so far.")
	key := strings.TrimPrefix(path, "progress?key=")
	if res := b.post("stop-change", url.Values{"key": {key}}); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != path {
		t.Errorf("a stop: status %d", res.StatusCode)
	}
	shows(path, "1000 jobs cancelled. Then the change ended: it was stopped.")
	for of, status := range map[string]int{"progress?key=other": http.StatusNotFound, "progress": http.StatusNotFound} {
		if got, _ := b.get(of); got != status {
			t.Errorf("%s: status %d", of, got)
		}
	}
	b.role = access.Viewer
	if status, _ := b.get(path); status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
}
