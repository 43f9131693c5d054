//go:build ignore

// This program is River on SQLite. River's driver for SQLite fits one release
// of River, which need not be the one that is measured on PostgreSQL, so it is
// built with requirements of its own:
//
//	GOWORK=off go build -modfile=river/sqlite/go.sqlite.mod ./river/sqlite/main.go
package main

import (
	"context"
	"database/sql"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/bench/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite"
)

func main() {
	child.Main(func(_ context.Context, req child.Request) (child.System, error) {
		db, err := sql.Open("sqlite", child.SQLite(req))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1) // as River's documentation wants it
		system := &river.System[*sql.Tx]{Driver: riversqlite.New(db), Request: req}
		return system.Open()
	})
}
