package measure

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLeftBehind checks that only places whose latest end has passed are removed,
// that places that may be in use are noted once, and that other names are ignored.
func TestLeftBehind(t *testing.T) {
	now := time.Now()
	old, used := NewName(now.Add(-2*time.Second)), NewName(now.Add(time.Hour))
	names := []string{old, old + ".db", old + ".db-wal", used, used + ".db-wal", old + ".dbx", "x" + old, "hourbell_bench_notes", "store.db"}
	var notes []string
	left := leftBehind(names, now, func(text string) { notes = append(notes, text) })
	if want := []string{old, old + ".db", old + ".db-wal"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], used+" is there") {
		t.Errorf("noted %q", notes)
	}
}

func TestQuantile(t *testing.T) {
	r := result{waits: []time.Duration{4, 1, 3, 2}}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := r.quantile(q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
	if got := (result{}).quantile(0.5); got != 0 {
		t.Errorf("of nothing: %d", got)
	}
}
