package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	wentBack = "the store went back in time: a backup was restored, or a failover lost what had been committed; this node claims and fires nothing until `hourbell nodes accept-history` confirms that"
	goesOn   = "loss of history accepted; claiming and firing again"
)

type nodeRow struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// TestARestoredBackupOfPostgreSQL (P1, P4): a server is stopped, its folder copied, and
// started again; jobs run; then the copy takes its place. A node that lives all the
// while, and one that knows nothing, claim and fire nothing until an operator confirms.
// Then tokens are greater than all before, and slots of the time in between are missed.
func TestARestoredBackupOfPostgreSQL(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.start()
	store := server.url()
	w := newWitness(t)
	putTick(t, store, w)
	node := serve(t, store, "--name", "old")
	until(t, 30*time.Second, "the first slots", func() bool { return len(w.lines()) >= 3 })

	server.stop()
	server.copyTo("backup")
	server.start()
	before := len(w.lines())
	until(t, 60*time.Second, "slots after the backup", func() bool { return len(w.lines()) >= before+5 })
	server.stop()
	server.restore("backup")
	ran, greatest := len(w.lines()), greatestToken(t, w)
	server.start()

	until(t, 60*time.Second, "the error in the log", func() bool { return node.logged(wentBack) == 1 })
	newcomer := serve(t, store, "--name", "new", "--state-dir", t.TempDir())
	until(t, 30*time.Second, "both nodes to be suspended", func() bool { return suspended(t, store) == 2 && newcomer.logged(wentBack) == 1 })
	if n := len(w.lines()); n != ran {
		t.Fatalf("%d jobs ran on the restored store before anybody confirmed it", n-ran)
	}
	time.Sleep(2 * time.Second) // slots come, and may not fire
	if n := len(w.lines()); n != ran {
		t.Fatalf("%d jobs ran while the nodes were suspended", n-ran)
	}

	// A job that had not ended when the backup was taken runs again: the store knows
	// nothing of what became of it.
	again := map[string]bool{}
	for _, job := range list[jobRow](t, store, "jobs", "list") {
		again[millisecond(t, job.Slot)] = job.State != "completed"
	}
	t.Log(run(t, store, "nodes", "accept-history"))
	until(t, 20*time.Second, "the nodes to go on", func() bool { return len(w.lines()) >= ran+3 })
	until(t, 20*time.Second, "the log to say so", func() bool { return node.logged(goesOn) == 1 && newcomer.logged(goesOn) == 1 })
	if n := suspended(t, store); n != 0 {
		t.Errorf("%d nodes are suspended after the loss was accepted", n)
	}
	slots := map[string]bool{}
	for i, line := range w.lines() {
		if slots[line[0]] && !again[millisecond(t, line[0])] {
			t.Errorf("the slot %s fired twice", line[0])
		}
		slots[line[0]] = true
		if token := tokenOf(t, line); i >= ran && token <= greatest {
			t.Errorf("token %d after the loss, and %d before it", token, greatest)
		}
	}
	var missed int64
	for _, slot := range list[slotRow](t, store, "slots", "--schedule", "tick") {
		if slot.Outcome == "missed" && strings.HasPrefix(slot.Reason, "history:") {
			missed += slot.Count
		}
	}
	if missed < 5 {
		t.Errorf("%d slots of the time in between are recorded as missed, and at least 5 were lost", missed)
	}
	out, err := exec.Command(program, "nodes", "accept-history", "--store", store).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "nothing was changed") {
		t.Errorf("accept-history where nothing was lost: %v: %s", err, out)
	}
}

// TestARestoredFileOfSQLite (P1, P4): the file is copied while nothing runs, and put
// back later. A node that starts then knows by its state file.
func TestARestoredFileOfSQLite(t *testing.T) {
	t.Parallel()
	path, state := filepath.Join(t.TempDir(), "proof.db"), filepath.Join(t.TempDir(), "state")
	store := "sqlite:" + path
	w := newWitness(t)
	putTick(t, store, w)
	copyFile(t, path, path+".backup")
	node := serve(t, store, "--state-dir", state)
	until(t, 30*time.Second, "slots", func() bool { return len(w.lines()) >= 5 })
	node.stop()
	ran, greatest := len(w.lines()), greatestToken(t, w)
	for _, leftover := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + leftover); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	copyFile(t, path+".backup", path)

	// A file of schedules that is brought at the start fires no slot that is due either.
	file := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(file, []byte("schedules:\n  - name: more\n    every: 1s\n    command: [\"true\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node = serve(t, store, "--state-dir", state, "--file", file)
	until(t, 30*time.Second, "the error in the log", func() bool { return node.logged(wentBack) == 1 })
	until(t, 30*time.Second, "the node to be suspended", func() bool { return suspended(t, store) == 1 })
	if n := len(w.lines()); n != ran {
		t.Fatalf("%d jobs ran on the restored store before anybody confirmed it", n-ran)
	}
	refused := exec.Command(program, "schedules", "put", "tick", "--every", "2s", "--store", store, "--", "true")
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "accept-history") {
		t.Errorf("an edit would fire slots that are due: %v: %s", err, out)
	}
	var done struct {
		Fired  int64 `json:"fired"`
		Missed int64 `json:"missed"`
	}
	if err := json.Unmarshal([]byte(run(t, store, "nodes", "accept-history", "--refire", "--output", "json")), &done); err != nil {
		t.Fatal(err)
	}
	if done.Fired < 5 || done.Missed != 0 {
		t.Errorf("accept-history --refire: %+v", done)
	}
	until(t, 30*time.Second, "all slots to run again", func() bool { return len(w.lines()) >= 2*ran })
	for _, line := range w.lines()[ran:] {
		if token := tokenOf(t, line); token <= greatest {
			t.Errorf("token %d after the loss, and %d before it", token, greatest)
		}
	}
	node.stop()
	node = serve(t, store, "--state-dir", state)
	after := len(w.lines())
	until(t, 30*time.Second, "the next start to work", func() bool { return len(w.lines()) > after })
	if node.logged(wentBack) != 0 {
		t.Error("the node complains about a loss that was accepted")
	}
}

// putTick makes a schedule that writes each slot and token to the witness.
func putTick(t *testing.T, store string, w witness) {
	t.Helper()
	run(t, store, "schedules", "put", "tick", "--every", "1s", "--misfire", "all", "--overlap", "allow",
		"--shell", fmt.Sprintf("echo $HOURBELL_SLOT $HOURBELL_TOKEN >> %s", w.path))
}

func suspended(t *testing.T, store string) (n int) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(run(t, store, "nodes", "--output", "ndjson")), "\n") {
		var row nodeRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if row.State == "suspended" {
			n++
		}
	}
	return n
}

// millisecond shortens an instant to the milliseconds that listings print.
func millisecond(t *testing.T, instant string) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func tokenOf(t *testing.T, line []string) int64 {
	t.Helper()
	token, err := strconv.ParseInt(line[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func greatestToken(t *testing.T, w witness) (greatest int64) {
	t.Helper()
	for _, line := range w.lines() {
		greatest = max(greatest, tokenOf(t, line))
	}
	return greatest
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// server is a PostgreSQL of the test's own, which can be stopped and put back.
type server struct {
	t    *testing.T
	bin  string
	dir  string // of its folders
	port int
	user *syscall.SysProcAttr
	cmd  *exec.Cmd
}

func newServer(t *testing.T) *server {
	t.Helper()
	bin, err := exec.Command("../scripts/postgres-bin").Output()
	if err != nil {
		if os.Getenv("HOURBELL_TEST_REQUIRE") != "" {
			t.Fatalf("PostgreSQL is not installed: %v", err)
		}
		t.Skip("PostgreSQL is not installed")
	}
	s := &server{t: t, bin: strings.TrimSpace(string(bin)), dir: t.TempDir()}
	if os.Getuid() == 0 { // PostgreSQL refuses root
		s.lend()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	s.call(filepath.Join(s.bin, "initdb"), "--pgdata=data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
	t.Cleanup(s.stop)
	return s
}

// lend gives the server's folder to another user.
func (s *server) lend() {
	s.t.Helper()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		s.t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, _ := strconv.ParseUint(nobody.Gid, 10, 32)
	s.user = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if err := os.Chown(s.dir, int(uid), int(gid)); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(s.dir), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// call runs a program in the server's folder, as its user.
func (s *server) call(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.user
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
}

func (s *server) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// start starts the server and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), "-D", "data", "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off")
	s.cmd.Dir, s.cmd.SysProcAttr = s.dir, s.user
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	until(s.t, 30*time.Second, "the server to answer", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, s.url())
		if err != nil {
			return false
		}
		conn.Close(ctx)
		return true
	})
}

// stop stops the server as an operator does; clients are cut off.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT) // fast shutdown
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	timer.Stop()
	s.cmd = nil
}

// copyTo and restore copy the folder of a server that is stopped.
func (s *server) copyTo(name string) { s.t.Helper(); s.call("cp", "-a", "data", name) }

func (s *server) restore(name string) {
	s.t.Helper()
	s.call("mv", "data", "lost")
	s.call("cp", "-a", name, "data")
}
