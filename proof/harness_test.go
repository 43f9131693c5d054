package proof

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the path of the built hourbell, for all tests of the run.
var program string

func TestMain(m *testing.M) {
	if role := os.Getenv("HOURBELL_PROOF_ROLE"); role != "" {
		os.Exit(play(role))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		fmt.Println("left out with -short: each test starts processes")
		return 0
	}
	dir, err := os.MkdirTemp("", "hourbell-proof-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // for the nodes
	program = filepath.Join(dir, "hourbell")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "cmd", "hourbell")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	if err := checkStores(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if parallel, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err != nil || parallel > mostParallel {
		flag.Set("test.parallel", strconv.Itoa(mostParallel))
	}
	return m.Run()
}

// mostParallel is how many tests run at a time at most: each has many processes, and bounds on what happens in time.
const mostParallel = 4

// duration returns how long the timed tests run.
func duration(t *testing.T) time.Duration {
	return fromEnv(t, "HOURBELL_PROOF_SECONDS", 8*time.Second, func(text string) (time.Duration, error) {
		n, err := strconv.Atoi(text)
		return time.Duration(n) * time.Second, err
	})
}

// lease returns the lease of the nodes.
func lease(t *testing.T) time.Duration {
	return fromEnv(t, "HOURBELL_PROOF_LEASE", 4*time.Second, time.ParseDuration)
}

func fromEnv(t *testing.T, name string, otherwise time.Duration, parse func(string) (time.Duration, error)) time.Duration {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	d, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// random returns a source whose seed is printed.
func random(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// run calls the program and returns its output; the program must exit with 0.
func run(t *testing.T, store string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "HOURBELL_STORE="+store)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hourbell %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// list calls a listing and decodes its lines.
func list[T any](t *testing.T, store string, args ...string) []T {
	t.Helper()
	var rows []T
	lines := bufio.NewScanner(strings.NewReader(run(t, store, append(args, "--output", "ndjson", "--limit", "0")...)))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("hourbell %s: %v in %s", strings.Join(args, " "), err, lines.Text())
		}
		rows = append(rows, row)
	}
	return rows
}

type slotRow struct {
	Schedule string    `json:"schedule"`
	Slot     time.Time `json:"slot"`
	Last     time.Time `json:"last"`
	Count    int64     `json:"count"`
	Outcome  string    `json:"outcome"`
	Reason   string    `json:"reason"`
	JobID    *int64    `json:"job_id"`
}

type jobRow struct {
	ID       int64  `json:"id"`
	State    string `json:"state"`
	Attempt  int    `json:"attempt"`
	Token    int64  `json:"token"`
	Node     string `json:"node"`
	Schedule string `json:"schedule"`
	Slot     string `json:"slot"`
	Reason   string `json:"reason"`
	Attempts []struct {
		Attempt int    `json:"attempt"`
		Node    string `json:"node"`
		Outcome string `json:"outcome"`
		Error   string `json:"error"`
	} `json:"attempts"`
}

// process is a node.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

// serve starts a node of the built program. More arguments go to serve.
func serve(t *testing.T, store string, args ...string) *process {
	t.Helper()
	return serveFrom(t, program, store, args...)
}

// serveFrom starts a node of the program in a file.
func serveFrom(t *testing.T, file, store string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(file, append([]string{"serve", "--log-format", "json", "--log-level", "debug", "--lease", lease(t).String(), "--commands", "any"}, args...)...)
	cmd.Env = append(os.Environ(), "HOURBELL_STORE="+store)
	return start(t, cmd)
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "node-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, log: log.Name(), done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the test checks how it ended
		close(p.done)
	}()
	t.Cleanup(func() {
		p.signal(syscall.SIGCONT)
		p.kill()
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			lines := 2000
			if os.Getenv("CI") != "" { // so that the failure is not far from the end
				lines = 20
			}
			t.Logf("log of process %d:\n%s", cmd.Process.Pid, tail(string(text), lines))
		}
	})
	return p
}

func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(len(all)-lines, 0):], "\n")
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// freeze stops a process, which uses a store, so that it holds up no other process: with SQLite, a process that is stopped in a
// transaction that writes locks the file, so that it goes on and is stopped again.
func (p *process) freeze(store string) {
	p.t.Helper()
	path, isFile := strings.CutPrefix(store, "sqlite:")
	for range 20 {
		p.signal(syscall.SIGSTOP)
		if !isFile || canWrite(p.t, path) {
			return
		}
		p.signal(syscall.SIGCONT)
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatal("the process has locked the file whenever it was stopped")
}

// canWrite reports whether a transaction that writes to a SQLite database can begin within a second.
func canWrite(t *testing.T, path string) bool {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(1000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		return false
	}
	return tx.Rollback() == nil
}

// kill sends SIGKILL.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// stop asks the node to stop and expects a clean exit.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(60 * time.Second):
		p.t.Fatalf("process %d did not stop", p.cmd.Process.Pid)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("process %d exited with %d", p.cmd.Process.Pid, code)
	}
}

// logged counts the log lines with this message.
func (p *process) logged(message string) int { return len(p.lines(message)) }

type logLine struct {
	Message string `json:"msg"`
	Host    string `json:"host"`
	User    string `json:"user"`
	Differs string `json:"difference"`
	Job     int64  `json:"job"`
	Token   int64  `json:"token"`
	Detail  string `json:"detail"`
	Version string `json:"version"`
}

func (p *process) lines(message string) (found []logLine) {
	p.t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l logLine
		if json.Unmarshal([]byte(line), &l) == nil && l.Message == message {
			found = append(found, l)
		}
	}
	return found
}

// until waits for a condition, and gives up after limit. A condition that starts the program is
// looked at less often, so that the nodes have the processor.
func until(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); {
		began := time.Now()
		if ok() {
			return
		}
		time.Sleep(max(20*time.Millisecond, 3*time.Since(began)))
	}
	t.Fatalf("waited %v in vain for: %s", limit, what)
}

// witness is a file to which jobs add lines.
type witness struct {
	t    *testing.T
	path string
}

func newWitness(t *testing.T) witness {
	return witness{t: t, path: filepath.Join(t.TempDir(), "witness")}
}

// lines returns the fields of each line written so far.
func (w witness) lines() (rows [][]string) {
	w.t.Helper()
	text, err := os.ReadFile(w.path)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}
