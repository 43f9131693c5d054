package engine

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestAStateFileThatCannotBeRead checks that an event reports the file and the node starts.
func TestAStateFileThatCannotBeRead(t *testing.T) {
	backend, dir := memory.New(), t.TempDir()
	p, err := store.ReadPosition(t.Context(), backend)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "store-"+p.Store+".json"), []byte("{damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int32
	insert(t, backend, 1)
	n := startNode(t, backend, func(context.Context, *work.Run) error { ran.Add(1); return nil }, func(c *Config) { c.StateDir = dir })
	waitUntil(t, "the job to run", func() bool { return ran.Load() == 1 })
	if n.count(event.StateFailed) == 0 {
		t.Error("the damaged file was not reported")
	}
	n.stop()
}

// rewound is a store whose positions can be set back.
type rewound struct {
	store.Backend
	behind atomic.Int64
	slow   atomic.Bool // registrations
}

func (r *rewound) Register(ctx context.Context, req store.RegisterRequest) (store.RegisterResult, error) {
	if r.slow.Load() {
		time.Sleep(40 * time.Millisecond)
	}
	return r.Backend.Register(ctx, req)
}

func (r *rewound) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	res, err := r.Backend.Heartbeat(ctx, req)
	res.Position.Token -= r.behind.Load()
	return res, err
}

// TestALossEndsRunningJobs checks that the contexts of jobs end as after a lost claim, and that the node claims again under the number
// that it keeps.
func TestALossEndsRunningJobs(t *testing.T) {
	backend := &rewound{Backend: memory.New()}
	ended := make(chan error, 1)
	insert(t, backend, 1)
	n := startNode(t, backend, func(ctx context.Context, _ *work.Run) error {
		<-ctx.Done() // the loss ends it or, on a busy machine, a lease that was lost before
		select {
		case ended <- context.Cause(ctx):
		default:
		}
		return context.Cause(ctx)
	})
	defer n.stop()
	waitUntil(t, "the job to start", func() bool { return n.count(event.JobStarted) > 0 })
	backend.behind.Store(1)
	select {
	case cause := <-ended:
		if cause != node.ErrClaimLost {
			t.Errorf("the context ended with %v", cause)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the context of a running job does not end")
	}
	waitUntil(t, "the report", func() bool {
		p, err := store.ReadPosition(t.Context(), backend)
		return err == nil && p.Suspended()
	})
	backend.behind.Store(0)
	before, beats := n.count(event.JobStarted), n.beats.Load()
	waitUntil(t, "more heartbeats", func() bool { return n.beats.Load() >= beats+3 })
	if n.count(event.HistoryLost) != 1 {
		t.Errorf("the loss was reported %d times", n.count(event.HistoryLost))
	}
	if n.count(event.JobStarted) != before {
		t.Error("a job started while the node was suspended")
	}
	registered := n.engine.node.Number()
	backend.slow.Store(true)
	if _, err := backend.AcceptLoss(t.Context(), store.AcceptLossRequest{}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "a new registration", func() bool { return n.engine.node.Number() > registered })
	waitUntil(t, "the job to start again", func() bool { return n.count(event.JobStarted) > before })
	if refs, err := backend.Claims(t.Context(), store.ClaimsRequest{Node: n.engine.node.Number()}); err != nil || len(refs) != 1 {
		t.Errorf("the node that runs the job has the claims %v, %v", refs, err)
	}
	waitUntil(t, "the event", func() bool { return n.count(event.HistoryAccepted) > 0 }) // a claim may come before it
	if n.count(event.HistoryAccepted) != 1 {
		t.Errorf("the acceptance was reported %d times", n.count(event.HistoryAccepted))
	}
}
