package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store/memory"
)

// answers are the answers to callbacks of a node whose job returns what it was answered.
type answers struct {
	t      *testing.T
	client *hourbell.Client
	h      http.Handler
	log    *strings.Builder
	paths  chan string
}

func newAnswers(t *testing.T) *answers {
	t.Helper()
	a := &answers{t: t, log: &strings.Builder{}, paths: make(chan string, 100)}
	workers := hourbell.NewWorkers()
	workers.Handle("order", func(ctx context.Context, job *hourbell.JobRow) error {
		_, err := hourbell.Step(ctx, job, "ask", func(ctx context.Context) (bool, error) {
			url, err := job.CallbackURL(ctx, "payment", time.Hour)
			if err == nil {
				a.paths <- strings.TrimPrefix(url, "http://shop.example.org")
			}
			return true, err
		})
		if err != nil {
			return err
		}
		value, err := hourbell.Wait[json.RawMessage](ctx, job, "payment", 0)
		if err != nil {
			return err
		}
		return job.SetResult(value)
	})
	var err error
	a.client, err = hourbell.New(memory.New(), hourbell.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Callbacks: hourbell.Callbacks{URL: "http://shop.example.org/callbacks", Keys: [][]byte{[]byte("a key of the tests, and of no node")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- a.client.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	a.h = Callbacks(a.client, slog.New(slog.NewTextHandler(a.log, nil)))
	return a
}

// order enqueues a job, and returns the path of its URL.
func (a *answers) order() (id int64, path string) {
	a.t.Helper()
	job, err := a.client.Enqueue(a.t.Context(), hourbell.RawArgs{Name: "order"})
	if err != nil {
		a.t.Fatal(err)
	}
	return job.ID, <-a.paths
}

// ask makes a request.
func (a *answers) ask(method, path, contentType, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return w
}

func TestCallbacksTakeValues(t *testing.T) {
	for _, c := range []struct{ contentType, body, result string }{
		{"application/json", `{"paid": 12}`, `{"paid":12}`},
		{"application/json; charset=utf-8", `12`, `12`},
		{"", `"text"`, `"text"`},
		{"", ``, `null`},
		{"application/x-www-form-urlencoded", "paid=12&by=ann%20lee", `{"by":"ann lee","paid":"12"}`},
	} {
		a := newAnswers(t)
		id, path := a.order()
		if w := a.ask("POST", path, c.contentType, c.body); w.Code != http.StatusNoContent {
			t.Fatalf("%q: %d %s", c.body, w.Code, w.Body)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			job, err := a.client.Jobs.Get(t.Context(), id)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%q: the job is %v (%v)", c.body, job.State, err)
			}
			if len(job.Result) > 0 {
				if string(job.Result) != c.result {
					t.Errorf("%q gave %s, want %s", c.body, job.Result, c.result)
				}
				break
			}
		}
		if w := a.ask("POST", path, "", "1"); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "job") {
			t.Errorf("a second answer: %d %s", w.Code, w.Body)
		}
		token := path[strings.LastIndex(path, "/")+1:]
		if strings.Contains(a.log.String(), token) || !strings.Contains(a.log.String(), "a callback was answered") {
			t.Errorf("the log: %s", a.log)
		}
	}
}

// TestCallbacksRefuse makes requests that must have no effect; then the URL is answered.
func TestCallbacksRefuse(t *testing.T) {
	a := newAnswers(t)
	_, path := a.order()
	_, other := a.order()
	half := len(path) - len(path)/4
	for _, c := range []struct {
		method, path, contentType, body string
		code                            int
	}{
		{"GET", path, "", "", 405},
		{"HEAD", path, "", "", 405},
		{"PUT", path, "", "1", 405},
		{"OPTIONS", path, "", "", 405},
		{"POST", "/callbacks/", "", "1", 404},
		{"POST", "/callbacks/x", "", "1", 404},
		{"POST", path[:half] + other[half:], "", "1", 404},
		{"POST", path + "A", "", "1", 404},
		{"POST", path, "", "{", 400},
		{"POST", path, "application/x-www-form-urlencoded", "%zz", 400},
		{"POST", path, "text/html", "<p>", 415},
		{"POST", path, "", `"` + strings.Repeat("a", 70_000) + `"`, 413},
	} {
		w := a.ask(c.method, c.path, c.contentType, c.body)
		if w.Code != c.code || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s %.20q: %d %s, want %d", c.method, c.path, c.body, w.Code, w.Body, c.code)
		}
		if c.code == 405 && w.Header().Get("Allow") != "POST" {
			t.Errorf("%s allows %q", c.method, w.Header().Get("Allow"))
		}
	}
	if w := a.ask("POST", path, "", "1"); w.Code != http.StatusNoContent {
		t.Errorf("in the end: %d %s", w.Code, w.Body)
	}
	if strings.Contains(a.log.String(), "callbacks/") {
		t.Errorf("the log: %s", a.log)
	}
}
