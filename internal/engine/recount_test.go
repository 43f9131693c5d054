package engine

import (
	"context"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// miscounted is a store that finds wrong lanes in its first step.
type miscounted struct {
	store.Backend
	asked chan store.RecountRequest
}

func (m *miscounted) RecountPermits(_ context.Context, req store.RecountRequest) (store.RecountResult, error) {
	m.asked <- req
	if len(m.asked) > 1 {
		return store.RecountResult{Left: true}, nil
	}
	return store.RecountResult{Lanes: []store.LaneRepair{{Limit: "exports", Key: "a", Counted: store.LaneCount{Permits: 2}, Held: store.LaneCount{Permits: 1}}, {Limit: "exports", Key: "b"}}, More: true}, nil
}

// TestRepairedPermitsAreReported checks that a recount names its node, has an event for each repair, and goes on while there is more
// to do.
func TestRepairedPermitsAreReported(t *testing.T) {
	backend := &miscounted{memory.New(), make(chan store.RecountRequest, 9)}
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	r := n.engine.recounter()
	first, _ := r.once(t.Context())
	if second, left := r.once(t.Context()); !first || second || !left {
		t.Error("the first step has more to do, and the second step leaves the work to another node")
	}
	if got := n.count(event.PermitsRepaired); got != 2 {
		t.Errorf("%d events, want 2", got)
	}
	if req := <-backend.asked; req.Node != n.engine.node.Number() || req.Limit <= 0 || !req.Now.Equal(time.Time{}) {
		t.Errorf("the request is %+v", req)
	}
}
