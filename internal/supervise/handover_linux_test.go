package supervise_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/supervise"
	"github.com/hourbell/hourbell/internal/tail"
	"github.com/hourbell/hourbell/internal/uptime"
)

// TestHandOver hands a command that prints all the time over many times: all of its output arrives,
// in order, and its result.
func TestHandOver(t *testing.T) {
	dir := dirWith(t, `i=0; until [ -f enough ]; do i=$((i+1)); echo "line $i of a text that is longer than a few bytes"; done; echo $i >count; exit 7`)
	p, out := start(t, dir, supervise.Claim{}, nil)
	for range 50 {
		time.Sleep(time.Millisecond) // at any byte of a report
		state, err := p.HandOver()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(); err == nil {
			t.Fatal("a process that was handed over has a result")
		}
		if p, err = supervise.TakeOver(state, supervise.Claim{}, out); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "enough")
	if got := wait(t, p); got != (supervise.Result{Code: 7}) {
		t.Errorf("result %+v", got)
	}
	if _, err := p.HandOver(); !errors.Is(err, supervise.ErrOver) {
		t.Errorf("a command that has ended is handed over: %v", err)
	}
	var last int
	text, _ := os.ReadFile(filepath.Join(dir, "count"))
	if _, err := fmt.Sscan(string(text), &last); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out.Bytes())), "\n")
	for i, line := range lines[1:] { // the first may be cut
		if want := fmt.Sprintf("line %d ", last-len(lines)+2+i); !strings.HasPrefix(line, want) {
			t.Fatalf("line %d of %d is %q, want %q", i+1, len(lines), line, want)
		}
	}
	noneLeft(t, dir)
}

// TestHandOverOfAnEnd hands a command over that is being stopped: it ends in time, with the reason.
func TestHandOverOfAnEnd(t *testing.T) {
	dir := dirWith(t, `trap "" TERM; touch ready; while :; do sleep 0.01; done`)
	p, out := start(t, dir, supervise.Claim{}, nil)
	awaitFile(t, dir, "ready")
	began := time.Now()
	p.Stop(400 * time.Millisecond)
	state, err := p.HandOver()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = supervise.TakeOver(state, supervise.Claim{}, out); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, p); got.Why != supervise.Stopped || time.Since(began) > 5*time.Second {
		t.Errorf("result %+v after %v", got, time.Since(began))
	}
	noneLeft(t, dir)
}

// TestNoProgramTakesOver hands a command over, and no program takes it: it ends when its claim does.
func TestNoProgramTakesOver(t *testing.T) {
	dir := dirWith(t, `touch ready; sleep 300`)
	p, _ := start(t, dir, supervise.ClaimFor(uptime.Now().Add(time.Second), time.Second, 100*time.Millisecond), nil)
	awaitFile(t, dir, "ready")
	state, err := p.HandOver()
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the command", func() bool { return len(living(t, dir)) == 0 })
	p, err = supervise.TakeOver(state, supervise.Claim{}, tail.New(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := wait(t, p); got.Why != supervise.ClaimOver {
		t.Errorf("result %+v", got)
	}
	noneLeft(t, dir)
}

// TestTakeOverOfAnotherRun checks that a supervisor ends its command if another run is expected at its
// socket, and that a program takes over only its own children and sockets.
func TestTakeOverOfAnotherRun(t *testing.T) {
	handedOver := func(t *testing.T) (string, supervise.State) {
		dir := dirWith(t, `touch ready; sleep 300`)
		p, _ := start(t, dir, supervise.Claim{}, nil)
		awaitFile(t, dir, "ready")
		state, err := p.HandOver()
		if err != nil {
			t.Fatal(err)
		}
		return dir, state
	}
	t.Run("another mark", func(t *testing.T) {
		dir, state := handedOver(t)
		state.Mark = "HOURBELL_RUN=another"
		p, err := supervise.TakeOver(state, supervise.Claim{}, tail.New(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := wait(t, p); got.Why != supervise.NodeGone {
			t.Errorf("result %+v", got)
		}
		noneLeft(t, dir)
	})
	t.Run("another child", func(t *testing.T) {
		dir, state := handedOver(t)
		right := state.Supervisor
		state.Supervisor = os.Getppid()
		if _, err := supervise.TakeOver(state, supervise.Claim{}, tail.New(1)); err == nil {
			t.Fatal("it was taken over")
		}
		until(t, "the end of the command", func() bool { return len(living(t, dir)) == 0 })
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(right, &status, 0, nil); err != nil {
			t.Error(err)
		}
		noneLeft(t, dir)
	})
	t.Run("another socket", func(t *testing.T) {
		dir, state := handedOver(t)
		file, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Close(state.Socket)
		state.Socket = int(file.Fd())
		if _, err := supervise.TakeOver(state, supervise.Claim{}, tail.New(1)); err == nil {
			t.Fatal("it was taken over")
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(state.Supervisor, &status, 0, nil); err != nil {
			t.Error(err)
		}
		noneLeft(t, dir)
		_ = file // closed by TakeOver
	})
}

// TestNodeIsKilledButItsSocketIsHeld checks that a command ends with its node although another
// process holds a copy of the node's end of the socket.
func TestNodeIsKilledButItsSocketIsHeld(t *testing.T) {
	dir := dirWith(t, `touch ready; sleep 300`)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SUPERVISE_TEST_HOLDER="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, dir, "held")
	awaitFile(t, dir, "ready")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	until(t, "the end of the command", func() bool {
		return len(living(t, dir)) == 0
	})
	text, err := os.ReadFile(filepath.Join(dir, "held"))
	if err != nil {
		t.Fatal(err)
	}
	var holder int
	if _, err := fmt.Sscan(string(text), &holder); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(holder, syscall.SIGKILL); err != nil {
		t.Errorf("the process with the copy has not lived until now: %v", err)
	}
}

// playHolder runs the script in dir, and starts a process that inherits the sockets of this one.
func playHolder(dir string) int {
	p, err := supervise.Start(shell(dir, filepath.Join(dir, "script")), supervise.Claim{}, tail.New(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	state, err := p.HandOver() // so that the socket is known
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	holder := exec.Command("sleep", "300")
	holder.ExtraFiles = []*os.File{os.NewFile(uintptr(state.Socket), "socket")}
	if err := holder.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.WriteFile(filepath.Join(dir, "held.new"), fmt.Append(nil, holder.Process.Pid), 0o600)
	_ = os.Rename(filepath.Join(dir, "held.new"), filepath.Join(dir, "held"))
	time.Sleep(time.Minute)
	return 0
}

func init() {
	if dir := os.Getenv("SUPERVISE_TEST_HOLDER"); dir != "" {
		os.Exit(playHolder(dir))
	}
}
