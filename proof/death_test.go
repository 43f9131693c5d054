package proof

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// enqueueShell enqueues a shell line and returns the job's number.
func enqueueShell(t *testing.T, store, line string, args ...string) int64 {
	t.Helper()
	out := run(t, store, append(append([]string{"enqueue", "command"}, args...), "--", "sh", "-c", line)...)
	id, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil {
		t.Fatalf("enqueue printed %q", out)
	}
	return id
}

func jobByID(t *testing.T, store string, id int64) jobRow {
	t.Helper()
	for _, job := range list[jobRow](t, store, "jobs", "list") {
		if job.ID == id {
			return job
		}
	}
	t.Fatalf("job %d is gone", id)
	return jobRow{}
}

// starts reads the witness: job → seconds since the epoch of each start.
func starts(w witness) map[int64][]float64 {
	found := map[int64][]float64{}
	for _, row := range w.lines() {
		id, _ := strconv.ParseInt(row[0], 10, 64)
		at, _ := strconv.ParseFloat(row[1], 64)
		found[id] = append(found[id], at)
	}
	return found
}

// TestKilledNodesJobsRunElsewhere (P5): kill -9 of a node with ten running
// jobs; all ten start again elsewhere within the lease and a second. A job on a
// living node that runs longer than the lease is left alone, and a job that
// must not start twice does not start again.
func TestKilledNodesJobsRunElsewhere(t *testing.T) {
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		w := newWitness(t)
		mark := fmt.Sprintf(`echo "$HOURBELL_JOB_ID $(date +%%s.%%N)" >> %s; `, w.path)
		survivor := serve(t, store, "--queues", "long=1")
		long := enqueueShell(t, store, mark+fmt.Sprintf("sleep %d", int(lease(t).Seconds())*3), "--queue", "long")
		until(t, 20*time.Second, "the long job's start", func() bool { return len(starts(w)[long]) == 1 })
		survivor2 := serve(t, store, "--queues", "other=1")
		until(t, 20*time.Second, "the second survivor", func() bool { return survivor2.logged("node started") == 1 })

		victim := serve(t, store, "--queues", "default=12")
		until(t, 20*time.Second, "the victim", func() bool { return victim.logged("node started") == 1 })
		sleeps := int(lease(t).Seconds()) * 15 // longer than it takes to start all jobs and the rescuer on a busy machine
		var ten []int64
		for range 10 {
			ten = append(ten, enqueueShell(t, store, mark+fmt.Sprintf(`[ "$HOURBELL_ATTEMPT" -gt 1 ] || exec sleep %d`, sleeps)))
		}
		once := enqueueShell(t, store, mark+fmt.Sprintf("exec sleep %d", sleeps), "--on-loss", "fail")
		until(t, 20*time.Second, "eleven starts", func() bool { return len(starts(w)) == 12 })
		rescuer := serve(t, store, "--queues", "default=12")
		until(t, 20*time.Second, "the rescuer", func() bool { return rescuer.logged("node started") == 1 })
		time.Sleep(lease(t)) // so that survivors have lived for a lease throughout
		killed := float64(time.Now().UnixNano()) / 1e9
		victim.kill()
		until(t, 3*lease(t)+10*time.Second, "ten starts more", func() bool {
			again := 0
			for _, id := range ten {
				if len(starts(w)[id]) > 1 {
					again++
				}
			}
			return again == 10
		})
		worst := 0.0
		for _, id := range ten {
			worst = max(worst, starts(w)[id][1]-killed)
		}
		t.Logf("the last of ten jobs started elsewhere %.2f s after the kill; the lease is %v", worst, lease(t))
		if worst > lease(t).Seconds()+1 {
			t.Errorf("that is more than the lease and a second")
		}
		until(t, 2*lease(t)+10*time.Second, "all ended", func() bool {
			for _, id := range append(ten, long) {
				if jobByID(t, store, id).State != "completed" {
					return false
				}
			}
			return true
		})
		if job := jobByID(t, store, once); job.State != "failed" || !strings.Contains(job.Reason, "lost") {
			t.Errorf("the job that must not start twice: %+v", job)
		}
		for _, id := range append(ten, once) {
			lost := jobByID(t, store, id).Attempts
			if len(lost) != 1 || lost[0].Attempt != 1 || lost[0].Outcome != "lost" || lost[0].Node == "" || !strings.Contains(lost[0].Error, lost[0].Node) {
				t.Errorf("the attempt that the kill ended left the records %+v", lost)
			}
		}
		if n := len(starts(w)[once]); n != 1 {
			t.Errorf("the job that must not start twice started %d times", n)
		}
		if n := len(starts(w)[long]); n != 1 {
			t.Errorf("the long job on a living node started %d times", n)
		}
		for _, node := range []*process{survivor, survivor2, rescuer} {
			node.stop()
		}
	})
}

// TestZombieIsRefused (P4): a node is stopped past its lease, another node
// takes its job, the first node continues: its late outcome is refused and
// counted, and nothing is overwritten.
func TestZombieIsRefused(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		w := newWitness(t)
		line := fmt.Sprintf(`echo "$HOURBELL_JOB_ID $(date +%%s.%%N) $HOURBELL_TOKEN" >> %[1]s; [ "$HOURBELL_ATTEMPT" -gt 1 ] && echo second || { until [ -e %[1]s.frozen ]; do sleep 0.05; done; echo first; }`, w.path)
		zombie := serve(t, store)
		until(t, 20*time.Second, "the first node", func() bool { return zombie.logged("node started") == 1 })
		id := enqueueShell(t, store, line)
		until(t, 20*time.Second, "the start", func() bool { return len(w.lines()) == 1 })
		other := serve(t, store)
		until(t, 20*time.Second, "the second node", func() bool { return other.logged("node started") == 1 })
		zombie.freeze(store)
		if err := os.WriteFile(w.path+".frozen", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, 3*lease(t)+10*time.Second, "completed elsewhere", func() bool {
			job := jobByID(t, store, id)
			return job.State == "completed" && job.Attempt == 2
		})
		before := jobByID(t, store, id)
		zombie.signal(syscall.SIGCONT)
		until(t, 20*time.Second, "the zombie is refused", func() bool { return zombie.logged("claim lost: the outcome was refused") == 1 })
		if after := jobByID(t, store, id); !reflect.DeepEqual(after, before) {
			t.Errorf("the late outcome changed the job: %+v, then %+v", before, after)
		}
		rows := w.lines()
		first, _ := strconv.Atoi(rows[0][2])
		second, _ := strconv.Atoi(rows[1][2])
		if len(rows) != 2 || second <= first {
			t.Errorf("the witness saw %v: the second token must be greater", rows)
		}
		again := enqueueShell(t, store, "true")
		until(t, 20*time.Second, "work goes on", func() bool { return jobByID(t, store, again).State == "completed" })
		zombie.stop()
		other.stop()
	})
}
