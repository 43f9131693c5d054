package postgres

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

func TestMigrateFromNothing(t *testing.T) {
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t))
	if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("CheckSchema of a missing schema: %v", err)
	}
	for _, status := range statusOf(t, b) {
		if status.Applied {
			t.Errorf("step %d is applied before anything was", status.Version)
		}
	}
	if schemaExists(t, b) {
		t.Error("MigrateStatus created the schema")
	}
	if _, err := b.Claim(t.Context(), store.ClaimRequest{Queue: "q"}); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "migrate up") {
		t.Errorf("a claim without a schema must name the remedy: %v", err)
	}
	applied, err := b.MigrateUp(t.Context())
	must(t, err)
	if len(applied) != len(b.steps) || applied[0].Version != 1 || applied[0].Name != "tables" {
		t.Errorf("MigrateUp applied %d steps, want %d", len(applied), len(b.steps))
	}
	must(t, b.CheckSchema(t.Context()))
	for _, status := range statusOf(t, b) {
		if !status.Applied {
			t.Errorf("step %d is not applied", status.Version)
		}
	}
	again, err := b.MigrateUp(t.Context())
	must(t, err)
	if len(again) != 0 {
		t.Errorf("a second MigrateUp applied %d steps", len(again))
	}
}

func statusOf(t *testing.T, b *Backend) []store.MigrationStatus {
	t.Helper()
	status, err := b.MigrateStatus(t.Context())
	must(t, err)
	if len(status) != len(b.steps) {
		t.Fatalf("MigrateStatus returns %d steps, want %d", len(status), len(b.steps))
	}
	return status
}

func schemaExists(t *testing.T, b *Backend) (there bool) {
	t.Helper()
	must(t, b.pool.QueryRow(t.Context(), "select exists (select from pg_namespace where nspname = $1)", b.schema).Scan(&there))
	return there
}

func TestMigrateAtOnce(t *testing.T) {
	url, schema := urlFrom(t, serverVariable), newSchema(t)
	const processes = 6
	var wg sync.WaitGroup
	counts, errs := make([]int, processes), make([]error, processes)
	for i := range processes {
		b := openAt(t, url, schema)
		wg.Go(func() {
			applied, err := b.MigrateUp(t.Context())
			counts[i], errs[i] = len(applied), err
		})
	}
	wg.Wait()
	sum := 0
	for i := range processes {
		must(t, errs[i])
		sum += counts[i]
	}
	if b := openAt(t, url, schema); sum != len(b.steps) {
		t.Errorf("%d processes applied %d steps together, want %d", processes, sum, len(b.steps))
	}
}

// TestPrintedMigrations runs the printed steps as a user's own tool would.
func TestPrintedMigrations(t *testing.T) {
	b := openAt(t, urlFrom(t, serverVariable), newSchema(t))
	for _, step := range b.Migrations() {
		execute(t, "begin; "+step.SQL+"; commit")
	}
	must(t, b.CheckSchema(t.Context()))
	if applied, err := b.MigrateUp(t.Context()); err != nil || len(applied) != 0 {
		t.Errorf("MigrateUp after the printed steps: %d steps, %v", len(applied), err)
	}
}

func TestSchemaOfANewerRelease(t *testing.T) {
	b := fresh(t)
	note := func(version int) {
		execute(t, withSchema(fmt.Sprintf("insert into {schema}.migration (version, name) values (%d, 'later')", version), b.schema))
	}
	note(len(b.steps) + 1)
	must(t, b.CheckSchema(t.Context()))
	if applied, err := b.MigrateUp(t.Context()); err != nil || len(applied) != 0 {
		t.Errorf("MigrateUp one step ahead: %d steps, %v", len(applied), err)
	}
	note(len(b.steps) + 2)
	if applied, err := b.MigrateUp(t.Context()); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "run a newer release") || len(applied) != 0 {
		t.Errorf("MigrateUp two steps ahead: %d steps, %v", len(applied), err)
	}
	if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("CheckSchema two steps ahead: %v", err)
	}
}

// TestUpgrade brings the schema of this release to one step more, with jobs in it, as
// the next release will; this release runs concurrently with the next release.
func TestUpgrade(t *testing.T) {
	b := fresh(t)
	next := openAt(t, urlFrom(t, serverVariable), b.schema)
	last := len(b.steps)
	more := fmt.Sprintf("create table {schema}.more (); insert into {schema}.migration (version, name) values (%d, 'more')", last+1)
	next.steps = append(next.Migrations(), store.Migration{Version: last + 1, Name: "more", SQL: withSchema(more, b.schema)})
	insertN(t, b, 2)
	if err := next.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "migrate up") {
		t.Errorf("CheckSchema at step %d: %v", last, err)
	}
	applied, err := next.MigrateUp(t.Context())
	must(t, err)
	if len(applied) != 1 || applied[0].Name != "more" {
		t.Errorf("MigrateUp from step %d applied %v, want one step", last, applied)
	}
	must(t, next.CheckSchema(t.Context()))
	must(t, b.CheckSchema(t.Context()))
	if got := len(claimN(t, next, register(t, next), 1)) + len(claimN(t, b, register(t, b), 5)); got != 2 {
		t.Errorf("claimed %d jobs of the release before, want 2", got)
	}
}

// TestStepsBeforeTheFirstRelease refuses a schema of steps that were replaced, and
// leaves it as it is.
func TestStepsBeforeTheFirstRelease(t *testing.T) {
	const content = `select coalesce(string_agg(concat_ws(' ', c.relname, c.relkind, c.xmin, c.oid), ';' order by c.relname), '')
		|| (select string_agg(m::text, ';' order by version) from {schema}.migration as m)
		from pg_class as c join pg_namespace as n on n.oid = c.relnamespace where quote_ident(n.nspname) = '{schema_text}'`
	for _, steps := range [][]string{
		{"first"},
		{"first", "failing", "locks", "policies", "calendars", "lease_plain", "history_batch", "unique", "timeline", "history_key", "losses"},
		{"schema"},
		{
			"schema", "snoozes", "attempt_outcome", "result", "key_holds", "left_jobs", "progress", "history_keep", "edges", "groups", "release_rows",
			"pauses", "events", "chain", "batches", "output", "audit", "reopenings", "handlers", "hosts", "listings", "copies", "limits", "starts", "lanes",
			"stuck", "zones", "problems",
		},
	} {
		b := openAt(t, urlFrom(t, serverVariable), newSchema(t))
		execute(t, withSchema(`create schema {schema};
			create table {schema}.migration (version integer primary key, name text not null, applied_at timestamptz not null default now());
			create table {schema}.job (id bigint primary key)`, b.schema))
		for i, name := range steps {
			execute(t, withSchema(fmt.Sprintf("insert into {schema}.migration (version, name) values (%d, '%s')", i+1, name), b.schema))
		}
		var before, after string
		must(t, b.pool.QueryRow(t.Context(), withSchema(content, b.schema)).Scan(&before))
		_, up := b.MigrateUp(t.Context())
		_, status := b.MigrateStatus(t.Context())
		for what, err := range map[string]error{"CheckSchema": b.CheckSchema(t.Context()), "MigrateUp": up, "MigrateStatus": status} {
			want := withSchema("DROP SCHEMA {schema} CASCADE", b.schema)
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("step 1 is %q", steps[0])) {
				t.Errorf("%s of %d old steps: %v", what, len(steps), err)
			}
		}
		must(t, b.pool.QueryRow(t.Context(), withSchema(content, b.schema)).Scan(&after))
		if before != after {
			t.Errorf("the schema of %d old steps changed from\n%s\nto\n%s", len(steps), before, after)
		}
	}
}

// TestWithoutRightsToChangeTheSchema works as a role that may only read and write.
func TestWithoutRightsToChangeTheSchema(t *testing.T) {
	owner := fresh(t)
	role := pgx.Identifier{"hb role " + owner.schema[len("hb test "):]}.Sanitize()
	execute(t, "create role "+role)
	t.Cleanup(func() { execute(t, "drop owned by "+role+"; drop role "+role) })
	execute(t, withSchema(`grant usage on schema {schema} to `+role+`;
		grant select, insert, update, delete on all tables in schema {schema} to `+role+`;
		grant usage, select on all sequences in schema {schema} to `+role, owner.schema))

	config := newPool(t).Config()
	config.ConnConfig.RuntimeParams["role"] = strings.Trim(role, `"`)
	b, err := open(t.Context(), config, false, []Option{Schema(owner.schema)})
	must(t, err)
	t.Cleanup(func() { b.Close() })
	if _, err := b.pool.Exec(t.Context(), withSchema("create table {schema}.forbidden ()", b.schema)); codeOf(err) != "42501" {
		t.Fatalf("the role may change the schema: %v", err)
	}
	must(t, b.CheckSchema(t.Context()))
	if applied, err := b.MigrateUp(t.Context()); err != nil || len(applied) != 0 {
		t.Errorf("MigrateUp of a current schema: %d steps, %v", len(applied), err)
	}
	node := register(t, b)
	insertN(t, b, 3)
	if got := len(claimN(t, b, node, 10)); got != 3 {
		t.Errorf("claimed %d jobs, want 3", got)
	}
}
