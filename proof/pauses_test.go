package proof

import (
	"strings"
	"testing"
	"time"
)

// TestPausesOfQueuesAndKinds (P5): while two nodes run a backlog of short commands, their queue (on
// SQLite), or their kind (on a server), is paused. From a second after the command has returned, no
// command starts, also not on a node that starts in the pause. After the pause the other jobs run.
func TestPausesOfQueuesAndKinds(t *testing.T) {
	t.Parallel()
	t.Run("queue", func(t *testing.T) {
		t.Parallel()
		needs(t, inSQLite)
		pausesStopNodes(t, freshStore(t, inSQLite), "queues", "work")
	})
	t.Run("kind", func(t *testing.T) {
		t.Parallel()
		pausesStopNodes(t, serverStore(t), "kinds", "command")
	})
}

func pausesStopNodes(t *testing.T, store, command, name string) {
	const jobs = 20
	w := newWitness(t)
	run(t, store, command, "pause", name)
	for range jobs {
		run(t, store, "enqueue", "command", "--queue", "work", "--env", "WITNESS="+w.path, "--", "sh", "-c", `sleep 0.5; echo "$HOURBELL_JOB_ID" >>"$WITNESS"`)
	}
	first, second := serve(t, store, "--queues", "work=2"), serve(t, store, "--queues", "work=2")
	until(t, 20*time.Second, "the nodes to start", func() bool { return first.logged("node started")+second.logged("node started") == 2 })
	run(t, store, command, "resume", name)
	until(t, 20*time.Second, "the first commands", func() bool { return len(w.lines()) > 0 })
	run(t, store, command, "pause", name, "--reason", "proof")
	time.Sleep(time.Second) // the promise
	started := first.logged("job started") + second.logged("job started")
	second.stop()
	third := serve(t, store, "--queues", "work=2")
	until(t, 20*time.Second, "the start of a node", func() bool { return third.logged("node started") == 1 })
	until(t, 20*time.Second, "all jobs to be ready or completed", func() bool {
		return len(list[jobRow](t, store, "jobs", "list", "--queue", "work", "--state", "running")) == 0
	})
	if now := first.logged("job started") + second.logged("job started") + third.logged("job started"); now != started {
		t.Errorf("%d jobs started in the pause", now-started)
	}
	if ready := len(list[jobRow](t, store, "jobs", "list", "--queue", "work", "--state", "ready")); ready == 0 {
		t.Error("no job waited for the end of the pause, so that nothing was tested")
	}
	run(t, store, command, "resume", name)
	until(t, 60*time.Second, "all commands", func() bool { return len(w.lines()) >= jobs })
	seen := map[string]bool{}
	for _, line := range w.lines() {
		seen[strings.Join(line, " ")] = true
	}
	if len(seen) != jobs {
		t.Errorf("%d of %d jobs have run", len(seen), jobs)
	}
	first.stop()
	third.stop()
}
