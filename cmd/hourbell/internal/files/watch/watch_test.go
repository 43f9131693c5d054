package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/logline"
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
	*Watcher
	t     *testing.T
	store *away
	log   *bytes.Buffer
}

// newWatching watches s.yaml.
func newWatching(t *testing.T, text string) *watching {
	t.Helper()
	t.Chdir(t.TempDir())
	filestest.Write(t, "s.yaml", text)
	return start(t, &away{Store: memory.New()}, files.Input{Path: "s.yaml", Form: files.YAML})
}

// start starts a node's watcher on a store.
func start(t *testing.T, store *away, inputs ...files.Input) *watching {
	t.Helper()
	return startOn(t, "here", store, inputs...)
}

// startOn starts a watcher of a node on a host.
func startOn(t *testing.T, host string, store *away, inputs ...files.Input) *watching {
	t.Helper()
	return startWith(t, files.Loader{Strict: true, Host: host, Me: files.Identity{Root: true, UID: os.Getuid()}}, store, inputs...)
}

func startWith(t *testing.T, loader files.Loader, store *away, inputs ...files.Input) *watching {
	t.Helper()
	w := &watching{t: t, store: store, log: &bytes.Buffer{}}
	log := slog.New(logline.NewHandler(w.log, slog.LevelDebug))
	client, err := hourbell.New(w.store, hourbell.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if w.Watcher, err = Open(loader, inputs); err != nil {
		t.Fatal(err)
	}
	w.Start(client, log)
	if err := w.SyncAll(t.Context()); err != nil {
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
		w.publish()
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
	filestest.Write(t, "s.yaml", "schedules: []\n")
	w.look(1)
	w.has("a")
	filestest.Write(t, "s.yaml", declareA+"  - {name: c, every: 1h, shell: date}\n")
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
	filestest.Write(t, "s.yaml", declareB)
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
	filestest.Dir(t, "d")
	filestest.Dated(t, "d/one", lines("a"), 1)
	filestest.Dated(t, "d/one.sh", "nonsense", 1)
	filestest.Dated(t, "d/one~", "nonsense", 1)
	w := start(t, &away{Store: memory.New()}, files.Input{Path: "d", Form: files.UserCrontab})
	w.has("a")
	w.says("WARN", "left alone", "d/one.sh")
	w.says("DEBUG", "left alone", "d/one~")
	filestest.Dated(t, "d/late.sh", "nonsense", 1)
	w.look(3)
	w.says("WARN", "left alone", "d/late.sh")
	filestest.Dated(t, "d/two", lines("b", "c"), 2)
	w.look(2)
	w.has("a b c")
	filestest.Dated(t, "d/two", lines("b")+"nonsense\n", 3)
	w.look(5)
	w.has("a b c")
	if n := strings.Count(w.log.String(), "d/two:3"); n != 1 {
		t.Errorf("the mistake was named %d times:\n%s", n, w.log)
	}
	filestest.Dated(t, "d/new", "nonsense\n", 3)
	w.look(3)
	filestest.Dated(t, "d/new", lines("n"), 4)
	filestest.Dated(t, "d/two", lines("b"), 4)
	w.look(2)
	w.has("a b n")
	if err := os.Remove("d/two"); err != nil {
		t.Fatal(err)
	}
	w.look(1)
	w.has("a b n")
	w.look(2)
	w.has("a n")
	filestest.Dated(t, "d/two", lines("b"), 4)
	w.look(3)
	w.has("a b n")
	filestest.Write(t, "d/two", lines("b", "d"))
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

// TestWatchOwnerChanges checks that no schedule stays under the earlier owner.
func TestWatchOwnerChanges(t *testing.T) {
	w := newWatching(t, "owner: one\nrevision: 3\n"+declareA)
	filestest.Write(t, "s.yaml", "owner: two\nrevision: 1\n"+declareA)
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
	filestest.Dir(t, "d")
	filestest.Dated(t, "d/bad", lines("x")+"nonsense\n61 * * * * y\n", 1)
	filestest.Dated(t, "d/good", lines("a"), 1)
	store := &away{Store: memory.New()}
	w := start(t, store, files.Input{Path: "d", Form: files.UserCrontab})
	w.has("a")
	w.says("ERROR", "file has mistakes; none of it is used", "d/bad:3", "d/bad:4")
	w.look(3)
	w.says("ERROR", "file has mistakes")
	filestest.Dated(t, "d/bad", lines("x"), 2)
	w.look(2)
	w.has("a x")

	// A file is also left out if it has a name of another file, or of another
	// owner in the store.
	filestest.Dated(t, "d/thief", lines("a"), 3)
	w = start(t, &away{Store: memory.New()}, files.Input{Path: "d", Form: files.UserCrontab})
	w.has("a x")
	w.says("ERROR", "file has mistakes", `"a" is also in d/good`)
	filestest.Dir(t, "e")
	filestest.Dated(t, "e/late", lines("a"), 3)
	filestest.Dated(t, "e/own", lines("o"), 3)
	w = start(t, store, files.Input{Path: "e", Form: files.UserCrontab})
	w.has("a o x")
	w.says("ERROR", "file not in effect", "e/late")
}

// TestClashesWait checks conflicts of two files that share an owner: the later
// file is left out, a file that is itself an input wins, and the file that was
// left out takes effect when the other file is removed.
func TestClashesWait(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"d", "e"} {
		filestest.Dir(t, dir)
	}
	filestest.Dated(t, "d/one", "#hourbell-file: owner=same\n"+lines("a"), 1)
	filestest.Dated(t, "d/two", "#hourbell-file: owner=same\n"+lines("b"), 2)
	w := start(t, &away{Store: memory.New()}, files.Input{Path: "d", Form: files.UserCrontab})
	w.look(3)
	w.has("a")
	w.says("ERROR", "d/two", `"same" is also the owner of d/one`)
	if err := os.Remove("d/one"); err != nil {
		t.Fatal(err)
	}
	w.look(3)
	w.has("b")

	filestest.Dated(t, "e/tab", "#hourbell-file: owner=same\n"+lines("c"), 1)
	w = start(t, &away{Store: memory.New()}, files.Input{Path: "d", Form: files.UserCrontab}, files.Input{Path: "e/tab", Form: files.UserCrontab})
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
	filestest.Dir(t, "d")
	filestest.Dated(t, "d/open", lines("a"), 1)
	if err := os.Chmod("d/open", 0o666); err != nil {
		t.Fatal(err)
	}
	w := start(t, &away{Store: memory.New()}, files.Input{Path: "d", Form: files.UserCrontab})
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
	filestest.Dated(t, "tab", lines("a")+"@reboot first\n", 1)
	w := start(t, &away{Store: memory.New()}, files.Input{Path: "tab", Form: files.UserCrontab})
	filestest.Dated(t, "tab", lines("a")+"@reboot first\n@reboot second\n", 2)
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
	filestest.Dir(t, "d")
	filestest.Dated(t, "d/one", lines("a"), 1)
	w := start(t, &away{Store: memory.New()}, files.Input{Path: "d", Form: files.UserCrontab})
	if err := os.Remove("d/one"); err != nil {
		t.Fatal(err)
	}
	filestest.Dir(t, "d/one")
	w.look(3)
	w.has("")
	w.says("file is gone", "d/one")
}

// TestUndeclared checks that schedules of crontabs that a node is no longer given are named
// at the next start, unless another host declares them, and that declared schedules are not.
func TestUndeclared(t *testing.T) {
	t.Chdir(t.TempDir())
	filestest.Dir(t, "d")
	filestest.Dated(t, "d/one", lines("a"), 1)
	filestest.Dated(t, "two", lines("it")+"0 1 * * * curl -u me:hunter2\n", 1)
	filestest.Dated(t, "other", lines("o"), 1)
	filestest.Dated(t, "d/three", lines("c"), 1)
	filestest.Write(t, "s.yaml", declareB)
	store := &away{Store: memory.New()}
	start(t, store, files.Input{Path: "d", Form: files.UserCrontab}, files.Input{Path: "s.yaml", Form: files.YAML}, files.Input{Path: "two", Form: files.UserCrontab})
	startOn(t, "there", store, files.Input{Path: "other", Form: files.UserCrontab})
	filestest.Dated(t, "d/three", "nonsense\n", 2)
	w := start(t, store, files.Input{Path: "d", Form: files.UserCrontab})
	w.tellUndeclared(t.Context())
	w.says("WARN", "that neither a file of this node nor another host declares", "owner=crontab:two", "schedules=2", "if its file is gone", "hourbell schedules delete crontab:two:curl-", ` it"`)
	if w.times("nor another host declares") != 1 || strings.Contains(w.log.String(), "hunter2") {
		t.Errorf("the log is\n%s", w.log)
	}
}

// TestAllMistakesAtOnce checks that serve names the mistakes of all files, and
// the owners and names that two files share.
func TestAllMistakesAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	filestest.Dir(t, "d")
	filestest.Write(t, "d/one", "61 * * * * a\n* * * * *\n")
	filestest.Write(t, "d/two", "@never a\n")
	filestest.Write(t, "good", "0 0 * * * a\n")
	here := files.Loader{Strict: true, Me: files.Identity{UID: os.Getuid()}}
	_, err := Open(here, []files.Input{{Path: "d", Form: files.UserCrontab}, {Path: "good", Form: files.UserCrontab}, {Path: "missing", Form: files.YAML}})
	for _, want := range []string{"d/one:1", "d/one:2", "d/two:1", "missing"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	var wrong files.MistakesError
	if !errors.As(err, &wrong) {
		t.Errorf("these are no mistakes: %v", err)
	}
	filestest.Write(t, "d/one", "0 0 * * * a\n")
	filestest.Write(t, "d/two", "#hourbell-file: owner=mine\n0 0 * * * a\n")
	filestest.Dir(t, "e")
	filestest.Write(t, "e/one", "0 0 * * * a\n")
	both := []files.Input{{Path: "d/one", Form: files.UserCrontab}, {Path: "e/one", Form: files.UserCrontab}}
	_, err = Open(here, both)
	if text := fmt.Sprint(err); !strings.Contains(text, `"crontab:one" is also the owner of d/one`) || !strings.Contains(text, "#hourbell-file: owner=") {
		t.Errorf("two files of one name: %v", err)
	}
	filestest.Write(t, "e/one", "#hourbell-file: owner=other\n0 0 * * * a\n")
	if _, err = Open(here, both); err != nil {
		t.Errorf("two owners: %v", err)
	}
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// TestWatchStates checks what people see of the files.
func TestWatchStates(t *testing.T) {
	w := newWatching(t, "schedules:\n- {name: a, every: 1h, command: [\"true\"]}\n- {name: b, every: 1h, command: [\"true\"]}\n")
	state := func() FileState {
		t.Helper()
		states := w.States()
		if len(states) != 1 {
			t.Fatalf("got %+v", states)
		}
		return states[0]
	}
	if s := state(); s.Path != "s.yaml" || s.Owner == "" || s.Entries != 2 || s.Problem != "" || s.ModifiedAt.IsZero() {
		t.Errorf("got %+v", s)
	}
	filestest.Write(t, "s.yaml", "schedules:\n- {name: a, every: never, command: [\"true\"]}\n")
	w.look(3)
	if s := state(); s.Entries != 2 || !strings.Contains(s.Problem, "never") {
		t.Errorf("after a mistake: %+v", s)
	}
}
