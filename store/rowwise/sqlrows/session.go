package sqlrows

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
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

	// InsertRows inserts or replaces rows, if there are any, by a statement whose parameters are of one row.
	InsertRows(ctx context.Context, name Statement, rows []Args) error
}

// Dialect is what a driver's session has for the steps in which databases differ. Except for the methods of Runner, and the methods that Session
// lacks, the session may have the methods of Session.
type Dialect interface {
	Runner

	// TouchJobs changes rows of jobs, which are locked, where locks do not exclude all other transactions.
	TouchJobs(ctx context.Context, ids []int64) error

	// LockRevision implements rowwise.Schedules.
	LockRevision(ctx context.Context) (int64, error)

	// LeaveLanes records that jobs, which are locked, give back their permits. again: the jobs are tried again, and keep their permits
	// if one of them is of a strict limit and none of a limit with a rate.
	LeaveLanes(ctx context.Context, ids []int64, again bool) error

	// TakePermits takes the permits from jobs that no node has claimed, as a vacancy, without jobs that other transactions have locked,
	// and returns the others.
	TakePermits(ctx context.Context, ids []int64) ([]int64, error)

	// ParkJobs parks due jobs of paused groups and keys, and EndPauses makes some parked jobs claimable whose pauses have ended. Both
	// return how many; PauseStep or more: there may be more.
	ParkJobs(ctx context.Context, now time.Time) (int, error)
	EndPauses(ctx context.Context, now time.Time) (int, error)

	// FindWaitingGroups returns the states of serial groups, which are a JSON list, in which a job waits, by the places of the groups.
	FindWaitingGroups(ctx context.Context, groups string) (map[int]store.GroupState, error)

	// CountLimit counts what a limit holds. ListLanes returns the lanes of a limit in which most jobs wait, at most a number, among the
	// candidates with the most permits in use. FindLimitWaits returns which limits let jobs wait, each with the state of its lane.
	CountLimit(ctx context.Context, limit *store.LimitInfo, now time.Time) error
	ListLanes(ctx context.Context, limit *store.LimitInfo, candidates, most int, now time.Time) ([]store.LaneInfo, error)
	FindLimitWaits(ctx context.Context, jobs []int64) ([]store.LimitWait, []store.Lane, error)

	// KeepEnded copies jobs that end, which are locked, to history, and RemoveEnded deletes them from the live jobs.
	KeepEnded(ctx context.Context, jobs []Ended, now time.Time) error
	RemoveEnded(ctx context.Context, ids []int64) error
}

// Row is what scan functions get.
type Row interface{ Scan(dest ...any) error }

// Session is the part of a driver's session that does not depend on the database; a session embeds it. One goroutine uses a
// Session at a time.
type Session struct {
	Dialect
	Asked time.Time // of the request; see Now
	Noted bool      // the end of a job with dependents is noted

	apart map[int64]bool // jobs that ReadHeld locked last, whose ends concern no dependents and no limits
}

// Exec runs a statement for its effect.
func (s *Session) Exec(ctx context.Context, name Statement, a Args) error {
	_, err := s.Run(ctx, name, a)
	return err
}

// Insert runs a statement that inserts one row, and returns its number.
func (s *Session) Insert(ctx context.Context, name Statement, a Args) (int64, error) {
	result, err := s.Run(ctx, name, a)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
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
	return EachRow(rows, err, scan)
}

// List runs a listing with the lines whose conditions are given, and hands its rows to scan, which may run no other statement.
func (s *Session) List(ctx context.Context, name Statement, given []string, a Args, scan func(Row) error) error {
	rows, err := s.Query(ctx, name, a, given...)
	return EachRow(rows, err, scan)
}

// EachRow hands the rows of a query, unless it failed with err, to scan, and closes them.
func EachRow(rows *sql.Rows, err error, scan func(Row) error) error {
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

// TouchJobs implements Dialect, where the transaction excludes all others that write.
func (s *Session) TouchJobs(context.Context, []int64) error { return nil }

// AfterCommit implements Tx, where nothing has to be done.
func (s *Session) AfterCommit() func() { return func() {} }
