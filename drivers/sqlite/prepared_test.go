package sqlite

import (
	"database/sql"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestStatementsArePreparedOnce checks that the first call of a kind prepares nothing, and that each
// statement of a call that is repeated is prepared, and stays.
func TestStatementsArePreparedOnce(t *testing.T) {
	b := openStore(t).Clients[0].(*Backend)
	b.Close()
	b, err := Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	count := func() (ready int) {
		for _, pool := range []*sql.DB{b.reader, b.writer} {
			p := b.statementsOn(pool)
			for i := range p.of {
				if p.of[i].ready.Load() != nil {
					ready++
				}
			}
		}
		return ready
	}
	node, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	claim := func() {
		t.Helper()
		if _, err := b.Claim(t.Context(), store.ClaimRequest{Node: node.Node, Queue: "q", Kinds: []string{"k"}, Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	claim()
	if n := count(); n != 0 {
		t.Errorf("one claim prepared %d statements", n)
	}
	for range 3 {
		claim()
	}
	ready := count()
	if ready == 0 {
		t.Error("four claims prepared no statement")
	}
	for range 10 {
		claim()
	}
	if n := count(); n != ready {
		t.Errorf("%d statements are prepared after further claims, want %d as before", n, ready)
	}
}

// TestPreparingHoldsUpNoTransaction checks that transactions which have all connections of the pool run statements for the second
// time while another call waits for a connection on which it prepares statements.
func TestPreparingHoldsUpNoTransaction(t *testing.T) {
	b := openStore(t).Clients[0].(*Backend)
	p, first := b.statementsOn(b.reader), statement(0)
	p.get(first)
	p.get(first)
	var all []*sql.Conn
	for range b.reader.Stats().MaxOpenConnections {
		conn, err := b.reader.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
	}
	waits := b.reader.Stats().WaitCount
	prepared := make(chan struct{})
	go func() { defer close(prepared); p.prepare(t.Context()) }()
	for b.reader.Stats().WaitCount == waits {
		time.Sleep(time.Millisecond)
	}
	got := make(chan struct{})
	go func() { defer close(got); p.get(1); p.get(1) }()
	select {
	case <-got:
	case <-time.After(10 * time.Second):
		t.Error("a statement of a transaction waits until another call has prepared its statements, and that call waits for the connection of the transaction")
	}
	for _, conn := range all {
		conn.Close()
	}
	<-prepared
	<-got
	if p.get(first) == nil {
		t.Error("the statement is not prepared")
	}
}
