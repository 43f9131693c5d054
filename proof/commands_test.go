package proof

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unruly is a shell script that tries to survive the end of its run: it has a
// child in the background and a daemon (forked twice, in its own session), and
// all of them ignore every signal that can be ignored. Each process reports to
// the witness twenty times a second that it is alive, with one write of a few
// bytes to a file opened for appending: so the order of lines is the order of
// events.
const unruly = `
trap '' TERM HUP INT QUIT PIPE
live() { while :; do echo "$HOURBELL_TOKEN $1" >>"$WITNESS"; sleep 0.05; done; }
case $1 in
daemon) live daemon ;;
esac
(setsid sh "$0" daemon &)
live child &
live main
`

// commandProof is a job with an unruly command, and its witness.
type commandProof struct {
	t     *testing.T
	store string
	w     witness
	lease time.Duration
	job   int64
}

func newCommandProof(t *testing.T, store string) *commandProof {
	t.Helper()
	p := &commandProof{t: t, store: store, w: newWitness(t)}
	p.lease = fromEnv(t, "HOURBELL_PROOF_LEASE", 2*time.Second, time.ParseDuration)
	t.Cleanup(func() {
		for _, pid := range p.living() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return p
}

// serve starts a node that runs any command; at is the URL by which the node
// reaches the store.
func (p *commandProof) serve(at string) *process {
	p.t.Helper()
	node := serve(p.t, at, "--commands", "any", "--lease", p.lease.String(), "--drain", "100ms")
	until(p.t, 20*time.Second, "the node's start", func() bool { return node.logged("node started") == 1 })
	return node
}

// enqueue enqueues the job and waits until all its processes are alive.
func (p *commandProof) enqueue() {
	p.t.Helper()
	script := p.w.path + ".sh"
	if err := os.WriteFile(script, []byte(unruly), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.job = enqueueShell(p.t, p.store, "exec sh "+script, "--env", "WITNESS="+p.w.path)
	p.awaitRunAfter(0)
}

// latest returns the token of the latest run that the witness knows.
func (p *commandProof) latest() (token int64) {
	p.t.Helper()
	for other := range p.tokens() {
		token = max(token, other)
	}
	return token
}

// awaitRunAfter waits until all processes of a run later than the run with
// token have reported several times that they are alive: long enough that any
// concurrent process would have reported, too.
func (p *commandProof) awaitRunAfter(token int64) {
	p.t.Helper()
	until(p.t, 4*p.lease+20*time.Second, "all processes of a later run", func() bool {
		for later, who := range p.tokens() {
			if later > token && min(who["main"], who["child"], who["daemon"]) >= 5 {
				return true
			}
		}
		return false
	})
}

// tokens returns how often each process of each run has reported to the
// witness.
func (p *commandProof) tokens() map[int64]map[string]int {
	p.t.Helper()
	seen := map[int64]map[string]int{}
	for _, row := range p.w.lines() {
		token, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil || len(row) != 2 {
			p.t.Fatalf("the witness holds %q", row)
		}
		if seen[token] == nil {
			seen[token] = map[string]int{}
		}
		seen[token][row[1]]++
	}
	return seen
}

// neverTwo expects that no process of a run reported after a process of a later
// run had.
func (p *commandProof) neverTwo() {
	p.t.Helper()
	latest := int64(0)
	for i, row := range p.w.lines() {
		token, _ := strconv.ParseInt(row[0], 10, 64)
		if token < latest {
			p.t.Errorf("line %d of the witness: the %s of the run with token %d lived concurrently with the run with token %d", i+1, row[1], token, latest)
			return
		}
		latest = token
	}
	p.t.Logf("%d lines of %d runs, one after the other", len(p.w.lines()), len(p.tokens()))
}

// living lists the processes of all runs, found by their environment.
func (p *commandProof) living() (pids []int) {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		p.t.Skip("needs /proc")
	}
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err == nil && bytes.Contains(env, []byte("WITNESS="+p.w.path+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// stop stops nodes in order; afterwards no process of any run may be left.
func (p *commandProof) stop(nodes ...*process) {
	p.t.Helper()
	if len(p.living()) == 0 {
		p.t.Error("no process lives before the stop; this proves nothing")
	}
	for _, node := range nodes {
		node.stop()
	}
	if left := p.living(); len(left) > 0 {
		p.t.Errorf("processes %v live after the stop", left)
	}
	p.neverTwo()
}

// TestCommandsDieWithTheirNode (P4): kill -9 of a node whose command forks,
// becomes a daemon and ignores SIGTERM: all its processes are gone before the
// job starts elsewhere.
func TestCommandsDieWithTheirNode(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		p := newCommandProof(t, store)
		victim := p.serve(store)
		p.enqueue()
		rescuer := p.serve(store)
		victim.kill()
		p.awaitRunAfter(p.latest())
		p.stop(rescuer)
	})
}

// TestCommandsOfAStoppedNode (P4, P5): a node is stopped past its lease while
// its commands are not stopped; another node takes the job. The first node
// continues and is refused.
func TestCommandsOfAStoppedNode(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		p := newCommandProof(t, store)
		stalled := p.serve(store)
		p.enqueue()
		rescuer := p.serve(store)
		stalled.freeze(store)
		p.awaitRunAfter(p.latest())
		stalled.signal(syscall.SIGCONT)
		until(t, 20*time.Second, "the stalled node is refused", func() bool { return stalled.logged("claim lost: the outcome was refused") > 0 })
		p.stop(stalled, rescuer)
	})
}

// TestCommandsOfANodeWithoutItsDatabase (P4, P5): one of two nodes can no
// longer reach the database. Its command is gone before the other node starts
// the job.
func TestCommandsOfANodeWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	store := serverStore(t)
	wire := newCable(t, hostOf(t, store))
	p := newCommandProof(t, store)
	cutOff := p.serve(through(t, store, wire.Addr().String()))
	p.enqueue()
	rescuer := p.serve(store)
	wire.cut.Store(true)
	wire.drop()
	p.awaitRunAfter(p.latest())
	wire.cut.Store(false)
	until(t, 20*time.Second, "the node is back", func() bool { return cutOff.logged("lease regained") > 0 })
	p.stop(cutOff, rescuer)
}
