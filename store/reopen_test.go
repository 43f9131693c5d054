package store_test

import (
	"testing"

	"github.com/hourbell/hourbell/store"
)

func TestReopening(t *testing.T) {
	const waits, never = store.StateWaiting, store.StateNotStarted
	for _, c := range []struct {
		name string
		job  store.Reopening
		want store.State
	}{
		{"it was not started, and one edge is open again", store.Reopening{State: never, Open: 1}, waits},
		{"several edges are open", store.Reopening{State: never, Open: 3, Matched: true}, waits},
		{"another edge has missed", store.Reopening{State: never, Open: 1, Missed: true}, never},
		{"another edge has missed, and one has matched", store.Reopening{State: never, Open: 1, Matched: true, Missed: true}, never},
		{"any: another edge has missed", store.Reopening{State: never, Any: true, Open: 1, Missed: true}, waits},
		{"any: all edges are open", store.Reopening{State: never, Any: true, Open: 2}, waits},
		{"the last job of a batch: all must match, another edge has missed", store.Reopening{State: never, AtEnd: true, Open: 1, Missed: true}, waits},
		{"the last job of a batch: one must match, one has matched", store.Reopening{State: never, Any: true, AtEnd: true, Open: 1, Matched: true}, waits},
		{"it waits", store.Reopening{State: waits, Open: 2}, waits},
		{"any: it waits, and another edge has missed", store.Reopening{State: waits, Any: true, Open: 2, Missed: true}, waits},
		{"nothing is open", store.Reopening{State: never, Missed: true}, never},
	} {
		if got := c.job.Next(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
