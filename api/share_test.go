package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// gated is a store whose lists of calendars wait.
type gated struct {
	*memory.Store
	lists   *atomic.Int64
	entered chan struct{} // a value for each list that has begun
	release chan struct{} // a list waits for a value
}

func (g gated) List(ctx context.Context, req store.ListRequest) (store.Listing, error) {
	listing, err := g.Store.List(ctx, req)
	if req.Of == store.OfCalendars && len(req.Names) == 0 {
		g.lists.Add(1)
		g.entered <- struct{}{}
		<-g.release
	}
	return listing, err
}

// TestReadsAreShared sends many requests for one address while a read of it is held up in the store. All of them share one later read,
// which has what was stored before the requests arrived, and requests of other callers do not share it.
func TestReadsAreShared(t *testing.T) {
	g := gated{memory.New(), &atomic.Int64{}, make(chan struct{}, 10), make(chan struct{}, 10)}
	client, err := hourbell.New(g, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	inner := newHandler(client, Options{})
	h := access.Protect(inner.guarded(), access.Options{Authorize: testAuthorize})
	waiting := inner.reads.answers.Callers
	var all sync.WaitGroup
	get := func(check func(w *httptest.ResponseRecorder), headers ...string) {
		r := httptest.NewRequest(http.MethodGet, "http://example.com/api/v1/calendars?limit=20", http.NoBody)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		all.Go(func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			check(w)
		})
	}
	has := func(want bool) func(w *httptest.ResponseRecorder) {
		return func(w *httptest.ResponseRecorder) {
			if got := strings.Contains(w.Body.String(), `"holidays"`); w.Code != http.StatusOK || got != want || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %s, want the calendar: %v", w.Code, w.Header(), w.Body, want)
			}
		}
	}
	get(has(false))
	<-g.entered
	if _, err := client.Calendars.Put(t.Context(), hourbell.Calendar{Name: "holidays", CalendarSpec: recur.CalendarSpec{Weekdays: []string{"sat"}}}, 0); err != nil {
		t.Fatal(err)
	}
	const many = 50
	for range many {
		get(has(true))
	}
	for deadline := time.Now().Add(time.Minute); waiting() < many+1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d requests have arrived", waiting(), many+1)
		}
	}
	if n := g.lists.Load(); n != 1 {
		t.Fatalf("%d lists while the first had not ended", n)
	}
	g.release <- struct{}{}
	<-g.entered
	get(has(true), roleHeader, "viewer")
	<-g.entered // another caller does not wait for the others
	close(g.release)
	all.Wait()
	if n := g.lists.Load(); n != 3 {
		t.Errorf("%d lists for %d requests, want 3", n, many+2)
	}
	if n := waiting(); n != 0 {
		t.Errorf("%d requests are left", n)
	}
}
