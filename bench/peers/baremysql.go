package main

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/bench/child"
	"github.com/hourbell/hourbell/drivers/mysql"
)

// bareMySQL is the bare limit of MySQL: prepared statements on the smallest useful table.
type bareMySQL struct {
	db  *sql.DB
	req child.Request

	mu     sync.Mutex
	insert map[int]*sql.Stmt // by the number of rows
}

func openBareMySQL(_ context.Context, req child.Request) (child.System, error) {
	db, err := mysql.OpenDB(req.URL)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(max(req.Connections, bareClients))
	db.SetMaxIdleConns(max(req.Connections, bareClients))
	return &bareMySQL{db: db, req: req, insert: map[int]*sql.Stmt{}}, nil
}

const (
	bareClients = 4
	bareBatch   = 1000
)

// Setup implements child.System.
func (s *bareMySQL) Setup(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `CREATE TABLE job (
		id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
		run_at DATETIME(6) NOT NULL,
		node BIGINT NOT NULL DEFAULT 0,
		state TINYINT NOT NULL DEFAULT 0,
		args LONGBLOB NOT NULL,
		KEY job_ready (state, run_at, id)) ENGINE = InnoDB`)
	return err
}

// Insert implements child.System.
func (s *bareMySQL) Insert(ctx context.Context, jobs []child.Args) error {
	insert, err := s.inserting(ctx, len(jobs))
	if err != nil {
		return err
	}
	rows := make([]any, len(jobs))
	for i := range rows {
		rows[i] = bareArgs
	}
	_, err = insert.ExecContext(ctx, rows...)
	return err
}

// inserting returns the statement that inserts a number of rows.
func (s *bareMySQL) inserting(ctx context.Context, rows int) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.insert[rows] == nil {
		const row = "(UTC_TIMESTAMP(6), ?)"
		//nolint:gosec // the text has constants only
		statement, err := s.db.PrepareContext(ctx, "INSERT INTO job (run_at, args) VALUES "+row+strings.Repeat(","+row, rows-1))
		if err != nil {
			return nil, err
		}
		s.insert[rows] = statement
	}
	return s.insert[rows], nil
}

// Work implements child.System: some clients claim a batch of jobs and then delete it.
func (s *bareMySQL) Work(ctx context.Context, do func(child.Args)) error {
	var group sync.WaitGroup
	errs := make([]error, bareClients)
	for i := range errs {
		group.Go(func() { errs[i] = s.client(ctx, do) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return ctx.Err()
}

// client claims and deletes batches until ctx ends.
func (s *bareMySQL) client(ctx context.Context, do func(child.Args)) error {
	numbers := "(?" + strings.Repeat(",?", bareBatch-1) + ")"
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
		return err
	}
	statements := make([]*sql.Stmt, 3)
	for i, text := range []string{
		"SELECT id FROM job WHERE state = 0 AND run_at <= UTC_TIMESTAMP(6) ORDER BY run_at, id LIMIT ? FOR UPDATE SKIP LOCKED",
		"UPDATE job SET state = 1, node = 7 WHERE id IN " + numbers,
		"DELETE FROM job WHERE id IN " + numbers,
	} {
		if statements[i], err = conn.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	find, claim, remove := statements[0], statements[1], statements[2]
	for ctx.Err() == nil {
		ids, err := claimBare(ctx, conn, find, claim)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			if err := rest(ctx, time.Millisecond); err != nil {
				return err
			}
			continue
		}
		for range ids {
			do(child.Args{})
		}
		if _, err := remove.ExecContext(ctx, padded(ids)...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// claimBare claims the first jobs in one transaction.
func claimBare(ctx context.Context, conn *sql.Conn, find, claim *sql.Stmt) (ids []any, err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	rows, err := tx.StmtContext(ctx, find).QueryContext(ctx, bareBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil || len(ids) == 0 {
		return nil, err
	}
	if _, err := tx.StmtContext(ctx, claim).ExecContext(ctx, padded(ids)...); err != nil {
		return nil, err
	}
	return ids, tx.Commit()
}

// padded fills the numbers up to a whole batch.
func padded(ids []any) []any {
	all := append(make([]any, 0, bareBatch), ids...)
	for len(all) < bareBatch {
		all = append(all, ids[0])
	}
	return all
}
