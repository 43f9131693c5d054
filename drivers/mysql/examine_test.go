package mysql

import (
	"database/sql"
	"fmt"
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

// TestDurability: a commit survives a loss of power if the server waits for its disk, or if other servers have it. A cluster of one server
// is a server without a cluster.
func TestDurability(t *testing.T) {
	safe := serverFacts{flushes: 1, hasLog: true, syncs: 1}
	for _, test := range []struct {
		server serverFacts
		nodes  int
		want   string
	}{
		{safe, 0, "waits for the disk"},
		{serverFacts{flushes: 1}, 0, "waits for the disk"}, // no log has to be written
		{serverFacts{flushes: 2}, 0, "innodb_flush_log_at_trx_commit is 2"},
		{serverFacts{flushes: 1, hasLog: true}, 0, "sync_binlog is 0"},
		{serverFacts{flushes: 0}, 3, "other nodes"},
		{serverFacts{flushes: 0}, 2, "other nodes"},
		{serverFacts{flushes: 0}, 1, "innodb_flush_log_at_trx_commit is 0"},
		{safe, 1, "waits for the disk"},
	} {
		f := durability(test.server, clusterFacts{nodes: test.nodes})
		if faulty := strings.Contains(test.want, " is "); !strings.Contains(f.Found, test.want) || faulty != (f.Level == store.FindingWarning) || faulty != (f.Remedy != "") {
			t.Errorf("%+v in a cluster of %d: %+v, want %q", test.server, test.nodes, f, test.want)
		}
	}
}

// TestExamineLimits finds on the server that a user has few connections, and that statements have little time, and that both were mended.
func TestExamineLimits(t *testing.T) {
	base, db := newDatabase(t, "")
	address := asUser(t, db, base, "ALL")
	at, err := url.Parse(address)
	must(t, err)
	limitTo := func(n int) {
		t.Helper()
		_, err := db.Exec(fmt.Sprintf("ALTER USER %s@'127.0.0.1' WITH MAX_USER_CONNECTIONS %d", at.User.Username(), n))
		must(t, err)
	}
	limitTo(9)
	b := openStore(t, address)
	var setting string
	query := at.Query()
	for name, value := range map[string]string{"max_statement_time": "4", "max_execution_time": "4000"} {
		if b.server.mariaDB == (name == "max_statement_time") {
			setting = name
			query.Set(name, value)
		}
	}
	at.RawQuery = query.Encode()
	found, err := openStore(t, at.String()).ExamineLimits(t.Context())
	must(t, err)
	if len(found) != 2 || !strings.Contains(found[0].Found, "the user has ") || !strings.HasPrefix(found[1].Found, setting+" is 4s, so that") {
		t.Errorf("found %+v", found)
	}
	limitTo(200)
	found, err = openStore(t, address).ExamineLimits(t.Context())
	must(t, err)
	for _, f := range found {
		if f.Check == "timeouts" || !strings.Contains(f.Found, "the server has ") { // other tests use the server too
			t.Errorf("after both were mended: %+v", f)
		}
	}
	conn, err := b.db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	limitTo(1)
	if _, err := Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), "a limit of the user is reached") {
		t.Errorf("without a connection: %v", err)
	}
}

// TestJudgeLimits checks whose limit is named: the limit that leaves the least.
func TestJudgeLimits(t *testing.T) {
	for _, test := range []struct {
		set    map[string]float64
		ofUser int64
		want   string
	}{
		{map[string]float64{"max_connections": 100, "Threads_connected": 90}, 50, ""},
		{map[string]float64{"max_connections": 100, "Threads_connected": 91}, 50, "the server has 9 of its connections left"},
		{map[string]float64{"max_connections": 100, "Threads_connected": 99}, 50, "the server has 1 of its connections left"},
		{map[string]float64{"max_connections": 100, "Threads_connected": 101}, 50, "the server has 0 of its connections left"},
		{map[string]float64{"max_connections": 100, "Threads_connected": 91, "max_user_connections": 60}, 50, "the server has 9 of its connections left"},
		{map[string]float64{"max_connections": 100, "Threads_connected": 91, "max_user_connections": 58}, 50, "the user has 8 of its connections left"},
		{map[string]float64{"max_connections": 100, "max_execution_time": 9999}, 0, "max_execution_time is 9.999s"},
		{map[string]float64{"max_connections": 100, "max_statement_time": 10}, 0, ""},
	} {
		found := judgeLimits(test.set, test.ofUser)
		if (len(found) == 1) != (test.want != "") || len(found) == 1 && !strings.HasPrefix(found[0].Found, test.want) {
			t.Errorf("%v: %+v, want %q", test.set, found, test.want)
		}
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
