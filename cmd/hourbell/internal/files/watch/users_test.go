package watch

import (
	"errors"
	"os"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
	"github.com/hourbell/hourbell/store/memory"
)

// TestLinesOfUsersThatAreMissing checks that a node does not allow commands of users that its machine
// does not have, that it says so, and that it allows them when the user is there.
func TestLinesOfUsersThatAreMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	filestest.Write(t, "tab", "#hourbell: name=a on_failure='echo hook'\n0 0 * * * ada date\n#hourbell: name=b\n0 0 * * * bob date\n@reboot ada date\n@reboot bob date\n")
	missing := map[string]error{"ada": errors.New("not known here")}
	loader := files.Loader{Strict: true, Host: "h", Me: files.Identity{Root: true, UID: os.Getuid()}, CheckUser: func(name string) error { return missing[name] }}
	w := startWith(t, loader, &away{Store: memory.New()}, files.Input{Path: "tab", Form: files.SystemCrontab})
	w.has("a b")
	w.says("WARN", "lines not run by this node, because of their user", "user=ada", `reason="not known here"`, "lines=2")
	allowed := func(name string) (job, hook bool) {
		t.Helper()
		for _, entry := range w.sets()[0].Entries {
			if entry.Name == name {
				s := w.runnable(entry.Schedule)
				return s.Job != nil, s.Hooks.OnFailure != nil
			}
		}
		t.Fatalf("no entry %s", name)
		return false, false
	}
	if job, hook := allowed("a"); job || !hook {
		t.Errorf("the line of the missing user is allowed: %v, its hook: %v", job, hook)
	}
	if job, _ := allowed("b"); !job {
		t.Error("the line of another user is not allowed")
	}
	if starts := w.AtStart(); len(starts) != 1 || files.UserOf(starts[0].Job) != "bob" {
		t.Errorf("at the start run %+v", starts)
	}
	w.checkUsers()
	missing = map[string]error{"bob": errors.New("expired")}
	w.checkUsers()
	w.checkUsers()
	w.says("WARN", "lines not run by this node", "user=bob", "reason=expired")
	w.says("lines run by this node again", "user=ada")
	if job, _ := allowed("a"); !job {
		t.Error("the line of a user who is there again is not allowed")
	}
}
