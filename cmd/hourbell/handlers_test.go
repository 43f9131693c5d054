package main

import (
	"strings"
	"testing"
)

func TestHandlers(t *testing.T) {
	b := newBench(t)
	equal(t, "put", b.ok("handlers", "put", "page", "--on", "failure,missed", "--", "page-ops", "now"), "handler \"page\": put\n")
	equal(t, "a repeated put", b.ok("handlers", "put", "page", "--on", "missed", "--on", "failure", "--", "page-ops", "now"), "handler \"page\": unchanged\n")
	put := b.objects("handlers", "put", "audit", "--on", "start", "--kind", "pay", "--group", "g", "--job", "note", "--args", `{"to":"x"}`, "--queue", "q", "--backoff", "constant:30s")
	if len(put) != 1 || put[0]["name"] != "audit" || put[0]["changed"] != true {
		t.Errorf("put: %v", put)
	}
	list := b.objects("handlers", "list")
	if len(list) != 2 {
		t.Fatalf("list: %v", list)
	}
	job := list[0]["job"].(map[string]any)
	if list[0]["name"] != "audit" || list[0]["kind"] != "pay" || list[0]["group"] != "g" || job["kind"] != "note" || job["queue"] != "q" ||
		job["max_attempts"] != 5.0 || job["timeout"] != "5m0s" || job["backoff"] != "constant:30s" || job["args"].(map[string]any)["to"] != "x" {
		t.Errorf("list: %v", list[0])
	}
	if list[1]["kind"] != nil || list[1]["group"] != nil || len(list[1]["on"].([]any)) != 2 {
		t.Errorf("list: %v", list[1])
	}
	if table := b.ok("handlers", "list"); !strings.Contains(table, "failure,missed") || !strings.Contains(table, "page-ops now") {
		t.Errorf("table: %s", table)
	}
	b.fails(exitUsage, []string{"on", "fail", "not_started"}, "handlers", "put", "x", "--on", "fail", "--", "true")
	b.fails(exitUsage, []string{"on", "no event"}, "handlers", "put", "x", "--", "true")
	b.fails(exitUsage, []string{"argv"}, "handlers", "put", "x", "--on", "start")
	b.fails(exitUsage, []string{"group"}, "handlers", "put", "x", "--on", "start", "--group", "", "--", "true")
	b.fails(exitFailed, []string{"missing", "not found"}, "handlers", "delete", "page", "missing")
	equal(t, "delete", b.ok("handlers", "delete", "page", "audit"), "handler \"page\": deleted\nhandler \"audit\": deleted\n")
	if left := b.ok("handlers", "list", "--output", "ndjson"); left != "" {
		t.Errorf("left: %s", left)
	}
}
