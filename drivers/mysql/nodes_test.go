package mysql

import (
	"context"
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
	res, err := b.Rescue(call, store.RescueRequest{Now: now, Node: asker})
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
