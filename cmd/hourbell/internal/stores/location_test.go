package stores

import (
	"fmt"
	"os"
	"path/filepath"
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

// TestAStoresURLInAFile is read again, and never repeated in an error.
func TestAStoresURLInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# the store of the shop\n\n  postgres://u:first@h/db?schema=shop \n")
	l, err := ParseFile(file, "")
	if err != nil || l.schema != "shop" || l.url != "postgres://u:first@h/db" {
		t.Fatalf("%+v, %v", l, err)
	}
	write("postgres://u:second@h/db?schema=shop")
	if url, err := l.readAgain(); err != nil || url != "postgres://u:second@h/db" {
		t.Errorf("%s, %v", url, err)
	}
	for text, problem := range map[string]string{
		"":                                      "has no URL",
		"# nothing\n":                           "has no URL",
		"postgres://u:pw@h/a\nmysql://u:pw@h/b": "more than one line",
		"mysql://u:pw@h/db":                     "another kind of store",
		"postgres://u:p/w@h:x/db":               "not a PostgreSQL URL",
	} {
		write(text)
		_, err := l.readAgain()
		if err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), "pw") || strings.Contains(err.Error(), "p/w") {
			t.Errorf("%q: %v, want %q", text, err, problem)
		}
	}
	if _, err := ParseFile(file+".gone", ""); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
	write("redis://u:pw@h:6379")
	if l, err := ParseLocks(LockSpec{File: file}); err != nil || l.String() != "redis://u@h:6379" && !strings.HasPrefix(l.String(), "redis://") {
		t.Errorf("%v, %v", l, err)
	}
}
