package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
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
		form   form
		loader loader
		want   string // a mistake
		warns  string
	}{
		{"fine", 0o644, systemForm, loader{strict: true, me: identity{root: true, uid: me}}, "", ""},
		{"group", 0o664, systemForm, loader{strict: true, me: identity{root: true, uid: me}}, "tab: can be written by other users than its owner, and this process runs as root; chmod go-w it", ""},
		{"others", 0o646, userForm, loader{strict: true, me: identity{root: true, uid: me}}, "tab: can be written by other users", ""},
		{"check", 0o664, systemForm, loader{me: identity{root: true, uid: me}}, "", "can be written by other users"},
		{"not root", 0o664, userForm, loader{strict: true, me: identity{name: "me", uid: me}}, "", `this process runs as "me"`},
		{"schedule file", 0o664, yamlForm, loader{strict: true, me: identity{root: true, uid: me}}, "", "can be written by other users"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := map[form]string{systemForm: systemTab, userForm: "0 0 * * * date\n", yamlForm: declareA}[test.form]
			writeFile(t, "tab", text)
			if err := os.Chmod("tab", test.mode); err != nil {
				t.Fatal(err)
			}
			file, err := test.loader.load(source{path: "tab", form: test.form})
			if test.want == "" && err != nil || !strings.HasPrefix(messageOf(err), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if err == nil && !strings.Contains(warningsOf(file), test.warns) || test.warns == "" && err == nil && strings.Contains(warningsOf(file), "written") {
				t.Errorf("warns %q, want %q", warningsOf(file), test.warns)
			}
		})
	}
}

func warningsOf(file loaded) string {
	var text strings.Builder
	for _, w := range file.set.Warnings {
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
	root, own := identity{root: true}, identity{name: "me", uid: other + 1}
	for _, test := range []struct {
		name   string
		owner  int
		loader loader
		want   string
		warns  string
	}{
		{"root's", 0, loader{strict: true, me: root}, "", ""},
		{"another's", other, loader{strict: true, me: root}, "tab: belongs to user 54321, and this process runs as root; chown root it", ""},
		{"another's, to check", other, loader{me: root}, "", "belongs to user 54321"},
		{"one's own", other + 1, loader{strict: true, me: own}, "", ""},
		{"root's, for a user", 0, loader{strict: true, me: own}, "", ""},
		{"another's, for a user", other, loader{strict: true, me: own}, "", `belongs to user 54321, and this process runs as "me"; chown root or me it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			writeFile(t, "tab", "0 0 * * * date\n")
			if err := os.Chown("tab", test.owner, test.owner); err != nil {
				t.Fatal(err)
			}
			file, err := test.loader.load(source{path: "tab", form: userForm})
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
	l := loader{strict: true, me: identity{root: true}}
	spool := source{path: "/var/spool/cron/crontabs/daemon", form: userForm}
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
		system := source{path: spool.path, form: systemForm}
		if got := l.trusts(system, uid); got != (test.user == "root") {
			t.Errorf("%s, read as a system crontab: trusted %v", test.user, got)
		}
	}
	equal(t, "remedy", l.chown(spool), "chown daemon")
	if spool := (source{path: "/var/spool/cron/crontabs/nobody-here", form: userForm}); l.trusts(spool, 1) {
		t.Error("a file of a user that is not known is another's")
	}
}
