package files

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
)

// TestDirectoryNames checks which files of a directory count as crontabs.
func TestDirectoryNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"d", "d/sub"} {
		filestest.Dir(t, dir)
	}
	for _, name := range []string{"backup", "e2scrub_all", "with-dash", "9", ".placeholder", "backup~", "backup.dpkg-old", "backup.sh", "tmp.XXXX", "#x#", "a.ucf-dist", "a b", "target"} {
		filestest.Write(t, filepath.Join("d", name), "")
	}
	for link, to := range map[string]string{"link": "target", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join("d", link)); err != nil {
			t.Skip(err)
		}
	}
	found, left, err := Input{Path: "d", Form: SystemCrontab}.List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range found {
		names = append(names, filepath.Base(s.Path))
	}
	equal(t, "crontabs", strings.Join(names, " "), "9 backup e2scrub_all link target with-dash")
	reasons := map[string]string{}
	for _, s := range left {
		reasons[filepath.Base(s.Path)] = s.Reason
	}
	for name, want := range map[string]string{
		".placeholder": "hidden", "backup~": "copy", "backup.dpkg-old": "copy", "tmp.XXXX": "copy", "#x#": "copy", "a.ucf-dist": "copy", "backup.sh": "more than letters", "a b": "more than letters", "sub": "not a file", "dangling": "not a file",
	} {
		if !strings.Contains(reasons[name], want) {
			t.Errorf("%s is left alone because %q, want %q", name, reasons[name], want)
		}
	}
}

// TestSpoolUserThroughLinks checks that a path through links into the spool
// does not change the user of a crontab.
func TestSpoolUserThroughLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"spool", "other"} {
		filestest.Dir(t, dir)
	}
	for _, file := range []string{"spool/ada", "other/tab"} {
		filestest.Write(t, file, "")
	}
	for link, to := range map[string]string{"way": "spool", "tab": "spool/ada", "spool/bob": "../other/tab", "spool/eve": "ada", "chain": "tab"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	abs, err := filepath.Abs("spool")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"spool/ada": "ada", "way/ada": "ada", "way/nobody": "nobody", "tab": "ada", "chain": "ada", "spool/bob": "bob", "spool/eve": "eve", "way/bob": "bob",
		"other/tab": "", "nowhere/tab": "",
	} {
		if got := userIn([]string{"/nowhere", abs}, path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestSpoolUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	for path, want := range map[string]string{
		"/var/spool/cron/crontabs/ada": "ada", "/var/spool/cron/ada": "ada", "/var/spool/cron/crontabs/../crontabs/ada.l": "ada.l",
		"/etc/cron.d/ada": "", "/srv/ada": "", "ada": "",
	} {
		if got := spoolUser(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	if whyNot("/var/spool/cron/crontabs/ada.l") != "it is not a file" {
		t.Error("a user's name may not have a dot")
	}
}

func TestFormOf(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	system := "SHELL=/bin/sh\n17 * * * * " + me.Username + " cd /\n@daily\t" + me.Username + " date\n"
	if strings.Contains(me.Username, `\`) {
		t.Skip("names of Windows")
	}
	for _, test := range []struct {
		path, text string
		want       Form
	}{
		{"a.yaml", system, YAML},
		{"a.yml", system, YAML},
		{"a.json", system, YAML},
		{"/etc/crontab", "", SystemCrontab},
		{"/etc/cron.d/x", "schedules: []", SystemCrontab},
		{"/var/spool/cron/crontabs/ada", system, UserCrontab},
		{"tab", system, SystemCrontab},
		{"tab", "\ufeff0 0 * * * date\r\n", UserCrontab},
		{"tab", system + "0 0 * * * nobody-here date\n", UserCrontab},
		{"-", "@reboot x", UserCrontab},
		{"tab", "", YAML},
		{"tab", "schedules:\n  - {name: a}\n", YAML},
		{"tab", "PATH=/bin\n", YAML},
	} {
		if got := formOf(test.path, []byte(test.text)); got != test.want {
			t.Errorf("%s %q: got %s, want %s", test.path, test.text, got, test.want)
		}
	}
}

// TestUsersNeedRoot checks that a node refuses lines that it cannot run, and
// that other commands only warn about them.
func TestUsersNeedRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	filestest.Write(t, "tab", "0 0 * * * ada date\n0 0 * * * me date\n")
	me := Identity{Name: "me", UID: os.Getuid()}
	s := Source{Path: "tab", Form: SystemCrontab}
	_, err := Loader{Strict: true, Me: me}.Load(s)
	equal(t, "refused", messageOf(err), `tab:1: user "ada" needs a node that runs as root, and this one runs as "me"; run the node as root or as this user, or leave the line out of its files`)
	file, err := Loader{Me: me}.Load(s)
	if err != nil || len(file.Set.Warnings) != 2 || !strings.Contains(file.Set.Warnings[0].Error(), "needs a node that runs as root") || !strings.Contains(file.Set.Warnings[1].Error(), `"me" is not known on this machine`) {
		t.Errorf("got %+v, %v", file.Set, err)
	}
	filestest.Write(t, "hooks.yaml", "schedules:\n  - {name: a, every: 1m, shell: x, on_failure: {shell: y, user: ada}}\n")
	if _, err := (Loader{Strict: true, Me: me}).Load(Source{Path: "hooks.yaml", Form: YAML}); err == nil {
		t.Error("a hook as another user is taken")
	}
}

// TestSpoolsOfManyHosts checks that equal crontabs of one user on two hosts have nothing in common, and that no remedy
// names a setting that such a crontab refuses.
func TestSpoolsOfManyHosts(t *testing.T) {
	s := Source{Path: "/var/spool/cron/crontabs/ada", Form: UserCrontab}
	names := map[string]bool{}
	for _, host := range []string{"web1", "web2"} {
		l := Loader{Host: host, Me: Identity{Root: true}, CheckUser: func(string) error { return nil }}
		file, err := l.loadFrom(s, strings.NewReader("0 0 * * * date\n@reboot date\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "owner", file.Set.Owner, "crontab@"+host+":spool/ada")
		equal(t, "owner of a file with mistakes", l.DefaultOwner(s), file.Set.Owner)
		equal(t, "host of the line", file.Set.Entries[0].On.Host, host)
		for _, entry := range file.Set.All() {
			if names[entry.Name] {
				t.Errorf("two hosts have a line %s", entry.Name)
			}
			names[entry.Name] = true
		}
		other := file
		other.Path = "/var/cron/tabs/ada"
		if text := messageOf(CheckTogether([]Loaded{file, other})); !strings.Contains(text, "make one file of them") || strings.Contains(text, "owner=") {
			t.Errorf("two crontabs of a user: %s", text)
		}
		if _, err := l.loadFrom(s, strings.NewReader("#hourbell-file: owner=mine\n0 0 * * * date\n"), nil); err == nil {
			t.Error("a crontab of a spool may set its owner")
		}
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
