package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDemo starts the demo, opens a page, asks the API, and stops it.
func TestDemo(t *testing.T) {
	out, in := io.Pipe()
	p := newProgram()
	p.stdout = in
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- p.run(ctx, []string{"demo", "--listen", "127.0.0.1:0"}) }()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines)
	page := strings.TrimSpace(strings.TrimPrefix(line, "pages: ")) + "schedules"
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(page)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err == nil && strings.Contains(string(body), "sync-orders") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("status %d:\n%s", res.StatusCode, body)
		}
	}
	if code, text := call(t, http.DefaultClient, "GET", strings.TrimSuffix(page, "schedules")+"api/v1/schedules/prices", ""); code != http.StatusOK || !strings.Contains(text, `"name":"prices"`) {
		t.Errorf("the API answers %d %s", code, text)
	}
	stop()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestDemoServesThisMachineOnly(t *testing.T) {
	b := newBench(t)
	for _, address := range []string{":8080", "0.0.0.0:8080", "example.org:80", "127.0.0.1"} {
		b.fails(2, []string{"listen", "loopback"}, "demo", "--listen", address)
	}
}
