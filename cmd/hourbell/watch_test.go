package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// away is a store that can fail.
type away struct {
	*memory.Store
	err error
}

func (a *away) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	if a.err != nil {
		return store.PutSchedulesResult{}, a.err
	}
	return a.Store.PutSchedules(ctx, req)
}

// watching is a watcher of s.yaml, which a test steps by hand.
type watching struct {
	*watcher
	t     *testing.T
	store *away
	log   *bytes.Buffer
}

func newWatching(t *testing.T, text string) *watching {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "s.yaml", text)
	w := &watching{t: t, store: &away{Store: memory.New()}, log: &bytes.Buffer{}}
	log := slog.New(&lineHandler{out: w.log})
	client, err := hourbell.New(w.store, hourbell.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	list := sources([]string{"s.yaml"}, nil)
	seen := lookAll(list)
	sets, err := loadAll(list)
	if err != nil {
		t.Fatal(err)
	}
	w.watcher = newWatcher(client, log, list, seen, sets)
	if err := w.syncAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *watching) look(times int) {
	for range times {
		w.step(w.t.Context(), 0)
	}
}

func (w *watching) has(names string) {
	w.t.Helper()
	found, err := w.client.Schedules(w.t.Context(), hourbell.ScheduleFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for _, s := range found {
		list = append(list, s.Name)
	}
	equal(w.t, "schedules", strings.Join(list, " "), names)
}

const (
	declareA = "schedules:\n  - {name: a, every: 1h, shell: date}\n"
	declareB = "schedules:\n  - {name: b, every: 1h, shell: date}\n"
)

// TestWatchWaitsForStillness holds that a file is not read while it is being
// written: half of it could be a good file with fewer schedules.
func TestWatchWaitsForStillness(t *testing.T) {
	w := newWatching(t, declareA)
	writeFile(t, "s.yaml", "schedules: []\n")
	w.look(1)
	w.has("a")
	writeFile(t, "s.yaml", declareA+"  - {name: c, every: 1h, shell: date}\n")
	w.look(1)
	w.has("a")
	w.look(1)
	w.has("a c")
	if strings.Contains(w.log.String(), "deleted=1") {
		t.Errorf("a half-written file was used:\n%s", w.log)
	}
}

// TestWatchTriesAgain holds that a change is not lost when the store is away,
// and that this is said once.
func TestWatchTriesAgain(t *testing.T) {
	w := newWatching(t, declareA)
	w.store.err = errors.New("the store is away")
	writeFile(t, "s.yaml", declareB)
	w.look(5)
	w.has("a")
	if n := strings.Count(w.log.String(), "the store is away"); n != 1 {
		t.Errorf("said %d times:\n%s", n, w.log)
	}
	w.store.err = nil
	w.look(1)
	w.has("b")
}

// TestWatchLeavesStillFilesAlone holds that nothing is read without a change.
func TestWatchLeavesStillFilesAlone(t *testing.T) {
	w := newWatching(t, declareA)
	before := w.log.Len()
	w.look(5)
	if w.log.Len() != before {
		t.Errorf("something was done:\n%s", w.log)
	}
	if err := os.Remove("s.yaml"); err != nil {
		t.Fatal(err)
	}
	w.look(5)
	w.has("a")
	if n := strings.Count(w.log.String(), "cannot be read"); n != 1 {
		t.Errorf("said %d times:\n%s", n, w.log)
	}
}
