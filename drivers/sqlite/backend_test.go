package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/storetest"
)

// migrated is a file with the schema. Each test gets a copy, because the steps of the schema
// take longer than most tests.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "hourbell-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "migrated.db")
	b, err := Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	_, err = b.MigrateUp(context.Background())
	if err := errors.Join(err, b.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newFile returns the path of a file with the schema.
func newFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a file? 100% #1.db")
	content, err := migrated()
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func openFile(t testing.TB, path string, options ...Option) *Backend {
	t.Helper()
	b, err := Open(t.Context(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// usersDB opens a file as an application would.
func usersDB(t testing.TB, path, more string) *sql.DB {
	t.Helper()
	if !strings.Contains(more, "busy_timeout") {
		more += "&_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open("sqlite", "file:"+path+"?"+more)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const goodPragmas = "&_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(full)"

// The suite runs with NORMAL: it is about what is written, not about power.
func TestStore(t *testing.T) { storetest.Run(t, openStore) }

// TestStoreWithoutAbilities runs the groups that use optional interfaces, if the driver has them, as a
// caller sees the driver that uses none.
func TestStoreWithoutAbilities(t *testing.T) {
	if testing.Short() {
		t.Skip("TestStore has run the tests once")
	}
	storetest.Run(t, storetest.WithoutAbilities(openStore), storetest.Operations(300), storetest.Only("Claim", "Fire", "Reopen", "Listen"))
}

func openStore(t *testing.T) storetest.Store {
	path := newFile(t)
	a, b := openFile(t, path, Synchronous("NORMAL")), openFile(t, path, Synchronous("NORMAL"))
	return storetest.Store{Clients: [2]store.Backend{a, b}, Begin: beginOn(a.writer)}
}

// TestStoreOnUsersPool runs the suite over an application's own connections. What these can change is how transactions begin and wait.
func TestStoreOnUsersPool(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("TestStore has run the tests once")
	}
	storetest.Run(t, func(t *testing.T) storetest.Store {
		path := filepath.Join(t.TempDir(), "app.db")
		var clients [2]store.Backend
		var dbs [2]*sql.DB
		for i := range clients {
			dbs[i] = usersDB(t, path, "&_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
			b, err := New(t.Context(), dbs[i], Synchronous("NORMAL"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			if _, err := b.MigrateUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			clients[i] = b
		}
		return storetest.Store{Clients: clients, Begin: beginOn(dbs[0])}
	}, storetest.Operations(300), storetest.Only("FinishTx", "InTx", "AfterTx", "Clock", "Listen"))
}

func beginOn(db *sql.DB) func(ctx context.Context) (storetest.Transaction, error) {
	return func(ctx context.Context) (storetest.Transaction, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return storetest.Transaction{}, err
		}
		return storetest.Transaction{Tx: Tx(tx), Commit: tx.Commit, Rollback: tx.Rollback}, nil
	}
}

func register(t testing.TB, b *Backend, lease time.Duration) int64 {
	t.Helper()
	res, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: lease, Queues: []string{"q"}, Kinds: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Node
}

// insertPlain inserts jobs of kind k into queue q.
func insertPlain(t testing.TB, b *Backend, n int) []int64 {
	t.Helper()
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: int16(1 + i%9), MaxAttempts: 5}}
	}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	return res.IDs()
}

func claimPlain(t testing.TB, b *Backend, node int64, limit int) []store.Claimed {
	t.Helper()
	res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return res.Jobs
}
