package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/examples/internal/testdb"
)

// mailbox keeps the mails that were sent. The first attempt at each mail fails.
type mailbox struct {
	mu     sync.Mutex
	failed map[string]bool
	sent   []string
}

func (m *mailbox) send(_ context.Context, id, to, subject, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.failed[id] {
		m.failed[id] = true
		return errors.New("the mail server is busy")
	}
	m.sent = append(m.sent, to+": "+subject)
	return nil
}

func (m *mailbox) mails() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.sent))
}

// TestSignup signs up two users, one of them twice, and two requests with one address at
// the same time: each account has one welcome mail and one digest, and nothing else exists.
func TestSignup(t *testing.T) {
	pool, err := openPool(t.Context(), testdb.New(t))
	must(t, err)
	defer pool.Close()
	box := &mailbox{failed: map[string]bool{}}
	s, err := newService(t.Context(), pool, box)
	must(t, err)
	defer s.close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	url := "http://" + listener.Addr().String() + "/signup"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.serve(ctx, listener) }()

	for _, request := range []struct {
		body string
		want int
	}{
		{`{"email": "ada@example.org", "name": "Ada"}`, http.StatusCreated},
		{`{"email": "ada@example.org", "name": "Ada again"}`, http.StatusConflict},
		{`{"email": "nobody", "name": "N"}`, http.StatusBadRequest},
	} {
		if got := post(t, url, request.body); got != request.want {
			t.Errorf("%s: status %d, want %d", request.body, got, request.want)
		}
	}
	answers := make(chan int, 8)
	for range cap(answers) {
		go func() { answers <- post(t, url, `{"email": "eve@example.org", "name": "Eve"}`) }()
	}
	created := 0
	for range cap(answers) {
		if <-answers == http.StatusCreated {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d of %d requests with one address created an account", created, cap(answers))
	}
	schedules, err := s.client.Schedules.List(t.Context(), hourbell.ScheduleFilter{})
	must(t, err)
	if len(schedules) != 2 {
		t.Fatalf("%d schedules, want one for each account", len(schedules))
	}
	for _, schedule := range schedules {
		_, err := s.client.Schedules.Trigger(t.Context(), schedule.Name) // not to wait for the night
		must(t, err)
	}

	want := []string{"ada@example.org: Welcome, Ada", "ada@example.org: Your daily digest", "eve@example.org: Welcome, Eve", "eve@example.org: Your daily digest"}
	for deadline := time.Now().Add(time.Minute); len(box.mails()) < len(want) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	must(t, <-served)
	if got := box.mails(); !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	jobs, err := s.client.Jobs.List(t.Context(), hourbell.JobFilter{})
	must(t, err)
	var recorded int
	must(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM sent_mail").Scan(&recorded))
	if len(jobs) != len(want) || recorded != len(want) {
		t.Errorf("%d jobs and %d recorded mails, want %d of each", len(jobs), recorded, len(want))
	}
	if answer, err := http.Post(url, "application/json", nil); err == nil {
		t.Error("the service answers after it has stopped", answer.Body.Close())
	}
}

// TestRunFails returns an error if the address is taken, and if there is no database.
func TestRunFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	url := testdb.New(t)
	if err := run(t.Context(), url, listener.Addr().String()); err == nil {
		t.Error("run uses an address that is taken")
	}
	if err := run(t.Context(), "postgres://127.0.0.1:1/none?connect_timeout=1", "127.0.0.1:0"); err == nil {
		t.Error("run works without a database")
	}
}

func post(t *testing.T, url, body string) int {
	t.Helper()
	answer, err := http.Post(url, "application/json", bytes.NewBufferString(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusInternalServerError {
		t.Error(fmt.Sprint(string(text), err))
	}
	return answer.StatusCode
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
