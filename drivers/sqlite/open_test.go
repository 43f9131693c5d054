package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// wantError checks that an error says all of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, bytes.Repeat([]byte("no database "), 1_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string][]string{
		"":                                  {"empty", "name a file"},
		":memory:":                          {"in memory", "store/memory"},
		"file:x.db?mode=memory":             {"plain path"},
		dir:                                 {"not a regular file"},
		filepath.Join(dir, "no", "such.db"): {"no folder", "create it"},
		"a\x00b":                            {"NUL"},
		garbage:                             {garbage, "not a SQLite database", "another file"},
	} {
		b, err := Open(t.Context(), path)
		wantError(t, err, words...)
		if b != nil {
			t.Errorf("Open(%q) returned a backend with its error", path)
		}
	}
	before, _ := os.ReadDir(dir)
	if len(before) != 1 {
		t.Errorf("refused paths left files: %v", before)
	}
	_, err := Open(t.Context(), filepath.Join(dir, "x.db"), Synchronous("OFF"))
	wantError(t, err, "OFF", "FULL or NORMAL")
}

// A file comes into being by MigrateUp alone, for its owner alone.
func TestFileIsCreatedByMigrateUp(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "new.db")
	b := openFile(t, path)
	steps, err := b.MigrateStatus(t.Context())
	if err != nil || len(steps) == 0 || steps[0].Applied {
		t.Fatalf("status of no file: %+v, %v", steps, err)
	}
	if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("CheckSchema of no file: %v", err)
	}
	_, err = b.Now(t.Context())
	wantError(t, err, path, "does not exist", "migrate up")
	if !errors.Is(err, store.ErrSchema) {
		t.Errorf("a missing file must be ErrSchema: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the file is there before MigrateUp: %v", err)
	}
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
	files, _ := filepath.Glob(path + "*")
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", file, info.Mode(), err)
		}
	}
	if len(files) < 2 {
		t.Errorf("no WAL beside the file: %v", files)
	}
}

func TestTablesMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db := usersDB(t, path, goodPragmas)
	if _, err := db.Exec("CREATE TABLE customer (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	b := openFile(t, path)
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{}}})
	if !errors.Is(err, store.ErrSchema) {
		t.Errorf("insert without tables: %v, want ErrSchema", err)
	}
	wantError(t, err, "insert jobs", "migrate up")
	status, err := b.MigrateStatus(t.Context())
	if err != nil || status[0].Applied {
		t.Errorf("status: %+v, %v", status, err)
	}
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("reading the status left %d tables, %v; want the user's one", tables, err)
	}
}

func TestNewRefusesWrongPragmas(t *testing.T) {
	for name, c := range map[string]struct {
		dsn   string
		words []string
	}{
		"journal":     {"&_pragma=synchronous(full)", []string{"journal_mode is delete", "_pragma=journal_mode(wal)"}},
		"busy":        {goodPragmas + "&_pragma=busy_timeout(0)", []string{"busy_timeout is 0", "_pragma=busy_timeout(10000)"}},
		"synchronous": {"&_pragma=journal_mode(wal)&_pragma=synchronous(normal)", []string{"synchronous is 1", "_pragma=synchronous(full)"}},
		"off":         {"&_pragma=journal_mode(wal)&_pragma=synchronous(off)", []string{"synchronous is 0"}},
		"query_only":  {goodPragmas + "&_pragma=query_only(1)", []string{"query_only is 1"}},
		"exclusive":   {goodPragmas + "&_pragma=locking_mode(exclusive)", []string{"locking_mode is exclusive"}},
		"encoding":    {"&_pragma=encoding('UTF-16le')" + goodPragmas, []string{"encoding is UTF-16le"}},
	} {
		t.Run(name, func(t *testing.T) {
			db := usersDB(t, filepath.Join(t.TempDir(), "app.db"), c.dsn)
			db.SetMaxOpenConns(1) // an exclusive lock would keep the second connection waiting
			_, err := New(t.Context(), db)
			wantError(t, err, append(c.words, "use the SQLite connections")...)
		})
	}
	memory, err := sql.Open("sqlite", ":memory:?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	_, err = New(t.Context(), memory)
	wantError(t, err, "journal_mode is memory", "in memory cannot be used")
}

// A pragma that was set by Exec reaches one connection of the pool only.
func TestNewLooksAtTwoConnections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	usersDB(t, path, goodPragmas).Ping()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA busy_timeout = 10000"); err != nil {
		t.Fatal(err)
	}
	_, err = New(t.Context(), db)
	wantError(t, err, "only some of the connections", "busy_timeout is 0", "DSN")
}

// The database of an application: its rows and our jobs in one transaction.
func TestTxOfApplication(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db := usersDB(t, path, goodPragmas)
	if _, err := db.Exec("CREATE TABLE customer (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	b, err := New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO customer DEFAULT VALUES"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 1, MaxAttempts: 1}}}}); err != nil {
			t.Fatal(err)
		}
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
		var customers int
		jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 10})
		if err2 := db.QueryRow("SELECT count(*) FROM customer").Scan(&customers); err != nil || err2 != nil || len(jobs) != i || customers != i {
			t.Errorf("%d jobs and %d customers, want %d of each (%v, %v)", len(jobs), customers, i, err, err2)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(); err != nil {
		t.Errorf("Close closed the application's pool: %v", err)
	}
}

type otherTx struct{}

func (otherTx) HourbellTx() {}

func TestForeignTx(t *testing.T) {
	b := openFile(t, newFile(t))
	for _, tx := range []store.Tx{otherTx{}, Tx(nil)} {
		if _, err := b.Insert(t.Context(), store.InsertRequest{Tx: tx}); !errors.Is(err, store.ErrForeignTx) {
			t.Errorf("%T: %v, want ErrForeignTx", tx, err)
		}
	}
}

// A transaction that read before someone else wrote cannot write any more.
func TestStaleTx(t *testing.T) {
	path := newFile(t)
	b := openFile(t, path)
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)+"?_pragma=busy_timeout(2000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM hourbell_job").Scan(&n); err != nil {
		t.Fatal(err)
	}
	insertPlain(t, b, 1)
	_, err = b.Insert(t.Context(), store.InsertRequest{Tx: Tx(tx), Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("1"), Priority: 1, MaxAttempts: 1}}}})
	wantError(t, err, "insert jobs", "read before it wrote", "_txlock=immediate")
}

// While someone else writes, a call waits no longer than its context allows,
// and readers do not wait at all.
func TestLockedFile(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	a, b := openFile(t, path), openFile(t, path)
	node := register(t, b, time.Minute)
	tx, err := a.writer.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(a.texts[lockFile].SQL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := b.Claim(ctx, store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 1}); err != nil {
		t.Errorf("an empty claim waited for the writer: %v", err)
	}
	start := time.Now()
	if _, err := b.Heartbeat(ctx, store.HeartbeatRequest{Node: node}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("heartbeat: %v after %v, want the context's error when it ended", err, time.Since(start))
	}
	if !testing.Short() {
		_, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node})
		wantError(t, err, "heartbeat", "locked", "transaction left open")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node}); err != nil {
		t.Errorf("after the lock was freed: %v", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	path := newFile(t)
	b := openFile(t, path)
	node := register(t, b, time.Minute)
	// Rights do not stop a superuser; query_only stops everyone the same way.
	if _, err := b.writer.Exec("PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	_, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node})
	wantError(t, err, "heartbeat", "readonly", "right to write")
	if os.Geteuid() == 0 {
		return
	}
	b.Close()
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	b = openFile(t, path)
	_, err = b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node})
	wantError(t, err, "heartbeat", "right to write")
}

func TestFullDisk(t *testing.T) {
	b := openFile(t, newFile(t))
	first := insertPlain(t, b, 10)
	if _, err := b.writer.Exec("PRAGMA max_page_count = 60"); err != nil {
		t.Fatal(err)
	}
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: make([]byte, 1<<20), Priority: 1, MaxAttempts: 1}}}})
	wantError(t, err, "insert jobs", "full", "free space")
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 100})
	if err != nil || len(jobs) != len(first) {
		t.Errorf("%d jobs after a full disk, %v; want the %d acknowledged ones", len(jobs), err, len(first))
	}
}

// What a job carries comes back as it was, whatever it is.
func TestBytesAreKept(t *testing.T) {
	b := openFile(t, newFile(t))
	node := register(t, b, time.Minute)
	big := append([]byte(`{"x":"`), bytes.Repeat([]byte("ü"), 1<<19)...)
	for _, x := range [][]byte{
		[]byte(`{"a":"\u0000\ud800","b":1e400,"a":[]}`), []byte(" {\t}\n"),
		{0, 255, 254, '\''},
		append(big, `"}`...),
		[]byte(`12345678901234567890.000`), []byte(`"<&>"`),
	} {
		for _, headers := range [][]byte{nil, x} {
			job := store.NewJob{JobSpec: store.JobSpec{Kind: "k<&>", Queue: "q", Args: x, Headers: headers, Priority: 1, MaxAttempts: 1}}
			if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{job}}); err != nil {
				t.Fatal(err)
			}
			res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k<&>"}, Limit: 1})
			if err != nil || len(res.Jobs) != 1 {
				t.Fatal(res, err)
			}
			got := res.Jobs[0]
			if !bytes.Equal(got.Args, x) || !bytes.Equal(got.Headers, headers) || (got.Headers == nil) != (headers == nil) {
				t.Errorf("%.40q came back as %.40q, %.40q", x, got.Args, got.Headers)
			}
			outcome := store.Outcome{ID: got.ID, Token: got.Token, Result: store.Failed, Error: "e\"\\ü\x01", Trace: "t", Output: x[:min(len(x), 64<<10)]}
			if _, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{outcome}}); err != nil {
				t.Fatal(err)
			}
			list, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{got.ID}}, Attempts: true, Limit: 1})
			if err != nil || len(list) != 1 || len(list[0].Attempts) != 1 {
				t.Fatal(list, err)
			}
			a := list[0].Attempts[0]
			if !bytes.Equal(list[0].Args, x) || !bytes.Equal(a.Output, outcome.Output) || a.Error != outcome.Error || list[0].Reason != outcome.Error {
				t.Errorf("%.40q: history has %.40q, output %.40q, error %q", x, list[0].Args, a.Output, a.Error)
			}
		}
	}
}

// A reset may move the mark back over slots that have made their jobs.
func TestSlotFiresOnceAfterReset(t *testing.T) {
	b := openFile(t, newFile(t))
	now := time.Date(2035, 1, 2, 3, 4, 5, 0, time.UTC)
	if _, err := b.PutSchedules(t.Context(), store.PutSchedulesRequest{Now: now, Schedules: []store.PutSchedule{{Name: "s", Definition: []byte("{}")}}}); err != nil {
		t.Fatal(err)
	}
	fire := func() store.FireResult {
		list, err := store.List[store.Schedule](t.Context(), b, store.ListRequest{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := list[0]
		res, err := b.Fire(t.Context(), store.FireRequest{Now: now, Firings: []store.Firing{{
			Schedule: s.ID, Revision: s.Revision, Mark: s.Mark, NextAt: s.NextAt, NewMark: now.Add(time.Minute), NewNextAt: now.Add(2 * time.Minute),
			Overlap: store.OverlapAllow,
			Jobs:    []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 1, MaxAttempts: 1}, Slot: now.Add(time.Minute)}},
		}}})
		if err != nil || len(res.Lost) > 0 {
			t.Fatal(res, err)
		}
		return res
	}
	if res := fire(); len(res.Fired) != 1 {
		t.Fatalf("the slot did not fire: %+v", res)
	}
	if err := b.ChangeSchedules(t.Context(), store.ChangeSchedulesRequest{Now: now, Action: store.ResetSchedules, Names: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	if res := fire(); len(res.Fired) != 0 {
		t.Errorf("one slot made two jobs: %+v", res)
	}
}
