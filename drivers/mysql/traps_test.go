package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/internal/testserver"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestOwnTransactionsLockNoGaps: the transactions of a Backend are READ COMMITTED, also on connections whose
// transactions are REPEATABLE READ. Otherwise the server locks the gap in which the other insert belongs.
func TestOwnTransactionsLockNoGaps(t *testing.T) {
	own, db := fresh(t)
	on, err := New(t.Context(), db)
	must(t, err)
	defer on.Close()
	for name, b := range map[string]*Backend{"Open": own, "New": on} {
		must(t, b.writeOnly(t.Context(), name)(func(s *session) error {
			rows, err := s.tx.QueryContext(t.Context(), "SELECT id FROM hourbell_job FORCE INDEX (hourbell_job_ready) WHERE queue = 'q' AND state = 0 FOR UPDATE") //nolint:rowserrcheck // EachRow returns rows.Err
			if err := sqlrows.EachRow(rows, err, func(row) error { return nil }); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err = db.ExecContext(ctx, `INSERT INTO hourbell_job (run_at, created_at, timeout, priority, state, max_attempts, on_loss, origin, queue, kind, args)
				VALUES (NOW(), NOW(), 0, 5, 0, 1, 0, 0, 'q', 'k', '')`)
			return err
		}))
		_, err := db.Exec("DELETE FROM hourbell_job")
		must(t, err)
	}
}

// TestDeadlocksAreRepeated: transactions that the server gives up are begun again, are counted, and end after a
// number of tries with an error that has the remedy.
func TestDeadlocksAreRepeated(t *testing.T) {
	b, _ := fresh(t)
	ids := insertPlain(t, b, 2)
	var both, group sync.WaitGroup
	both.Add(2)
	for i := range 2 {
		first := true
		group.Go(func() {
			err := b.writeOnly(t.Context(), "lock two jobs")(func(s *session) error {
				for n, id := range []int64{ids[i], ids[1-i]} {
					if _, err := s.LockJobs(t.Context(), []int64{id}); err != nil {
						return err
					}
					if n == 0 && first {
						first = false
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := b.Retries(); n != (Retries{Deadlocks: 1}) {
		t.Errorf("transactions were begun again: %+v, want one after a deadlock", n)
	}
	calls := 0
	var repeats atomic.Int64
	err := b.writeOnly(store.CountRepeats(t.Context(), &repeats), "never")(func(*session) error {
		calls++
		return &mysql.MySQLError{Number: errDeadlock, Message: "Deadlock found"}
	})
	wantInError(t, err, "run it again")
	if calls != tries || repeats.Load() != tries-1 {
		t.Errorf("a transaction was begun %d times and again %d times, want %d", calls, repeats.Load(), tries)
	}
}

// TestTheSchema pins what no column may be.
func TestTheSchema(t *testing.T) {
	b, db := fresh(t)
	rows, err := db.Query(`SELECT CONCAT(c.table_name, '.', c.column_name), c.data_type, COALESCE(c.datetime_precision, 6), COALESCE(c.collation_name, ''), t.engine
		FROM information_schema.columns AS c JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
		WHERE c.table_schema = DATABASE()`)
	columns := 0
	must(t, sqlrows.EachRow(rows, err, func(r row) error {
		var name, kind, collation, engine string
		var precision int
		err := r.Scan(&name, &kind, &precision, &collation, &engine)
		columns++
		switch {
		case kind == "timestamp" || kind == "datetime" && precision != 6 && !strings.HasPrefix(name, "hourbell_lock"):
			t.Errorf("%s is a %s(%d), want datetime(6)", name, kind, precision)
		case collation != "" && !strings.HasSuffix(collation, "_bin"):
			t.Errorf("%s compares by %s, want the bytes", name, collation)
		case engine != "InnoDB":
			t.Errorf("%s is in a table of %s", name, engine)
		}
		return err
	}))
	if columns < 100 {
		t.Errorf("%d columns", columns)
	}
	for s, text := range b.texts {
		examines := []statement{findColumns, findWrongTables, findOldTransaction, countUserConnections}
		if strings.Contains(text.SQL, "information_schema") && !slices.Contains(examines, statement(s)) {
			t.Errorf("%v reads information_schema", sources[s])
		}
	}
}

// largeBatches inserts more than fits in a packet of 4 MB, and a job that does not fit.
func largeBatches(t *testing.T, b *Backend) {
	t.Helper()
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte(`"` + strings.Repeat("x", 100_000) + `"`), Priority: 5, MaxAttempts: 1}}
	res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: slices.Repeat([]store.NewJob{job}, 50)})
	must(t, err)
	if len(res.Jobs) != 50 {
		t.Errorf("%d of 50 jobs were inserted", len(res.Jobs))
	}
	claimed := claimPlain(t, b, register(t, b, time.Hour), 50)
	var outcomes []store.Outcome
	for _, c := range claimed {
		outcomes = append(outcomes, store.Outcome{ID: c.ID, Token: c.Token, Result: store.Failed, Error: strings.Repeat("e", 30_000), Output: []byte(strings.Repeat("o", 60_000))})
	}
	_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: outcomes})
	must(t, err)
	job.Args = []byte(`"` + strings.Repeat("x", 5_000_000) + `"`)
	_, err = b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{job}})
	wantInError(t, err, "max_allowed_packet")
	if !errors.Is(err, store.ErrRejected) {
		t.Errorf("%v, want ErrRejected", err)
	}
}

// TestNumbersOfInserts: the answers of concurrent inserts have the numbers of their own jobs, whatever the
// numbers of a session are apart.
func TestNumbersOfInserts(t *testing.T) {
	url, _ := newDatabase(t, "auto_increment_increment=3&auto_increment_offset=2")
	b := openStore(t, url)
	migrate(t, b)
	const inserters, each = 6, 60
	numbers := make([][]int64, inserters)
	var group sync.WaitGroup
	for i := range inserters {
		group.Go(func() {
			jobs := make([]store.NewJob, each)
			for n := range jobs {
				jobs[n] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: fmt.Append(nil, i, " ", n), Priority: 5, MaxAttempts: 1}}
			}
			for part := range slices.Chunk(jobs, each/3) {
				res, err := b.Insert(t.Context(), store.InsertRequest{Jobs: part})
				if err != nil {
					t.Error(err)
					return
				}
				numbers[i] = append(numbers[i], res.IDs()...)
			}
		})
	}
	group.Wait()
	listed, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 1000, Attempts: true})
	must(t, err)
	args := map[int64]string{}
	for _, job := range listed {
		args[job.ID] = string(job.Args)
	}
	for i, ids := range numbers {
		for n, id := range ids {
			if want := fmt.Sprint(i, " ", n); args[id] != want {
				t.Fatalf("job %d has the args %q, its insert had %q", id, args[id], want)
			}
		}
	}
}

// TestSettingsThatDoNotFit: New refuses them, with the remedy. The connections of Open have settings of their own.
func TestSettingsThatDoNotFit(t *testing.T) {
	for parameters, remedy := range map[string]string{
		"sql_mode=%27%27":               "STRICT_TRANS_TABLES",
		"autocommit=0":                  "autocommit",
		"charset=latin1":                "charset=utf8mb4",
		"charset=utf8mb3":               "charset=utf8mb4", // has no characters of four bytes
		"character_set_results=NULL":    "charset=utf8mb4",
		"collation=latin1_swedish_ci":   "charset=utf8mb4",
		"completion_type=1":             "completion_type=0",
		"completion_type=%27RELEASE%27": "completion_type=0",
		"sql_select_limit=3":            "sql_select_limit=18446744073709551615",
		"sql_safe_updates=1":            "sql_safe_updates=0",
	} {
		url, db := newDatabase(t, parameters)
		b, err := New(t.Context(), db)
		wantInError(t, err, remedy)
		if err == nil {
			b.Close()
		}
		openStore(t, url)
	}
}

// TestSnapshotsDecideNothing: in a caller's transaction that is REPEATABLE READ, and has read before others wrote,
// calls decide from what the others wrote.
func TestSnapshotsDecideNothing(t *testing.T) {
	b, db := fresh(t)
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1, Unique: "key"}}
	node := register(t, b, time.Hour)
	old := insertPlain(t, b, 1)[0]
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(t, err)
	defer tx.Rollback()
	var n int
	must(t, tx.QueryRow("SELECT COUNT(*) FROM hourbell_job").Scan(&n)) // the snapshot
	first, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{job}})
	must(t, err)
	if claimed := claimPlain(t, b, node, 1); len(claimed) != 1 || claimed[0].ID != old {
		t.Fatalf("claimed %v", claimed)
	}
	second, err := b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{job}})
	must(t, err)
	if !second.Jobs[0].Existed || second.Jobs[0].ID != first.Jobs[0].ID {
		t.Errorf("a key was given twice: %+v, then %+v", first.Jobs, second.Jobs)
	}
	res, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Tx: Tx(tx), Action: store.CancelJobs, IDs: []int64{old}})
	must(t, err)
	must(t, tx.Commit())
	jobs, err := b.Claims(t.Context(), store.ClaimsRequest{Node: node, Cancelled: true})
	must(t, err)
	if len(jobs) != 1 {
		t.Errorf("a job that was claimed after the snapshot was not asked to end: %+v", res)
	}
}

// TestOldSnapshotsAreRefused: MariaDB can refuse changes of rows that are newer than the snapshot of a caller's transaction. Then the error
// names what the caller has to do.
func TestOldSnapshotsAreRefused(t *testing.T) {
	b, db := fresh(t)
	if !b.server.mariaDB {
		t.Skip("MySQL has no innodb_snapshot_isolation")
	}
	id := insertPlain(t, b, 1)[0]
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "SET innodb_snapshot_isolation = ON")
	must(t, err)
	tx, err := conn.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(t, err)
	defer tx.Rollback()
	var n int
	must(t, tx.QueryRow("SELECT COUNT(*) FROM hourbell_job").Scan(&n)) // the snapshot
	if claimed := claimPlain(t, b, register(t, b, time.Hour), 1); len(claimed) != 1 {
		t.Fatalf("claimed %v", claimed)
	}
	_, err = b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Tx: Tx(tx), Action: store.CancelJobs, IDs: []int64{id}})
	wantInError(t, err, "Error 1020")
	wantInError(t, err, "begin a new transaction")
}

// TestServerSettings works with the formats ROW and MIXED of the binary log, with interleaved numbers, and with small
// packets. Open refuses the format STATEMENT, with which the server refuses what READ COMMITTED transactions write.
func TestServerSettings(t *testing.T) {
	t.Parallel()
	server := testserver.New(t)
	url := server.StartMariaDB(nil, "--log-bin="+server.Data+"/log", "--server-id=1", "--default-storage-engine=MyISAM", "--innodb-autoinc-lock-mode=2",
		"--max-allowed-packet=4M")
	admin := openDB(t, url)
	for _, format := range []string{"ROW", "MIXED", "STATEMENT"} {
		_, err := admin.Exec("SET GLOBAL binlog_format = " + format)
		must(t, err)
		if format == "STATEMENT" {
			_, err := Open(t.Context(), url)
			wantInError(t, err, "binlog_format")
			continue
		}
		b := openStore(t, url)
		migrate(t, b)
		insertPlain(t, b, 20)
		jobs := claimPlain(t, b, register(t, b, time.Hour), 20)
		if len(jobs) != 20 {
			t.Errorf("%s: %d of 20 jobs were claimed", format, len(jobs))
		}
		for _, job := range jobs {
			_, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token, Result: store.Completed}}})
			must(t, err)
		}
		if format == "ROW" {
			largeBatches(t, b)
		}
	}
}

// TestStoppedTransactionsEnd stops in a transaction that has given out tokens, as a stopped process does: the server ends the
// transaction, and others go on.
func TestStoppedTransactionsEnd(t *testing.T) {
	url, _ := newDatabase(t, "")
	stopped, other := openStore(t, url+"wait_timeout=2"), openStore(t, url)
	migrate(t, other)
	insertPlain(t, other, 1)
	node, err := other.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Minute, Queues: []string{"q"}, Kinds: []string{"k"}})
	must(t, err)
	tx, err := stopped.db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("UPDATE hourbell_counter SET value = value + 1 WHERE name = 'token'")
	must(t, err)
	if jobs := claimPlain(t, other, node.Node, 1); len(jobs) != 1 {
		t.Errorf("%d jobs were claimed", len(jobs))
	}
	if err := tx.Commit(); err == nil {
		t.Error("the transaction of a stopped process was committed")
	}
	var seconds int
	must(t, other.db.QueryRow("SELECT @@wait_timeout").Scan(&seconds))
	if seconds != int(idleLimit.Seconds()) {
		t.Errorf("the server ends a transaction of a stopped process after %d s", seconds)
	}
}

// TestWaitsAreNoTries checks that a transaction outlasts any number of waits for locks within lockWait, and tries deadlocks.
func TestWaitsAreNoTries(t *testing.T) {
	for _, c := range []struct {
		number uint16
		begun  int
	}{{errLockWaitTimeout, tries + 5}, {errDeadlock, tries}} {
		var begun int
		err := new(Backend).again(t.Context(), func() error {
			if begun++; begun == tries+5 {
				return nil
			}
			return &mysql.MySQLError{Number: c.number}
		})
		if begun != c.begun || (err == nil) != (begun == tries+5) {
			t.Errorf("error %d: begun %d times instead of %d: %v", c.number, begun, c.begun, err)
		}
	}
}

// TestStatementsThatCommit calls the store in a transaction that one of its statements has committed: the call writes nothing.
func TestStatementsThatCommit(t *testing.T) {
	b, db := fresh(t)
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 1, MaxAttempts: 5}}
	for i, mariaDB := range []bool{b.server.mariaDB, false} { // the check of MySQL works on MariaDB, too
		b.server.mariaDB = mariaDB
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{job}})
		must(t, err)
		_, err = tx.ExecContext(t.Context(), fmt.Sprintf("CREATE TEMPORARY TABLE harmless%d (n INT)", i))
		must(t, err)
		_, err = b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{job}})
		must(t, err)
		must(t, tx.Rollback())
		tx, err = db.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = tx.ExecContext(t.Context(), "CREATE OR REPLACE VIEW committing AS SELECT 1 AS n")
		must(t, err)
		if _, err = b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{job}}); !errors.Is(err, store.ErrTxEnded) {
			t.Errorf("in a transaction that a statement has committed: %v", err)
		}
		must(t, tx.Rollback())
		var jobs int
		must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_job").Scan(&jobs))
		if jobs != 0 {
			t.Errorf("%d jobs are stored", jobs)
		}
	}
}

// TestACallWhoseConnectionWasEndedBeginsAgain: the driver of MySQL returns driver.ErrBadConn only if it has sent nothing.
func TestACallWhoseConnectionWasEndedBeginsAgain(t *testing.T) {
	b, calls := &Backend{}, 0
	must(t, b.again(t.Context(), func() error {
		if calls++; calls == 1 {
			return fmt.Errorf("change jobs: %w", driver.ErrBadConn)
		}
		return nil
	}))
	if calls != 2 || b.Retries() != (Retries{}) {
		t.Errorf("the transaction began %d times, and %+v", calls, b.Retries())
	}
}
