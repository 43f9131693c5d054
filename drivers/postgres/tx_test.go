package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/hourbell/hourbell/store"
)

// oddJobs are jobs whose values are hard to write down as text.
func oddJobs() []store.NewJob {
	at := time.Date(2031, 2, 3, 4, 5, 6, 123456789, time.FixedZone("", -5*3600))
	return []store.NewJob{
		{JobSpec: store.JobSpec{Kind: `k"{},\'`, Queue: "NULL", Args: []byte("{\"a\": \"\\\\ \\\" ü\", \"b\": [1, null]}\n"), Priority: 1, MaxAttempts: 1}, RunAt: at, Slot: at, Schedule: 7},
		{JobSpec: store.JobSpec{Kind: "null", Queue: "", Args: []byte(`""`), Headers: []byte(`{"x":"{}"}`), Priority: 9, MaxAttempts: 32767, OnLoss: store.OnLossFail, Timeout: time.Nanosecond}, Origin: store.OriginBackfill},
		{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: nil, Headers: []byte{}, Priority: 5, MaxAttempts: 3}, Delay: time.Hour},
	}
}

// TestTransactionsInsertTheSame inserts the same jobs by every path and compares
// what is stored.
func TestTransactionsInsertTheSame(t *testing.T) {
	b := fresh(t)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	want := insertedBy(t, b, nil, now)
	native, err := newPool(t).Begin(t.Context())
	must(t, err)
	compareJobs(t, "pgx", insertedBy(t, b, Tx(native), now, func() { must(t, native.Commit(t.Context())) }), want)
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
		tx, err := openSQL(t, mode).Begin()
		must(t, err)
		compareJobs(t, "database/sql, "+mode, insertedBy(t, b, SQLTx(tx), now, func() { must(t, tx.Commit()) }), want)
	}
}

func openSQL(t *testing.T, mode string) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(urlFrom(t, serverVariable))
	must(t, err)
	config.DefaultQueryExecMode = map[string]pgx.QueryExecMode{
		"cache_statement": pgx.QueryExecModeCacheStatement, "exec": pgx.QueryExecModeExec, "simple_protocol": pgx.QueryExecModeSimpleProtocol,
	}[mode]
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() })
	return db
}

// insertedBy inserts the odd jobs, each kind of statement once, and lists them.
func insertedBy(t *testing.T, b *Backend, tx store.Tx, now time.Time, commit ...func()) []store.JobInfo {
	t.Helper()
	var ids []int64
	for _, jobs := range [][]store.NewJob{oddJobs(), oddJobs()[:1], oddJobs()[1:2], oddJobs()[2:]} {
		res, err := b.Insert(t.Context(), store.InsertRequest{Now: now, Tx: tx, Jobs: jobs})
		must(t, err)
		ids = append(ids, res.IDs()...)
	}
	list := func() []store.JobInfo {
		jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: 100, Attempts: true})
		must(t, err)
		return jobs
	}
	for _, do := range commit {
		if n := len(list()); n != 0 {
			t.Errorf("%d jobs are there before the commit", n)
		}
		do()
	}
	return list()
}

func compareJobs(t *testing.T, what string, got, want []store.JobInfo) {
	t.Helper()
	if len(got) != len(want) || len(got) != 6 {
		t.Fatalf("%s: %d jobs, want %d", what, len(got), len(want))
	}
	for i := range got {
		a, b := got[i], want[i]
		a.ID, b.ID = 0, 0
		if text(a) != text(b) {
			t.Errorf("%s:\n got %s\nwant %s", what, text(a), text(b))
		}
	}
	if first := want[len(want)-1]; first.Kind != `k"{},\'` || !first.RunAt.Equal(oddJobs()[0].RunAt.Truncate(time.Microsecond)) || first.RunAt.Location() != time.UTC {
		t.Errorf("%s: the first job is %s", what, text(first))
	}
}

func TestRolledBackSQLTx(t *testing.T) {
	b := fresh(t)
	tx, err := openSQL(t, "cache_statement").Begin()
	must(t, err)
	_, err = b.Insert(t.Context(), store.InsertRequest{Tx: SQLTx(tx), Jobs: noop(2)})
	must(t, err)
	must(t, tx.Rollback())
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 10})
	must(t, err)
	if len(jobs) != 0 {
		t.Errorf("%d jobs after a rollback", len(jobs))
	}
}

// TestUniqueInTransactionsOfThePrograms finds by every path what another stored.
func TestUniqueInTransactionsOfThePrograms(t *testing.T) {
	b := fresh(t)
	req := store.InsertRequest{Jobs: noop(1)}
	req.Jobs[0].Unique = `it's "{}`
	first, err := b.Insert(t.Context(), req)
	must(t, err)
	look := func(what string, tx store.Tx) {
		req := req
		req.Tx = tx
		if got, err := b.Insert(t.Context(), req); err != nil || !got.Jobs[0].Existed || got.Jobs[0].ID != first.Jobs[0].ID {
			t.Errorf("%s: %+v, %v; want job %d to be found", what, got, err, first.Jobs[0].ID)
		}
		req.Jobs = append(slices.Clone(req.Jobs), noop(2)...)
		req.Jobs[1].Unique = req.Jobs[0].Unique + what
		got, err := b.Insert(t.Context(), req)
		if err != nil || !got.Jobs[0].Existed || got.Jobs[0].ID != first.Jobs[0].ID || got.Jobs[1].Existed || got.Jobs[2].Existed {
			t.Errorf("%s: with another key and a job without: %+v, %v", what, got, err)
		}
	}
	native, err := newPool(t).Begin(t.Context())
	must(t, err)
	look("pgx", Tx(native))
	must(t, native.Commit(t.Context()))
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
		tx, err := openSQL(t, mode).Begin()
		must(t, err)
		look(mode, SQLTx(tx))
		must(t, tx.Commit())
	}
}

// TestUniqueUnderAnOlderSnapshot: a transaction that cannot see the job with its key
// gets an error that asks to begin again.
func TestUniqueUnderAnOlderSnapshot(t *testing.T) {
	b := fresh(t)
	tx, err := newPool(t).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	must(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	_, err = tx.Exec(t.Context(), "select 1")
	must(t, err)
	req := store.InsertRequest{Jobs: noop(1)}
	req.Jobs[0].Unique = "key"
	_, err = b.Insert(t.Context(), req)
	must(t, err)
	req.Tx = Tx(tx)
	_, err = b.Insert(t.Context(), req)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "40001" {
		t.Errorf("error %v, want a serialization failure", err)
	}
}

type foreignTx struct{}

func (foreignTx) HourbellTx() {}

func TestForeignTx(t *testing.T) {
	b := fresh(t)
	if _, err := b.Insert(t.Context(), store.InsertRequest{Tx: foreignTx{}, Jobs: noop(1)}); !errors.Is(err, store.ErrForeignTx) {
		t.Errorf("a foreign transaction: %v", err)
	}
}

func TestPoolOfTheProgram(t *testing.T) {
	pool, schema := newPool(t), newSchema(t)
	b := New(pool, Schema(schema))
	migrate(t, b)
	node := register(t, b)
	insertN(t, b, 2)
	if got := len(claimN(t, b, node, 5)); got != 2 {
		t.Errorf("claimed %d jobs, want 2", got)
	}
	must(t, b.Close())
	must(t, pool.Ping(t.Context()))
	var seqscan string
	must(t, pool.QueryRow(t.Context(), "show enable_seqscan").Scan(&seqscan))
	if seqscan != "on" {
		t.Error("settings stay behind in the program's pool")
	}
}

// TestClosedConnectionsAreReplaced: a call that gets connections that were closed while they rested
// gets others, because nothing was sent.
func TestClosedConnectionsAreReplaced(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	var held []*pgxpool.Conn
	for range 3 {
		conn, err := b.poolOf(nodeConns).Acquire(t.Context())
		must(t, err)
		held = append(held, conn)
	}
	for _, conn := range held {
		must(t, conn.Conn().PgConn().Conn().Close())
		conn.Release()
	}
	_, err := b.Leave(t.Context(), store.LeaveRequest{Node: node})
	must(t, err)
}

// TestTransactionsThatWaitAreEnded: a node that disappears from the network within a transaction
// must not hold locks for hours.
func TestTransactionsThatWaitAreEnded(t *testing.T) {
	own := fresh(t)
	shared := New(newPool(t), Schema(own.schema))
	for _, b := range []*Backend{own, shared} {
		for name, begin := range map[string]string{"work": b.workBegin(), "a write": b.writeBegin(), "a listing": listing} {
			var limit string
			must(t, b.transact(t.Context(), nodeConns, "read a setting", begin)(func(tx pgx.Tx) error {
				return tx.QueryRow(t.Context(), "show idle_in_transaction_session_timeout").Scan(&limit)
			}))
			if limit != "10s" {
				t.Errorf("pinned %v: %s may wait for %s", b.pinned, name, limit)
			}
		}
	}
	var left string
	must(t, shared.pool.QueryRow(t.Context(), "show idle_in_transaction_session_timeout").Scan(&left))
	if left == "10s" {
		t.Error("the setting stays behind in the program's pool")
	}
}

func TestNewDB(t *testing.T) {
	db := openSQL(t, "cache_statement")
	b, err := NewDB(t.Context(), db, Schema(newSchema(t)))
	must(t, err)
	migrate(t, b)
	insertN(t, b, 1)
	must(t, b.Close())
	must(t, b.Close())
	must(t, db.Ping())
}

func TestNewDBOfAnotherDriver(t *testing.T) {
	db := sql.OpenDB(otherDriver{})
	defer db.Close()
	if _, err := NewDB(context.Background(), db); err == nil {
		t.Error("NewDB takes another driver's database")
	} else {
		t.Log(err)
	}
}

// TestArgumentsFitEveryDriver checks that a driver of database/sql without types of its
// own, such as lib/pq, takes the arguments of inserts; pgx's stdlib takes more types.
func TestArgumentsFitEveryDriver(t *testing.T) {
	jobs := append(oddJobs(), withKeys("a")...)
	for name, args := range map[string][]any{
		"one job":        shared(&jobs[0], string(jobs[0].Args)),
		"equal jobs":     shared(&jobs[0], argsTexts(jobs)),
		"different jobs": append(columns(jobs), []int64{1, 2, 3, 4}),
	} {
		for i, arg := range args {
			if _, err := driver.DefaultParameterConverter.ConvertValue(arrayText(arg)); err != nil {
				t.Errorf("%s: argument %d, %v: %v", name, i, arg, err)
			}
		}
	}
	if got := arrayText([]bool{true, false}); got != "{true,false}" {
		t.Errorf("a list of booleans as text: %v", got)
	}
}
