//go:build unix

package supervise

import (
	"encoding/json"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestDeafSupervisor checks that a supervisor that ignores all orders does not
// block its node.
func TestDeafSupervisor(t *testing.T) {
	near, far, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	deaf, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "setsid sleep 300 & exec sleep 300"}, &os.ProcAttr{
		Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{nil, nil, nil, far}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	far.Close()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{supervisor: deaf, socket: near, done: make(chan struct{}), mark: "no process has this mark"}
	session := sessionUnder(t, deaf.Pid)
	go p.guard()
	go p.listen(json.NewDecoder(near), io.Discard)
	p.Stop(0)
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		_ = deaf.Kill()
		t.Fatal("the run does not end")
	}
	want := Result{Why: Stopped, Signal: syscall.SIGKILL, Forced: true}
	if got, err := p.Wait(); got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if left := orphans(session, p.mark); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// sessionUnder returns the session that a child of a process began, or 0 if
// there is no such child.
func sessionUnder(t *testing.T, root int) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.GOOS == "linux" && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found := family(root, 0); len(found) == 1 && found[0].session == found[0].pid {
			return found[0].session
		}
	}
	if runtime.GOOS == "linux" {
		t.Fatal("no session begins")
	}
	return 0
}

func TestMarkReplacesAnother(t *testing.T) {
	env, mark := marked([]string{"A=1", markName + "outer", "B=2"})
	if len(env) != 3 || env[0] != "A=1" || env[1] != "B=2" || env[2] != mark || mark == markName+"outer" {
		t.Errorf("got %q and %q", env, mark)
	}
	if _, other := marked(nil); other == mark {
		t.Error("two runs have the same mark")
	}
}
