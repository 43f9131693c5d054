package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSchedulesTree(t *testing.T) {
	b := newBench(t)
	put := func(args ...string) {
		if r := b.run(append([]string{"schedules", "put"}, args...)...); r.code != exitDone {
			t.Fatalf("put %q: %+v", args, r)
		}
	}
	put("export", "--every", "1h", "--", "true")
	put("audit \"x\"", "--after", "export:failure:5m", "--", "true")
	put("publish", "--after", "export", "--after", "later:either", "--", "true")
	put("other", "--every", "1h", "--", "true")
	want := "export (every 1h) active\n├─ [failure +5m0s] audit \"x\" active  <--\n└─ publish active\n" +
		"later does not exist\n└─ [either] publish active\n"
	if got := b.ok("schedules", "tree", "audit \"x\""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := b.ok("schedules", "tree", "export", "--output", "dot"); !strings.Contains(got, `[label="failure +5m0s"]`) || strings.Contains(got, "other") {
		t.Error(got)
	}
	if got := b.ok("schedules", "tree", "export", "--output", "mermaid"); !strings.Contains(got, "flowchart") || !strings.Contains(got, "#quot;x#quot;") {
		t.Error(got)
	}
	var tree struct {
		Schedules []struct {
			Name     string           `json:"name"`
			After    []map[string]any `json:"after"`
			WaitsFor []string         `json:"waits_for"`
		} `json:"schedules"`
	}
	if err := json.Unmarshal([]byte(b.ok("schedules", "tree", "export", "--output", "json")), &tree); err != nil {
		t.Fatal(err)
	}
	if s := tree.Schedules; len(s) != 3 || s[2].Name != "publish" || len(s[2].After) != 2 || len(s[2].WaitsFor) != 1 || s[2].WaitsFor[0] != "later" {
		t.Errorf("%+v", tree)
	}
	if got := b.ok("schedules", "tree", "publish", "--limit", "1"); !strings.Contains(got, "further schedules") {
		t.Error(got)
	}
	if got := b.ok("schedules", "tree", "other"); got != "other (every 1h) active  <--\n" {
		t.Error(got)
	}
	b.fails(exitFailed, []string{"absent", "not found"}, "schedules", "tree", "absent")
	b.fails(exitUsage, []string{"limit"}, "schedules", "tree", "other", "--limit", "0")
}
