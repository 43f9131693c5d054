package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRun opens the pages with and without a user, and pauses the schedule as an operator and as a viewer.
func TestRun(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, filepath.Join(t.TempDir(), "pages.db"), address) }()

	ask := func(method, path, user, password string) (int, string) {
		request, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth(user, password)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if status, _ := ask("GET", "/", "", ""); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not start")
		}
	}
	for _, c := range []struct {
		path, user, password string
		status               int
		has                  string
	}{
		{"/", "", "", http.StatusOK, "own page"},
		{"/admin/", "", "", http.StatusUnauthorized, ""},
		{"/admin/", "ops", "wrong", http.StatusUnauthorized, ""},
		{"/admin/schedules", "ops", "secret", http.StatusOK, "sweep"},
		{"/admin/schedule?name=sweep", "ops", "secret", http.StatusOK, "Pause"},
		{"/admin/schedules", "guest", "guest", http.StatusOK, "sweep"},
	} {
		status, text := ask("GET", c.path, c.user, c.password)
		if status != c.status || !strings.Contains(text, c.has) {
			t.Errorf("%s as %q: %d, want %d and %q:\n%s", c.path, c.user, status, c.status, c.has, text)
		}
	}
	if _, text := ask("GET", "/admin/schedule?name=sweep", "guest", "guest"); strings.Contains(text, "<button") && strings.Contains(text, ">Pause<") {
		t.Error("a viewer is offered to pause the schedule")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
