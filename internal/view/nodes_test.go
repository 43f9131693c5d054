package view

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

func TestNodeState(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	lives := store.NodeInfo{SeenAt: now.Add(-time.Second), Lease: 15 * time.Second}
	silent, left, died := lives, lives, lives
	silent.SeenAt = now.Add(-16 * time.Second)
	left.EndedAt = now
	died.EndedAt, died.Died = now, true
	for _, test := range []struct {
		want      string
		node      store.NodeInfo
		suspended bool
	}{
		{"alive", lives, false},
		{"suspended", lives, true},
		{"silent", silent, true},
		{"left", left, true},
		{"died", died, true},
	} {
		if got := NodeState(test.node, now, test.suspended); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
