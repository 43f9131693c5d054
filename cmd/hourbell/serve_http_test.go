package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestServeHTTP checks which HTTP calls a node makes: under declared only calls
// that its own files declare, however else a job or schedule came to the store; and that
// other calls reach private addresses only with --http-private.
func TestServeHTTP(t *testing.T) {
	startsProcesses(t)
	for _, test := range []struct {
		flags   []string
		own     bool
		foreign string // its state, or a word of the reason why it does not run
	}{
		{[]string{"--commands", "off"}, false, "allows stored HTTP calls"},
		{[]string{"--commands", "declared"}, true, "allows stored HTTP calls"},
		{[]string{"--commands", "declared", "--http-private"}, true, "allows stored HTTP calls"},
		{[]string{"--commands", "any"}, true, "not public"},
		{[]string{"--commands", "any", "--http-private"}, true, "completed"},
	} {
		t.Run(strings.Join(test.flags, " "), func(t *testing.T) {
			var mu sync.Mutex
			called := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				called[r.Method+" "+r.URL.Path]++
			}))
			defer server.Close()
			calls := func(what string) int {
				mu.Lock()
				defer mu.Unlock()
				return called[what]
			}
			b := newBench(t)
			writeFile(t, "own.yaml", fmt.Sprintf("schedules:\n  - {name: own, every: 1s, overlap: allow, http: {url: %q, method: PUT, timeout: 5s, retry: [429, 5xx], header: {A: b}}}\n", server.URL+"/own"))
			node := b.serve(append(test.flags, "--file", "own.yaml")...)
			node.awaits("node started", 1)
			b.run("enqueue", "http", "--max-attempts", "1", "--args", fmt.Sprintf(`{"url":%q}`, server.URL+"/foreign"))
			b.run("schedules", "put", "stored", "--every", "1s", "--max-attempts", "1", "--kind", "http", "--args", fmt.Sprintf(`{"url":%q}`, server.URL+"/stored"))
			eventually(t, "the foreign call to be made, or a reason why not", func() bool {
				for _, job := range b.objects("jobs", "list", "--kind", "http") {
					if job["schedule"] != nil {
						continue
					}
					shown := b.objects("jobs", "show", fmt.Sprint(job["id"]))[0]
					return strings.Contains(fmt.Sprint(shown["state"], shown["waits"], shown["reason"], job["waits"]), test.foreign)
				}
				return false
			})
			if test.own {
				eventually(t, "its own call", func() bool { return calls("PUT /own") > 0 })
			} else if calls("PUT /own") > 0 {
				t.Error("its own call was made")
			}
			if want := test.foreign == "completed"; (calls("POST /foreign") == 1) != want {
				t.Errorf("the foreign call was made %d times", calls("POST /foreign"))
			} else if want {
				eventually(t, "the call of the stored schedule", func() bool { return calls("POST /stored") > 0 })
			} else if calls("POST /stored") > 0 {
				t.Error("the call of the stored schedule was made")
			}
			node.signal(syscall.SIGTERM)
			if code := node.ends(); code != exitDone {
				t.Errorf("the node ended with %d", code)
			}
		})
	}
}
