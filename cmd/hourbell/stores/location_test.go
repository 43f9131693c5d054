package stores

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseStore(t *testing.T) {
	tests := []struct{ url, path, driver, schema, shown string }{
		{url: "sqlite:a.db", path: "a.db", shown: "sqlite:a.db"},
		{url: "sqlite:./some/where else.db", path: "./some/where else.db", shown: "sqlite:./some/where else.db"},
		{url: "sqlite:/abs/a.db", path: "/abs/a.db", shown: "sqlite:/abs/a.db"},
		{url: "sqlite:///abs/a.db", path: "/abs/a.db", shown: "sqlite:/abs/a.db"},
		{url: "postgres://u:p@h:5/db", driver: "postgres://u:p@h:5/db", shown: "postgres://u@h:5/db"},
		{url: "postgresql://h/db?sslmode=disable", driver: "postgresql://h/db?sslmode=disable", shown: "postgresql://h/db"},
		{url: "postgres://h/db?schema=jobs", driver: "postgres://h/db", schema: "jobs", shown: "postgres://h/db"},
		{url: "postgres://h/db?schema=my%20jobs&sslmode=disable&password=p", driver: "postgres://h/db?password=p&sslmode=disable", schema: "my jobs", shown: "postgres://h/db"},
		{url: "mysql://u:p@h:5/db?tls=true", driver: "mysql://u:p@h:5/db?tls=true", shown: "mysql://u@h:5/db"},
		{url: "mariadb://h/db", driver: "mariadb://h/db", shown: "mariadb://h/db"},
		{url: "postgres:///db?host=/run/postgresql", driver: "postgres:///db?host=/run/postgresql", shown: "postgres:///db"},
	}
	for _, test := range tests {
		l, err := Parse(test.url, "")
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		if got, want := fmt.Sprint(l.path, "|", l.url+l.mysql, "|", l.schema, "|", l), fmt.Sprint(test.path, "|", test.driver, "|", test.schema, "|", test.shown); got != want {
			t.Errorf("%s: %s instead of %s", test.url, got, want)
		}
	}
}

func TestParseSchema(t *testing.T) {
	if l, err := Parse("postgres://h/db?schema=one", "two"); err != nil || l.schema != "two" {
		t.Errorf("the schema that was given wins: %+v, %v", l, err)
	}
	for _, schema := range []string{"pg_jobs", " "} {
		if _, err := Parse("postgres://h/db", schema); err == nil {
			t.Errorf("schema %q is accepted", schema)
		}
	}
	for _, url := range []string{"sqlite:a.db", "mysql://h/db"} {
		if _, err := Parse(url, "jobs"); err == nil {
			t.Errorf("a schema of %s is accepted", url)
		}
	}
}

// TestLocksHidePasswords checks that neither the text of a store of locks nor the
// error about its URL contains the password.
func TestLocksHidePasswords(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		"postgres://u:hunter2@h/db", "mysql://u:hunter2@h/db?x=hunter2", "redis://:hunter2@h:6379", "mongodb://u:hunter2@a,b/db", "mongodb://u:hunter2@h:port/",
		"mysql://u:hunter2/db", "nosuch://u:hunter2@h", "postgres:u:hunter2@h", "postgres://u:%zhunter2@h/db",
	} {
		l, err := ParseLocks(LockSpec{URL: text})
		if shown := fmt.Sprint(l, err); strings.Contains(shown, secret) {
			t.Errorf("%s: %s", text, shown)
		}
	}
}
