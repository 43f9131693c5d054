package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// wakes listens in the background and returns where wake-ups arrive, after the
// first.
func wakes(t *testing.T, b *Backend) <-chan time.Time {
	t.Helper()
	arrived := make(chan time.Time, 1_000)
	done := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		done <- b.Listen(ctx, func(w store.Wake) {
			if w.Kind == store.WakeAll {
				arrived <- time.Now()
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Listen ended with %v", err)
		}
	})
	select {
	case <-arrived:
	case <-time.After(5 * time.Second):
		t.Fatal("no wake-up at the start")
	}
	return arrived
}

func TestCommitsOfOthersAreNoticed(t *testing.T) {
	path := newFile(t)
	a, b := openFile(t, path), openFile(t, path)
	arrived := wakes(t, a)
	for who, writer := range map[string]*Backend{"another backend": b, "the same backend": a} {
		var delays []time.Duration
		for range 21 {
			insertPlain(t, writer, 1)
			start := time.Now()
			select {
			case at := <-arrived:
				delays = append(delays, at.Sub(start))
			case <-time.After(5 * time.Second):
				t.Fatalf("a commit of %s was not noticed", who)
			}
		}
		slices.Sort(delays)
		t.Logf("%s: median %v, worst %v", who, delays[10], delays[20])
		if delays[10] > 100*time.Millisecond {
			t.Errorf("commits of %s are noticed after %v (median), want at most 100ms", who, delays[10])
		}
	}
}

// Nodes that find nothing to do must not wake each other.
func TestIdleCallsWriteNothing(t *testing.T) {
	path := newFile(t)
	a, b := openFile(t, path), openFile(t, path)
	node := register(t, a, time.Hour)
	puts := store.PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: 1, Schedules: []store.PutSchedule{{Name: "s", Definition: []byte("{}")}}}
	if _, err := a.PutSchedules(t.Context(), puts); err != nil {
		t.Fatal(err)
	}
	arrived := wakes(t, b)
	for name, call := range map[string]func() error{
		"Claim": func() error {
			_, err := a.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10})
			return err
		},
		"Claims": func() error {
			_, err := a.Claims(t.Context(), store.ClaimsRequest{Node: node, Cancelled: true})
			return err
		},
		"DueSchedules": func() error {
			_, err := a.DueSchedules(t.Context(), store.DueSchedulesRequest{Limit: 10})
			return err
		},
		"Rescue": func() error { _, err := a.Rescue(t.Context(), store.RescueRequest{Node: node}); return err },
		"Prune": func() error {
			_, err := a.Prune(t.Context(), store.PruneRequest{Completed: 1, Failed: 1, Slots: 1, Nodes: 1, Limit: 10})
			return err
		},
		"unchanged PutSchedules": func() error { _, err := a.PutSchedules(t.Context(), puts); return err },
		"refused Finish": func() error {
			_, err := a.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: 9, Token: 9}}})
			return err
		},
		"lost Fire": func() error {
			_, err := a.Fire(t.Context(), store.FireRequest{Firings: []store.Firing{{Schedule: 9}}})
			return err
		},
		"MigrateUp": func() error { _, err := a.MigrateUp(t.Context()); return err },
		"ListNodes": func() error { _, err := store.List[store.NodeInfo](t.Context(), a, store.ListRequest{}); return err },
		"Now":       func() error { _, err := a.Now(t.Context()); return err },
	} {
		if err := call(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		select {
		case <-arrived:
			t.Errorf("%s woke others though it had nothing to do", name)
		case <-time.After(4 * listenEvery):
		}
	}
	insertPlain(t, a, 1)
	select {
	case <-arrived:
	case <-time.After(5 * time.Second):
		t.Error("the listener was deaf")
	}
}

// A backend of New works while the application holds the only connection of its
// pool, because the backend opens connections of its own.
func TestAPoolOfOneThatIsHeld(t *testing.T) {
	db := usersDB(t, filepath.Join(t.TempDir(), "app.db"), goodPragmas)
	db.SetMaxOpenConns(1)
	b, err := New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	listening, stop := context.WithCancel(t.Context())
	if err = b.Listen(listening, func(store.Wake) { stop() }); !errors.Is(err, context.Canceled) {
		t.Errorf("Listen: %v", err)
	}
	node := register(t, b, time.Minute)
	insertPlain(t, b, 3)
	if jobs := claimPlain(t, b, node, 5); len(jobs) != 3 {
		t.Errorf("a pool of one claimed %d jobs, want 3", len(jobs))
	}
}
