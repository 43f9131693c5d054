package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	wentBack = "the store went back in time: a backup was restored, or a failover lost what had been committed; this node claims and fires nothing until `hourbell nodes accept-history` confirms that"
	goesOn   = "loss of history accepted; claiming and firing again"
)

type nodeRow struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// TestARestoredBackupOfAServer (P1, P4): a server is stopped, its folder copied, and
// started again; jobs run; then the copy takes its place. A node that lives all the
// while, and one that knows nothing, claim and fire nothing until an operator confirms.
// Then tokens are greater than all before, and slots of the time in between are missed.
func TestARestoredBackupOfAServer(t *testing.T) {
	t.Parallel()
	onServers(t, servers, func(t *testing.T, kind string) {
		t.Parallel()
		backupIsRestored(t, kind)
	})
}

func backupIsRestored(t *testing.T, kind string) {
	server := newServer(t, kind)
	server.start()
	store := server.url
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
	needs(t, inSQLite)
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
