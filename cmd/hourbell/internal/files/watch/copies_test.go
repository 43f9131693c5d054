package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
	"github.com/hourbell/hourbell/store/memory"
)

// crontabOn writes a crontab of a host, all with the same name.
func crontabOn(t *testing.T, host, text string, minutes int) files.Input {
	t.Helper()
	if err := os.MkdirAll(host, 0o700); err != nil {
		t.Fatal(err)
	}
	filestest.Dated(t, filepath.Join(host, "tab"), text, minutes)
	return files.Input{Path: host, Form: files.UserCrontab}
}

// meet lets the node notice what other hosts have declared, and its own changes.
func (w *watching) meet() {
	w.t.Helper()
	w.look(2)
	w.compare(w.t.Context())
	w.look(1)
}

const differs = "file not in force: it differs from the version in force"

// TestChangesWin checks that the newest change of a host's copy is in force, and that a restart,
// touch and an older copy change nothing.
func TestChangesWin(t *testing.T) {
	t.Chdir(t.TempDir())
	store := &away{Store: memory.New()}
	first := startOn(t, "one", store, crontabOn(t, "one", lines("a"), 1))
	second := startOn(t, "two", store, crontabOn(t, "two", lines("a"), 9))
	for _, w := range []*watching{first, second} {
		if w.meet(); w.times("WARN") != 0 {
			t.Errorf("equal copies differ:\n%s", w.log)
		}
	}

	crontabOn(t, "two", lines("b"), 5) // an older time does not matter
	second.meet()
	first.has("b")
	first.meet()
	first.meet()
	first.says("WARN", differs, "file=one/tab", "owner=crontab:tab", "host=two", `difference="only here: a; only in force: b"`, "bring the file of host two to this host", "touch is no change")

	crontabOn(t, "one", lines("a"), 99) // touch
	first.meet()
	first = startOn(t, "one", store, crontabOn(t, "one", lines("a"), 99))
	first.meet()
	first.has("b")
	first.says("WARN", differs)
	if s := first.States()[0]; !strings.Contains(s.Problem, "which host two declared") {
		t.Errorf("the file is shown as %+v", s)
	}

	first = startOn(t, "one", store, crontabOn(t, "one", lines("c"), 1)) // edited while it was stopped
	first.has("c")
	second.meet()
	second.says("WARN", differs, "host=one")
	crontabOn(t, "two", lines("c"), 1)
	second.meet()
	second.has("c")
	if s := second.States()[0]; s.Problem != "" {
		t.Errorf("the file is shown as %+v", s)
	}
	crontabOn(t, "one", lines("d"), 2)
	first.meet()
	second.meet()
	crontabOn(t, "one", lines("c"), 3)
	first.meet()
	second.meet()
	second.says("file equals the version in force again")
}

// TestFirstCopiesChangeNothing checks hosts that join, and that a version without a host gives way.
func TestFirstCopiesChangeNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	store := &away{Store: memory.New()}
	first := startOn(t, "one", store, crontabOn(t, "one", lines("a"), 1))
	joins := startOn(t, "two", store, crontabOn(t, "two", lines("b"), 9))
	joins.meet()
	joins.has("a")
	joins.says("WARN", differs, "host=one")
	if err := os.Remove("one/tab"); err != nil {
		t.Fatal(err)
	}
	first.look(3)
	first.says("file is gone from this host")
	joins.meet()
	joins.meet()
	joins.has("b")
	joins.says("file read again")
	if err := os.Remove("two/tab"); err != nil {
		t.Fatal(err)
	}
	joins = startOn(t, "two", store, files.Input{Path: "two", Form: files.UserCrontab}) // removed while it was stopped
	joins.has("")
	joins.says("file is gone, and its schedules with it", "two/tab", "deleted=1")
}

// TestRevisionsOutrank checks that a revision is stronger than a change.
func TestRevisionsOutrank(t *testing.T) {
	t.Chdir(t.TempDir())
	store := &away{Store: memory.New()}
	first := startOn(t, "one", store, crontabOn(t, "one", lines("a"), 1))
	second := startOn(t, "two", store, crontabOn(t, "two", lines("a"), 1))
	crontabOn(t, "one", "#hourbell-file: revision=3\n"+lines("b"), 1)
	first.meet()
	crontabOn(t, "two", lines("c"), 1)
	second.meet()
	second.has("b")
	second.says("WARN", differs, "or give this file a revision of at least 3")
	crontabOn(t, "two", "#hourbell-file: revision=3\n"+lines("c"), 1)
	second.meet()
	second.has("c")
}

// TestZonesAreCompared checks that equal crontabs on hosts of different time zones differ.
func TestZonesAreCompared(t *testing.T) {
	t.Chdir(t.TempDir())
	store := &away{Store: memory.New()}
	t.Setenv("TZ", "UTC")
	first := startOn(t, "one", store, crontabOn(t, "one", lines("a"), 1))
	t.Setenv("TZ", "Europe/Berlin")
	second := startOn(t, "two", store, crontabOn(t, "two", lines("a"), 1))
	second.says("WARN", differs, `difference="time zone: Europe/Berlin here, UTC in force"`)
	for range 2 {
		startOn(t, "two", store, crontabOn(t, "two", lines("a"), 1))
		t.Setenv("TZ", "UTC")
		first = startOn(t, "one", store, crontabOn(t, "one", lines("a"), 1))
		t.Setenv("TZ", "Europe/Berlin")
	}
	info, err := first.client.Schedules.Get(t.Context(), "a")
	if err != nil || info.Rule.Zone != "UTC" {
		t.Errorf("restarts changed the zone: %+v, %v", info.Rule, err)
	}
}
