package sqlrows

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Runner runs the statements of a driver in one transaction. A list among the args stands for itself: the driver passes it in the
// form that its statements expect.
type Runner interface {
	// Run runs a statement that returns no rows.
	Run(ctx context.Context, name Statement, a Args) (sql.Result, error)

	// Query runs a statement that returns rows; given are further conditions of a listing. The caller closes the rows.
	Query(ctx context.Context, name Statement, a Args, given ...string) (*sql.Rows, error)

	// Source returns where the text of a statement comes from.
	Source(name Statement) Source
}

// Row is what scan functions get.
type Row interface{ Scan(dest ...any) error }

// Session is the part of a driver's session that does not depend on the database; a session embeds it. One goroutine uses a
// Session at a time.
type Session struct {
	Runner
	Asked time.Time // of the request; see Now
	Noted bool      // the end of a job with dependents is noted
}

// Exec runs a statement for its effect.
func (s *Session) Exec(ctx context.Context, name Statement, a Args) error {
	_, err := s.Run(ctx, name, a)
	return err
}

// Count runs a statement and returns how many rows it changed. What counts as an updated row depends on the database.
func (s *Session) Count(ctx context.Context, name Statement, a Args) (int, error) {
	result, err := s.Run(ctx, name, a)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Each runs a statement and hands its rows to scan, which may run no other statement.
func (s *Session) Each(ctx context.Context, name Statement, a Args, scan func(Row) error) error {
	rows, err := s.Query(ctx, name, a)
	return eachRow(rows, err, scan)
}

// List runs a listing with the lines whose conditions are given, and hands its rows to scan, which may run no other statement.
func (s *Session) List(ctx context.Context, name Statement, given []string, a Args, scan func(Row) error) error {
	rows, err := s.Query(ctx, name, a, given...)
	return eachRow(rows, err, scan)
}

// eachRow hands the rows of a query, unless it failed with err, to scan, and closes them.
func eachRow(rows *sql.Rows, err error, scan func(Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// One runs a statement that returns exactly one row, into dest.
func (s *Session) One(ctx context.Context, name Statement, a Args, dest ...any) error {
	found := false
	err := s.Each(ctx, name, a, func(r Row) error {
		found = true
		return r.Scan(dest...)
	})
	if err == nil && !found {
		return fmt.Errorf("statement %v returned no row", s.Source(name))
	}
	return err
}

// Numbers runs a statement that returns numbers; given are further conditions of a listing.
func (s *Session) Numbers(ctx context.Context, name Statement, a Args, given ...string) (numbers []int64, err error) {
	err = s.List(ctx, name, given, a, func(r Row) error {
		var n int64
		err := r.Scan(&n)
		numbers = append(numbers, n)
		return err
	})
	return numbers, err
}

// OnIDs runs statements over a list of numbers, if there are any, in their order.
func (s *Session) OnIDs(ctx context.Context, ids []int64, names ...Statement) error {
	if len(ids) == 0 {
		return nil
	}
	if !slices.IsSorted(ids) {
		ids = slices.Sorted(slices.Values(ids))
	}
	a := Args{"ids": JSONList(ids)}
	for _, name := range names {
		if err := s.Exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}

// Now is the instant of a call: the request's, which it notes as Asked, or else the clock of the database.
func (s *Session) Now(ctx context.Context, asked time.Time) (now time.Time, err error) {
	s.Asked = asked
	if !asked.IsZero() {
		return Instant(asked), nil
	}
	err = s.One(ctx, ReadClock, nil, IntoTime(&now))
	return now, err
}

// collect returns what scan makes of the rows of a listing.
func collect[T any](ctx context.Context, s *Session, name Statement, given []string, a Args, scan func(Row) (T, error)) ([]T, error) {
	var out []T
	err := s.List(ctx, name, given, a, func(r Row) error {
		one, err := scan(r)
		out = append(out, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
