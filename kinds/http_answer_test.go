package kinds

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

func TestRetryAfter(t *testing.T) {
	const date = "Sun, 22 Nov 2026 12:00:00 GMT"
	for _, test := range []struct {
		after, date string
		want        time.Duration // 0: none
	}{
		{"", date, 0},
		{"120", "", 2 * time.Minute},
		{"0", "", time.Second},
		{"86401", "", 24 * time.Hour},
		{"99999999999999999999", "", 24 * time.Hour},
		{"-5", "", 0},
		{"1.5", "", 0},
		{"soon", date, 0},
		{"Sun, 22 Nov 2026 12:05:00 GMT", date, 5 * time.Minute},
		{"Sun, 22 Nov 2026 11:00:00 GMT", date, time.Second},
		{"Mon, 22 Nov 2027 12:00:00 GMT", date, 24 * time.Hour},
		{"Sun, 22 Nov 2026 12:05:00 GMT", "", 0}, // the clocks of two machines are not compared
	} {
		header := http.Header{}
		header.Set("Retry-After", test.after)
		header.Set("Date", test.date)
		got, ok := retryAfter(header)
		if got != test.want || ok != (test.want > 0) {
			t.Errorf("%q at %q: %v, %v, want %v", test.after, test.date, got, ok, test.want)
		}
	}
}

// TestHTTPRetries checks which statuses are tried again.
func TestHTTPRetries(t *testing.T) {
	for _, test := range []struct {
		retry        []string
		again, never []int
	}{
		{nil, []int{408, 425, 429, 500, 503, 599}, []int{300, 301, 400, 401, 404, 409, 418}},
		{[]string{"none"}, nil, []int{408, 429, 500}},
		{[]string{"404", "409-411", "3xx"}, []int{404, 409, 410, 411, 302}, []int{408, 412, 500}},
	} {
		for _, code := range slices.Concat(test.again, test.never) {
			_, _, _, err := ask(t, HTTP{Retry: test.retry}, hourbell.JobRow{}, code, "")
			if err == nil || isFinal(err) == slices.Contains(test.again, code) {
				t.Errorf("retry %v, status %d: %v", test.retry, code, err)
			}
		}
	}
	for _, bad := range [][]string{{"200"}, {"5x"}, {"600"}, {"504-500"}, {"none", "429"}, {""}} {
		if err := (HTTP{URL: "http://a", Retry: bad}).Validate(); err == nil || !strings.Contains(err.Error(), "retry") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestHTTPTimeout checks that a server that does not answer, or not to the end,
// takes no longer than the timeout of the request, and is called again.
func TestHTTPTimeout(t *testing.T) {
	for _, begin := range []string{"", "some"} {
		leave := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, begin)
			if begin != "" {
				w.(http.Flusher).Flush()
			}
			<-leave
		}))
		args, err := HTTP{URL: server.URL, Timeout: Duration(200 * time.Millisecond)}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		job := &hourbell.JobRow{RawArgs: args}
		began := time.Now()
		err = HTTPWorker{Private: true}.Work(t.Context(), job)
		if !errors.Is(err, context.DeadlineExceeded) || isFinal(err) || string(job.Output()) != begin {
			t.Errorf("%q: %v with the output %q after %v", begin, err, job.Output(), time.Since(began))
		}
		close(leave)
		server.Close()
	}
	if err := (HTTP{URL: "http://a", Timeout: -1}).Validate(); err == nil {
		t.Error("a negative timeout is accepted")
	}
	if _, err := DecodeHTTP([]byte(`{"url":"http://a","timeout":"soon"}`)); err == nil || !strings.Contains(err.Error(), "not a duration") {
		t.Errorf("a timeout that is no duration: %v", err)
	}
}

// TestHTTPReadsABoundedAnswer checks that an answer without an end ends, and
// that 64 KiB of it are kept.
func TestHTTPReadsABoundedAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 64<<10); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	args, _ := HTTP{URL: server.URL}.Encode()
	job := &hourbell.JobRow{RawArgs: args}
	if err := (HTTPWorker{Private: true}).Work(t.Context(), job); err != nil || len(job.Output()) != store.OutputLimit {
		t.Errorf("%v with %d bytes of output", err, len(job.Output()))
	}
}

// TestHTTPHeadersCannotBeForged checks that a job cannot set what Hourbell
// promises to its servers, nor break the frame of a request.
func TestHTTPHeadersCannotBeForged(t *testing.T) {
	for _, pair := range [][2]string{
		{"hourbell-token", "9"},
		{"Hourbell-Job", "1"},
		{"content-length", "0"},
		{"Transfer-Encoding", "chunked"},
		{"connection", "close"},
		{"Upgrade", "h2c"},
		{"a", "b\r\nc: d"},
		{"a", "b\nc"},
		{"a", "\x00"},
		{"a", "\x7f"},
		{"a\r\nb", "c"},
		{"a:", "b"},
		{"", "b"},
	} {
		if err := (HTTP{URL: "http://a", Header: map[string]string{pair[0]: pair[1]}}).Validate(); err == nil {
			t.Errorf("%q: %q is accepted", pair[0], pair[1])
		}
	}
	for _, url := range []string{"http://a\r\nb/", "http://a/\x00", "http:///x", "//a/b", "file:///etc/passwd", "gopher://a/", "http://"} {
		if err := (HTTP{URL: url}).Validate(); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
}

// TestHTTPIdempotencyKey checks that all attempts of a job have one key, that
// other jobs and other stores have others, and that the tokens differ.
func TestHTTPIdempotencyKey(t *testing.T) {
	keys := map[string]bool{}
	for range 2 { // stores
		var mu sync.Mutex
		byJob, tokens := map[string][]string{}, map[string]bool{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			job := r.Header.Get("Hourbell-Job")
			byJob[job] = append(byJob[job], r.Header.Get("Idempotency-Key"))
			tokens[r.Header.Get("Hourbell-Token")] = true
			if len(byJob[job]) < 2 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		workers := hourbell.NewWorkers()
		workers.Handle(HTTPKind, HTTPWorker{Private: true}.Work)
		client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := client.Enqueue(t.Context(), HTTP{URL: server.URL}); err != nil {
				t.Fatal(err)
			}
		}
		ran := make(chan error, 1)
		go func() { ran <- client.Run(context.Background()) }()
		for done := false; !done; time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			done = len(tokens) == 4
			mu.Unlock()
			if t.Context().Err() != nil {
				t.Fatal("the jobs did not end")
			}
		}
		_ = client.Stop(context.Background())
		<-ran
		server.Close()
		for job, sent := range byJob {
			if len(sent) != 2 || sent[0] != sent[1] || keys[sent[0]] || !strings.HasSuffix(sent[0], "-"+job) {
				t.Errorf("job %s sent the keys %q; others were %v", job, sent, keys)
			}
			keys[sent[0]] = true
		}
	}
	if len(keys) != 4 {
		t.Errorf("the keys are %v", keys)
	}
}

// TestHTTPLimited checks which answers with Retry-After spend no attempt.
func TestHTTPLimited(t *testing.T) {
	for status, limited := range map[int]bool{429: true, 503: true, 500: false, 408: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		}))
		answer, err := http.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if err := (HTTP{URL: server.URL}).statusError(answer.Request, answer); err == nil || hourbell.IsSnooze(err) != limited {
			t.Errorf("status %d: %v", status, err)
		}
		if err := (HTTP{URL: server.URL, Retry: []string{"none"}}).statusError(answer.Request, answer); err == nil || hourbell.IsSnooze(err) {
			t.Errorf("status %d, which is not tried again: %v", status, err)
		}
		server.Close()
	}
}
