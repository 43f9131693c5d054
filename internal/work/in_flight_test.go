package work

import (
	"slices"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestABatchWithAnUnknownEndIsKept checks that ended batches are reported to the store, except a batch with a claim
// whose end is unknown.
func TestABatchWithAnUnknownEndIsKept(t *testing.T) {
	h := NewInFlight()
	runs := func(batch int64) []*Run {
		runs := []*Run{{}, {}}
		h.add(store.ClaimResult{Batch: batch}, slices.Clone(runs))
		return runs
	}
	known, unknown := runs(1), runs(2)
	h.drop([]result{{run: known[0]}, {run: unknown[0]}})
	if ended := h.TakeEnded(); len(ended) != 0 || h.Len() != 2 {
		t.Errorf("batches %v have ended, and %d jobs are in flight; want none and 2", ended, h.Len())
	}
	h.leave(unknown[1])
	h.drop([]result{{run: known[1]}, {run: unknown[1]}})
	if ended := h.TakeEnded(); !slices.Equal(ended, []int64{1}) || h.Len() != 0 || len(h.all()) != 0 {
		t.Errorf("batches %v have ended, and %d jobs are in flight; want batch 1, and none", ended, h.Len())
	}
}
