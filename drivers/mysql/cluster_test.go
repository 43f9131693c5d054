package mysql

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// The tests of this file let a plain server be treated as a node of a cluster: there a transaction that depends on a locked
// row writes the row, because of two transactions that write a row the cluster lets one commit.

// TestCheckInCluster checks that lock.Check writes the row of a lock that has its token, and of no other lock, whatever
// the precision of the column, and that on one server lock.Check writes nothing.
func TestCheckInCluster(t *testing.T) {
	times := func(kind string) string {
		return "CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until " + kind + " NOT NULL, locked_at " + kind + " NOT NULL, locked_by VARCHAR(255)) COLLATE utf8mb4_bin"
	}
	for _, create := range []string{"", times("DATETIME"), times("TIMESTAMP(3)"), times("DATETIME(6)")} {
		_, db := newDatabase(t, "")
		table, options := "hourbell_lock", []LockOption(nil)
		if create != "" {
			table, options = "shedlock", []LockOption{Table("shedlock")}
			_, err := db.Exec(create)
			must(t, err)
		}
		locks := NewLocks(db, options...)
		must(t, locks.CreateTables(t.Context()))
		holder, err := lock.New(locks, lock.Config{})
		must(t, err)
		held, err := holder.Try(t.Context(), "a", lock.Options{NoKeepAlive: true})
		must(t, err)
		until := func(tx *sql.Tx) (instant string) {
			must(t, tx.QueryRow("SELECT lock_until FROM "+table+" WHERE name = 'a'").Scan(&instant))
			return instant
		}
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
			for _, test := range []struct {
				cluster bool
				token   int64
				writes  bool
			}{{false, held.Token(), false}, {true, held.Token(), true}, {true, held.Token() + 1, false}} {
				locks.cluster.Store(&test.cluster)
				tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
				must(t, err)
				before := until(tx)
				err = lock.Check(t.Context(), locks.Tx(tx), "a", test.token)
				if stands := test.token == held.Token(); stands && err != nil || !stands && !errors.Is(err, lock.ErrLost) {
					t.Errorf("%q, %v, %+v: %v", create, level, test, err)
				}
				if wrote := until(tx) != before; wrote != test.writes {
					t.Errorf("%q, %v, %+v: the row was written: %v", create, level, test, wrote)
				}
				must(t, tx.Rollback())
			}
		}
		must(t, held.Release(t.Context()))
	}
}

// touchedJob returns how often transactions that depend on a job have changed its row.
func touchedJob(t *testing.T, b *Backend, id int64) (n int) {
	t.Helper()
	must(t, b.db.QueryRowContext(t.Context(), "SELECT touched FROM hourbell_job WHERE id = ?", id).Scan(&n))
	return n
}

// TestTakenKeyInCluster checks that an insert that finds the holder of a unique key writes the job, in
// transactions of the Backend and in transactions of programs.
func TestTakenKeyInCluster(t *testing.T) {
	b, db := fresh(t)
	b.server.galera = true
	jobs := []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 1, MaxAttempts: 5, Unique: "u"}}}
	first, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	for i, req := range []store.InsertRequest{{Jobs: jobs}, {Jobs: jobs, Tx: Tx(tx)}} {
		again, err := b.Insert(t.Context(), req)
		must(t, err)
		if req.Tx != nil {
			must(t, tx.Commit())
		}
		if n := touchedJob(t, b, first.Jobs[0].ID); !again.Jobs[0].Existed || n != i+1 {
			t.Errorf("insert %d: %+v, and the holder was written %d times", i, again.Jobs, n)
		}
	}
}

// TestCancelInCluster checks that a request to cancel a running job writes the job.
func TestCancelInCluster(t *testing.T) {
	b, _ := fresh(t)
	b.server.galera = true
	id := insertPlain(t, b, 1)[0]
	claimPlain(t, b, register(t, b, time.Hour), 1)
	before := touchedJob(t, b, id)
	out, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{id}})
	must(t, err)
	if n := touchedJob(t, b, id); out.Changes[0].Change != store.Requested || n != before+1 {
		t.Errorf("%+v, and the job was written %d times", out.Changes, n-before)
	}
}
