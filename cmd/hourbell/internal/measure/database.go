package measure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/stores"
	"github.com/hourbell/hourbell/drivers/mysql"
	"github.com/hourbell/hourbell/internal/view"
)

// newDatabase prepares a database on a server of MySQL or MariaDB.
func newDatabase(ctx context.Context, l stores.Location, limit time.Duration, note func(text string)) (_ *Place, err error) {
	admin, err := mysql.OpenDB(l.MySQL()) // its errors contain no password
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	now, err := removeLeftDatabases(ctx, admin, note)
	if err != nil {
		return nil, err
	}
	place := &Place{name: NewName(now.Add(limit))}
	place.drop = func(ctx context.Context) error {
		admin, err := mysql.OpenDB(l.MySQL())
		if err != nil {
			return err
		}
		defer admin.Close()
		_, err = admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+place.name)
		return err
	}
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+place.name); err != nil {
		return nil, explainDatabase(err)
	}
	defer func() {
		if err != nil {
			clean, cancel := context.WithTimeout(context.Background(), cleanTime)
			defer cancel()
			err = errors.Join(err, place.drop(clean))
		}
	}()
	if place.settings, err = serverSettings(ctx, admin); err != nil {
		return nil, err
	}
	u, err := url.Parse(l.MySQL())
	if err != nil {
		return nil, errors.New("the store URL is not valid") // the driver has read the URL before
	}
	u.Path, u.RawPath = "/"+place.name, ""
	place.backend, err = mysql.Open(ctx, u.String())
	return place, err
}

// removeLeftDatabases removes the databases of killed runs that the user may see, and returns the time of the
// server's clock, which decides which runs have ended.
func removeLeftDatabases(ctx context.Context, admin *sql.DB, note func(text string)) (now time.Time, err error) {
	const doing = "look for the places of earlier runs"
	var seconds int64
	if err := admin.QueryRowContext(ctx, "SELECT UNIX_TIMESTAMP()").Scan(&seconds); err != nil {
		return now, fmt.Errorf("%s: %w", doing, err)
	}
	now = time.Unix(seconds, 0)
	rows, err := admin.QueryContext(ctx, "SHOW DATABASES LIKE '"+strings.ReplaceAll(prefix, "_", `\_`)+"%'")
	if err != nil {
		return now, fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return now, err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return now, fmt.Errorf("%s: %w", doing, err)
	}
	for _, name := range leftBehind(names, now, note) {
		if _, err := admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			return now, fmt.Errorf("remove the database %s, which an earlier run has left: %w", name, err)
		}
	}
	return now, nil
}

// serverSettings returns the server's version and the settings that determine when a commit returns.
func serverSettings(ctx context.Context, admin *sql.DB) ([]view.Fact, error) {
	facts := []view.Fact{{Name: "database", Value: "MySQL"}}
	err := admin.QueryRowContext(ctx, "SELECT VERSION()").Scan(&facts[0].Value)
	if strings.Contains(facts[0].Value, "MariaDB") {
		facts[0].Value = "MariaDB " + facts[0].Value
	} else {
		facts[0].Value = "MySQL " + facts[0].Value
	}
	for _, name := range []string{"innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog"} {
		var value string
		if err == nil {
			err = admin.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&value)
		}
		facts = append(facts, view.Fact{Name: name, Value: value})
	}
	if err != nil {
		return nil, fmt.Errorf("read the server's settings: %w", err)
	}
	return facts, nil
}

// explainDatabase adds the remedy if the user lacks a right.
func explainDatabase(err error) error {
	var server *driver.MySQLError
	if errors.As(err, &server) && server.Number == 1044 {
		return fmt.Errorf("the user may not create a database; grant the user CREATE and DROP on `%s%%`.*, or give --store a "+
			"user that may: %w", strings.ReplaceAll(prefix, "_", `\_`), err)
	}
	return err
}
