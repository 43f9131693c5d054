package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestAPasswordIsRotated: new connections log in with the URL that is read again. Before that has the
// new password, log-ins are rare.
func TestAPasswordIsRotated(t *testing.T) {
	t.Parallel()
	at, admin := newDatabase(t, "")
	exec := func(text string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("hb%d", time.Now().UnixNano()%1e12)
	exec("CREATE USER " + name + " IDENTIFIED BY 'first'")
	t.Cleanup(func() { _, _ = admin.Exec("DROP USER " + name) })
	exec("GRANT ALL ON `" + u.Path[1:] + "`.* TO " + name)
	var password atomic.Value
	password.Store("first")
	var asked atomic.Int64
	read := func() (string, error) {
		asked.Add(1)
		with := *u
		with.User = url.UserPassword(name, password.Load().(string))
		return with.String(), nil
	}
	first, _ := read()
	b, err := Open(t.Context(), first, ReadURL(read))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	works := func() bool { _, err := b.Now(t.Context()); return err == nil }
	eventually := func() {
		t.Helper()
		for limit := time.Now().Add(60 * time.Second); !works(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatal("the store does not work")
			}
		}
	}
	change := func(to string) {
		t.Helper()
		exec("ALTER USER " + name + " IDENTIFIED BY '" + to + "'")
		killAll(t, admin, name)
	}
	eventually()
	change("second")
	password.Store("second")
	eventually()

	change("third")
	for works() {
		time.Sleep(20 * time.Millisecond)
	}
	before, began := asked.Load(), time.Now()
	for time.Since(began) < 2*store.LoginGap+time.Second {
		if works() {
			t.Fatal("the server accepted a wrong password")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := asked.Load() - before; n > 4 {
		t.Errorf("%d log-ins in %v", n, time.Since(began))
	}
	password.Store("third")
	eventually()
}

// killAll ends the connections of a user.
func killAll(t *testing.T, admin *sql.DB, user string) {
	t.Helper()
	rows, err := admin.QueryContext(t.Context(), "SELECT id FROM information_schema.processlist WHERE user = ?", user)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		_, _ = admin.Exec(fmt.Sprintf("KILL %d", id)) // it may be gone
	}
	must(t, rows.Err())
}

// deaf is a connector to a server that cannot be reached.
type deaf struct {
	driver.Connector
	err error
}

func (d deaf) Connect(context.Context) (driver.Conn, error) { return nil, d.err }

// TestWithoutAConnectionNothingWasSent inserts a job while no connection can be made.
func TestWithoutAConnectionNothingWasSent(t *testing.T) {
	at, _ := newDatabase(t, "")
	b := openStore(t, at)
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	ended := errors.New("unexpected EOF in the handshake")
	for name, test := range map[string]struct {
		connector driver.Connector
		unknown   bool
	}{
		"our pool, connection refused":         {patient{deaf{err: refused}, new(store.Logins)}, false},
		"our pool, handshake ended":            {patient{deaf{err: ended}, new(store.Logins)}, false},
		"a program's pool, connection refused": {deaf{err: refused}, false},
		"a program's pool, for another reason": {deaf{err: ended}, true},
	} {
		own := b.db
		b.db = sql.OpenDB(test.connector)
		_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 1, Args: []byte("1")}}}})
		if err == nil || errors.Is(err, store.ErrUnknown) != test.unknown {
			t.Errorf("%s: %v; is it unknown: want %t", name, err, test.unknown)
		}
		must(t, b.db.Close())
		b.db = own
	}
}
