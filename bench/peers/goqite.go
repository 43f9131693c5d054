package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"maragu.dev/goqite"
	"maragu.dev/goqite/jobs"
)

// goqiteSchema is the table in goqite's documentation; goqite has no
// migrations.
const goqiteSchema = `
CREATE TABLE goqite (
	id text PRIMARY KEY DEFAULT ('m_' || lower(hex(randomblob(16)))),
	created text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
	updated text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
	queue text NOT NULL, body blob NOT NULL,
	timeout text NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
	received integer NOT NULL DEFAULT 0, priority integer NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER goqite_updated_timestamp AFTER UPDATE ON goqite BEGIN
	UPDATE goqite SET updated = strftime('%Y-%m-%dT%H:%M:%fZ') WHERE id = old.id;
END;
CREATE INDEX goqite_queue_priority_created_idx ON goqite (queue, priority DESC, created);`

type goqiteSystem struct {
	db    *sql.DB
	queue *goqite.Queue
}

func openGoqite(_ context.Context, req child.Request) (child.System, error) {
	db, err := sql.Open("sqlite", child.SQLite(req))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // as in goqite's documentation
	// A message that is not deleted before the timeout is received again; a
	// long timeout ensures that each job starts once.
	return &goqiteSystem{db, goqite.New(goqite.NewOpts{DB: db, Name: "noop", Timeout: time.Minute})}, nil
}

func (s *goqiteSystem) Setup(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, goqiteSchema)
	return err
}

// Insert creates the jobs one by one, several jobs in a transaction, because
// goqite has no call for several jobs.
func (s *goqiteSystem) Insert(ctx context.Context, args []child.Args) error {
	if len(args) == 1 {
		body, err := json.Marshal(args[0])
		if err != nil {
			return err
		}
		_, err = jobs.Create(ctx, s.queue, "noop", goqite.Message{Body: body})
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, a := range args {
		body, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := jobs.CreateTx(ctx, tx, s.queue, "noop", goqite.Message{Body: body}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Work runs goqite's runner. When all its workers are busy, the runner sleeps
// for its poll interval, so the interval is short.
func (s *goqiteSystem) Work(ctx context.Context, do func(child.Args)) error {
	runner := jobs.NewRunner(jobs.NewRunnerOpts{Queue: s.queue, Limit: 100, PollInterval: time.Millisecond, Extend: time.Minute})
	runner.Register("noop", func(_ context.Context, body []byte) error {
		var a child.Args
		if err := json.Unmarshal(body, &a); err != nil {
			return err
		}
		do(a)
		return nil
	})
	runner.Start(ctx)
	return nil
}
