package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestJobsTree(t *testing.T) {
	b := newBench(t)
	b.stdin = "jobs:\n  'a \"b\\<&>#|`': {kind: 'k\"1'}\n  b: {kind: k, after: ['a \"b\\<&>#|`']}\n  c: {kind: k, after: {'a \"b\\<&>#|`': {on: failure, delay: 5m}}}\n  d: {kind: k, after: {b: success, c: either}}\n"
	b.ok("enqueue", "--graph", "-", "--max-attempts", "1")
	b.ok("enqueue", "other")
	b.ok("jobs", "cancel", "2")
	want := "1 a \"b\\<&>#|` (k\"1) ready\n├─ 2 b (k) cancelled\n│  └─ 4 d (k) not_started  <--\n└─ [failure +5m0s] 3 c (k) waiting\n   └─ [either] 4 d (k) not_started  <--\n"
	if got := b.ok("jobs", "tree", "4"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	dot := b.ok("jobs", "tree", "1", "--output", "dot")
	for _, part := range []string{`n1 [label="1 a \"b\\<&>#|` + "`" + ` (k\"1) ready" style=bold];`, `n1 -> n3 [label="failure +5m0s"];`, "n2 -> n4;"} {
		if !strings.Contains(dot, part) {
			t.Errorf("%s lacks %s", dot, part)
		}
	}
	mermaid := b.ok("jobs", "tree", "1", "--output", "mermaid")
	for _, part := range []string{`n1["1 a #quot;b#92;#lt;#amp;#gt;#35;#124;#96; (k#quot;1) ready"]`, `n1 -->|"failure +5m0s"| n3`, "n2 --> n4"} {
		if !strings.Contains(mermaid, part) {
			t.Errorf("%s lacks %s", mermaid, part)
		}
	}
	var tree map[string]any
	if err := json.Unmarshal([]byte(b.ok("jobs", "tree", "3", "--output", "json")), &tree); err != nil {
		t.Fatal(err)
	}
	if jobs, edges := tree["jobs"].([]any), tree["edges"].([]any); len(jobs) != 4 || len(edges) != 4 || fmt.Sprint(edges[1]) != "map[after:1 delay:5m0s job:3 on:failure state:open]" {
		t.Errorf("%v", tree)
	}
	b.ok("jobs", "delete", "2")
	if got := b.ok("jobs", "tree", "4"); !strings.Contains(got, "2 gone") {
		t.Error(got)
	}
	if got := b.ok("jobs", "tree", "1", "--limit", "2"); !strings.Contains(got, "further jobs") {
		t.Error(got)
	}
	if got := b.ok("jobs", "tree", "5"); got != "5 other (other) ready  <--\n" && got != "5 (other) ready  <--\n" {
		t.Error(got)
	}
	b.fails(exitFailed, []string{"job 99", "not found"}, "jobs", "tree", "99")
	b.fails(exitUsage, []string{"output"}, "jobs", "tree", "1", "--output", "xml")
}
