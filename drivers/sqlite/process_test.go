package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock/locktest"
	"github.com/hourbell/hourbell/store"
)

// childFile, in the environment, makes this test binary a worker on that file.
const childFile = "HOURBELL_SQLITE_TEST_FILE"

func TestMain(m *testing.M) {
	locktest.Contend(openLocks)
	if path := os.Getenv(childFile); path != "" {
		if err := work(path); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// workerLease is short, so that the jobs of killed workers come back soon.
const workerLease = 500 * time.Millisecond

// work inserts, claims and finishes jobs until standard input ends. It prints
// what the store acknowledged: "insert ID", "claim ID TOKEN", "finish ID TOKEN".
func work(path string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	b, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer b.Close()
	if _, err := b.MigrateUp(context.Background()); err != nil {
		return err
	}
	var node store.RegisterResult
	for ctx.Err() == nil {
		err := store.ErrNodeGone // at first; later, where the machine was too slow for the lease
		if node.Node != 0 {
			err = round(b, node.Node)
		}
		if errors.Is(err, store.ErrNodeGone) {
			node, err = b.Register(context.Background(), store.RegisterRequest{Name: fmt.Sprint(os.Getpid()), Lease: workerLease, Queues: []string{"q"}, Kinds: []string{"k"}})
		}
		if err != nil {
			return err
		}
	}
	_, err = b.Leave(context.Background(), store.LeaveRequest{Node: node.Node})
	return err
}

// round is one turn of a worker. Its calls are not cut short: only kill -9 does
// that here.
func round(b *Backend, node int64) error {
	ctx := context.Background()
	if _, err := b.Heartbeat(ctx, store.HeartbeatRequest{Node: node}); err != nil {
		return err
	}
	inserted, err := b.Insert(ctx, store.InsertRequest{Jobs: make20()})
	if err != nil {
		return err
	}
	for _, id := range inserted.IDs() {
		fmt.Println("insert", id, 0)
	}
	if _, err := b.Rescue(ctx, store.RescueRequest{Node: node}); err != nil {
		return err
	}
	claimed, err := b.Claim(ctx, store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 30})
	if err != nil {
		return err
	}
	var outcomes []store.Outcome
	for _, job := range claimed.Jobs {
		fmt.Println("claim", job.ID, job.Token)
		outcomes = append(outcomes, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Completed, After: tellingOf(job.ID)})
	}
	finished, err := b.Finish(ctx, store.FinishRequest{Outcomes: outcomes})
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if !slices.Contains(finished.Refused, store.ClaimRef{ID: o.ID, Token: o.Token}) {
			fmt.Println("finish", o.ID, o.Token)
		}
	}
	return nil
}

// tellingOf makes a job that reports the end of another job.
func tellingOf(id int64) *store.FollowUp {
	job := store.NewJob{JobSpec: store.JobSpec{Kind: "hook", Queue: "hooks", Args: fmt.Append(nil, id), Priority: 5, MaxAttempts: 1}, Origin: store.OriginHook}
	return &store.FollowUp{Schedule: 1, Failing: true, Jobs: []store.NewJob{job}}
}

func make20() []store.NewJob {
	jobs := make([]store.NewJob, 20)
	for i := range jobs {
		jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: int16(1 + i%9), MaxAttempts: 1_000}}
	}
	return jobs
}

// worker is a running process.
type worker struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// startWorker starts a process that writes its output to a file of its own.
func startWorker(t *testing.T, path, output string) *worker {
	t.Helper()
	out, err := os.OpenFile(output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childFile+"="+path)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &worker{cmd, stdin}
}

// Five processes share one file from its creation on; some are killed in the
// middle of what they do. Nothing acknowledged is lost, nothing is done under
// two claims, each end is reported once, and the file stays sound.
func TestProcessesAndKill9(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "shared.db")
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	started := 0
	start := func() *worker {
		started++
		return startWorker(t, path, filepath.Join(dir, fmt.Sprint(started)))
	}
	workers := []*worker{start(), start(), start(), start(), start()}
	end := time.Now().Add(4 * time.Second)
	for time.Now().Before(end) {
		time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond)
		i := random.IntN(len(workers))
		workers[i].cmd.Process.Kill()
		workers[i].cmd.Wait()
		workers[i] = start()
	}
	for _, w := range workers {
		w.stdin.Close()
	}
	for _, w := range workers {
		if err := w.cmd.Wait(); err != nil {
			t.Errorf("a worker ended with %v", err)
		}
	}
	b := openFile(t, path)
	finishRest(t, b)
	checkHistory(t, b, readLogs(t, dir))
	if sound, err := pragma(t.Context(), b.reader, "integrity_check"); err != nil || sound != "ok" {
		t.Errorf("integrity_check: %s, %v", sound, err)
	}
}

// finishRest takes over from the killed and finishes what is left.
func finishRest(t *testing.T, b *Backend) {
	time.Sleep(workerLease)
	node := register(t, b, time.Hour)
	if _, err := b.Rescue(t.Context(), store.RescueRequest{Node: node}); err != nil {
		t.Fatal(err)
	}
	rested := time.Now().Add(2 * store.LossDelay(math.MaxInt16)) // lost jobs are due then
	for _, suspects := range []bool{false, true} {
		for {
			claimed, err := b.Claim(t.Context(), store.ClaimRequest{
				Now: rested, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 1_000, Suspects: suspects,
			})
			if err != nil {
				t.Fatal(err)
			}
			var outcomes []store.Outcome
			for _, job := range claimed.Jobs {
				outcomes = append(outcomes, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Completed, After: tellingOf(job.ID)})
			}
			if len(outcomes) == 0 {
				break
			}
			if res, err := b.Finish(t.Context(), store.FinishRequest{Now: rested, Outcomes: outcomes}); err != nil || len(res.Refused) > 0 {
				t.Fatal(res, err)
			}
		}
	}
}

// history is what the workers were told.
type history struct {
	inserted []int64
	claims   map[int64][]int64 // by job, the tokens
	finished map[int64][]int64
}

func readLogs(t *testing.T, dir string) history {
	t.Helper()
	h := history{claims: map[int64][]int64{}, finished: map[int64][]int64{}}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		file, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			h.add(lines.Text())
		}
		file.Close()
	}
	return h
}

// add reads a line; a last one that a kill cut off is left out.
func (h *history) add(line string) {
	var what string
	var id, token int64
	if n, _ := fmt.Sscan(line, &what, &id, &token); n != 3 {
		return
	}
	switch what {
	case "insert":
		h.inserted = append(h.inserted, id)
	case "claim":
		h.claims[id] = append(h.claims[id], token)
	case "finish":
		h.finished[id] = append(h.finished[id], token)
	}
}

func checkHistory(t *testing.T, b *Backend, h history) {
	t.Helper()
	jobs, told := map[int64]store.JobInfo{}, map[string]int{}
	for before := int64(0); ; {
		page, err := b.ListJobs(t.Context(), store.ListJobsRequest{Before: before, Limit: 1_000, Attempts: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, job := range page {
			jobs[job.ID] = job
			if job.Kind == "hook" {
				told[string(job.Args)]++
			}
		}
		before = page[len(page)-1].ID
	}
	given := map[int64]int64{} // token → job
	taken := 0
	for id, tokens := range h.claims {
		for _, token := range tokens {
			if other, twice := given[token]; twice {
				t.Errorf("token %d was given for jobs %d and %d", token, other, id)
			}
			given[token] = id
		}
		if slices.Max(tokens) > jobs[id].Token {
			t.Errorf("job %d ended under token %d after token %d was given", id, jobs[id].Token, slices.Max(tokens))
		}
		taken += len(tokens) - 1
	}
	for _, id := range h.inserted {
		if job, there := jobs[id]; !there || job.State != store.StateCompleted {
			t.Errorf("job %d was acknowledged and is %v", id, job.State)
		}
		if n := told[fmt.Sprint(id)]; n != 1 {
			t.Errorf("the end of job %d was told of %d times", id, n)
		}
	}
	for id, tokens := range h.finished {
		if len(tokens) != 1 || tokens[0] != jobs[id].Token {
			t.Errorf("job %d, ended under token %d, was acknowledged as finished under %d", id, jobs[id].Token, tokens)
		}
	}
	t.Logf("%d jobs acknowledged, %d in the file, %d claimed again after a kill", len(h.inserted), len(jobs), taken)
	if len(h.inserted) < 100 || len(h.finished) < 50 {
		t.Error("the workers did too little for a test")
	}
}
