package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/stats"
	"github.com/hourbell/hourbell/store"
)

// TestStats shows rows that a node has written, in each format.
func TestStats(t *testing.T) {
	b := newBench(t)
	b.ok("migrate", "up")
	equal(t, "none", b.ok("stats", "--output", "json"), "[]\n")
	backend, err := sqlite.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	all := stats.Tallies{{Queue: "mail", Kind: "send"}: {Jobs: [8]int64{3, 1}}, {Schedule: "nightly"}: {Slots: [4]int64{2, 1}}, {}: {Samples: 1, Nodes: 2}}
	at := time.Now().Add(-5 * time.Minute).UTC().Truncate(time.Minute)
	_, err = backend.AddStats(t.Context(), store.AddStatsRequest{Rows: []store.StatsRow{{Span: time.Minute, At: at, Data: all.Encode()}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]string{"queue": "mail 4", "kind": "send 4", "schedule": "nightly 0", "outcome": "completed 3\nfailed 1"} {
		var got []string
		for _, row := range b.objects("stats", "--by", by, "--output", "ndjson") {
			got = append(got, fmt.Sprint(row["name"], " ", row["ended"]))
		}
		equal(t, by, strings.Join(got, "\n"), want)
	}
	b.fails(2, []string{`since "nonsense"`, "2h or 1d"}, "stats", "--since", "nonsense")
	table := b.ok("stats", "--series", "--by", "queue")
	for _, part := range []string{"QUEUE", "mail", "4.0", at.Format(time.RFC3339)} {
		if !strings.Contains(table, part) {
			t.Errorf("the table lacks %q:\n%s", part, table)
		}
	}
}
