package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// output is a text that several goroutines write.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// TestRun compares the spans: one trace has the request, the enqueue, two attempts and what the worker did in each.
func TestRun(t *testing.T) {
	out := &output{}
	if err := run(t.Context(), filepath.Join(t.TempDir(), "traced.db"), out); err != nil {
		t.Fatal(err)
	}
	text := out.text.String()
	for name, want := range map[string]int{"POST /orders": 1, "enqueue charge": 1, "run charge": 2, "call the bank": 2} {
		if n := strings.Count(text, "span "+name); n != want {
			t.Errorf("%d spans %q, want %d", n, name, want)
		}
	}
	traces := map[string]bool{}
	for _, found := range regexp.MustCompile(`trace (\w+)`).FindAllStringSubmatch(text, -1) {
		traces[found[1]] = true
	}
	if len(traces) != 1 {
		t.Errorf("the spans are of %d traces", len(traces))
	}
	for _, line := range []string{"charge of tenant acme, attempt 1: the bank is busy\n", "charge of tenant acme, attempt 2: <nil>\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}
