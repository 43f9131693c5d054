package stats

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

func TestPoints(t *testing.T) {
	at := time.Date(2027, 3, 1, 10, 0, 0, 0, time.UTC)
	row := func(minute int, writer int64, all Tallies) store.StatsRow {
		return store.StatsRow{Span: time.Minute, At: at.Add(time.Duration(minute) * time.Minute), Writer: writer, Data: all.Encode()}
	}
	done := func(completed, failed int64) *Tally { return &Tally{Jobs: [8]int64{completed, failed}} }
	rows := []store.StatsRow{
		row(0, 1, Tallies{{"q", "k", ""}: done(1, 1), {"q@web1", "k", ""}: done(2, 0), {}: {Samples: 1, Nodes: 3}, {Queue: "q"}: {Depth: 10, Age: 5}}),
		row(0, 2, Tallies{{"q", "k", ""}: done(4, 0), {"r", "l", "s"}: done(8, 0), {Schedule: "s"}: {Slots: [4]int64{2}}}),
		row(1, 1, Tallies{{"q", "k", ""}: done(0, 16), {}: {Samples: 1, Nodes: 1}}),
	}
	for _, c := range []struct {
		name string
		s    Selection
		want string
	}{
		{"whole", Selection{}, "- 15/17 slots 2 depth 10/2 nodes 4"},
		{"series", Selection{Series: true}, "10:00 - 15/1 slots 2 depth 10/1 nodes 3; 10:01 - 0/16 slots 0 depth 0/1 nodes 1"},
		{"queues", Selection{By: ByQueue}, "q 5/17 slots 0 depth 10/2 nodes 0; q@web1 2/0 slots 0 depth 0/2 nodes 0; r 8/0 slots 0 depth 0/2 nodes 0"},
		{"a queue and its places", Selection{Key: Key{Queue: "q"}}, "- 7/17 slots 0 depth 10/2 nodes 0"},
		{"kinds", Selection{By: ByKind}, "k 7/17 slots 0 depth 0/0 nodes 0; l 8/0 slots 0 depth 0/0 nodes 0"},
		{"a kind by queue", Selection{Key: Key{Kind: "l"}, By: ByQueue}, "r 8/0 slots 0 depth 0/0 nodes 0"},
		{"schedules", Selection{By: BySchedule}, "s 8/0 slots 2 depth 0/0 nodes 0"},
		{"a schedule", Selection{Key: Key{Schedule: "s"}}, "- 8/0 slots 2 depth 0/0 nodes 0"},
		{"outcomes", Selection{By: ByOutcome}, "completed 15/0 slots 0 depth 0/0 nodes 0; failed 0/17 slots 0 depth 0/0 nodes 0"},
		{"nothing", Selection{Key: Key{Queue: "none"}}, ""},
	} {
		points, err := c.s.Points(rows)
		var got []string
		for _, p := range points {
			text := fmt.Sprintf("%s %d/%d slots %d depth %d/%d nodes %d", p.Name, p.Jobs[0], p.Jobs[1], p.Slots[0], p.Depth, p.Samples, p.Nodes)
			if p.Name == "" {
				text = "-" + text
			}
			if !p.At.IsZero() {
				text = p.At.Format("15:04 ") + text
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "; "); err != nil || text != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.name, text, err, c.want)
		}
	}
	if _, err := (Selection{}).Points([]store.StatsRow{{Data: []byte{200}}}); !errors.Is(err, errDamaged) {
		t.Errorf("a damaged row: %v", err)
	}
}

func TestSpanSince(t *testing.T) {
	for ago, want := range map[time.Duration]time.Duration{
		0: time.Minute, time.Hour: time.Minute, 119 * time.Minute: time.Minute, 2 * time.Hour: 15 * time.Minute, 24 * time.Hour: 15 * time.Minute,
		48 * time.Hour: 6 * time.Hour, 30 * 24 * time.Hour: 6 * time.Hour, 32 * 24 * time.Hour: 0,
	} {
		if span, ok := SpanSince(ago); span != want || ok != (want > 0) {
			t.Errorf("since %v: spans of %v, want %v", ago, span, want)
		}
	}
}
