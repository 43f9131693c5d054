package dashboard

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// nasty are texts that would be markup, code or another address if a page did not escape
// them for their place.
var nasty = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `</title><svg onload=alert(1)>`,
	`{{.}}`, `a&b=c#d?e=f/g`, `%3Cscript%3E`, "\u202egnp.exe", `--><script>alert(1)</script>`, `</pre></td></table><form action=//evil.example>`, `//evil.example/`,
}

// bench is a client with its pages, for one test.
type bench struct {
	*testing.T
	client *hourbell.Client
	server *httptest.Server
	role   access.Role
	now    time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, role: access.Operator}
	workers := hourbell.NewWorkers()
	workers.Handle("works", func(ctx context.Context, job *hourbell.JobRow) error { return nil })
	for _, text := range nasty {
		workers.Handle(text, func(context.Context, *hourbell.JobRow) error { return hourbell.Fail(errors.New(text)) })
	}
	workers.Handle("fails", func(context.Context, *hourbell.JobRow) error {
		return hourbell.Fail(errors.New("it broke\nsecond line"))
	})
	workers.Handle("waits", func(ctx context.Context, job *hourbell.JobRow) error {
		answer, err := hourbell.Wait[string](ctx, job, "approval", 0)
		if err != nil {
			return err
		}
		return job.SetResult(answer)
	})
	workers.Handle("tries", func(context.Context, *hourbell.JobRow) error {
		return hourbell.RetryIn(time.Hour, errors.New("not yet"))
	})
	workers.Handle("hangs", func(ctx context.Context, job *hourbell.JobRow) error {
		job.Log("<script>alert(1)</script>\x1b[31m")
		<-ctx.Done()
		return ctx.Err()
	})
	queues := map[string]int{"default": 20}
	var err error
	b.client, err = hourbell.New(memory.New(), hourbell.Config{Workers: workers, Queues: queues, Name: `node <b>1</b>`, Logger: slog.New(slog.DiscardHandler), Drain: -1, PollIdle: 20 * time.Millisecond})
	b.must(err)
	b.server = httptest.NewServer(Handler(b.client, Options{
		Authorize: func(*http.Request) (access.Identity, error) {
			return access.Identity{Name: nasty[0], Role: b.role, Source: "test"}, nil
		},
		Locks: func(context.Context, lock.LocksRequest) ([]lock.Info, error) {
			return []lock.Info{{Name: nasty[1], Owner: nasty[0]}}, nil
		},
		Files:  func() []File { return []File{{Path: nasty[0], Owner: nasty[1], Problem: nasty[2]}} },
		Logger: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(b.server.Close)
	b.now, err = b.client.Now(b.ctx())
	b.must(err)
	return b
}

// run runs the client's node until the test ends.
func (b *bench) run() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.client.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		b.must(<-done)
	})
}

func (b *bench) ctx() context.Context { return b.Context() }

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) enqueue(kind, args string, options ...hourbell.Option) int64 {
	b.Helper()
	made, err := b.client.Enqueue(b.ctx(), hourbell.RawArgs{Name: kind, JSON: []byte(args)}, options...)
	b.must(err)
	return made.ID
}

func (b *bench) put(name, kind string, change func(*hourbell.Schedule)) {
	b.Helper()
	s := hourbell.Schedule{Name: name, Rule: recur.Every(time.Hour), Job: hourbell.RawArgs{Name: kind, JSON: []byte(`{}`)}}
	if change != nil {
		change(&s)
	}
	_, err := b.client.Schedules.Put(b.ctx(), s)
	b.must(err)
}

// wait waits until as many jobs as wanted match.
func (b *bench) wait(f hourbell.JobFilter, want int64) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		n, err := b.client.Jobs.Count(b.ctx(), f)
		b.must(err)
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%d jobs match %+v, not %d", n, f, want)
		}
	}
}

// get returns the answer to GET.
func (b *bench) get(path string) (status int, body string) {
	b.Helper()
	res, err := b.server.Client().Get(b.server.URL + "/" + path)
	b.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	return res.StatusCode, string(text)
}

// ok returns a page that must be answered.
func (b *bench) ok(path string) string {
	b.Helper()
	status, body := b.get(path)
	if status != http.StatusOK {
		b.Fatalf("%s: status %d\n%s", path, status, body)
	}
	return body
}

// answer is an answer without its body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// Cookies returns the cookies that the answer sets.
func (a answer) Cookies() []*http.Cookie { return (&http.Response{Header: a.Header}).Cookies() }

// post sends a form as a browser does, and returns the answer without following it.
func (b *bench) post(path string, form url.Values, header ...string) answer {
	b.Helper()
	req, err := http.NewRequestWithContext(b.ctx(), http.MethodPost, b.server.URL+"/"+path, strings.NewReader(form.Encode()))
	b.must(err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	b.must(err)
	res.Body.Close()
	return answer{res.StatusCode, res.Header}
}

func (b *bench) state(id int64) store.State {
	b.Helper()
	job, err := b.client.Jobs.Get(b.ctx(), id)
	b.must(err)
	return job.State
}

func (b *bench) contains(what, text string, parts ...string) {
	b.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			b.Errorf("%s does not contain %q:\n%s", what, part, text)
		}
	}
}
