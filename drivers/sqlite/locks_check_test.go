package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/hourbell/hourbell/lock"
)

// TestCheckInTheDefaultTables checks the package's Tx, which uses the default
// tables. There the owner may have any format; in tables shared with programs
// that draw no token, the format shows whose row it is.
func TestCheckInTheDefaultTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "check.db")
	b := openFile(t, path)
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := usersDB(t, path, goodPragmas)
	lease, err := b.Locks().TryLock(t.Context(), lock.Request{Name: "a", Owner: "another", Hold: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		shared bool
		want   error
	}{{false, nil}, {true, lock.ErrLost}} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		own := Tx(tx)
		if test.shared {
			own = NewLocks(db, Table("hourbell_lock")).Tx(tx)
		}
		if err := lock.Check(t.Context(), own, "a", lease.Token()); !errors.Is(err, test.want) {
			t.Errorf("with others in the table %v: %v", test.shared, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}
