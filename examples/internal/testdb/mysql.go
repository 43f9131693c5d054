package testdb

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/internal/testserver"
)

// NewMySQL creates a database on the server of HOURBELL_TEST_MYSQL_URL and returns its DSN for
// go-sql-driver/mysql. The database is dropped after the test. Without a server the test is skipped.
func NewMySQL(t *testing.T) string {
	t.Helper()
	at, err := url.Parse(testserver.URL(t, "HOURBELL_TEST_MYSQL_URL"))
	if err != nil {
		t.Fatal(err)
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", at.Host, at.User.Username()
	config.Passwd, _ = at.User.Password()
	admin, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("hb_example_%d_%d", os.Getpid(), time.Now().UnixNano())
	execute := func(text string) {
		t.Helper()
		if _, err := admin.ExecContext(context.Background(), text); err != nil { // the context of the test has ended at its clean-up
			t.Fatal(err)
		}
	}
	execute("CREATE DATABASE " + name)
	t.Cleanup(func() {
		execute("DROP DATABASE " + name)
		admin.Close()
	})
	config.DBName = name
	return config.FormatDSN()
}
