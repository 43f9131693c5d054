package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// newVersion is the version of the other build of the program.
const newVersion = "9.9.9-upgrade"

// buildNew builds the program of another version, once.
var buildNew = sync.OnceValues(func() (string, error) {
	file := program + "-new"
	build := exec.Command("go", "build", "-ldflags", "-X github.com/hourbell/hourbell.build="+newVersion, "-o", file, ".")
	build.Dir = filepath.Join("..", "cmd", "hourbell")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
})

// installed is a place of the program, where the program is replaced as package managers do it.
type installed struct {
	t    *testing.T
	path string
}

func install(t *testing.T, file string) installed {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a program is replaced in place on Linux only")
	}
	in := installed{t, filepath.Join(t.TempDir(), "hourbell")}
	in.replace(file)
	return in
}

// replace puts another program in the place.
func (in installed) replace(file string) {
	in.t.Helper()
	from, err := os.Open(file)
	if err != nil {
		in.t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(in.path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700)
	if err == nil {
		_, err = io.Copy(to, from)
		err = errors.Join(err, to.Close(), os.Rename(in.path+".new", in.path))
	}
	if err != nil {
		in.t.Fatal(err)
	}
}

// runsIn reports whether a process runs the program that is in the place now.
func (in installed) runsIn(p *process) bool {
	running, err := os.Stat(fmt.Sprintf("/proc/%d/exe", p.cmd.Process.Pid))
	now, nowErr := os.Stat(in.path)
	return err == nil && nowErr == nil && os.SameFile(running, now)
}

type listedNode struct {
	ID      int64  `json:"id"`
	State   string `json:"state"`
	Version string `json:"version"`
}

// TestUpgrade (P2, P4, P5): programs of two versions replace each other at SIGUSR2, while commands run
// and slots fire. The commands go on: one attempt each, with the whole output. No slot is missed, the
// slots during a run are skipped or wait as the schedules have it, the node keeps its number, and no
// request over HTTP fails.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		next, err := buildNew()
		if err != nil {
			t.Fatal(err)
		}
		place := install(t, program)
		dir := t.TempDir()
		long := fmt.Sprintf("i=0; until [ -f %s/enough ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo $i lines", dir)
		file := filepath.Join(dir, "s.yaml")
		schedules := "schedules:\n  - {name: bell, every: 500ms, shell: 'echo ring'}\n" +
			fmt.Sprintf("  - {name: skips, every: 1s, overlap: skip, shell: '%s'}\n  - {name: queues, every: 1s, overlap: queue, shell: '%s'}\n", long, long)
		if err := os.WriteFile(file, []byte(schedules), 0o600); err != nil {
			t.Fatal(err)
		}
		node := serveFrom(t, place.path, store, "--file", file, "--probes", "127.0.0.1:0", "--lease", "20s") // a program starts slowly on a busy machine
		until(t, 30*time.Second, "the node's start", func() bool { return node.logged("node started") == 1 })
		running := func() map[string]jobRow {
			found := map[string]jobRow{}
			for _, job := range list[jobRow](t, store, "jobs", "list", "--state", "running") {
				if job.Schedule != "bell" {
					found[job.Schedule] = job
				}
			}
			return found
		}
		until(t, 20*time.Second, "the long commands", func() bool { return len(running()) == 2 })
		jobs, first := running(), theNode(t, store)
		stopAsking := keepAsking(t, node)

		for _, version := range []string{next, program} {
			tried, started := node.logged("upgrade: the new program is tried"), node.logged("node started")
			place.replace(version)
			node.signal(syscall.SIGUSR2)
			until(t, 20*time.Second, "the trial", func() bool { return node.logged("upgrade: the new program is tried") > tried })
			node.signal(syscall.SIGUSR2) // during the first
			until(t, 30*time.Second, "the upgrade", func() bool { return node.logged("node started") > started && place.runsIn(node) })
			until(t, 30*time.Second, "the end of the second upgrade, if there is one", func() bool {
				return node.logged("node started") == node.logged("upgrade: the program is replaced")+1
			})
			node.signal(syscall.SIGHUP)
			time.Sleep(time.Second) // the next slots of all schedules come
			now := running()
			for name, job := range jobs {
				if now[name].ID != job.ID || now[name].Token != job.Token {
					t.Errorf("the run of %s was %+v and is %+v", name, job, now[name])
				}
			}
			at := theNode(t, store)
			want := map[string]string{next: newVersion, program: first.Version}[version]
			if at.ID != first.ID || at.Version != want || at.State != first.State {
				t.Errorf("the node is %+v, it was %+v", at, first)
			}
			replaced := node.lines("upgrade: the program is replaced")
			if logged := replaced[len(replaced)-1].Version; logged != want {
				t.Errorf("the log says that the new program has the version %q, not %q", logged, want)
			}
		}
		until(t, 10*time.Second, "SIGHUP is heard", func() bool { return node.logged("files are read again") > 0 })
		if err := os.WriteFile(filepath.Join(dir, "enough"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, job := range jobs {
			until(t, 20*time.Second, "the end of "+name, func() bool { return jobByID(t, store, job.ID).State == "completed" })
			checkWhole(t, store, job.ID)
		}
		stopAsking()
		node.stop()
		if n := node.logged("upgrade not done; the node goes on with its program") + node.logged("lease lost"); n != 0 {
			t.Errorf("%d upgrades failed, or leases were lost", n)
		}
		checkLongSlots(t, store, jobs)
	})
}

// theNode returns the only node of a store.
func theNode(t *testing.T, store string) listedNode {
	t.Helper()
	var only listedNode
	if err := json.Unmarshal([]byte(run(t, store, "nodes", "--output", "ndjson")), &only); err != nil {
		t.Fatalf("not one node: %v", err)
	}
	return only
}

// keepAsking calls a node's probe over new connections until stop is called: every call is answered.
func keepAsking(t *testing.T, node *process) (stop func()) {
	t.Helper()
	address := ""
	until(t, 10*time.Second, "the address of the probes", func() bool {
		text, _ := os.ReadFile(node.log)
		_, rest, found := strings.Cut(string(text), `"msg":"probes answered","address":"`)
		address, _, _ = strings.Cut(rest, `"`)
		return found
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			select {
			case <-done:
				t.Logf("%d requests were answered", n)
				return
			case <-time.After(2 * time.Millisecond):
			}
			path := []string{"/healthz", "/readyz"}[n%2]
			response, err := client.Get("http://" + address + path)
			if err != nil {
				if node.logged("requests are cut off, because they have not ended in time") == 0 { // as happens on a busy machine
					t.Errorf("request %d: %v", n, err)
				}
				continue
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("request %d: %s is answered with %d %s", n, path, response.StatusCode, body)
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}

// checkWhole checks that a long command has one attempt, which has printed all of its lines.
func checkWhole(t *testing.T, store string, id int64) {
	t.Helper()
	var job struct {
		jobRow
		Output string `json:"output"`
	}
	if err := json.Unmarshal([]byte(run(t, store, "jobs", "show", fmt.Sprint(id), "--output", "json")), &job); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(job.Output), "\n")
	for i, line := range lines[:len(lines)-1] {
		if line != fmt.Sprintf("line %d", i+1) {
			t.Errorf("line %d of the output of job %d is %q", i+1, id, line)
			break
		}
	}
	if last := fmt.Sprintf("%d lines", len(lines)-1); lines[len(lines)-1] != last || len(lines) < 50 || job.Attempt != 1 || len(job.Attempts) != 1 {
		t.Errorf("job %d has %d attempts, %d recorded; its %d lines end with %q", id, job.Attempt, len(job.Attempts), len(lines), lines[len(lines)-1])
	}
}

// checkLongSlots checks that no slot was missed, and that slots during the long runs were skipped or fired
// as the schedules have it.
func checkLongSlots(t *testing.T, store string, long map[string]jobRow) {
	t.Helper()
	outcomes := map[string]map[string]int{}
	for _, slot := range list[slotRow](t, store, "slots") {
		if outcomes[slot.Schedule] == nil {
			outcomes[slot.Schedule] = map[string]int{}
		}
		outcomes[slot.Schedule][slot.Outcome] += int(max(slot.Count, 1))
		if slot.Outcome == "missed" {
			t.Errorf("missed: %+v", slot)
		}
	}
	if outcomes["skips"]["skipped"] < 2 || outcomes["queues"]["fired"] < 2 || outcomes["bell"]["fired"] < 4 {
		t.Errorf("outcomes %v", outcomes)
	}
	for _, job := range list[jobRow](t, store, "jobs", "list") {
		if job.Attempt > 1 || job.State == "failed" {
			t.Errorf("job %+v", job)
		}
	}
	t.Logf("outcomes %v of %d long runs", outcomes, len(long))
}

// TestUpgradeToAProgramThatCannot (P5): the new program cannot take over. The node goes on with its
// program and its command, and a good program can replace it later.
func TestUpgradeToAProgramThatCannot(t *testing.T) {
	t.Parallel()
	needs(t, inSQLite)
	store := freshStore(t, inSQLite)
	next, err := buildNew()
	if err != nil {
		t.Fatal(err)
	}
	place := install(t, program)
	w := newWitness(t)
	node := serveFrom(t, place.path, store)
	until(t, 30*time.Second, "the node's start", func() bool { return node.logged("node started") == 1 })
	id := enqueueShell(t, store, `until [ -f "$WITNESS" ]; do echo waits; sleep 0.05; done`, "--env", "WITNESS="+w.path)
	until(t, 20*time.Second, "the command", func() bool { return jobByID(t, store, id).State == "running" })
	for i, bad := range []string{"/bin/false", "/bin/true", "/dev/null"} { // ends at once with 1, with 0; is no program
		place.replace(bad)
		node.signal(syscall.SIGUSR2)
		until(t, 20*time.Second, "the refusal", func() bool { return node.logged("upgrade not done; the node goes on with its program") == i+1 })
	}
	place.replace(next)
	node.signal(syscall.SIGUSR2)
	until(t, 20*time.Second, "the upgrade", func() bool { return node.logged("node started") == 2 && place.runsIn(node) })
	if err := os.WriteFile(w.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, 20*time.Second, "the end of the command", func() bool { return jobByID(t, store, id).State == "completed" })
	if job := jobByID(t, store, id); job.Attempt != 1 {
		t.Errorf("job %+v", job)
	}
	node.stop()
}

// playBroken is a program that can take over, as it says, and fails when it does.
func playBroken() error {
	if !strings.HasPrefix(os.Args[len(os.Args)-1], "--upgrade-check=") {
		return errors.New("it does not start")
	}
	fmt.Println(`{"format":1,"version":"broken"}`)
	return nil
}

// TestUpgradeToAProgramThatFails (P4, P5): the new program fails after it has replaced the old
// program. All processes of the command are gone before the job starts elsewhere.
func TestUpgradeToAProgramThatFails(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		p := newCommandProof(t, store)
		place := install(t, program)
		victim := p.serveFrom(place.path, "HOURBELL_PROOF_ROLE=broken")
		p.enqueue()
		rescuer := p.serve(store)
		place.replace(self)
		victim.signal(syscall.SIGUSR2)
		select {
		case <-victim.done:
		case <-time.After(30 * time.Second):
			t.Fatal("the broken program does not end")
		}
		p.awaitRunAfter(p.latest())
		p.stop(rescuer)
	})
}

// TestKilledWithinAnUpgrade (P4): kill -9 of a node at any instant of an upgrade: all processes of its
// command are gone before the job starts elsewhere.
func TestKilledWithinAnUpgrade(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		rng := random(t)
		p := newCommandProof(t, store)
		place := install(t, program)
		victim := p.serveFrom(place.path)
		p.enqueue()
		rescuer := p.serve(store)
		victim.signal(syscall.SIGUSR2)
		until(t, 20*time.Second, "the trial", func() bool { return bytes.Contains(read(t, victim.log), []byte("upgrade: the program is replaced")) })
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		victim.kill()
		p.awaitRunAfter(p.latest())
		p.stop(rescuer)
	})
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// serveFrom starts a node of the program in a file, with more variables in its environment.
func (p *commandProof) serveFrom(file string, env ...string) *process {
	p.t.Helper()
	cmd := exec.Command(file, "serve", "--log-format", "json", "--commands", "any", "--lease", p.lease.String(), "--drain", "100ms")
	cmd.Env = append(append(os.Environ(), "HOURBELL_STORE="+p.store), env...)
	node := start(p.t, cmd)
	until(p.t, 20*time.Second, "the node's start", func() bool { return node.logged("node started") == 1 })
	return node
}
