package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/node"
)

// process is a real `hourbell serve`.
type process struct {
	t   *testing.T
	cmd *exec.Cmd

	mu  sync.Mutex
	log bytes.Buffer
}

func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(text)
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// serve starts a node on the bench's store.
func (b *bench) serve(args ...string) *process {
	b.t.Helper()
	return b.start(append([]string{"serve"}, args...)...)
}

// start starts a command on the bench's store in a process of its own.
func (b *bench) start(args ...string) *process {
	b.t.Helper()
	if runtime.GOOS == "windows" {
		b.t.Skip("signals")
	}
	p := &process{t: b.t}
	p.cmd = b.program(args...)
	p.cmd.Stderr = p
	if err := p.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		if b.t.Failed() {
			b.t.Logf("what the process logged:\n%s", p.logged())
		}
	})
	return p
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// awaits waits until the log contains a text the given number of times.
func (p *process) awaits(text string, times int) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("the log has %q %d times", text, times), func() bool { return strings.Count(p.logged(), text) >= times })
}

// ends waits for the process and returns its exit code.
func (p *process) ends() int {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case <-ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		p.t.Fatal("the process does not end")
		return -1
	}
}

// TestServe checks the whole life of a node.
func TestServe(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	writeFile(t, "s.yaml", "schedules:\n  - {name: bell, every: 500ms, overlap: allow, shell: 'echo ring $HOURBELL_JOB_ID on $HOURBELL_NODE, $HOURBELL_HOST'}\n")
	p := b.serve("--file", "s.yaml", "--probes", "127.0.0.1:0", "--name", "tower", "--host", "belfry.example", "--label", "zone=b", "--label", "role=bell")
	p.awaits("schedule=bell", 2)
	for _, text := range []string{"store=sqlite:", "file=s.yaml owner=file:s.yaml schedules=1", "next="} {
		if !strings.Contains(p.logged(), text) {
			t.Errorf("the log lacks %q", text)
		}
	}
	slots := b.objects("slots", "--schedule", "bell")
	if len(slots) < 2 || slots[0]["outcome"] != "fired" || slots[0]["job_id"] == nil {
		t.Errorf("slots: %v", slots)
	}
	last := slots[len(slots)-1]
	job := b.objects("jobs", "show", fmt.Sprint(last["job_id"]))[0]
	if job["output"] != fmt.Sprintf("ring %v on tower, belfry.example\n", last["job_id"]) || job["slot"] != last["slot"] || job["schedule"] != "bell" || job["origin"] != "schedule" || job["node"] != "tower" {
		t.Errorf("job: %v", job)
	}

	if node := b.objects("nodes")[0]; node["host"] != "belfry.example" || fmt.Sprint(node["labels"]) != "[role=bell zone=b]" {
		t.Errorf("node: %v", node)
	}
	t.Run("probes", func(t *testing.T) { checkProbes(t, p) })
	t.Run("enqueue", func(t *testing.T) {
		id := strings.TrimSpace(b.ok("enqueue", "command", "--", "echo", "by hand"))
		eventually(t, "the job has run", func() bool { return b.objects("jobs", "show", id)[0]["state"] == "completed" })
		if out := b.objects("jobs", "show", id)[0]["output"]; out != "by hand\n" {
			t.Errorf("output %q", out)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		id := strings.TrimSpace(b.ok("enqueue", "command", "--", "sleep", "1000"))
		eventually(t, "the job runs", func() bool { return b.objects("jobs", "show", id)[0]["state"] == "running" })
		if said := b.ok("jobs", "cancel", id); !strings.Contains(said, "asked to cancel") {
			t.Errorf("cancel says %q", said)
		}
		eventually(t, "the job is cancelled", func() bool { return b.objects("jobs", "show", id)[0]["state"] == "cancelled" })
	})
	t.Run("files", func(t *testing.T) { checkReload(t, b, p) })

	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	if state := b.objects("nodes")[0]["state"]; state != "left" {
		t.Errorf("the node is %v", state)
	}
}

// TestServeKeeps checks that a node keeps finished jobs as its file says, also after
// the file has changed.
func TestServeKeeps(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	file := func(completed string) {
		writeFile(t, "s.yaml", "kinds: {command: {keep: {completed: "+completed+", failed: 1h}}}\nschedules: []\n")
	}
	file("none")
	p := b.serve("--file", "s.yaml")
	p.awaits("node started", 1)
	run := func(command string) string {
		return strings.TrimSpace(b.ok("enqueue", "command", "--max-attempts", "1", "--", "sh", "-c", command))
	}
	gone, failed := run("echo out"), run("exit 3")
	eventually(t, "the job that completes is gone", func() bool { return b.run("jobs", "show", gone).code == exitFailed })
	b.fails(exitFailed, []string{"job " + gone, "not found", "keeps nothing"}, "jobs", "show", gone)
	eventually(t, "the job that fails is kept", func() bool { return b.objects("jobs", "show", failed)[0]["state"] == "failed" })
	file("1h")
	p.signal(syscall.SIGHUP)
	p.awaits("file read again", 1)
	kept := run("echo out")
	eventually(t, "the job is kept", func() bool { return b.objects("jobs", "show", kept)[0]["state"] == "completed" })
	p.signal(syscall.SIGTERM)
	p.ends()
}

// checkReload changes the file of a running node in every way.
func checkReload(t *testing.T, b *bench, p *process) {
	names := func() string {
		var list []string
		for _, s := range b.objects("schedules", "list") {
			list = append(list, fmt.Sprint(s["name"]))
		}
		return strings.Join(list, " ")
	}
	became := func(want string) {
		t.Helper()
		eventually(t, "the schedules are "+want, func() bool { return names() == want })
	}
	entry := "  - {name: %s, every: 1h, shell: date}\n"
	writeFile(t, "s.yaml", "schedules:\n"+fmt.Sprintf(entry, "in-place"))
	became("in-place")

	writeFile(t, "new.yaml", "schedules:\n"+fmt.Sprintf(entry, "renamed"))
	if err := os.Rename("new.yaml", "s.yaml"); err != nil {
		t.Fatal(err)
	}
	became("renamed")

	writeFile(t, "s.yaml", "schedules:\n  - {name: broken}\n")
	p.awaits("file has mistakes", 1)
	p.awaits("s.yaml:2", 1)
	time.Sleep(3 * watch.Every) // the message must not be repeated
	if n := strings.Count(p.logged(), "file has mistakes"); n != 1 {
		t.Errorf("the mistakes were logged %d times", n)
	}
	became("renamed")

	if err := os.Remove("s.yaml"); err != nil {
		t.Fatal(err)
	}
	p.awaits("file not read; its last good version stays in effect", 1)
	became("renamed")

	writeFile(t, "s.yaml", "revision: 7\nschedules:\n"+fmt.Sprintf(entry, "back"))
	became("back")

	// The change of this file is not visible from outside, so that only a
	// signal makes the node read it.
	info, err := os.Stat("s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "s.yaml", "revision: 7\nschedules:\n"+fmt.Sprintf(entry, "hupd"))
	if err := os.Chtimes("s.yaml", info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	became("hupd")

	writeFile(t, "s.yaml", "revision: 6\nschedules:\n"+fmt.Sprintf(entry, "old"))
	p.awaits("give this file a revision of at least 7", 1)
	became("hupd")
}

func checkProbes(t *testing.T, p *process) {
	_, rest, _ := strings.Cut(p.logged(), "address=")
	address, _, _ := strings.Cut(rest, " ")
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready"} {
		code, body := get(t, "http://"+address+path)
		if code != http.StatusOK || body["status"] != want {
			t.Errorf("%s: %d %v", path, code, body)
		}
	}
}

func get(t *testing.T, url string) (int, map[string]string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]string
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%s answers %q: %v", url, text, err)
	}
	return response.StatusCode, body
}

// TestServeIsCutShort checks that the second signal ends the wait for jobs,
// unless it is only an echo of the first signal.
func TestServeIsCutShort(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	id := strings.TrimSpace(b.ok("enqueue", "command", "--", "sleep", "1000"))
	p := b.serve("--drain", "10m", "--log-format", "json")
	eventually(t, "the job runs", func() bool { return b.objects("jobs", "show", id)[0]["state"] == "running" })
	p.signal(syscall.SIGINT)
	p.awaits("stopping", 1)
	p.signal(syscall.SIGTERM)
	time.Sleep(node.EchoTime + 300*time.Millisecond)
	if strings.Contains(p.logged(), "cut short") {
		t.Errorf("an echo of the first signal cut the stop short:\n%s", p.logged())
	}
	p.signal(syscall.SIGINT)
	if code := p.ends(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	for line := range strings.Lines(p.logged()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %q", line)
		}
	}
	if job := b.objects("jobs", "show", id)[0]; job["state"] != "ready" || job["attempt"] != 0.0 {
		t.Errorf("the job was not handed back: %v", job)
	}
}

// TestServeTwice is the README's second terminal: with two nodes, each slot
// fires once.
func TestServeTwice(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	b.ok("migrate", "up")
	writeFile(t, "s.yaml", "schedules:\n  - {name: bell, every: 200ms, command: ['true']}\n")
	one, two := b.serve("--file", "s.yaml"), b.serve("--file", "s.yaml")
	eventually(t, "some slots have fired", func() bool { return len(b.objects("slots")) > 10 })
	one.signal(syscall.SIGTERM)
	two.signal(syscall.SIGTERM)
	if a, b := one.ends(), two.ends(); a != exitDone || b != exitDone {
		t.Errorf("exit codes %d and %d", a, b)
	}
	for _, listing := range []string{"slots", "jobs list"} { // in one page, and in small ones
		args := append(strings.Fields(listing), "--limit", "0", "--output", "ndjson")
		whole := b.ok(args...)
		b.page = 3
		equal(t, listing+" in pages", b.ok(args...), whole)
		b.page = pageSize
	}
	seen := map[any]bool{}
	for _, slot := range b.objects("slots", "--limit", "0") {
		if slot["outcome"] != "fired" {
			continue
		}
		if seen[slot["slot"]] || seen[slot["job_id"]] {
			t.Errorf("twice: %v", slot)
		}
		seen[slot["slot"]], seen[slot["job_id"]] = true, true
	}
}

// TestServeStartFails checks the mistakes that are found at the start.
func TestServeStartFails(t *testing.T) {
	b := newBench(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	b.fails(exitFailed, []string{taken.Addr().String(), "in use"}, "serve", "--probes", taken.Addr().String())
	b.fails(exitFailed, []string{taken.Addr().String(), "in use"}, "serve", "--listen", taken.Addr().String())
	noStore(t, b)

	b.ok("schedules", "put", "mine", "--every", "1h", "--", "date")
	writeFile(t, "s.yaml", "schedules:\n  - {name: mine, every: 1h, shell: date}\n")
	r := b.run("serve", "--file", "s.yaml")
	if r.code != exitFailed || !strings.Contains(r.err, "hourbell: s.yaml: ") || !strings.Contains(r.err, `"mine"`) {
		t.Errorf("a name of another owner: %+v", r)
	}
}

// TestServeChangesWorkers checks that a node follows the files of --queues, --max-running and --ageing.
func TestServeChangesWorkers(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	writeFile(t, "queues", "default=1 # of this host\nreports=0\n")
	writeFile(t, "kinds", "command=4\n")
	writeFile(t, "ages", "default=1h\nreports=24h # few workers\n")
	p := b.serve("--queues", "@queues", "--max-running", "@kinds", "--ageing", "@ages")
	p.awaits("node started", 1)
	for range 6 {
		b.ok("enqueue", "command", "--", "sleep", "1000")
	}
	running := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d jobs run", n), func() bool { return len(b.objects("jobs", "list", "--state", "running")) == n })
	}
	id := strings.TrimSpace(b.ok("enqueue", "command", "--queue", "reports", "--", "true"))
	running(1)
	writeFile(t, "queues", "default=5\nother=1\n")
	running(4)
	p.awaits("workers of queues changed", 1)
	if job := b.objects("jobs", "show", id)[0]; job["state"] != "ready" {
		t.Errorf("a job of a queue without workers: %v", job)
	}
	p.awaits("other", 1)
	writeFile(t, "kinds", "command=x\n")
	p.awaits("jobs at once by kind not changed", 1)
	writeFile(t, "kinds", "\n")
	running(5)
	writeFile(t, "queues", "default=5\nreports=3")
	p.signal(syscall.SIGHUP)
	p.awaits("workers of queues changed", 2)
	eventually(t, "the job of the queue ends", func() bool { return b.objects("jobs", "show", id)[0]["state"] == "completed" })
	writeFile(t, "ages", "default=10m\n")
	p.awaits("ageing of queues changed", 2)
	writeFile(t, "ages", "default=10m,other=1h\n")
	p.awaits("ageing of queues not changed", 1)
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGTERM)
}

func TestServeRefusesWidths(t *testing.T) {
	b := newBench(t)
	b.fails(exitUsage, []string{"max-running", "command", "write kinds"}, "serve", "--max-running", "command")
	b.fails(exitUsage, []string{"max-running", "given twice"}, "serve", "--max-running", "command=1,command=2")
	b.fails(exitUsage, []string{"nowhere", "cannot be read"}, "serve", "--queues", "@nowhere")
	b.fails(exitUsage, []string{"queues", "given twice"}, "serve", "--queues", "default=2,default=3")
	b.fails(exitUsage, []string{"queues", "default=0", "no number of jobs"}, "serve", "--queues", "default=0")
	b.fails(exitUsage, []string{"max running of kind command", "out of range"}, "serve", "--max-running", "command=10001")
	b.fails(exitUsage, []string{"max-running", "other", "command, http"}, "serve", "--max-running", "other=1")
	b.fails(exitUsage, []string{"ageing", "default", "write queues"}, "serve", "--ageing", "default")
	b.fails(exitUsage, []string{"ageing", "given twice"}, "serve", "--ageing", "default=1h,default=2h")
	b.fails(exitUsage, []string{"ageing of queue default", "out of range"}, "serve", "--ageing", "default=10ms")
	b.fails(exitUsage, []string{"other", "is not served"}, "serve", "--ageing", "other=1h")
}
