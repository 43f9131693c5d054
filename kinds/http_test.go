package kinds

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// ask runs one attempt against a server that answers with code and text.
func ask(t *testing.T, h HTTP, job hourbell.JobRow, code int, text string) (got *http.Request, body string, output string, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		got, body = r, string(all)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}))
	defer server.Close()
	h.URL = server.URL + "/hook?secret=hunter2"
	args, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	job.RawArgs = args
	err = HTTPWorker{Private: true}.Work(t.Context(), &job)
	return got, body, string(job.Output()), err
}

func TestHTTPSendsWhatItWasGiven(t *testing.T) {
	job := hourbell.JobRow{ID: 7, Attempt: 2, Token: 99, Slot: time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
	h := HTTP{Method: http.MethodPut, Header: map[string]string{"x-team": "ops", "content-type": "text/plain"}, Body: "é"}
	req, body, output, err := ask(t, h, job, 201, "thanks")
	if err != nil || req.Method != http.MethodPut || body != "é" || output != "thanks" {
		t.Errorf("%s %q answered %q, %v", req.Method, body, output, err)
	}
	for name, want := range map[string]string{
		"X-Team": "ops", "Content-Type": "text/plain", "Hourbell-Job": "7", "Hourbell-Attempt": "2",
		"Hourbell-Token": "99", "Hourbell-Slot": "2026-03-29T01:30:00Z", "User-Agent": "hourbell/" + hourbell.Version,
	} {
		if got := req.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestHTTPSendsTheHooksEvent(t *testing.T) {
	job := hourbell.JobRow{Headers: map[string]string{hourbell.HookHeader: `{"event":"failure"}`}}
	req, body, _, err := ask(t, HTTP{}, job, 204, "")
	if err != nil || req.Method != http.MethodPost || body != `{"event":"failure"}` || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %q (%s), %v", req.Method, body, req.Header.Get("Content-Type"), err)
	}
}

// Failures that another attempt cannot correct fail the job at once; others are
// tried again.
func TestHTTPFailures(t *testing.T) {
	for code, forGood := range map[int]bool{301: true, 404: true, 408: false, 429: false, 500: false, 503: false} {
		_, _, output, err := ask(t, HTTP{}, hourbell.JobRow{}, code, "why")
		if err == nil || strings.Contains(err.Error(), "hunter2") || output != "why" {
			t.Fatalf("%d: %v, output %q", code, err, output)
		}
		if isFinal(err) != forGood {
			t.Errorf("%d: %v: want it for good: %v", code, err, forGood)
		}
	}
}

// isFinal reports whether an error was wrapped by hourbell.Fail.
func isFinal(err error) bool {
	type unwrapper interface{ Unwrap() error }
	_, wraps := err.(unwrapper)
	return wraps && errors.Unwrap(err).Error() == err.Error()
}

func TestHTTPErrorsKeepSecrets(t *testing.T) {
	args := []byte(`{"url":"http://127.0.0.1:1/hook?secret=hunter2"}`)
	err := HTTPWorker{Private: true}.Work(t.Context(), &hourbell.JobRow{RawArgs: args})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("got %v, want the host and no more", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (HTTPWorker{Private: true}).Work(gone, &hourbell.JobRow{RawArgs: args}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it to end with its context", err)
	}
}

func TestHTTPValidate(t *testing.T) {
	for _, test := range []struct {
		args string
		want []string
	}{
		{`{"url":"https://a.example/b"}`, nil},
		{`{"url":"a.example"}`, []string{"url"}},
		{`{"url":"ftp://a.example"}`, []string{"url"}},
		{`{"url":"http://","method":"get"}`, []string{"url", "method"}},
		{`{"url":"http://a","header":{"a b":"c"}}`, []string{"header"}},
		{`{"url":"http://a","header":{"a":"b\nc"}}`, []string{"header"}},
		{`{"url":"http://a","verb":"GET"}`, []string{`unknown field "verb"`}},
		{`[]`, []string{"not an HTTP request"}},
	} {
		_, err := DecodeHTTP([]byte(test.args))
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v", test.args, err)
		}
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", test.args, err, want)
			}
		}
	}
}
