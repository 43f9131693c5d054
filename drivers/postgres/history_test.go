package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// TestARestoreUnderWayIsAnError empties the table of the store's history, as a dump that is restored table by table does for a while. A
// position without an identity would be one of another store, which a node would go on with.
func TestARestoreUnderWayIsAnError(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	execute(t, "DELETE FROM "+pgx.Identifier{b.schema, "timeline"}.Sanitize())
	if res, err := b.Heartbeat(t.Context(), store.HeartbeatRequest{Node: node}); err == nil {
		t.Errorf("a heartbeat has the position %+v", res.Position)
	}
	if res, err := b.Register(t.Context(), store.RegisterRequest{Name: "new", Lease: time.Minute}); err == nil {
		t.Errorf("a registration has the position %+v", res.Position)
	}
	if p, err := store.ReadPosition(t.Context(), b); err == nil {
		t.Errorf("the position is %+v", p)
	}
	nodes, err := store.List[store.NodeInfo](t.Context(), b, store.ListRequest{Limit: 10})
	must(t, err)
	if len(nodes) != 1 {
		t.Errorf("%d nodes are registered, 1 was expected", len(nodes))
	}
}
