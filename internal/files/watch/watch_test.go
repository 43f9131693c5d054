package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
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

// watching is a watcher whose steps a test makes one by one.
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
	if w.watcher, err = openFiles(loader{strict: true, me: identity{root: true, uid: os.Getuid()}}, inputs); err != nil {
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
	found, err := w.client.Schedules.List(w.t.Context(), hourbell.ScheduleFilter{})
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

// TestWatchWaitsForStillness checks that a file is not read while it is being
// written, because half of it could be a valid file with fewer schedules.
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

// TestWatchTriesAgain checks that a change is not lost while the store is away,
// and that this is logged once.
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

// TestWatchLeavesStillFilesAlone checks that nothing is read without a change.
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

// says requires exactly one log message with all of the words.
func (w *watching) says(words ...string) {
	w.t.Helper()
	if n := w.times(words...); n != 1 {
		w.t.Errorf("%d lines with %q:\n%s", n, words, w.log)
	}
}

// times counts the log messages with all of the words.
func (w *watching) times(words ...string) (n int) {
	messages := strings.NewReplacer("\n ", " ", `\"`, `"`).Replace(w.log.String())
	for line := range strings.Lines(messages) {
		all := true
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			n++
		}
	}
	return n
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

// TestWatchDirectory checks what happens to schedules when files appear,
// change, break and disappear.
func TestWatchDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	dated(t, "d/one", lines("a"), 1)
	dated(t, "d/one.sh", "nonsense", 1)
	dated(t, "d/one~", "nonsense", 1)
	w := watch(t, &away{Store: memory.New()}, input{"d", userForm})
	w.has("a")
	w.says("WARN", "left alone", "d/one.sh")
	w.says("DEBUG", "left alone", "d/one~")
	dated(t, "d/late.sh", "nonsense", 1)
	w.look(3)
	w.says("WARN", "left alone", "d/late.sh")
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
	w.has("a n") // it is older than its removal, as far as the node can know
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

// TestWatchOlderFile checks that a node with an older version of a file changes
// nothing, and that a node with an equal version logs nothing.
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
	if n := strings.Count(older.log.String(), "the store has a newer revision"); n != 1 {
		t.Errorf("the older node logged it %d times:\n%s", n, older.log)
	}
	if text := equally.log.String(); strings.Contains(text, "WARN") || !strings.Contains(text, "equal to it") {
		t.Errorf("the equal one says:\n%s", text)
	}
	dated(t, "old/tab", lines("c"), 10)
	older.look(2)
	newer.has("c")
}

// TestWatchOwnerChanges checks that no schedule stays under the earlier owner.
func TestWatchOwnerChanges(t *testing.T) {
	w := newWatching(t, "owner: one\nrevision: 3\n"+declareA)
	writeFile(t, "s.yaml", "owner: two\nrevision: 1\n"+declareA)
	w.look(2)
	w.has("a")
	found, err := w.client.Schedules.List(t.Context(), hourbell.ScheduleFilter{})
	if err != nil || len(found) != 1 || found[0].Owner != "two" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestBadFileOfADirectoryIsOut checks that a bad file does not stop other
// files, that all its mistakes are logged, and that it takes effect when it is
// corrected.
func TestBadFileOfADirectoryIsOut(t *testing.T) {
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	dated(t, "d/bad", lines("x")+"nonsense\n61 * * * * y\n", 1)
	dated(t, "d/good", lines("a"), 1)
	store := &away{Store: memory.New()}
	w := watch(t, store, input{"d", userForm})
	w.has("a")
	w.says("ERROR", "file has mistakes; none of it is used", "d/bad:3", "d/bad:4")
	w.look(3)
	w.says("ERROR", "file has mistakes")
	dated(t, "d/bad", lines("x"), 2)
	w.look(2)
	w.has("a x")

	// A file is also left out if it has a name of another file, or of another
	// owner in the store.
	dated(t, "d/thief", lines("a"), 3)
	w = watch(t, &away{Store: memory.New()}, input{"d", userForm})
	w.has("a x")
	w.says("ERROR", "file has mistakes", `"a" is also in d/good`)
	mustMakeDir(t, "e")
	dated(t, "e/late", lines("a"), 3)
	dated(t, "e/own", lines("o"), 3)
	w = watch(t, store, input{"e", userForm})
	w.has("a o x")
	w.says("ERROR", "file not in effect", "e/late")
}

// TestClashesWait checks conflicts of two files that share an owner: the later
// file is left out, a file that is itself an input wins, and the file that was
// left out takes effect when the other file is removed.
func TestClashesWait(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"d", "e"} {
		mustMakeDir(t, dir)
	}
	dated(t, "d/one", "#hourbell-file: owner=same\n"+lines("a"), 1)
	dated(t, "d/two", "#hourbell-file: owner=same\n"+lines("b"), 60*24*365*5) // newer than the removal of the other file
	w := watch(t, &away{Store: memory.New()}, input{"d", userForm})
	w.look(3)
	w.has("a")
	w.says("ERROR", "d/two", `"same" is also the owner of d/one`)
	if err := os.Remove("d/one"); err != nil {
		t.Fatal(err)
	}
	w.look(3)
	w.has("b")

	dated(t, "e/tab", "#hourbell-file: owner=same\n"+lines("c"), 1)
	w = watch(t, &away{Store: memory.New()}, input{"d", userForm}, input{"e/tab", userForm})
	w.has("c")
	w.says("ERROR", "d/two", `"same" is also the owner of e/tab`)
}

// TestWatchOwnersOfFiles checks that a file that was refused because of the
// users who can write it is accepted after its permissions have changed.
func TestWatchOwnersOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions of Unix")
	}
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	dated(t, "d/open", lines("a"), 1)
	if err := os.Chmod("d/open", 0o666); err != nil {
		t.Fatal(err)
	}
	w := watch(t, &away{Store: memory.New()}, input{"d", userForm})
	w.has("")
	w.says("ERROR", "d/open: can be written by other users")
	if err := os.Chmod("d/open", 0o600); err != nil {
		t.Fatal(err)
	}
	w.look(2)
	w.has("a")
}

// TestWatchStartsWait checks the message that a new @reboot line waits for the
// next start.
func TestWatchStartsWait(t *testing.T) {
	t.Chdir(t.TempDir())
	dated(t, "tab", lines("a")+"@reboot first\n", 1)
	w := watch(t, &away{Store: memory.New()}, input{"tab", userForm})
	dated(t, "tab", lines("a")+"@reboot first\n@reboot second\n", 2)
	w.look(2)
	w.says("waits for the next start", "tab:second-")
	if w.times("waits for the next start") != 1 {
		t.Errorf("the log is\n%s", w.log)
	}
}

// TestFileBecomesDirectory checks that a file that becomes a directory counts
// as gone.
func TestFileBecomesDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	dated(t, "d/one", lines("a"), 1)
	w := watch(t, &away{Store: memory.New()}, input{"d", userForm})
	if err := os.Remove("d/one"); err != nil {
		t.Fatal(err)
	}
	mustMakeDir(t, "d/one")
	w.look(3)
	w.has("")
	w.says("file is gone", "d/one")
}

// TestUndeclared checks that schedules of crontabs that were removed while no
// node ran are named at the next start, and that declared schedules are not.
func TestUndeclared(t *testing.T) {
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	dated(t, "d/one", lines("a"), 1)
	dated(t, "d/two", lines("it")+"0 1 * * * curl -u me:hunter2\n", 1)
	dated(t, "d/three", lines("c"), 1)
	writeFile(t, "s.yaml", declareB)
	store := &away{Store: memory.New()}
	watch(t, store, input{"d", userForm}, input{"s.yaml", yamlForm})
	if err := os.Remove("d/two"); err != nil {
		t.Fatal(err)
	}
	dated(t, "d/three", "nonsense\n", 2)
	w := watch(t, store, input{"d", userForm})
	w.tellUndeclared(t.Context())
	w.says("WARN", "no file of this node declares", "owner=crontab:two", "schedules=2", "if no other node has its file", "hourbell schedules delete crontab:two:curl-", ` it"`)
	if w.times("no file of this node declares") != 1 || strings.Contains(w.log.String(), "hunter2") {
		t.Errorf("the log is\n%s", w.log)
	}
}

// TestAllMistakesAtOnce checks that serve names the mistakes of all files, and
// the owners and names that two files share.
func TestAllMistakesAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	mustMakeDir(t, "d")
	writeFile(t, "d/one", "61 * * * * a\n* * * * *\n")
	writeFile(t, "d/two", "@never a\n")
	writeFile(t, "good", "0 0 * * * a\n")
	here := loader{strict: true, me: identity{uid: os.Getuid()}}
	_, err := openFiles(here, []input{{"d", userForm}, {"good", userForm}, {"missing", yamlForm}})
	for _, want := range []string{"d/one:1", "d/one:2", "d/two:1", "missing"} {
		if !strings.Contains(messageOf(err), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	var files mistakes
	if !errors.As(err, &files) || exitCode(err) != exitUsage {
		t.Errorf("exit code %d", exitCode(err))
	}
	writeFile(t, "d/one", "0 0 * * * a\n")
	writeFile(t, "d/two", "#hourbell-file: owner=mine\n0 0 * * * a\n")
	mustMakeDir(t, "e")
	writeFile(t, "e/one", "0 0 * * * a\n")
	both := []input{{"d/one", userForm}, {"e/one", userForm}}
	_, err = openFiles(here, both)
	if text := messageOf(err); !strings.Contains(text, `"crontab:one" is also the owner of d/one`) || !strings.Contains(text, "#hourbell-file: owner=") {
		t.Errorf("two files of one name: %v", err)
	}
	writeFile(t, "e/one", "#hourbell-file: owner=other\n0 0 * * * a\n")
	if _, err = openFiles(here, both); err != nil {
		t.Errorf("two owners: %v", err)
	}
}
