package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
	"github.com/hourbell/hourbell/internal/declared"
)

const importedTab = checkedTab + `#hourbell: on_failure=none on_missed="say 'missed'" on_recovery="curl \"$URL\"" group=g queue=q priority=2 paused=true detached=keep dir=/tmp user=ada
*/5 8-18 * jan,jul mon-fri date "+\%H:\%M" '#' \t é ☃ > "$HOME/a: b" % one %%two
CRON_TZ=Asia/Tokyo
EMPTY=""
QUOTED=' "x" '
SHELL=/bin/bash
@weekly true
@weekly true
@reboot @@
0 0 * * * -x: {a: [b, *c]} # & ! | > ' " ~
`

// TestImport checks that a crontab and the file that import makes from it
// declare the same.
func TestImport(t *testing.T) {
	t.Setenv("TZ", "Europe/Prague")
	b := newBench(t)
	writeFile(t, "tab", importedTab)
	filestest.Dated(t, "sys", "17 * * * *\troot    cd / && run-parts --report /etc/cron.hourly\n", 7)
	for _, in := range []files.Input{{Path: "tab", Form: files.UserCrontab}, {Path: "sys", Form: files.SystemCrontab}} {
		flag := map[files.Form]string{files.UserCrontab: "--crontab", files.SystemCrontab: "--crontab-system"}[in.Form]
		yaml := b.run("import", flag, in.Path)
		if yaml.code != exitDone {
			t.Fatalf("import: %+v", yaml)
		}
		writeFile(t, "out.yaml", yaml.out)
		want, got := mustLoad(t, in), mustLoad(t, files.Input{Path: "out.yaml", Form: files.YAML})
		if want.Owner != got.Owner || want.Revision != got.Revision {
			t.Errorf("owner %q revision %d, want %q and %d", got.Owner, got.Revision, want.Owner, want.Revision)
		}
		if !reflect.DeepEqual(schedules(want.Entries), schedules(got.Entries)) || !reflect.DeepEqual(schedules(want.AtStart), schedules(got.AtStart)) {
			t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", got, want, yaml.out)
		}
		b.ok("check", "out.yaml")
		if applied := b.run("apply", "out.yaml"); applied.code != exitDone || in.Path == "tab" && !strings.Contains(applied.err, "@reboot is not put into the store") {
			t.Errorf("apply: %+v", applied)
		}
	}
	if warned := b.run("import", "tab").err; !strings.Contains(warned, "tab:2: MAILTO") {
		t.Errorf("import warns %q", warned)
	}
}

func mustLoad(t *testing.T, in files.Input) *declared.File {
	t.Helper()
	file, err := files.Loader{Me: files.Identity{Root: true}}.Load(files.Source{Path: in.Path, Form: in.Form})
	if err != nil {
		t.Fatal(err)
	}
	return file.Set
}

func schedules(entries []declared.Entry) []hourbell.Schedule {
	var list []hourbell.Schedule
	for _, entry := range entries {
		list = append(list, entry.Schedule)
	}
	return list
}

// TestImportDirectory checks that each crontab becomes a file of its own, and
// that no file is overwritten.
func TestImportDirectory(t *testing.T) {
	b := newBench(t)
	for _, dir := range []string{"d", "out"} {
		filestest.Dir(t, dir)
	}
	writeFile(t, "d/one", "#hourbell: name=a\n0 0 * * * date\n")
	writeFile(t, "d/two", "#hourbell: name=b\n0 0 * * * date\n")
	b.fails(exitUsage, []string{"--into"}, "import", "--crontab", "d")
	writeFile(t, "s.yaml", "schedules:\n  - {name: a, every: 1h, shell: date}\n")
	b.fails(exitUsage, []string{"s.yaml", "already"}, "import", "s.yaml")
	equal(t, "import", b.ok("import", "--crontab", "d", "--into", "out"), filepath.Join("out", "one.yaml")+": 1 schedule\n"+filepath.Join("out", "two.yaml")+": 1 schedule\n")
	b.ok("check", "out/one.yaml", "out/two.yaml")
	if info, err := os.Stat("out/one.yaml"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file may hold secrets: %v, %v", info.Mode(), err)
	}
	b.fails(exitFailed, []string{"one.yaml", "exists"}, "import", "--crontab", "d", "--into", "out")
}
