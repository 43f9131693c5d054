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
	if len(applied) != len(b.steps) || applied[0].Version != 1 || applied[0].Name != "first" {
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
		t.Fatalf("MigrateStatus tells of %d steps, want %d", len(status), len(b.steps))
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
	if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("CheckSchema two steps ahead: %v", err)
	}
}

// TestUpgrade brings the schema of every release before to this one's, with
// jobs in it; the last one goes on beside it.
func TestUpgrade(t *testing.T) {
	last := len(newBackend(nil).steps)
	for have := 1; have < last; have++ {
		schema := newSchema(t)
		before, b := openAt(t, urlFrom(t, serverVariable), schema), openAt(t, urlFrom(t, serverVariable), schema)
		before.steps = before.steps[:have]
		migrate(t, before)
		must(t, before.CheckSchema(t.Context()))
		insertN(t, before, 2)
		if err := b.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "migrate up") {
			t.Errorf("CheckSchema at step %d: %v", have, err)
		}
		applied, err := b.MigrateUp(t.Context())
		must(t, err)
		if len(applied) != last-have || applied[0].Version != have+1 {
			t.Errorf("MigrateUp from step %d applied %d steps, want %d", have, len(applied), last-have)
		}
		must(t, b.CheckSchema(t.Context()))
		if have == last-1 {
			must(t, before.CheckSchema(t.Context()))
		}
		if got := len(claimN(t, b, register(t, b), 5)); got != 2 {
			t.Errorf("claimed %d jobs of the release before, want 2", got)
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
