package sqlite

import (
	"testing"

	"github.com/hourbell/hourbell/store/rowwise/rowwisetest"
)

// TestNothingOutlivesARollback reads the functions that run in transactions.
func TestNothingOutlivesARollback(t *testing.T) {
	rowwisetest.NothingEscapes(t, ".", "*session")
}
