package files

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
)

const systemTab = "0 0 * * * root date\n"

// TestRootMistrustsFiles checks that a node that runs as root refuses a crontab
// that other users can write, and that commands that only read it warn.
func TestRootMistrustsFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions of Unix")
	}
	t.Chdir(t.TempDir())
	me := os.Getuid()
	for _, test := range []struct {
		name   string
		mode   os.FileMode
		form   Form
		loader Loader
		want   string // a mistake
		warns  string
	}{
		{"fine", 0o644, SystemCrontab, Loader{Strict: true, Me: Identity{Root: true, UID: me}}, "", ""},
		{"group", 0o664, SystemCrontab, Loader{Strict: true, Me: Identity{Root: true, UID: me}}, "tab: can be written by other users than its owner, and this process runs as root; chmod go-w it", ""},
		{"others", 0o646, UserCrontab, Loader{Strict: true, Me: Identity{Root: true, UID: me}}, "tab: can be written by other users", ""},
		{"check", 0o664, SystemCrontab, Loader{Me: Identity{Root: true, UID: me}}, "", "can be written by other users"},
		{"not root", 0o664, UserCrontab, Loader{Strict: true, Me: Identity{Name: "me", UID: me}}, "", `this process runs as "me"`},
		{"schedule file", 0o664, YAML, Loader{Strict: true, Me: Identity{Root: true, UID: me}}, "", "can be written by other users"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := map[Form]string{SystemCrontab: systemTab, UserCrontab: "0 0 * * * date\n", YAML: "schedules:\n  - {name: a, every: 1h, shell: date}\n"}[test.form]
			filestest.Write(t, "tab", text)
			if err := os.Chmod("tab", test.mode); err != nil {
				t.Fatal(err)
			}
			file, err := test.loader.Load(Source{Path: "tab", Form: test.form})
			if test.want == "" && err != nil || !strings.HasPrefix(messageOf(err), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if err == nil && !strings.Contains(warningsOf(file), test.warns) || test.warns == "" && err == nil && strings.Contains(warningsOf(file), "written") {
				t.Errorf("warns %q, want %q", warningsOf(file), test.warns)
			}
		})
	}
}

func warningsOf(file Loaded) string {
	var text strings.Builder
	for _, w := range file.Set.Warnings {
		text.WriteString(w.Error() + "\n")
	}
	return text.String()
}

// TestRootMistrustsOwners checks which owners of files a node accepts.
func TestRootMistrustsOwners(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to give files away")
	}
	t.Chdir(t.TempDir())
	const other = 54321 // not the number of an existing user
	root, own := Identity{Root: true}, Identity{Name: "me", UID: other + 1}
	for _, test := range []struct {
		name   string
		owner  int
		loader Loader
		want   string
		warns  string
	}{
		{"root's", 0, Loader{Strict: true, Me: root}, "", ""},
		{"another's", other, Loader{Strict: true, Me: root}, "tab: belongs to user 54321, and this process runs as root; chown root it", ""},
		{"another's, to check", other, Loader{Me: root}, "", "belongs to user 54321"},
		{"one's own", other + 1, Loader{Strict: true, Me: own}, "", ""},
		{"root's, for a user", 0, Loader{Strict: true, Me: own}, "", ""},
		{"another's, for a user", other, Loader{Strict: true, Me: own}, "", `belongs to user 54321, and this process runs as "me"; chown root or me it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			filestest.Write(t, "tab", "0 0 * * * date\n")
			if err := os.Chown("tab", test.owner, test.owner); err != nil {
				t.Fatal(err)
			}
			file, err := test.loader.Load(Source{Path: "tab", Form: UserCrontab})
			equal(t, "mistakes", messageOf(err), test.want)
			if err == nil && (!strings.Contains(warningsOf(file), test.warns) || test.warns == "" && warningsOf(file) != "") {
				t.Errorf("warns %q, want %q", warningsOf(file), test.warns)
			}
		})
	}
}

// TestSpoolOwners checks that in cron's spool a file may belong to its own
// user.
func TestSpoolOwners(t *testing.T) {
	if uidOf("daemon") == "" || uidOf("daemon") == uidOf("bin") {
		t.Skip("needs the users daemon and bin")
	}
	l := Loader{Strict: true, Me: Identity{Root: true}}
	spool := Source{Path: "/var/spool/cron/crontabs/daemon", Form: UserCrontab}
	for _, test := range []struct {
		user string
		want bool
	}{{"root", true}, {"daemon", true}, {"bin", false}} {
		uid, err := strconv.Atoi(uidOf(test.user))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.trusts(spool, uid); got != test.want {
			t.Errorf("%s: trusted %v", test.user, got)
		}
		system := Source{Path: spool.Path, Form: SystemCrontab}
		if got := l.trusts(system, uid); got != (test.user == "root") {
			t.Errorf("%s, read as a system crontab: trusted %v", test.user, got)
		}
	}
	equal(t, "remedy", l.chown(spool), "chown daemon")
	if spool := (Source{Path: "/var/spool/cron/crontabs/nobody-here", Form: UserCrontab}); l.trusts(spool, 1) {
		t.Error("a file of a user that is not known is another's")
	}
}
