package locksql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// script is a database whose answers the test defines. It notes what is run.
type script struct {
	acquire error
	use     Use     // of the last call
	columns [][]any // the rows of columns.sql
	take    []any   // for each call of Take: a token, or an error
	rows    int     // the answer of Exec
	row     []any   // the row of each other query; nil: no row
	failed  error   // the error of each other query
	ran     []string
}

func (s *script) Acquire(_ context.Context, use Use) (Conn, error) {
	s.use = use
	return s, s.acquire
}

func (s *script) Release() {}

func (s *script) Query(_ context.Context, c Command, scan func(Row) error) error {
	s.ran = append(s.ran, c.Text)
	if s.failed != nil {
		return s.failed
	}
	rows := [][]any{s.row}
	switch {
	case c.Text == "columns":
		rows = s.columns
	case s.row == nil:
		return nil
	}
	for _, row := range rows {
		if err := scan(rowOf(row)); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) Exec(_ context.Context, commands []Command) (int, error) {
	for _, c := range commands {
		s.ran = append(s.ran, c.Text)
	}
	return s.rows, nil
}

func (s *script) Take(_ context.Context, commands []Command) (int64, error) {
	s.ran = append(s.ran, commands[0].Text)
	answer := s.take[0]
	s.take = s.take[1:]
	if err, ok := answer.(error); ok {
		return 0, err
	}
	return int64(answer.(int)), nil
}

// rowOf is a row with these values.
type rowOf []any

func (r rowOf) Scan(targets ...any) error {
	for i, target := range targets {
		switch target := target.(type) {
		case *string:
			*target = r[i].(string)
		case *int:
			*target = r[i].(int)
		case *bool:
			*target = r[i].(bool)
		case interface{ Scan(value any) error }:
			if err := target.Scan(r[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	errPassing = errors.New("passing")
	errBusy    = errors.New("busy")
	errChanged = errors.New("changed")
	errDenied  = errors.New("denied")
)

// scripted returns a Provider with columns on a script. Each statement's text is
// its name.
func scripted(db *script, config Config) *Provider {
	texts := map[string]string{"columns": "columns", "seed": "seed", "owned": "owned"}
	for _, name := range files {
		texts[name] = name
	}
	d := testDialect(texts)
	d.Texts, d.Times = Types{Fit: []string{"text"}, Advice: "text"}, Types{Fit: []string{"time"}, Advice: "time"}
	d.Tick, d.Waited, d.TimeAdvice = time.Millisecond, "waited for nothing", "write numbers"
	d.LastRune = func(string) rune { return 'z' }
	d.Explain = func(what string, err error) error { return errors.New(what + ": " + err.Error()) }
	d.Class = func(err error) Class {
		for class, sentinel := range map[Class]error{Passing: errPassing, Busy: errBusy, Changed: errChanged, Denied: errDenied} {
			if errors.Is(err, sentinel) {
				return class
			}
		}
		return Other
	}
	if db.columns == nil {
		db.columns = lockColumns()
	}
	return New(db, d, config)
}

func lockColumns() [][]any {
	return [][]any{
		{"app", "NAME", "text", 8, 6, "narrow", true, true},
		{"app", "locked_by", "text", 4, 6, "", false, true},
		{"app", "lock_until", "time", 0, 6, "", false, true},
		{"app", "locked_at", "time", 0, 6, "", false, true},
	}
}

func request() lock.Request { return lock.Request{Name: "a", Owner: "o", Hold: time.Minute} }

// recordOf is the answer of look: the lock is held from now on for some
// milliseconds.
func recordOf(name any, held int64, token any) []any {
	return []any{int64(1000), name, "other", int64(500), int64(1000) + held, token, nil, nil, nil, nil}
}

func TestTryLockAsksOnlyForReasons(t *testing.T) {
	db := &script{take: []any{7}}
	p := scripted(db, Config{})
	lease, err := p.TryLock(t.Context(), request())
	if err != nil || lease.Token() != 7 {
		t.Fatal(lease, err)
	}
	wantRan(t, db, "columns take")
	db.take, db.row = []any{0}, recordOf("a", 1, int64(7))
	var held *lock.HeldError
	if _, err := p.TryLock(t.Context(), request()); !errors.As(err, &held) || held.Owner != "other" || held.Until.Sub(held.Now) != time.Millisecond {
		t.Errorf("%v", err)
	}
	wantRan(t, db, "take look")
	db.take, db.row = []any{0, 8}, recordOf("a", 0, nil)
	if _, err := p.TryLock(t.Context(), request()); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "take look seed take")
	db.row = recordOf("a", 0, int64(7))
	slot := request()
	slot.Slot = &lock.Slot{Seen: 7}
	var notDue *lock.NotDueError
	if _, err := p.TryLock(t.Context(), slot); !errors.As(err, &notDue) || notDue.State.Token != 7 {
		t.Errorf("a slot that is never granted: %v", err)
	}
	wantRan(t, db, "look")
	db.row = recordOf("A", 100, int64(7))
	db.take = []any{0}
	var field *check.FieldError
	if _, err := p.TryLock(t.Context(), request()); !errors.As(err, &field) || field.Field != "name" {
		t.Errorf("the row of another name: %v", err)
	}
	p.dialect.LookFirst = true
	db.row, db.ran, db.take = recordOf(nil, -1000, nil), nil, []any{9}
	if _, err := p.TryLock(t.Context(), request()); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "look seed take")
}

// wantRan checks what a script has run since the last check.
func wantRan(t *testing.T, db *script, want string) {
	t.Helper()
	if got := strings.Join(db.ran, " "); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	db.ran = nil
}

func TestCallsRunAgainWhileOthersAreInTheWay(t *testing.T) {
	db := &script{take: []any{errPassing, errPassing, 3}}
	if _, err := scripted(db, Config{}).TryLock(t.Context(), request()); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "columns take take take")
	db.take = []any{errPassing, errPassing, errPassing, errPassing, errPassing, errPassing, errPassing, errPassing, 3}
	if _, err := scripted(db, Config{}).TryLock(t.Context(), request()); err == nil {
		t.Error("a call must end")
	}
}

func TestLossIsFoundOnce(t *testing.T) {
	db := &script{take: []any{7}}
	lease, err := scripted(db, Config{}).TryLock(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	db.ran, db.rows = nil, 1
	if err := lease.Extend(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "extend")
	if db.use != Upkeep {
		t.Error("a renewal is upkeep")
	}
	db.rows, db.row = 0, []any{true}
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("a row that did not change: %v", err)
	}
	wantRan(t, db, "release owned")
	db.row = []any{false}
	if err := lease.Release(t.Context()); !errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), `release lock "a"`) {
		t.Errorf("a row of another owner: %v", err)
	}
}

func TestErrorsOfTheDatabase(t *testing.T) {
	for _, test := range []struct {
		failed error
		is     error
		words  string
	}{
		{errBusy, lock.ErrBusy, "waited for nothing"},
		{errChanged, store.ErrSchema, "try again"},
		{errDenied, errDenied, "SELECT, INSERT and UPDATE on <app>.<job> and <app>.<job_state>"},
		{errors.New("broken"), nil, `take lock "a": broken`},
	} {
		db := &script{take: []any{test.failed, 1}}
		p := scripted(db, Config{Table: "app.job", Named: true})
		_, err := p.TryLock(t.Context(), request())
		if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%v: %v", test.failed, err)
		}
		if _, err := p.TryLock(t.Context(), request()); err != nil {
			t.Error(err)
		}
		want := "columns take take"
		if test.failed == errChanged {
			want = "columns take columns take" // the columns are read again
		}
		wantRan(t, db, want)
	}
	p := scripted(&script{acquire: context.Canceled}, Config{})
	if _, err := p.TryLock(t.Context(), request()); err == nil || errors.Is(err, lock.ErrBusy) {
		t.Errorf("no connection, though the caller waits: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p = scripted(&script{take: []any{errors.New("interrupted")}}, Config{})
	p.dialect.LastRune = func(string) rune {
		cancel()
		return 'z'
	}
	if _, err := p.TryLock(ctx, request()); !errors.Is(err, lock.ErrBusy) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("a caller that has left: %v", err)
	}
}

func TestTablesThatDoNotFit(t *testing.T) {
	for want, change := range map[string]func(columns [][]any) [][]any{
		"there is no table lock; call CreateTables": func([][]any) [][]any { return [][]any{} },
		"no table lock_state":                       func(c [][]any) [][]any { return set(c, 7, false) },
		"no column locked_by":                       func(c [][]any) [][]any { return append(c[:1:1], c[2:]...) },
		"column name is of type blob; make it text": func(c [][]any) [][]any { c[0][2] = "blob"; return c },
		"column lock_until is of type text":         func(c [][]any) [][]any { c[2][2] = "text"; return c },
		"no unique index":                           func(c [][]any) [][]any { return set(c, 6, false) },
	} {
		p := scripted(&script{columns: change(lockColumns())}, Config{})
		if _, err := p.TryLock(t.Context(), request()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// set changes a field of each row.
func set(rows [][]any, field int, value any) [][]any {
	for _, row := range rows {
		row[field] = value
	}
	return rows
}

func TestValuesThatAColumnCannotKeep(t *testing.T) {
	for _, test := range []struct{ name, owner, field string }{{"123456789", "o", "name"}, {"ä", "o", "name"}, {"a", "owner", "owner"}} {
		p := scripted(&script{}, Config{})
		_, err := p.TryLock(t.Context(), lock.Request{Name: test.name, Owner: test.owner, Hold: time.Minute})
		var field *check.FieldError
		if !errors.As(err, &field) || field.Field != test.field {
			t.Errorf("%q of %q: %v", test.name, test.owner, err)
		}
	}
}

func TestTableNames(t *testing.T) {
	for _, bad := range []string{"", ".", "a.", ".a", "a\x00", "a\n", "a\xff", "longer than ten"} {
		p := scripted(&script{}, Config{Table: bad, Named: true})
		if _, err := p.TryLock(t.Context(), request()); err == nil || !strings.Contains(err.Error(), "lock table") || !strings.Contains(err.Error(), "give another name") {
			t.Errorf("table %q: %v", bad, err)
		}
	}
	d := testDialect(nil)
	if schema, table, err := d.readTableName("app.job"); schema != "app" || table != "job" || err != nil {
		t.Error(schema, table, err)
	}
	d.Qualified = false
	if schema, table, err := d.readTableName("app.job"); schema != "" || table != "app.job" || err != nil {
		t.Error(schema, table, err)
	}
}

func TestCheckInATransaction(t *testing.T) {
	for _, test := range []struct {
		config Config
		row    []any
		failed error
		ran    string
		is     error
	}{
		{Config{}, []any{true}, nil, "check", nil},
		{Config{Table: "app.job", Named: true}, []any{true}, nil, "check_shared", nil},
		{Config{}, nil, nil, "check", lock.ErrLost},
		{Config{}, nil, errChanged, "check", store.ErrSchema},
		{Config{}, nil, errBusy, "check", lock.ErrBusy},
	} {
		tx := &script{row: test.row, failed: test.failed}
		err := scripted(tx, test.config).Check(t.Context(), tx, "a", 1)
		if test.is == nil && err != nil || test.is != nil && (!errors.Is(err, test.is) || !strings.Contains(err.Error(), `check lock "a"`)) {
			t.Errorf("%+v: %v", test, err)
		}
		wantRan(t, tx, test.ran)
	}
	for ran, config := range map[string]Config{"touch check": {}, "touch_shared check_shared": {Table: "app.job", Named: true}} {
		tx := &script{}
		if err := scripted(tx, config).CheckInCluster(t.Context(), tx, "a", 1); !errors.Is(err, lock.ErrLost) {
			t.Errorf("in a cluster: %v", err)
		}
		wantRan(t, tx, ran)
		tx = &script{failed: errBusy}
		if err := scripted(tx, config).CheckInCluster(t.Context(), tx, "a", 1); !errors.Is(err, lock.ErrBusy) {
			t.Errorf("in a cluster: %v", err)
		}
		first, _, _ := strings.Cut(ran, " ")
		wantRan(t, tx, first)
	}
}

func TestListingAndForce(t *testing.T) {
	db := &script{row: recordOf("a", 5, int64(7))}
	p := scripted(db, Config{})
	infos, err := p.Locks(t.Context(), lock.LocksRequest{Limit: 1})
	if err != nil || len(infos) != 1 || infos[0].Owner != "other" || infos[0].Until.UnixMilli() != 1005 || infos[0].State.Token != 7 {
		t.Errorf("%+v %v", infos, err)
	}
	db.row[4] = "soon"
	if _, err := p.Locks(t.Context(), lock.LocksRequest{Limit: 1}); err == nil || !strings.Contains(err.Error(), "lock_until") || !strings.Contains(err.Error(), "write numbers") {
		t.Errorf("an instant that is not a number: %v", err)
	}
	db.ran, db.row = nil, recordOf(nil, 0, nil)
	if err := p.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "a"}); !errors.Is(err, lock.ErrNotFound) {
		t.Errorf("a lock that does not exist: %v", err)
	}
	wantRan(t, db, "look")
	db.row = recordOf("a", 5, nil)
	if err := p.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "a"}); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "look free")
}

func TestCreateTablesOnlyReadsWhatIsThere(t *testing.T) {
	db := &script{}
	p := scripted(db, Config{})
	if err := p.CreateTables(t.Context()); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "columns")
	db.columns = [][]any{}
	p.dialect.Create = func(schema, tables string) string { return "create in " + schema + ": " + strings.TrimSpace(tables) }
	if err := p.CreateTables(t.Context()); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "columns create in : tables")
	db.columns = set(lockColumns(), 7, false)
	if err := p.CreateTables(t.Context()); err != nil {
		t.Error(err)
	}
	wantRan(t, db, "columns create in app: tables")
	for _, hasState := range []bool{false, true} {
		db.columns = set(set(lockColumns(), 7, hasState), 2, "date")
		if err := p.CreateTables(t.Context()); err == nil || !strings.Contains(err.Error(), "column name is of type date; make it") {
			t.Errorf("a table whose columns do not fit: %v", err)
		}
		wantRan(t, db, "columns")
	}
}
