package locktest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/store"
)

// SQL is a database with lock tables, for RunSQL. Each field that is not a
// function or is nil adds tests if it is given.
type SQL struct {
	// Tables opens a place for lock tables that no other test uses, until the
	// test ends. With create, this statement is run first, which creates the lock
	// table {table}; otherwise the tables are the provider's default tables, and
	// have not been created yet.
	Tables func(t testing.TB, create string) SQLTables

	// Refused reports whether the database itself gave up waiting for a row,
	// where it can be asked to. Optional.
	Refused func(err error) bool

	// Levels are the isolation levels under which a check of a lock lets the
	// holder extend the lock. Empty: a database in which a check prevents all
	// other writes.
	Levels []sql.IsolationLevel

	// Loose creates a table with a collation under which "a" and "A" are equal.
	Loose string

	// Unfit has statements that create tables that do not fit, and a part of the
	// error of each.
	Unfit map[string]string

	// Rounded has statements that create tables whose instants have a low
	// precision, which is the step.
	Rounded map[string]time.Duration

	// Java opens tables that Java's ShedLock uses too, in each variant.
	Java map[string]func(t testing.TB) (SQLTables, Java)
}

// SQLTables are lock tables.
type SQLTables struct {
	Locks interface {
		lock.Provider
		lock.Inspector
		CreateTables(ctx context.Context) error
	}

	// Exec runs a statement in which {table} and {state} are the quoted names of
	// the tables. In a transaction, tx is what Begin returned; otherwise it is
	// nil.
	Exec func(ctx context.Context, tx *SQLTx, text string) error

	// Begin opens a transaction on the tables.
	Begin func(ctx context.Context, level sql.IsolationLevel) (*SQLTx, error)

	// Waiting reports whether a statement waits for a row of the tables. nil:
	// writers wait for each other's transactions, not for rows.
	Waiting func(ctx context.Context) (bool, error)
}

// SQLTx is a transaction of a test.
type SQLTx struct {
	Tx  lock.Tx // for lock.Check
	End func(commit bool) error
	Own any // the transaction itself
}

// Java is a Java program with ShedLock, which takes the lock "a" as "java-host".
type Java struct {
	Takes, Frees func() bool        // reports whether the statement wrote a row
	AddTriggers  func(t testing.TB) // creates the triggers that draw tokens for Java
}

// RunSQL runs the tests of a provider on lock tables in an SQL database, in
// addition to Run.
func RunSQL(t *testing.T, s SQL) {
	for name, test := range map[string]func(t *testing.T, s SQL){
		"MissingTables":         missingTables,
		"BehindATransaction":    behindATransaction,
		"RowWithoutAState":      rowWithoutAState,
		"SlotOnAnOldState":      slotOnAnOldState,
		"TokenDuringAWait":      tokenDuringAWait,
		"TakeoverWaitsForCheck": takeoverWaitsForCheck,
		"ExtendDuringCheck":     extendDuringCheck,
		"NamesUnderCollation":   namesUnderCollation,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	for create, want := range s.Unfit {
		t.Run("Unfit/"+want, func(t *testing.T) { unfit(t, s.Tables(t, create), want) })
	}
	for create, step := range s.Rounded {
		t.Run(fmt.Sprint("Rounded/", step), func(t *testing.T) { rounded(t, s.made(t, create), step) })
	}
	for name, open := range s.Java {
		t.Run("Java/"+name, func(t *testing.T) {
			tables, java := open(t)
			excludesJava(t, tables, java)
		})
		t.Run("JavaAndCheck/"+name, func(t *testing.T) {
			tables, java := open(t)
			checkBesideJava(t, tables, java)
		})
	}
}

// made opens tables and creates what is missing.
func (s SQL) made(t *testing.T, create string) SQLTables {
	t.Helper()
	tables := s.Tables(t, create)
	must(t, tables.Locks.CreateTables(t.Context()))
	return tables
}

func (s SQLTables) take(t testing.TB, name string) (lock.Lease, error) {
	t.Helper()
	return s.Locks.TryLock(t.Context(), lock.Request{Name: name, Owner: fmt.Sprint("owner ", time.Now().UnixNano()), Hold: time.Hour})
}

// free takes and releases a lock, so that it has both rows.
func (s SQLTables) free(t testing.TB, name string) (token int64) {
	t.Helper()
	lease, err := s.take(t, name)
	must(t, err)
	must(t, lease.Release(t.Context()))
	return lease.Token()
}

// begin opens a transaction that is rolled back when the test ends, unless the
// test ended it before.
func (s SQLTables) begin(t *testing.T, level sql.IsolationLevel) *SQLTx {
	t.Helper()
	tx, err := s.Begin(context.WithoutCancel(t.Context()), level)
	must(t, err)
	t.Cleanup(func() { _ = tx.End(false) }) // an error: the transaction has ended
	return tx
}

// hold opens a transaction that holds the row of the lock "a".
func (s SQLTables) hold(t *testing.T) *SQLTx {
	t.Helper()
	tx := s.begin(t, sql.LevelDefault)
	must(t, s.Exec(t.Context(), tx, "UPDATE {table} SET locked_by = 'other' WHERE name = 'a'"))
	return tx
}

// awaitWaiting waits until a statement waits for a row.
func (s SQLTables) awaitWaiting(t *testing.T) {
	t.Helper()
	await(t, "a statement to wait", func() bool {
		waiting, err := s.Waiting(t.Context())
		must(t, err)
		return waiting
	})
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// missingTables: the error of a call without tables explains how to create the tables,
// and several processes may create them.
func missingTables(t *testing.T, s SQL) {
	tables := s.Tables(t, "")
	_, err := tables.take(t, "a")
	if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "CreateTables") {
		t.Errorf("%v; the remedy was expected", err)
	}
	if err := tables.begin(t, sql.LevelDefault).check(t, 1); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a check without tables: %v", err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := tables.Locks.CreateTables(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	tables.free(t, "a")
	must(t, tables.Exec(t.Context(), nil, "DROP TABLE {state}"))
	for range 2 { // first with tables that were read before, then with tables that are read again
		if _, err := tables.take(t, "b"); !errors.Is(err, store.ErrSchema) {
			t.Errorf("%v; ErrSchema was expected", err)
		}
	}
	must(t, tables.Locks.CreateTables(t.Context()))
	tables.free(t, "b")
}

// check checks the lock "a", and rolls back if the check fails.
func (tx *SQLTx) check(t *testing.T, token int64) error {
	t.Helper()
	err := lock.Check(t.Context(), tx.Tx, "a", token)
	if err != nil {
		must(t, tx.End(false))
	}
	return err
}

// behindATransaction: an open transaction that holds the row makes no call hang,
// and no lock is taken after its caller has given up.
func behindATransaction(t *testing.T, s SQL) {
	tables := s.made(t, "")
	tables.free(t, "a")
	tx := tables.hold(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	start := time.Now()
	_, err := tables.Locks.TryLock(ctx, lock.Request{Name: "a", Owner: "o", Hold: time.Hour})
	if !errors.Is(err, lock.ErrBusy) || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v; ErrBusy was expected", time.Since(start), err)
	}
	if s.Refused != nil && !s.Refused(err) {
		t.Errorf("the database did not stop to wait by itself: %v", err)
	}
	must(t, tx.End(false))
	tables.free(t, "a")
}

// rowWithoutAState: a row that another program made has no state yet. Its lock is
// granted like any other lock, to one caller, with a token.
func rowWithoutAState(t *testing.T, s SQL) {
	tables := s.made(t, "")
	for i := range 20 {
		name := fmt.Sprint("l", i)
		tables.free(t, name)
		must(t, tables.Exec(t.Context(), nil, "DELETE FROM {state} WHERE name = '"+name+"'"))
		granted := make(chan lock.Lease, 4)
		var all sync.WaitGroup
		for range cap(granted) {
			all.Go(func() {
				lease, err := tables.take(t, name)
				switch {
				case err == nil:
					granted <- lease
				case !errors.Is(err, lock.ErrHeld):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(granted) != 1 {
			t.Fatalf("%d callers hold %s, want 1", len(granted), name)
		}
		if lease := <-granted; lease.Token() < 1 {
			t.Errorf("token %d", lease.Token())
		}
	}
}

// slotOnAnOldState: nothing is granted and nothing is stored if the slot was
// decided from a state that changed while the request waited for the row.
func slotOnAnOldState(t *testing.T, s SQL) {
	tables := s.made(t, "")
	if tables.Waiting == nil {
		t.Skip("requests do not wait for rows")
	}
	token := tables.free(t, "a")
	tx := tables.hold(t)
	answer := make(chan error)
	go func() {
		now := time.Now().Truncate(time.Millisecond)
		slot := lock.Slot{Seen: token, From: now.Add(-time.Hour), Until: now.Add(time.Hour), Mark: lock.Mark{Slot: now}}
		_, err := tables.Locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "o", Hold: time.Hour, Slot: &slot})
		answer <- err
	}()
	tables.awaitWaiting(t)
	must(t, tables.Exec(t.Context(), tx, "UPDATE {state} SET token = token + 1 WHERE name = 'a'"))
	must(t, tx.End(true))
	var notDue *lock.NotDueError
	if err := <-answer; !errors.As(err, &notDue) || notDue.State.Token != token+1 || !notDue.State.Mark.Slot.IsZero() {
		t.Errorf("%v %+v; not due was expected, with the new token", err, notDue)
	}
	tables.free(t, "a")
}

// tokenDuringAWait: a token is greater than the last token also if the last token
// was drawn while the request waited for the row.
func tokenDuringAWait(t *testing.T, s SQL) {
	tables := s.made(t, "")
	if tables.Waiting == nil {
		t.Skip("requests do not wait for rows")
	}
	last := tables.free(t, "a")
	tx := tables.hold(t)
	tokens := make(chan int64, 1)
	go func() {
		var token int64
		lease, err := tables.take(t, "a")
		if err == nil {
			token = lease.Token()
		} else {
			t.Error(err)
		}
		tokens <- token
	}()
	tables.awaitWaiting(t)
	must(t, tables.Exec(t.Context(), tx, "UPDATE {state} SET token = token + 10 WHERE name = 'a'"))
	must(t, tx.End(true))
	if got, want := <-tokens, last+11; got != want {
		t.Errorf("token %d, want %d", got, want)
	}
}

// takeoverWaitsForCheck: a takeover waits for a transaction that has checked the lock,
// also in tables where a check holds only the state.
func takeoverWaitsForCheck(t *testing.T, s SQL) {
	tables := s.made(t, "")
	lease, err := tables.Locks.TryLock(t.Context(), lock.Request{Name: "a", Owner: "o", Hold: time.Millisecond})
	must(t, err)
	tx := tables.begin(t, sql.LevelDefault)
	must(t, tx.check(t, lease.Token()))
	time.Sleep(2 * time.Millisecond) // the lock has expired
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := tables.Locks.TryLock(ctx, lock.Request{Name: "a", Owner: "p", Hold: time.Hour}); !errors.Is(err, lock.ErrBusy) {
		t.Errorf("a takeover during a check must wait: %v", err)
	}
	time.Sleep(200 * time.Millisecond) // the server counts the wait from when it got the request, which is late on a busy machine
	must(t, tx.End(true))
	next, err := tables.take(t, "a")
	must(t, err)
	if next.Token() <= lease.Token() {
		t.Errorf("token %d came after %d", next.Token(), lease.Token())
	}
}

// extendDuringCheck: a check in a long transaction does not prevent the holder from
// extending its lock, if every grant draws a token.
func extendDuringCheck(t *testing.T, s SQL) {
	if len(s.Levels) == 0 {
		t.Skip("a check prevents all other writes")
	}
	tables := s.made(t, "")
	locker, err := lock.New(tables.Locks, lock.Config{Lease: 6 * time.Second})
	must(t, err)
	err = locker.Do(t.Context(), "a", lock.Options{}, func(ctx context.Context, held *lock.Lock) error {
		for _, level := range s.Levels {
			tx := tables.begin(t, level)
			must(t, tx.check(t, held.Token()))
			before := tables.until(t)
			await(t, "a renewal", func() bool { return tables.until(t).After(before) })
			must(t, tx.check(t, held.Token()))
			must(t, tx.End(true))
		}
		return nil
	})
	must(t, err)
}

// until returns the end of the hold of the only lock.
func (s SQLTables) until(t *testing.T) time.Time {
	t.Helper()
	infos, err := s.Locks.Locks(t.Context(), lock.LocksRequest{Limit: 1})
	must(t, err)
	return infos[0].Until
}

// namesUnderCollation: two names that are equal under the collation are two locks.
// The second lock is refused, because the table has no room for its row.
func namesUnderCollation(t *testing.T, s SQL) {
	if s.Loose == "" {
		t.Skip("no such collation")
	}
	tables := s.made(t, s.Loose)
	lease, err := tables.take(t, "a")
	must(t, err)
	must(t, tables.Exec(t.Context(), nil, "INSERT INTO {state} (name, token) VALUES ('A', 7)"))
	for turn := range 2 { // held, and free
		var refused *check.FieldError
		if _, err := tables.take(t, "A"); !errors.As(err, &refused) || refused.Field != "name" {
			t.Errorf("the lock of another name was taken or waited for: %v", err)
		}
		must(t, tables.Locks.ForceRelease(t.Context(), lock.ForceReleaseRequest{Name: "A"}))
		if err := lease.Release(t.Context()); turn == 0 && err != nil {
			t.Errorf("the lock of another name was freed: %v", err)
		}
	}
}

// unfit: a table that does not fit is refused with the reason.
func unfit(t *testing.T, tables SQLTables, want string) {
	if err := tables.Locks.CreateTables(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("create the tables: %v; want %q", err, want)
	}
	if _, err := tables.take(t, "a"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// rounded: a column with a low precision rounds a hold up, and a release down.
func rounded(t *testing.T, tables SQLTables, step time.Duration) {
	const hold = 7 * time.Second
	now := time.Date(2035, 1, 2, 3, 4, 5, 444_555_000, time.UTC)
	up := func(at time.Time) time.Time { return at.Add(step - 1).Truncate(step) }
	req := lock.Request{Name: "a", Owner: "o", Hold: hold, Now: func() time.Time { return now }}
	lease, err := tables.Locks.TryLock(t.Context(), req)
	must(t, err)
	if got, want := tables.until(t), up(now.Add(hold)); !got.Equal(want) {
		t.Errorf("held until %v, want %v", got, want)
	}
	must(t, lease.Extend(t.Context(), 2*hold))
	if got, want := tables.until(t), up(now.Add(2*hold)); !got.Equal(want) {
		t.Errorf("extended until %v, want %v", got, want)
	}
	must(t, lease.Release(t.Context())) // within the step of the precision in which the lock was granted
	if got, want := tables.until(t), now.Truncate(step); !got.Equal(want) {
		t.Errorf("released at %v, want %v", got, want)
	}
	req.AtLeast = hold
	lease, err = tables.Locks.TryLock(t.Context(), req)
	must(t, err)
	must(t, lease.Release(t.Context()))
	if got, want := tables.until(t), now.Add(hold).Truncate(time.Millisecond); got.Before(want) || got.After(want.Add(step+time.Millisecond)) {
		t.Errorf("at least until %v, want %v", got, want)
	}
}

// excludesJava: Java and Hourbell exclude each other, whatever the time zones of
// their sessions. With the triggers, Java's acquisitions draw tokens, and
// Hourbell's are not counted twice.
func excludesJava(t *testing.T, tables SQLTables, java Java) {
	java.AddTriggers(t)
	locker, err := lock.New(tables.Locks, lock.Config{})
	must(t, err)
	for want := int64(1); want < 6; want += 2 {
		held, err := locker.Try(t.Context(), "a", lock.Options{})
		if err != nil || held.Token() != want {
			t.Fatalf("token %d was expected, got %v, %v", want, held, err)
		}
		if java.Takes() {
			t.Error("Java took a lock that is held")
		}
		must(t, held.Release(t.Context()))
		await(t, "Java to get a lock that is free", java.Takes) // the clock in Java's statement may have milliseconds
		var refused *lock.HeldError
		if _, err := locker.Try(t.Context(), "a", lock.Options{}); !errors.As(err, &refused) || refused.Owner != "java-host" {
			t.Errorf("a lock that Java holds: %v", err)
		}
		if !java.Frees() {
			t.Error("Java's lock was not its own any more")
		}
	}
}

// checkBesideJava: Java takes locks without drawing a token. A later check is
// refused nevertheless, and Java waits for the end of a transaction whose check
// has succeeded.
func checkBesideJava(t *testing.T, tables SQLTables, java Java) {
	locker, err := lock.New(tables.Locks, lock.Config{})
	must(t, err)
	held, err := locker.Try(t.Context(), "a", lock.Options{})
	must(t, err)
	must(t, held.Release(t.Context()))
	if tables.Waiting != nil {
		time.Sleep(2 * time.Millisecond) // the clock in Java's statement may have milliseconds
		tx := tables.begin(t, sql.LevelDefault)
		must(t, tx.check(t, held.Token()))
		taken := make(chan bool, 1)
		go func() { taken <- java.Takes() }()
		tables.awaitWaiting(t)
		must(t, tx.End(true))
		if !<-taken {
			t.Fatal("Java did not get a lock that is free")
		}
	} else {
		await(t, "Java to get a lock that is free", java.Takes)
	}
	for range 2 { // held by Java, and released
		tx := tables.begin(t, sql.LevelDefault)
		if err := lock.Check(t.Context(), tx.Tx, "a", held.Token()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("a check of a lock that Java has taken since: %v", err)
		}
		must(t, tx.End(false))
		java.Frees()
	}
}
