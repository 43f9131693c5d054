package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNamesAreCompleted checks that arguments and flags are completed from the store.
func TestNamesAreCompleted(t *testing.T) {
	b := newBench(t)
	for _, args := range [][]string{
		{"schedules", "put", "nightly", "--every", "1h", "--group", "books", "--queue", "reports", "--kind", "report"},
		{"schedules", "put", "noon", "--every", "1h", "--kind", "report"},
		{"calendars", "put", "holidays", "--dates", "2027-01-01"},
		{"limits", "put", "few", "--queue", "reports", "--concurrency", "1"},
		{"enqueue", "report", "--queue", "mails"},
	} {
		b.ok(args...)
	}
	for _, test := range []struct {
		args []string // the last is what is completed
		want string
	}{
		{[]string{"schedules", "show", "n"}, "nightly noon"},
		{[]string{"schedules", "delete", "nightly", "n"}, "noon"},
		{[]string{"explain", "ni"}, "nightly"},
		{[]string{"calendars", "show", ""}, "holidays"},
		{[]string{"limits", "show", "f"}, "few"},
		{[]string{"groups", "pause", "b"}, "books"},
		{[]string{"jobs", "list", "--schedule", "no"}, "noon"},
		{[]string{"jobs", "list", "--queue", "m"}, "mails"},
		{[]string{"jobs", "list", "--kind", ""}, "report"},
		{[]string{"kinds", "pause", "r"}, "report"},
		{[]string{"jobs", "list", "--state", ""}, "cancelled completed failed not_started parked ready retrying running scheduled waiting"},
	} {
		var got string
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			if got = completions(b, test.args...); got != "" { // a busy machine may not answer within 200 ms
				break
			}
		}
		if got != test.want {
			t.Errorf("%q completes to %q, want %q", test.args, got, test.want)
		}
	}
}

// TestCompletionIsSilentWithoutAStore checks that a completion makes no store, prints no error, and does not wait.
func TestCompletionIsSilentWithoutAStore(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "none.db")
	for _, store := range []string{"sqlite:" + file, "postgres://hourbell@192.0.2.1/nothing?connect_timeout=30", "nonsense"} {
		began := time.Now()
		if got := completions(b, "schedules", "show", "--store", store, "n"); got != "" {
			t.Errorf("%s: completes to %q", store, got)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the completion took %v", store, took)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the completion has made a file")
	}
}

// completions returns the words that the shell is offered, sorted.
func completions(b *bench, args ...string) string {
	r := b.run(append([]string{"__complete"}, args...)...)
	var words []string
	for line := range strings.Lines(r.out) {
		if line = strings.TrimSpace(line); line != "" && line[0] != ':' {
			words = append(words, line)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}
