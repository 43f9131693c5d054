package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestARescueLocksNoLivingNode holds the row of a living node in another transaction, as its heartbeat does: the rescue of a dead node does
// not wait for it. Otherwise a rescue whose connection hangs would hold up the heartbeats of all nodes.
func TestARescueLocksNoLivingNode(t *testing.T) {
	const lease = 10 * time.Second
	b, db := fresh(t)
	now := time.Now().UTC().Truncate(time.Second)
	var nodes []int64
	for i := range 3 {
		res, err := b.Register(t.Context(), store.RegisterRequest{Now: now, Name: fmt.Sprint("node ", i), Lease: lease})
		must(t, err)
		nodes = append(nodes, res.Node)
	}
	asker, living, dead := nodes[0], nodes[1], nodes[2]
	now = now.Add(lease)
	for _, node := range []int64{asker, living} {
		_, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Now: now, Node: node})
		must(t, err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), "SELECT id FROM hourbell_node WHERE id = ? FOR UPDATE", living)
	must(t, err)
	call, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	res, err := b.Rescue(call, store.RescueRequest{Now: now, Node: asker, Beat: 1})
	must(t, err)
	if len(res.Nodes) != 1 || res.Nodes[0].ID != dead {
		t.Errorf("the rescue ended %+v, want node %d", res.Nodes, dead)
	}
}

// TestAWaitingClaimDelaysNoHeartbeat stops another process in a transaction that has given out tokens. A claim waits for that transaction, and
// heartbeats of its node go on.
func TestAWaitingClaimDelaysNoHeartbeat(t *testing.T) {
	b, db := fresh(t)
	insertPlain(t, b, 1)
	node, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Minute, Queues: []string{"q"}, Kinds: []string{"k"}})
	must(t, err)
	stopped, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer stopped.Rollback()
	_, err = stopped.ExecContext(t.Context(), "UPDATE hourbell_counter SET value = value + 1 WHERE name = 'token'")
	must(t, err)
	claimed := make(chan error, 1)
	go func() {
		_, err := b.Claim(t.Context(), store.ClaimRequest{Node: node.Node, Queue: "q", Kinds: []string{"k"}, Limit: 1})
		claimed <- err
	}()
	for waiting := false; !waiting; {
		waiting, err = waits(t.Context(), db)
		must(t, err)
	}
	call, cancel := context.WithTimeout(t.Context(), lockWait/3)
	defer cancel()
	if _, err := b.Heartbeat(call, store.HeartbeatRequest{Node: node.Node}); err != nil {
		t.Error("a heartbeat waited for a claim:", err)
	}
	must(t, stopped.Rollback())
	must(t, <-claimed)
}

// holdNodeIn begins a claim of a node, which holds the node until the transaction ends.
func holdNodeIn(t *testing.T, b *Backend, db *sql.DB, node int64) *sql.Tx {
	t.Helper()
	claim, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	t.Cleanup(func() { _ = claim.Rollback() })
	_, err = b.newSession(claim).HoldNode(t.Context(), node)
	must(t, err)
	return claim
}

// TestAClaimDelaysNoHeartbeat: while a claim of a node is open, and claims and workers have all connections of the pool, the heartbeats
// of the node go on, with connections of Open and with a program's pool.
func TestAClaimDelaysNoHeartbeat(t *testing.T) {
	for _, owned := range []bool{true, false} {
		t.Run(fmt.Sprint("owned=", owned), func(t *testing.T) {
			storeURL, db := newDatabase(t, "")
			b := openStore(t, storeURL)
			migrate(t, b)
			if !owned {
				var err error
				b, err = New(t.Context(), openDB(t, storeURL))
				must(t, err)
				t.Cleanup(func() { must(t, b.Close()) })
			}
			b.db.SetMaxOpenConns(4)
			node := register(t, b, time.Minute)
			_, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node})
			must(t, err)
			holdNodeIn(t, b, db, node)
			for range 4 {
				call, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if conn, err := b.db.Conn(call); err == nil {
					defer conn.Close()
				}
			}
			call, cancel := context.WithTimeout(t.Context(), lockWait/3)
			defer cancel()
			if _, err := b.Heartbeat(call, store.HeartbeatRequest{Node: node}); err != nil {
				t.Error("a heartbeat waited for a claim:", err)
			}
		})
	}
}

// TestARescueFindsTheLastHeartbeat: a rescue waits for a claim of a node whose lease has expired, and then finds that the node has sent a
// heartbeat.
func TestARescueFindsTheLastHeartbeat(t *testing.T) {
	const lease = 10 * time.Second
	b, db := fresh(t)
	now := time.Now().UTC().Truncate(time.Second)
	var nodes [2]int64
	for i := range nodes {
		res, err := b.Register(t.Context(), store.RegisterRequest{Now: now, Name: fmt.Sprint("node ", i), Lease: lease})
		must(t, err)
		nodes[i] = res.Node
	}
	now = now.Add(lease)
	beat := func(node int64) {
		t.Helper()
		_, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Now: now, Node: node})
		must(t, err)
	}
	beat(nodes[0])
	claim := holdNodeIn(t, b, db, nodes[1])
	rescued := make(chan store.RescueResult, 1)
	go func() {
		res, err := b.Rescue(t.Context(), store.RescueRequest{Now: now, Node: nodes[0], Beat: 1})
		if err != nil {
			t.Error(err)
		}
		rescued <- res
	}()
	for waiting := false; !waiting; {
		var err error
		waiting, err = waits(t.Context(), db)
		must(t, err)
	}
	beat(nodes[1])
	must(t, claim.Rollback())
	if res := <-rescued; len(res.Nodes) != 0 {
		t.Errorf("the rescue ended %+v, although a heartbeat had come", res.Nodes)
	}
	now = now.Add(lease)
	beat(nodes[0])
	res, err := b.Rescue(t.Context(), store.RescueRequest{Now: now, Node: nodes[0], Beat: 2})
	must(t, err)
	if len(res.Nodes) != 1 || res.Nodes[0].ID != nodes[1] || !res.Nodes[0].SeenAt.Equal(now.Add(-lease)) {
		t.Errorf("the rescue ended %+v, want node %d", res.Nodes, nodes[1])
	}
	if _, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Now: now, Node: nodes[1]}); !errors.Is(err, store.ErrNodeGone) {
		t.Errorf("the heartbeat of a dead node: %v", err)
	}
}

// TestARestoreUnderWayIsAnError empties the tables of the store's history, as a dump that is restored table by table does for a while. A
// position without an identity would be one of another store, which a node would go on with.
func TestARestoreUnderWayIsAnError(t *testing.T) {
	b, db := fresh(t)
	node, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Minute})
	must(t, err)
	for _, table := range []string{"hourbell_timeline", "hourbell_counter"} {
		for _, text := range []string{"CREATE TABLE saved AS SELECT * FROM " + table, "DELETE FROM " + table} {
			_, err := db.ExecContext(t.Context(), text)
			must(t, err)
		}
		if res, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node.Node}); err == nil {
			t.Errorf("a heartbeat without the rows of %s has the position %+v", table, res.Position)
		}
		if res, err := b.Register(t.Context(), store.RegisterRequest{Name: "new", Lease: time.Minute}); err == nil {
			t.Errorf("a registration without the rows of %s has the position %+v", table, res.Position)
		}
		if p, err := store.ReadPosition(t.Context(), b); err == nil {
			t.Errorf("without the rows of %s the position is %+v", table, p)
		}
		for _, text := range []string{"INSERT INTO " + table + " SELECT * FROM saved", "DROP TABLE saved"} {
			_, err := db.ExecContext(t.Context(), text)
			must(t, err)
		}
	}
	var nodes int
	must(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM hourbell_node").Scan(&nodes))
	if nodes != 1 {
		t.Errorf("%d nodes are registered, 1 was expected", nodes)
	}
	_, err = b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node.Node})
	must(t, err)
}
