package mysql

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// examined runs an examination, compares the findings that are not ok with the wanted findings, and returns the
// findings by check. How the test server flushes its log is left out.
func examined(t *testing.T, b *Backend, want string) map[string]store.Finding {
	t.Helper()
	found := map[string]store.Finding{}
	var levels []string
	for _, f := range b.Examine(t.Context()) {
		found[f.Check] = f
		if f.Level != store.FindingOK && f.Check != "durability" && f.Check != "latency" {
			levels = append(levels, f.Check+" "+f.Level.String())
		}
	}
	if got := strings.Join(levels, ", "); got != want {
		t.Errorf("found %q instead of %q: %+v", got, want, found)
	}
	return found
}

// TestExamine finds nothing to mend in a good database, and makes no table.
func TestExamine(t *testing.T) {
	url, db := newDatabase(t, "")
	b := openStore(t, url)
	if f := examined(t, b, "")["schema"]; !strings.Contains(f.Found, "no tables") {
		t.Errorf("found %+v", f)
	}
	migrate(t, b)
	found := examined(t, b, "")
	for _, check := range []string{"connection", "durability", "latency", "clock", "schema", "tables", "rights", "claim", "transactions"} {
		if found[check].Found == "" {
			t.Errorf("there is no finding on %s", check)
		}
	}
	for _, broken := range []struct{ text, want string }{
		{"ALTER TABLE hourbell_job DROP INDEX hourbell_job_ready", "claim error"},
		{"ALTER TABLE hourbell_pause ENGINE = MyISAM", "tables error"},
		{"DELETE FROM hourbell_schema_version WHERE version > 0; INSERT INTO hourbell_schema_version VALUES (1000000, 'later', NOW())", "schema error"},
	} {
		for text := range strings.SplitSeq(broken.text, ";") {
			_, err := db.Exec(text)
			must(t, err)
		}
		examined(t, b, broken.want)
	}
}

// TestExamineRights finds what a user lacks.
func TestExamineRights(t *testing.T) {
	base, db := newDatabase(t, "")
	migrate(t, openStore(t, base))
	b := openStore(t, asUser(t, db, base, "SELECT, INSERT, UPDATE"))
	if f := examined(t, b, "rights error")["rights"]; !strings.Contains(f.Found, "DELETE on `hourbell_attempt`") || !strings.Contains(f.Found, "more") {
		t.Errorf("found %+v", f)
	}
}

// asUser makes a user with rights on a database, and returns the URL of the database for the user.
func asUser(t *testing.T, db *sql.DB, base, rights string) string {
	t.Helper()
	var name string
	must(t, db.QueryRow("SELECT DATABASE()").Scan(&name))
	user := "u" + name[strings.LastIndexByte(name, ' ')+5:]
	for _, text := range []string{"CREATE USER " + user + "@'127.0.0.1' IDENTIFIED BY 'p'", "GRANT " + rights + " ON " + quoted(name) + ".* TO " + user + "@'127.0.0.1'"} {
		_, err := db.Exec(text)
		must(t, err)
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP USER " + user + "@'127.0.0.1'") })
	u, err := url.Parse(base)
	must(t, err)
	u.User = url.UserPassword(user, "p")
	return u.String()
}
