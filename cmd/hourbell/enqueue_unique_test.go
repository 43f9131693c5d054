package main

import (
	"encoding/json"
	"testing"
)

// enqueued runs enqueue and returns what it prints as JSON.
func (b *bench) enqueued(args ...string) map[string]any {
	b.t.Helper()
	r := b.run(append([]string{"enqueue", "--output", "json"}, args...)...)
	var answer map[string]any
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != exitDone {
		b.t.Fatalf("enqueue %q: exit code %d, %v, stdout %q, stderr %q", args, r.code, err, r.out, r.err)
	}
	return answer
}

func TestEnqueueUniqueArgs(t *testing.T) {
	b := newBench(t)
	first := b.enqueued("order", "--in", "1h", "--unique-args", "--args", `{"a":1,"b":2}`)
	if again := b.enqueued("order", "--unique-args", "--args", `{ "b":2, "a":1 }`); again["id"] != first["id"] || again["found"] != true {
		t.Errorf("equal args: %v after %v", again, first)
	}
	if other := b.enqueued("order", "--in", "1h", "--unique-args", "--args", `{"a":1,"b":3}`); other["found"] != false {
		t.Errorf("other args: %v", other)
	}
	b.fails(exitUsage, []string{"unique", "unique_args"}, "enqueue", "order", "--unique", "x", "--unique-args")
	b.fails(exitUsage, []string{"unique", "hourbell:"}, "enqueue", "order", "--unique", "hourbell:x")
}

// TestEnqueueUniqueFor runs a job to its end: its key stays taken.
func TestEnqueueUniqueFor(t *testing.T) {
	b := newBench(t)
	flags := []string{"command", "--unique", "report", "--unique-for", "1h", "--", "true"}
	if first := b.enqueued(flags...); first["found"] != false || first["conflict"] != "" {
		t.Errorf("the first: %v", first)
	}
	if second := b.enqueued(flags...); second["conflict"] != "kept" || second["id"] != 1.0 {
		t.Errorf("while the job lives: %v", second)
	}
	b.ok("jobs", "cancel", "1")
	for _, again := range [][]string{flags, {"command", "--unique", "report", "--", "true"}} {
		if held := b.enqueued(again...); held["conflict"] != "held" || held["id"] != 1.0 || held["found"] != true {
			t.Errorf("after the end: %v", held)
		}
	}
	b.ok("jobs", "delete", "1")
	if freed := b.enqueued(flags...); freed["found"] != false {
		t.Errorf("after the deletion: %v", freed)
	}
	b.fails(exitUsage, []string{"unique_for"}, "enqueue", "order", "--unique-for", "1h")
	b.fails(exitUsage, []string{"unique_for"}, "enqueue", "order", "--unique", "x", "--unique-for", "-1s")
}
