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

func TestEnqueueOnConflict(t *testing.T) {
	b := newBench(t)
	enqueue := func(conflict, args string, flags ...string) {
		t.Helper()
		answer := b.enqueued(append([]string{"order", "--unique", "x", "--args", args}, flags...)...)
		if answer["id"] != 1.0 || answer["conflict"] != conflict || answer["found"] != (conflict != "") {
			t.Errorf("%q with %s: %v, want %q", flags, args, answer, conflict)
		}
	}
	job := func() map[string]any { return b.objects("jobs", "show", "1")[0] }
	enqueue("", `1`, "--in", "1h")
	enqueue("kept", `2`, "--on-conflict", "keep")
	enqueue("replaced", `3`, "--on-conflict", "replace", "--priority", "2")
	before := job()
	if before["priority"] != 2.0 || before["args"] != 3.0 {
		t.Errorf("the replaced job is %v", before)
	}
	enqueue("rescheduled", `4`, "--in", "2h", "--on-conflict", "reschedule")
	if now := job(); now["run_at"] == before["run_at"] || now["args"] != 3.0 {
		t.Errorf("the rescheduled job is %v after %v", now, before)
	}
	enqueue("rescheduled", `4`, "--on-conflict", "reschedule", "--in", "1h", "--push-at-most", "30m")
	b.fails(exitFailed, []string{"job 1 has the key"}, "enqueue", "order", "--unique", "x", "--on-conflict", "error")
	for _, bad := range [][]string{
		{"on_conflict", "--unique", "x", "--on-conflict", "drop"},
		{"on_conflict", "--on-conflict", "replace"},
		{"push_at_most", "--unique", "x", "--push-at-most", "1m"},
		{"push_at_most", "--unique", "x", "--on-conflict", "reschedule", "--push-at-most", "0s"},
	} {
		b.fails(exitUsage, bad[:1], append([]string{"enqueue", "order"}, bad[1:]...)...)
	}
}
