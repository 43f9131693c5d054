package api

import (
	"log/slog"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/stats"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestStats reads rows that a node has written.
func TestStats(t *testing.T) {
	b := newBench(t, Options{})
	backend := memory.New()
	all := stats.Tallies{
		{Queue: "q", Kind: "k"}: {Jobs: [8]int64{3, 1}},
		{Queue: "r", Kind: "k"}: {Jobs: [8]int64{5}}, {}: {Samples: 1, Nodes: 2},
	}
	all[stats.Key{Queue: "q", Kind: "k"}].Took.Record(time.Second)
	at := time.Now().Add(-5 * time.Minute).UTC().Truncate(time.Minute)
	if _, err := backend.AddStats(t.Context(), store.AddStatsRequest{Rows: []store.StatsRow{{Span: time.Minute, At: at, Data: all.Encode()}}}); err != nil {
		t.Fatal(err)
	}
	client, err := hourbell.New(backend, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.h = Handler(client, Options{Authorize: testAuthorize})
	var got struct {
		SpanSeconds int64              `json:"span_seconds"`
		Items       []view.StatsRecord `json:"items"`
	}
	b.ok(&got, "GET", "/api/v1/stats", "")
	whole := got.Items[0]
	if got.SpanSeconds != 60 || len(got.Items) != 1 || whole.Ended != 9 || whole.Jobs["failed"] != 1 || whole.Jobs["lost"] != 0 ||
		*whole.Nodes != 2 || whole.RunTime.Mean != 1 || whole.StartDelay != nil {
		t.Errorf("whole: %+v", got)
	}
	b.ok(&got, "GET", "/api/v1/stats?by=queue&series=true&kind=k&since=30m", "")
	if len(got.Items) != 2 || *got.Items[1].Name != "r" || !got.Items[1].From.Equal(at) || got.Items[1].PerMinute != 5 {
		t.Errorf("queues: %+v", got)
	}
	for _, query := range []string{"by=owner", "since=99d", "since=x", "queue=%00"} {
		if w := b.send("GET", "/api/v1/stats?"+query, ""); w.Code != 400 && w.Code != 422 {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}
