package proof

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Deed is a job that writes to the witness that it began, works for a time, and then
// may end its process.
type Deed struct {
	For  time.Duration `json:"for"`
	Kill bool          `json:"kill,omitempty"`
}

func (Deed) Kind() string { return "deed" }

// killed is the exit code of a process that a job ended.
const killed = 7

// playMortal is a node whose jobs may end it.
func playMortal(a *actor) error {
	width, err := strconv.Atoi(os.Getenv("HOURBELL_PROOF_WORKERS"))
	if err != nil {
		return err
	}
	hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Deed]) error {
		if err := a.say("%d %d %d %d", job.ID, job.Token, os.Getpid(), time.Now().UnixMilli()); err != nil {
			return err
		}
		if err := work(ctx, job.Args.For); err != nil {
			return err
		}
		if job.Args.Kill {
			os.Exit(killed)
		}
		return a.say("%d %d %d ended", job.ID, job.Token, os.Getpid())
	})
	return a.serve(hourbell.Config{Queues: map[string]int{"default": width}})
}

// village is a site on which mortal nodes live.
type village struct{ *site }

func newVillage(t *testing.T) *village {
	t.Helper()
	return &village{newSite(t, endingIdle(t, serverStore(t), 2))}
}

// node starts a node with so many workers.
func (v *village) node(workers int) *process {
	v.t.Helper()
	return act(v.t, "mortal", v.at, v.witness, "HOURBELL_PROOF_WORKERS="+strconv.Itoa(workers))
}

// add enqueues n deeds and returns their numbers.
func (v *village) add(n int, deed Deed, options ...hourbell.Option) []int64 {
	v.t.Helper()
	jobs, err := v.client.EnqueueMany(v.t.Context(), slices.Repeat([]hourbell.Request{{Args: deed}}, n), options...)
	if err != nil {
		v.t.Fatal(err)
	}
	ids := make([]int64, n)
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

// begun returns how often each job began, by number and by claim.
func (v *village) begun() (claims map[string]int) {
	claims = map[string]int{}
	for _, row := range v.witness.lines() {
		if row[3] != "ended" {
			claims[row[0]+" "+row[1]]++
		}
	}
	return claims
}

// TestAResumedNodeStartsNothing (P4): a node is stopped while it holds claims that
// have not begun, and goes on when another node has run those jobs. It starts none
// of them.
func TestAResumedNodeStartsNothing(t *testing.T) {
	t.Parallel()
	v := newVillage(t)
	v.add(4000, Deed{For: 5 * time.Millisecond})
	zombie := v.node(8)
	until(t, 30*time.Second, "work", func() bool { return len(v.witness.lines()) > 50 })
	zombie.signal(syscall.SIGSTOP)
	other := v.node(40)
	until(t, 3*lease(t)+60*time.Second, "everything done elsewhere", func() bool {
		return len(list[jobRow](t, v.at, "jobs", "list", "--state", "ready,running")) == 0
	})
	before := len(v.begun())
	zombie.signal(syscall.SIGCONT)
	until(t, 20*time.Second, "the node to be back", func() bool { return zombie.logged("lease regained") >= 1 })
	zombie.stop()
	other.stop()
	// One may have been stopped between the look at the lease and its first line.
	if late := len(v.begun()) - before; late > 1 {
		t.Errorf("the node that was stopped started %d jobs which had run elsewhere", late)
	}
}

// TestAJobThatEndsItsProcess (P5): one job ends the process that runs it, eight have
// one attempt each, and the node is started again and again. No job fails that never
// began; the one is found: it begins alone from its third attempt on, takes no other
// along, and ends by its attempts.
func TestAJobThatEndsItsProcess(t *testing.T) {
	t.Parallel()
	const attempts, workers = 3, 4
	v := newVillage(t)
	// The first jobs that may begin have begun when the process ends, however slow the
	// machine is, and no other job begins at that moment.
	killer := v.add(1, Deed{Kill: true, For: 300 * time.Millisecond}, hourbell.MaxAttempts(attempts))[0]
	bystanders := v.add(8, Deed{For: 2 * time.Second}, hourbell.MaxAttempts(1))
	job := func(id int64) jobRow { return jobByID(t, v.at, id) }
	deaths := 0
	for job(killer).State != "failed" {
		if deaths > attempts {
			t.Fatalf("the node died %d times: %+v", deaths, job(killer))
		}
		node := v.node(workers)
		until(t, 3*lease(t)+90*time.Second, "the node's death, or the job's end", func() bool {
			select {
			case <-node.done:
				return true
			default:
			}
			if deaths >= store.SuspectLosses { // what comes while the suspect waits for its turn runs, and ends before
				bystanders = append(bystanders, v.add(2, Deed{For: 30 * time.Millisecond}, hourbell.MaxAttempts(1))...)
			}
			return job(killer).State == "failed"
		})
		select {
		case <-node.done:
			deaths++
			if code := node.cmd.ProcessState.ExitCode(); code != killed {
				t.Fatalf("the node exited with %d", code)
			}
		default:
			until(t, 60*time.Second, "the rest", func() bool {
				return len(list[jobRow](t, v.at, "jobs", "list", "--state", "ready,running")) == 0
			})
			node.stop()
		}
	}
	began, ended := map[int64]int{}, map[int64]int{}
	var alone []string // what had begun and not ended in a process when the killer began
	open := map[string]map[int64]bool{}
	for _, row := range v.witness.lines() {
		id, _ := strconv.ParseInt(row[0], 10, 64)
		pid := row[2]
		if row[3] == "ended" {
			ended[id]++
			delete(open[pid], id)
			continue
		}
		began[id]++
		if open[pid] == nil {
			open[pid] = map[int64]bool{}
		}
		if id == killer && began[id] > 2 && len(open[pid]) > 0 {
			alone = append(alone, fmt.Sprintf("start %d: %v", began[id], open[pid]))
		}
		open[pid][id] = true
	}
	if deaths != attempts || began[killer] != attempts {
		t.Errorf("the job began %d times, the node died %d times, want %d", began[killer], deaths, attempts)
	}
	if len(alone) > 0 {
		t.Errorf("other jobs had begun when the suspect did: %v", alone)
	}
	failed := 0
	for _, job := range list[jobRow](t, v.at, "jobs", "list", "--state", "failed") {
		failed++
		if job.ID != killer && began[job.ID] == 0 {
			t.Errorf("job %d never began, and failed: %s", job.ID, job.Reason)
		}
	}
	for _, id := range bystanders {
		if began[id] > 1 {
			t.Errorf("job %d has one attempt and began %d times", id, began[id])
		}
	}
	t.Logf("%d jobs, %d deaths, %d jobs failed", 1+len(bystanders), deaths, failed)
}
