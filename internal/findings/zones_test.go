package findings

import (
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

func TestCompareZones(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	from, until := plan.ZoneSpan(now)
	loc, err := time.LoadLocation("Europe/Prague")
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := store.ZonePrint("Europe/Prague", recur.Fingerprint(loc, from, until)), store.ZonePrint("Europe/Prague", "0")
	node := func(name string, zones ...string) store.NodeInfo {
		return store.NodeInfo{Name: name, Lease: time.Minute, SeenAt: now, Zones: zones}
	}
	left := node("left", wrong)
	left.EndedAt = now
	for _, test := range []struct {
		name  string
		nodes []store.NodeInfo
		n     int
		want  []string
	}{
		{"no node", nil, 0, nil},
		{"no zone, also of a node of an earlier release", []store.NodeInfo{node("a"), left}, 0, nil},
		{"the same data", []store.NodeInfo{node("b", right), node("a", right), left}, 1, nil},
		{"a node with other data", []store.NodeInfo{node("c", right), node("b", wrong), node("a", right)}, 1, []string{"Europe/Prague has other data on a, c, this machine than on b"}},
		{"this machine has other data", []store.NodeInfo{node("a", wrong, "Nowhere/Land=1")}, 2, []string{"Europe/Prague has other data on a than on this machine"}},
		{"several data", []store.NodeInfo{node("b", "Nowhere/Land=2"), node("a", "Nowhere/Land=1")}, 1, []string{"Nowhere/Land has other data on a than on b"}},
	} {
		if n, got := compareZones(test.nodes, now); n != test.n || !slices.Equal(got, test.want) {
			t.Errorf("%s: %d zones, %q; want %d, %q", test.name, n, got, test.n, test.want)
		}
	}
}
