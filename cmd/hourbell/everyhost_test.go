package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestEveryHost does with a schedule on every host what an operator does: puts it, looks at its hosts and slots, triggers it,
// and forgets a host.
func TestEveryHost(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	first := b.serve("--host", "web1", "--commands", "any")
	first.awaits("node started", 1)
	second := b.serve("--host", "web2", "--commands", "any")
	second.awaits("node started", 1)

	b.ok("schedules", "put", "rotate", "--every", "200ms", "--on", "every", "--overlap", "allow", "--", "true")
	eventually(t, "both hosts fire", func() bool {
		found := map[any]bool{}
		for _, slot := range b.objects("slots", "--schedule", "rotate") {
			found[slot["host"]] = found[slot["host"]] || slot["outcome"] == "fired" && slot["schedule"] == fmt.Sprint("rotate@", slot["host"])
		}
		return len(found) == 2 && found["web1"] && found["web2"]
	})
	if text := b.ok("slots", "--schedule", "rotate", "--limit", "3"); !strings.Contains(text, "HOST") || !strings.Contains(text, "web") {
		t.Errorf("slots prints\n%s", text)
	}
	if text := b.ok("schedules", "show", "rotate"); !strings.Contains(text, "every") || !strings.Contains(text, "web1 active") || !strings.Contains(text, "web2 active") {
		t.Errorf("show prints\n%s", text)
	}
	if text := b.ok("jobs", "list", "--schedule", "rotate"); !strings.Contains(text, "rotate@web1") || !strings.Contains(text, "rotate@web2") {
		t.Errorf("jobs list prints\n%s", text)
	}
	if ids := strings.Fields(b.ok("schedules", "trigger", "rotate")); len(ids) != 2 {
		t.Errorf("trigger prints %q, want a job for each host", ids)
	}
	b.ok("schedules", "pause", "rotate")
	if text := b.ok("schedules", "show", "rotate"); !strings.Contains(text, "web1 paused") || !strings.Contains(text, "web2 paused") {
		t.Errorf("after a pause, show prints\n%s", text)
	}

	b.fails(1, []string{"lives; stop the node first"}, "nodes", "forget", "web2")
	second.signal(syscall.SIGTERM)
	second.ends()
	if text := b.ok("nodes", "forget", "web2"); !strings.Contains(text, "web2") {
		t.Errorf("forget prints %s", text)
	}
	if text := b.ok("schedules", "show", "rotate"); strings.Contains(text, "web2") {
		t.Errorf("after web2 was forgotten, show prints\n%s", text)
	}
	b.fails(1, []string{"not found"}, "nodes", "forget", "web2")

	for on, want := range map[string]string{"host=wbe1": "no living node of host wbe1 serves queue", "every:label=role=db": "no host with the label role=db is known"} {
		if r := b.run("schedules", "put", "s", "--every", "1h", "--on", on, "--", "true"); r.code != 0 || !strings.Contains(r.err, want) {
			t.Errorf("on %s: %d, %s", on, r.code, r.err)
		}
	}
}
