package postgres

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// examined runs an examination, compares the levels of its findings with the wanted levels, and returns the
// findings by check. A finding that is not ok has a remedy, in itself or as part of the error.
func examined(t *testing.T, b *Backend, want string) map[string]store.Finding {
	t.Helper()
	found := map[string]store.Finding{}
	var levels []string
	for _, f := range b.Examine(t.Context()) {
		found[f.Check] = f
		if f.Level != store.FindingOK {
			levels = append(levels, f.Check+" "+f.Level.String())
		}
	}
	levels = slices.DeleteFunc(levels, func(one string) bool { // other tests use the same server
		return one == "latency warning" || one == "connections warning" || one == "transactions warning"
	})
	if got := strings.Join(levels, ", "); got != want {
		t.Errorf("found %q instead of %q: %+v", got, want, found)
	}
	return found
}

// TestExamine finds nothing to mend in a good store, directly and through the program's pool, and changes nothing.
func TestExamine(t *testing.T) {
	b := fresh(t)
	found := examined(t, b, "")
	for _, check := range []string{"connection", "latency", "clock", "pooler", "wake-ups", "schema", "rights", "indexes", "claim", "transactions"} {
		if found[check].Found == "" {
			t.Errorf("there is no finding on %s", check)
		}
	}
	if b := New(newPool(t), Schema(b.schema)); examined(t, b, "")["claim"].Found == "" {
		t.Error("the claim is not examined")
	}
	empty := openAt(t, urlFrom(t, serverVariable), newSchema(t))
	if f := examined(t, empty, "")["schema"]; !strings.Contains(f.Found, "has no tables of Hourbell yet") {
		t.Errorf("without a schema: %+v", f)
	}
	var there bool
	must(t, b.pool.QueryRow(t.Context(), "select exists (select from pg_namespace where nspname = $1)", empty.schema).Scan(&there))
	if there {
		t.Error("the examination has made the schema")
	}
}

// TestExamineFindsWhatIsWrong breaks a store in each way.
func TestExamineFindsWhatIsWrong(t *testing.T) {
	b := fresh(t)
	schema := pgx.Identifier{b.schema}.Sanitize()
	t.Run("pooler", func(t *testing.T) {
		found := examined(t, openAt(t, urlFrom(t, bouncerVariable), b.schema), "wake-ups warning")
		if !strings.Contains(found["wake-ups"].Remedy, "--notify-url") || !strings.Contains(found["pooler"].Found, "through") {
			t.Errorf("found %+v", found)
		}
		direct := openAt(t, urlFrom(t, bouncerVariable), b.schema, ListenURL(urlFrom(t, serverVariable)))
		examined(t, direct, "")
	})
	t.Run("rights", func(t *testing.T) {
		reader, address := newRole(t)
		execute(t, fmt.Sprintf("grant usage on schema %s to %s; grant select on all tables in schema %[1]s to %[2]s", schema, reader))
		found := examined(t, openAt(t, address, b.schema), "rights error")
		remedy := found["rights"].Remedy
		for _, part := range []string{"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ", "ON ALL SEQUENCES"} {
			if !strings.Contains(remedy, part) {
				t.Errorf("the remedy lacks %q: %s", part, remedy)
			}
		}
		_, grants, _ := strings.Cut(remedy, ": ")
		execute(t, grants)
		examined(t, openAt(t, address, b.schema), "")
	})
	t.Run("limits of the role", func(t *testing.T) {
		role, address := newRole(t)
		execute(t, fmt.Sprintf("grant usage on schema %s to %s; grant select, insert, update, delete on all tables in schema %[1]s to %[2]s; "+
			"grant usage, select, update on all sequences in schema %[1]s to %[2]s; alter role %[2]s connection limit 9", schema, role))
		for _, one := range sessionTimeouts {
			execute(t, fmt.Sprintf("alter role %s set %s = '4s'", role, one.name))
		}
		var found []string
		for _, f := range openAt(t, address, b.schema).Examine(t.Context()) {
			if f.Check == "timeouts" || f.Check == "connections" {
				found = append(found, f.Found)
			}
		}
		if len(found) != 4 || !strings.HasPrefix(found[0], "statement_timeout is 4s, so that") || !strings.Contains(found[3], "the role "+role+" has ") {
			t.Errorf("found %q", found)
		}
		execute(t, fmt.Sprintf("alter role %s connection limit 1", role))
		if _, err := Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), "the database role has no connection left") {
			t.Errorf("a role without a connection left: %v", err)
		}
	})
	t.Run("no rights at all", func(t *testing.T) {
		_, address := newRole(t)
		found := examined(t, openAt(t, address, b.schema), "schema error")
		if !strings.Contains(found["schema"].Found, "grant it USAGE") {
			t.Errorf("found %+v", found)
		}
		found = examined(t, openAt(t, address, "hb none"), "schema error")
		if !strings.Contains(found["schema"].Remedy, "as a role that may") {
			t.Errorf("found %+v", found)
		}
	})
	t.Run("index", func(t *testing.T) {
		broken := fresh(t)
		execute(t, withSchema("drop index {schema}.job_ready", broken.schema))
		examined(t, broken, "claim error")
		execute(t, withSchema("update pg_index set indisvalid = false where indexrelid = '{schema}.job_suspect'::regclass", broken.schema))
		found := examined(t, broken, "indexes error, claim error")
		execute(t, strings.ReplaceAll(found["indexes"].Remedy, " CONCURRENTLY", ""))
		examined(t, broken, "claim error")
	})
	t.Run("older schema", func(t *testing.T) {
		old := openAt(t, urlFrom(t, serverVariable), newSchema(t))
		migrate(t, old)
		old.steps = append(old.Migrations(), store.Migration{Version: len(old.steps) + 1, Name: "more"})
		if found := examined(t, old, "schema error"); found["schema"].Remedy != "run `hourbell migrate up`" {
			t.Errorf("found %+v", found["schema"])
		}
		execute(t, withSchema("insert into {schema}.migration (version, name) select v, 'later' from generate_series(900, 902) v", b.schema))
		if found := examined(t, b, "schema error"); !strings.Contains(found["schema"].Found, "run a newer release") {
			t.Errorf("found %+v", found["schema"])
		}
	})
}

// TestExamineFindsAnOldTransaction examines the statement with a short time, because none is as old as ten minutes.
func TestExamineFindsAnOldTransaction(t *testing.T) {
	b := fresh(t)
	tx, err := b.pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), "select 1")
	must(t, err)
	var process, seconds int64
	var name string
	awaitThat(t, "the transaction is found", func() bool {
		return b.pool.QueryRow(t.Context(), b.q(findOldTransaction), 0).Scan(&process, &name, &seconds) == nil
	})
	if process == 0 || seconds < 1 {
		t.Errorf("found process %d (%s), open for %d s", process, name, seconds)
	}
}

// newRole makes a role that can log in, and returns its quoted name and the URL of the server with it.
func newRole(t *testing.T) (role, address string) {
	t.Helper()
	name := fmt.Sprintf("hb_examined_%d", time.Now().UnixNano())
	execute(t, "create role "+name+" login password 'secret'")
	t.Cleanup(func() { execute(t, "drop owned by "+name+"; drop role "+name) })
	at, err := url.Parse(urlFrom(t, serverVariable))
	must(t, err)
	at.User = url.UserPassword(name, "secret")
	return name, at.String()
}
