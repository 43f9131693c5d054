package hourbell

import (
	"testing"
	"time"
)

// TestNextBatch: batches shrink while the store is slow and grow again, within bounds.
func TestNextBatch(t *testing.T) {
	for _, c := range []struct {
		size int
		took time.Duration
		want int
	}{
		{1000, 10 * time.Millisecond, 1000},
		{1000, 400 * time.Millisecond, 1000},
		{1000, 501 * time.Millisecond, 500},
		{60, time.Minute, 50},
		{50, time.Minute, 50},
		{50, 10 * time.Millisecond, 100},
		{50, 300 * time.Millisecond, 50},
		{700, 0, 1000},
	} {
		if got := nextBatch(c.size, c.took); got != c.want {
			t.Errorf("after %d jobs in %v: %d, want %d", c.size, c.took, got, c.want)
		}
	}
}
