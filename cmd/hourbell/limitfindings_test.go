package main

import (
	"context"
	"fmt"
	"net/url"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestLimitsOfTheStoreAreFindings runs a node whose role has few connections and little time for statements, and sees both in doctor, top,
// the overview page, the API and the metrics, appear and go. doctor runs as another role, and has them from the node. While a table is locked,
// what is in it cannot be read, which is a finding, too.
func TestLimitsOfTheStoreAreFindings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
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
	d := &walk{bench: newBench(t)}
	d.env[storeVariable] = at.String()
	owner := at.User
	at.User = url.UserPassword(name, "p")
	of := at.String()
	serve := func() {
		t.Helper()
		d.serve("--store", of, "--name", "wren", "--listen", "127.0.0.1:0")
		d.isReady()
	}
	serve()
	timeouts := &failure{level: "warning", check: "timeouts", found: anyWords("statement_timeout is 9s, so that … (node wren)"), everywhere: true}
	connections := &failure{level: "warning", check: "connections", found: anyWords("the role " + name + " has … of its connections left (node wren)"), everywhere: true}
	d.awaits(timeouts, true)
	d.awaits(connections, true)
	if code, body := d.get("/readyz"); code != 200 {
		t.Errorf("/readyz answers %d %s", code, body)
	}
	execute(fmt.Sprintf("alter role %s connection limit -1; alter role %[1]s reset statement_timeout", name))
	d.awaits(connections, false)
	d.node.signal(syscall.SIGTERM)
	d.node.ends()
	serve() // sessions keep the setting with which they began
	d.awaits(timeouts, false)

	at.User, at.Path = owner, "/"+name
	executeThere, leave := executing(t, at.String())
	defer leave()
	executeThere("begin; lock table hourbell.slot in access exclusive mode")
	unread := &failure{level: "warning", check: "not-read", found: anyWords("the store did not answer in time, so that this is not known: …missed slots"), everywhere: true}
	d.awaits(unread, true)
	executeThere("rollback")
	d.awaits(unread, false)
}
