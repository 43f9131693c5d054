package main

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
)

// newDatabase makes a database of MySQL or MariaDB that is dropped after the test, and returns its URL and name, and a
// pool of connections to the server.
func newDatabase(t *testing.T) (store string, admin *sql.DB, name string) {
	t.Helper()
	server := os.Getenv("HOURBELL_TEST_MYSQL_URL")
	if server == "" {
		if os.Getenv("HOURBELL_TEST_REQUIRE") == "1" {
			t.Fatal("HOURBELL_TEST_MYSQL_URL is not set")
		}
		t.Skip("HOURBELL_TEST_MYSQL_URL is not set")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	admin, err = sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)%s", u.User.Username(), password, u.Host, u.Path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	name = "cli_" + strings.ToLower(rand.Text()[:10])
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec("DROP DATABASE " + name); err != nil {
			t.Error(err)
		}
	})
	u.Path = "/" + name
	return u.String(), admin, name
}

// TestMySQLStore checks the commands that treat each kind of store in their own way.
func TestMySQLStore(t *testing.T) {
	b := newBench(t)
	url, admin, name := newDatabase(t)
	b.env[storeVariable] = url
	if sql := b.ok("migrate", "print"); !strings.Contains(sql, "CREATE TABLE IF NOT EXISTS hourbell_job") {
		t.Errorf("migrate print: %s", sql)
	}
	b.ok("enqueue", "one")
	if jobs := b.objects("jobs", "list"); len(jobs) != 1 || jobs[0]["kind"] != "one" {
		t.Errorf("jobs %v", jobs)
	}
	if code, found := b.doctor(); found["schema"]["result"] != "ok" {
		t.Errorf("doctor: %d, %v", code, found)
	}
	if rows := b.objects("bench", "--jobs", "5", "--seconds", "5"); len(rows) != 5 || !strings.Contains(fmt.Sprint(rows[0]["settings"]), "innodb_flush_log_at_trx_commit") {
		t.Errorf("bench: %v", rows)
	}
	b.fails(exitUsage, []string{"schema", "has none"}, "jobs", "list", "--schema", "other")

	if _, err := admin.Exec("ALTER TABLE " + name + ".hourbell_slot ENGINE = MyISAM"); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"enqueue", "one"}, {"enqueue", "one", "--no-migrate"}, {"migrate", "up"}, {"serve"}} {
		b.fails(exitFailed, []string{"hourbell_slot (MyISAM)", "ENGINE = InnoDB"}, command...)
	}
	if code, found := b.doctor(); code != exitFailed || found["tables"]["result"] != "error" {
		t.Errorf("doctor: %d, %v", code, found)
	}
}
