package sqlrows_test

import (
	"testing"

	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestSharedStatements: each statement below Shared has a source, whose name no other has, and a driver's own statements keep
// their places.
func TestSharedStatements(t *testing.T) {
	const own = sqlrows.Shared + 1
	sources := sqlrows.WithShared([]sqlrows.Source{own: {File: "own", Given: "condition"}, sqlrows.Shared: {File: "first"}, sqlrows.ReadClock: {File: "read_clock", Given: "other"}})
	names := map[string]bool{}
	for s, from := range sources {
		if from.File == "" || names[from.String()] {
			t.Errorf("statement %d has no name of its own, but %q", s, from)
		}
		names[from.String()] = true
	}
	if got := sources[sqlrows.ReadClock].String(); got != "read_clock other" {
		t.Errorf("the driver's source of a shared statement became %q", got)
	}
	if got := sources[own].String(); got != "own condition" || len(sources) != int(own)+1 {
		t.Errorf("the driver's own statement became %q, of %d", got, len(sources))
	}
}
