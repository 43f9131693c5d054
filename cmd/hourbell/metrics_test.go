package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestMetrics scrapes a node at the address of its probes, and at the address of its pages,
// where the caller must be known.
func TestMetrics(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	b.stdin = "long enough to be one\n"
	b.ok("auth", "add", "ada", "--role", "viewer", "--auth", "users.json")
	p := b.serve("--listen", "127.0.0.1:0", "--auth", "users.json", "--probes", "127.0.0.1:0", "--probes-metrics")
	pages := "http://" + p.apiAddress()
	_, rest, _ := strings.Cut(p.logged(), "address=")
	probes, _, _ := strings.Cut(rest, " ")
	eventually(t, "the node has its lease", func() bool {
		code, text := call(t, http.DefaultClient, "GET", "http://"+probes+"/metrics", "")
		return code == http.StatusOK && strings.Contains(text, "\nhourbell_node_leased 1\n") &&
			strings.Contains(text, "\nhourbell_store_up 1\n") && strings.Contains(text, "\nprocess_open_fds ")
	})
	if code, text := call(t, http.DefaultClient, "GET", pages+"/metrics", ""); code != http.StatusUnauthorized || strings.Contains(text, "hourbell_node_leased") {
		t.Errorf("a stranger gets %d %s", code, text)
	}
}
