package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/internal/testserver"
)

// TestLimitsOfTheStoreAreFindings runs a node whose role has few connections and little time for statements, and sees both in doctor, top,
// the overview page, the API and the metrics, appear and go. doctor runs as another role, and has them from the node. A node that is frozen
// is silent until it goes on, because the other node may not declare it dead before its own lease has passed. While a table is locked,
// what is in it cannot be read, and while the server ends calls for that reason, the node does not work: both are findings, too.
func TestLimitsOfTheStoreAreFindings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	server, name := postgresURL(t), newSchemaName()
	execute, disconnect := executing(t, server)
	defer disconnect()
	execute(fmt.Sprintf("create role %s login password 'p' connection limit 14; alter role %[1]s set statement_timeout = '9s'", name))
	execute("create database " + name + " owner " + name)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), server)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		for _, text := range []string{"drop database " + name + " with (force)", "drop role " + name} {
			if _, err := conn.Exec(context.Background(), text); err != nil {
				t.Error(err)
			}
		}
	})
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	d := &walk{bench: newBenchHere(t)}
	d.env[storeVariable] = at.String()
	owner := at.User
	at.User = url.UserPassword(name, "p")
	of := at.String()
	serve := func() {
		t.Helper()
		d.serve("--store", of, "--name", "wren", "--lease", "10m", "--commands", "any", "--listen", "127.0.0.1:0")
		d.isReady()
	}
	serve() // it makes the schema
	wren := d.node
	d.serve("--name", "mute", "--lease", "2s", "--queues", "none")
	mute := d.node
	d.node = wren
	mute.signal(syscall.SIGSTOP)
	silent := &failure{level: "warning", check: "node-silent", found: anyWords("node mute was last heard … ago, and its lease is over"), everywhere: true}
	d.awaits(silent, true)
	mute.signal(syscall.SIGCONT)
	d.awaits(silent, false)
	mute.signal(syscall.SIGTERM)
	mute.ends()
	timeouts := &failure{level: "warning", check: "timeouts", found: anyWords("statement_timeout is 9s, so that … (node wren)"), everywhere: true}
	connections := &failure{level: "warning", check: "connections", found: anyWords("the role " + name + " has … of its connections left (node wren)"), everywhere: true}
	d.awaits(timeouts, true)
	d.awaits(connections, true)
	if code, body := d.get("/readyz"); code != 200 {
		t.Errorf("/readyz answers %d %s", code, body)
	}
	execute(fmt.Sprintf("alter role %s connection limit -1; alter role %[1]s reset statement_timeout", name))
	execute(fmt.Sprintf("alter role %s set lock_timeout = '300ms'", name))
	d.awaits(connections, false)
	again := func() { // sessions keep the settings with which they began
		t.Helper()
		d.node.signal(syscall.SIGTERM)
		d.node.ends()
		serve()
	}
	again()
	waits := &failure{level: "warning", check: "timeouts", found: anyWords("lock_timeout is 300ms, so that … (node wren)"), everywhere: true}
	d.awaits(waits, true)

	at.User, at.Path = owner, "/"+name
	executeThere, leave := executing(t, at.String())
	defer leave()
	executeThere("begin; lock table hourbell.history in share row exclusive mode") // outcomes cannot be written
	d.does("enqueue", "command", "--", "true")
	ended := &failure{
		level: "error", check: "calls-ended", found: anyWords("calls fail, such as finish: …lock_timeout…(node wren)"), everywhere: true,
		code: 503, reason: anyWords("calls-ended: …doctor"),
	}
	d.awaits(ended, true)
	executeThere("rollback")
	d.awaits(ended, false)
	execute(fmt.Sprintf("alter role %s reset lock_timeout", name))
	again()
	d.awaits(timeouts, false)

	executeThere("begin; lock table hourbell.slot in access exclusive mode")
	unread := &failure{level: "warning", check: "not-read", found: anyWords("the store did not answer in time, so that this is not known: …missed slots"), everywhere: true}
	d.awaits(unread, true)
	executeThere("rollback")
	d.awaits(unread, false)
}

// TestLimitsOfMariaDBAreFindings runs nodes on a server of their own: first of a user with few connections and little time for statements,
// then on a server that has few connections left, and sees the findings in all places, appear and go.
func TestLimitsOfMariaDBAreFindings(t *testing.T) {
	startsProcesses(t)
	t.Parallel()
	server := testserver.New(t)
	server.StartMariaDB(nil)
	admin, err := sql.Open("mysql", fmt.Sprintf("u:p@tcp(127.0.0.1:%d)/db", server.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	order := func(statements ...string) {
		t.Helper()
		for _, one := range statements {
			if _, err := admin.ExecContext(t.Context(), one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
	}
	order(
		"CREATE USER node@'127.0.0.1' IDENTIFIED BY 'p' WITH MAX_USER_CONNECTIONS 11 MAX_STATEMENT_TIME 9", "GRANT ALL ON db.* TO node@'127.0.0.1'",
		"SET GLOBAL max_connections = 200",
	)
	d := &walk{bench: newBenchHere(t)}
	d.env[storeVariable] = fmt.Sprintf("mysql://u:p@127.0.0.1:%d/db", server.Port)
	serve := func() {
		t.Helper()
		d.serve("--store", fmt.Sprintf("mysql://node:p@127.0.0.1:%d/db", server.Port), "--name", "wren", "--listen", "127.0.0.1:0")
		d.isReady()
	}
	warns := func(check, found string) *failure {
		return &failure{level: "warning", check: check, found: anyWords(found), everywhere: true}
	}
	serve()
	ofUser := warns("connections", "the user has … connections left (node wren)")
	timeouts := warns("timeouts", "max_statement_time is 9s, so that … (node wren)")
	d.awaits(ofUser, true)
	d.awaits(timeouts, true)
	d.node.signal(syscall.SIGTERM)
	d.node.ends()
	order("ALTER USER node@'127.0.0.1' WITH MAX_USER_CONNECTIONS 0 MAX_STATEMENT_TIME 0")
	serve() // sessions keep the limits with which they began
	d.awaits(ofUser, false)
	d.awaits(timeouts, false)

	const held = 30 // so that the commands of this test have connections
	conns := make([]*sql.Conn, held)
	for i := range conns {
		if conns[i], err = admin.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	order(fmt.Sprintf("SET GLOBAL max_connections = %d", held+9))
	ofServer := warns("connections", "the server has … connections left") // doctor finds it itself, too
	d.awaits(ofServer, true)
	order("SET GLOBAL max_connections = 200")
	d.awaits(ofServer, false)
	for _, conn := range conns {
		conn.Close()
	}
}
