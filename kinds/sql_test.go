package kinds

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

func TestSQLValidate(t *testing.T) {
	for _, statement := range []string{
		"select 1", " SELECT 1 ; ", "with x as (select 1) delete from t", "Insert into t values ($1)", "values(1)", "call p()", "refresh materialized view v", "replace into t values (?)", "select\n1",
	} {
		if err := (SQL{Connection: "c", Statement: statement}).Validate(); err != nil {
			t.Errorf("%q: %v", statement, err)
		}
	}
	for _, statement := range []string{
		"", " ", ";", "commit", "COMMIT;", "rollback", "begin", "end", "abort", "savepoint s", "release s", "prepare transaction 'x'", "set role postgres", "reset role",
		"set session authorization postgres", "attach database '/etc/x' as x", "pragma writable_schema=1", "vacuum into '/tmp/x'", "copy t to program 'sh'", "do $$ begin end $$",
		"select 1; commit", "select ';'", "select 1;;", "select 1; --", "insert into t values (1)\x00", "/* x */ commit", "-- x\ncommit", "/* x */ select 1", "(select 1)", "explain analyze select 1", "selectx 1", "select 1 \xff", "create trigger t after insert on x begin select 1; end",
		"listen x", "notify x", "lock table t", "grant all on t to x", "drop table t", "explain select 1",
	} {
		if err := (SQL{Connection: "c", Statement: statement}).Validate(); err == nil || statement != "" && len(statement) > 5 && strings.Contains(err.Error(), statement) {
			t.Errorf("%q: %v", statement, err)
		}
	}
	for _, args := range []string{
		`{"connection":"c"}`, `{"statement":"select 1"}`, `{"connection":"c","statement":"select 1","args":[[1]]}`, `{"connection":"c","statement":"select 1","args":[{}]}`,
		`{"connection":"c","statement":"select 1","args":[{"job":"password"}]}`, `{"connection":"c","statement":"select 1","args":[{"job":"id","x":1}]}`,
		`{"connection":"c","statement":"select 1","args":[1e999]}`, `{"connection":"c","statement":"select 1","timeout":"-1s"}`, `{"connection":"c","statement":"select 1","url":"x"}`, `[]`,
	} {
		if _, err := DecodeSQL([]byte(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

// TestSQLValues checks the values that statements get for their parameters.
func TestSQLValues(t *testing.T) {
	s, err := DecodeSQL([]byte(`{"connection":"c","statement":"select 1","args":["a",9007199254740993,1.5,true,null,{"job":"id"},{"job":"token"},{"job":"attempt"},{"job":"slot"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	job := &hourbell.JobRow{ID: 7, Token: 8, Attempt: 2, Slot: time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
	values, err := s.values(job)
	want := []any{"a", int64(9007199254740993), 1.5, true, nil, int64(7), int64(8), int64(2), "2026-03-29T01:30:00Z"}
	for i := range want {
		if err != nil || values[i] != want[i] {
			t.Fatalf("got %v, %v, want %v", values, err, want)
		}
	}
	if values, _ := s.values(&hourbell.JobRow{}); values[8] != nil {
		t.Errorf("a job without a slot has the slot %v", values[8])
	}
	again, err := s.Encode()
	if err != nil || !strings.Contains(string(again), "9007199254740993,1.5,true,null") {
		t.Errorf("encoded again: %s, %v", again, err)
	}
	shown := string(Redact(SQLKind, []byte(`{"connection":"c","statement":"select $1","args":["hunter2",7,{"job":"id"}]}`)))
	if shown != `{"connection":"c","statement":"select $1","args":["…","…",{"job":"id"}]}` {
		t.Errorf("redacted: %s", shown)
	}
}

// TestSQLConnectionOfAnotherNode checks that a job waits for a node that has its
// connection, and that the arguments of a job that is no statement fail it.
func TestSQLConnectionOfAnotherNode(t *testing.T) {
	worker := SQLWorker{Connections: map[string]SQLConnection{"b": {}, "a": {}}}
	err := worker.Work(t.Context(), &hourbell.JobRow{RawArgs: []byte(`{"connection":"c","statement":"select 1"}`)})
	if err == nil || isFinal(err) || !strings.Contains(err.Error(), `no connection "c"; it has a, b`) {
		t.Errorf("got %v", err)
	}
	if err := worker.Work(t.Context(), &hourbell.JobRow{RawArgs: []byte(`{}`)}); err == nil || !isFinal(err) {
		t.Errorf("got %v", err)
	}
}
