package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/drivers/sqlite"
	"github.com/hourbell/hourbell/internal/findings"
	"github.com/hourbell/hourbell/store"
)

// doctor examines a store, and returns the exit code and the findings by check.
func (b *bench) doctor(args ...string) (int, map[string]map[string]any) {
	b.t.Helper()
	r := b.run(append([]string{"doctor", "--output", "json"}, args...)...)
	var list []map[string]any
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || r.err != "" || strings.Contains(r.out, "hunter2") {
		b.t.Fatalf("%v: %+v", err, r)
	}
	found := map[string]map[string]any{}
	for _, one := range list {
		found[one["check"].(string)] = one
	}
	return r.code, found
}

// TestDoctor checks what is found on a file: none yet, a good file, and a file that is no store.
func TestDoctor(t *testing.T) {
	b := newBench(t)
	code, found := b.doctor()
	if code != exitDone || !strings.Contains(fmt.Sprint(found["file"]["found"]), "does not exist yet") {
		t.Errorf("without a file: %d, %v", code, found)
	}
	noStore(t, b)
	b.ok("enqueue", "command", "--", "true")
	before := sum(t, b.path)
	if code, found = b.doctor(); code != exitFailed || found["claim"]["result"] != "ok" || found["schema"]["result"] != "ok" {
		t.Errorf("a good file, without a node: %d, %v", code, found)
	}
	if found["no-node"]["result"] != "error" || found["no-node"]["remedy"] == "" || found["no-node"]["since"] == nil { // a job is due
		t.Errorf("no-node: %v", found["no-node"])
	}
	if after := sum(t, b.path); after != before {
		t.Error("the file was changed")
	}
	r := b.run("doctor")
	out := r.out
	if r.code != exitFailed {
		t.Errorf("the table: %+v", r)
	}
	for _, text := range []string{"sqlite:" + b.path + "\n\nok ", "→ start `hourbell serve`", "1 error to mend, 0 warnings\n"} {
		if !strings.Contains(out, text) {
			t.Errorf("the table lacks %q:\n%s", text, out)
		}
	}
	writeFile(t, "text.db", strings.Repeat("this is no database\n", 1000))
	for _, store := range []string{"sqlite:text.db", "sqlite:none/a.db"} {
		if code, found = b.doctor("--store", store); code != exitFailed || found["connection"]["result"] != "error" {
			t.Errorf("%s: %d, %v", store, code, found)
		}
	}
	b.fails(exitUsage, []string{"store"}, "doctor", "--store", "oracle://u:hunter2@h/db")
}

// sum returns the digest of a file.
func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(text)
}

// TestDoctorOnPostgres checks what is found on a server: nothing that listens, an empty schema, a good schema,
// a schema of other steps, a role that may only read, and a pooler.
func TestDoctorOnPostgres(t *testing.T) {
	b := newBench(t)
	server, schema := postgresURL(t), newSchemaName()
	b.env[storeVariable] = server
	code, found := b.doctor("--store", "postgres://u:hunter2@127.0.0.1:1/db")
	if code != exitFailed || !strings.Contains(fmt.Sprint(found["connection"]["found"]), "cannot reach the database") {
		t.Errorf("nothing listens: %d, %v", code, found)
	}
	if code, found = b.doctor("--schema", schema); code != exitDone || !strings.Contains(fmt.Sprint(found["schema"]["found"]), "no tables of Hourbell yet") {
		t.Errorf("an empty schema: %d, %v", code, found)
	}
	b.ok("migrate", "up", "--schema", schema)
	t.Cleanup(func() { dropSchema(t, server, schema) })
	if code, found = b.doctor("--schema", schema); code != exitDone || found["claim"]["result"] != "ok" || found["wake-ups"]["result"] != "ok" || found["work"]["result"] != "ok" {
		t.Errorf("a good schema: %d, %v", code, found)
	}

	role := schema + "_reader"
	execute, disconnect := executing(t, server)
	defer disconnect()
	execute(fmt.Sprintf("create role %s login password 'hunter2'; grant usage on schema %s to %[1]s; grant select on all tables in schema %[2]s to %[1]s", role, schema))
	defer execute(fmt.Sprintf("drop owned by %s; drop role %[1]s", role))
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(role, "hunter2")
	if code, found = b.doctor("--schema", schema, "--store", at.String()); code != exitFailed || !strings.Contains(fmt.Sprint(found["rights"]["remedy"]), "GRANT SELECT, INSERT, UPDATE, DELETE") {
		t.Errorf("a role that may only read: %d, %v", code, found)
	}
	at.User = url.UserPassword(role, "hunter2x")
	if code, found = b.doctor("--schema", schema, "--store", at.String()); code != exitFailed || !strings.Contains(fmt.Sprint(found["connection"]["found"]), "refuses this user, password or database") {
		t.Logf("another password: %d, %v", code, found) // a server that trusts local connections accepts it
	}

	if bouncer := os.Getenv("HOURBELL_TEST_PGBOUNCER_URL"); bouncer != "" {
		if code, found = b.doctor("--schema", schema, "--store", bouncer); code != exitDone || found["wake-ups"]["result"] != "warning" {
			t.Errorf("a pooler: %d, %v", code, found)
		}
		if code, found = b.doctor("--schema", schema, "--store", bouncer, "--notify-url", server); code != exitDone || found["wake-ups"]["result"] != "ok" {
			t.Errorf("a pooler, and a direct connection: %d, %v", code, found)
		}
	}
	execute("update " + schema + ".migration set name = 'schema'")
	if code, found = b.doctor("--schema", schema); code != exitFailed || !strings.Contains(fmt.Sprint(found["schema"]), "DROP SCHEMA "+strconv.Quote(schema)+" CASCADE") {
		t.Errorf("a schema of steps that were replaced: %d, %v", code, found)
	}
	noStore(t, b)
}

// TestDoctorOnSchedules checks what is found of time zones whose data differ, and of schedules that are ahead of the clock.
func TestDoctorOnSchedules(t *testing.T) {
	b := newBench(t)
	b.ok("schedules", "put", "nightly", "--cron", "0 3 * * *", "--tz", "Europe/Prague", "--", "true")
	if code, found := b.doctor(); code != exitFailed || !strings.Contains(fmt.Sprint(found["no-node"]["found"]), "no node is alive, so that schedule nightly will not fire at ") {
		t.Errorf("without a node: %d, %v", code, found)
	}
	backend, err := sqlite.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	for _, node := range []string{"a", "b"} {
		if _, err := backend.Register(t.Context(), store.RegisterRequest{Name: node, Lease: time.Hour, Zones: []string{store.ZonePrint("Europe/Prague", node)}}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := store.List[store.Schedule](t.Context(), backend, store.ListRequest{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	_, err = backend.Fire(t.Context(), store.FireRequest{Firings: []store.Firing{{
		Schedule: rows[0].ID, Revision: rows[0].Revision, Mark: rows[0].Mark, NextAt: rows[0].NextAt, NewMark: later, NewNextAt: later.Add(time.Hour),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	code, found := b.doctor()
	zones, ahead := found["time-zones-differ"], found["schedule-ahead"]
	if code != exitFailed || zones["result"] != "warning" || zones["found"] != "Europe/Prague has other data on a than on b than on this machine" || zones["remedy"] == "" {
		t.Errorf("%d, time zones: %v", code, zones)
	}
	if ahead["result"] != "error" || ahead["schedule"] != "nightly" || !strings.Contains(ahead["remedy"].(string), "schedules reset --all") {
		t.Errorf("ahead: %v", ahead)
	}
	b.ok("schedules", "reset", "--all")
	if _, found = b.doctor(); found["schedule-ahead"] != nil {
		t.Errorf("after the reset: %v", found)
	}
}

// TestFindingsAreDocumented checks that docs/doctor.md has every finding.
func TestFindingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range findings.Rules() {
		if !strings.Contains(string(text), fmt.Sprintf("| `%s` | %v |", rule.Name, rule.Level)) {
			t.Errorf("docs/doctor.md lacks %s (%v)", rule.Name, rule.Level)
		}
	}
}

// executing returns a function that executes SQL on a PostgreSQL server, and a function that ends its connection.
func executing(t *testing.T, server string) (execute func(text string), disconnect func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	execute = func(text string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return execute, func() { _ = conn.Close(t.Context()) }
}
