package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

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

// watching is a watcher that a test steps by hand.
type watching struct {
	*watcher
	t     *testing.T
	store *away
	log   *bytes.Buffer
}

// newWatching watches s.yaml.
func newWatching(t *testing.T, text string) *watching {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "s.yaml", text)
	return watch(t, &away{Store: memory.New()}, input{"s.yaml", yamlForm})
}

// watch starts a node's watcher on a store.
func watch(t *testing.T, store *away, inputs ...input) *watching {
	t.Helper()
	w := &watching{t: t, store: store, log: &bytes.Buffer{}}
	log := slog.New(&lineHandler{out: w.log, level: slog.LevelDebug})
	client, err := hourbell.New(w.store, hourbell.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if w.watcher, err = openFiles(loader{strict: true, me: identity{root: true}}, inputs); err != nil {
		t.Fatal(err)
	}
	w.start(client, log)
	if err := w.syncAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *watching) look(times int) {
	for range times {
		w.directories(w.t.Context())
		for _, f := range w.files {
			w.step(w.t.Context(), f)
		}
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

// dated writes a crontab as of some minutes after a fixed time.
func dated(t *testing.T, path, text string, minutes int) {
	t.Helper()
	writeFile(t, path, text)
	redate(t, path, minutes)
}

func redate(t *testing.T, path string, minutes int) {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func mustMakeDir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

const named = "#hourbell: name=%\n0 0 * * * date\n"

func lines(names ...string) string {
	var text strings.Builder
	for _, name := range names {
		text.WriteString(strings.ReplaceAll(named, "%", name))
	}
	return text.String()
}

// TestWatchDirectory holds what becomes of files that come, change, break and go.
func TestWatchDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	dated(t, "d/one", lines("a"), 1)
	dated(t, "d/one.bak", "nonsense", 1)
	w := watch(t, &away{Store: memory.New()}, input{"d", userForm})
	w.has("a")
	if !strings.Contains(w.log.String(), "d/one.bak") {
		t.Errorf("nothing tells of the file left alone:\n%s", w.log)
	}
	dated(t, "d/two", lines("b", "c"), 2)
	w.look(2)
	w.has("a b c")
	dated(t, "d/two", lines("b")+"nonsense\n", 3)
	w.look(5)
	w.has("a b c")
	if n := strings.Count(w.log.String(), "d/two:3"); n != 1 {
		t.Errorf("the mistake was named %d times:\n%s", n, w.log)
	}
	dated(t, "d/new", "nonsense\n", 3)
	w.look(3)
	dated(t, "d/new", lines("n"), 4)
	dated(t, "d/two", lines("b"), 4)
	w.look(2)
	w.has("a b n")
	if err := os.Remove("d/two"); err != nil {
		t.Fatal(err)
	}
	w.look(1)
	w.has("a b n")
	w.look(2)
	w.has("a n")
	dated(t, "d/two", lines("b"), 4)
	w.look(3)
	w.has("a n") // it is older than its going, as far as anybody knows
	if !strings.Contains(w.log.String(), "touch this one") {
		t.Errorf("nothing says what to do:\n%s", w.log)
	}
	writeFile(t, "d/two", lines("b", "d"))
	w.look(2)
	w.has("a b d n")
	if err := os.Rename("d", "elsewhere"); err != nil {
		t.Fatal(err)
	}
	w.look(5)
	w.has("a b d n")
	if n := strings.Count(w.log.String(), "directory not read"); n != 1 {
		t.Errorf("said %d times:\n%s", n, w.log)
	}
}

// TestWatchOlderFile holds that a node with an older version of a file changes
// nothing, and that one with an equal version says nothing.
func TestWatchOlderFile(t *testing.T) {
	t.Chdir(t.TempDir())
	store := &away{Store: memory.New()}
	for _, dir := range []string{"new", "old", "equal"} {
		mustMakeDir(t, dir)
	}
	dated(t, "new/tab", lines("a", "b"), 9)
	dated(t, "old/tab", lines("a", "c"), 5)
	dated(t, "equal/tab", lines("a", "b"), 5)
	newer := watch(t, store, input{"new/tab", userForm})
	older := watch(t, store, input{"old", userForm})
	equally := watch(t, store, input{"equal/tab", userForm})
	newer.has("a b")
	older.look(3)
	newer.look(3)
	newer.has("a b")
	if n := strings.Count(older.log.String(), "newer revision is in place"); n != 1 {
		t.Errorf("the older said so %d times:\n%s", n, older.log)
	}
	if text := equally.log.String(); strings.Contains(text, "WARN") || !strings.Contains(text, "equal to it") {
		t.Errorf("the equal one says:\n%s", text)
	}
	dated(t, "old/tab", lines("c"), 10)
	older.look(2)
	newer.has("c")
}

// TestWatchOwnerChanges holds that nothing stays under the owner before.
func TestWatchOwnerChanges(t *testing.T) {
	w := newWatching(t, "owner: one\nrevision: 3\n"+declareA)
	writeFile(t, "s.yaml", "owner: two\nrevision: 1\n"+declareA)
	w.look(2)
	w.has("a")
	found, err := w.client.Schedules(t.Context(), hourbell.ScheduleFilter{})
	if err != nil || len(found) != 1 || found[0].Owner != "two" {
		t.Errorf("found %+v, %v", found, err)
	}
}
