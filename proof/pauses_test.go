package proof

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPausesOfQueuesAndKinds (P5): while two nodes run a backlog of short commands, their queue, or
// their kind, is paused. From a second after the command has returned, no command starts, also not
// on a node that starts in the pause, and every job that was not run is ready. After the pause each
// job runs once.
func TestPausesOfQueuesAndKinds(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		pausesStopNodes(t, "sqlite:"+filepath.Join(t.TempDir(), "proof.db"))
	})
	t.Run("postgres", func(t *testing.T) { pausesStopNodes(t, postgresStore(t)) })
}

func pausesStopNodes(t *testing.T, store string) {
	const jobs = 40
	for command, name := range map[string]string{"queues": "work", "kinds": "command"} {
		w := newWitness(t)
		first := serve(t, store, "--queues", "work=2")
		second := serve(t, store, "--queues", "work=2")
		for range jobs {
			run(t, store, "enqueue", "command", "--queue", "work", "--env", "WITNESS="+w.path, "--", "sh", "-c", `sleep 0.1; echo "$HOURBELL_JOB" >>"$WITNESS"`)
		}
		until(t, 20*time.Second, "the first commands", func() bool { return len(w.lines()) > 0 })
		run(t, store, command, "pause", name, "--reason", "proof")
		time.Sleep(time.Second)
		started := first.logged("job started") + second.logged("job started")
		second.kill()
		third := serve(t, store, "--queues", "work=2")
		until(t, 20*time.Second, "the start of a node", func() bool { return third.logged("node started") == 1 })
		until(t, 4*lease(t)+20*time.Second, "all jobs to be ready or completed", func() bool {
			return len(list[jobRow](t, store, "jobs", "list", "--queue", "work", "--state", "running")) == 0
		})
		if now := first.logged("job started") + second.logged("job started") + third.logged("job started"); now != started {
			t.Errorf("%s: %d jobs started in the pause", command, now-started)
		}
		if ready := len(list[jobRow](t, store, "jobs", "list", "--queue", "work", "--state", "ready")); ready == 0 {
			t.Errorf("%s: no job waited for the end of the pause, so that nothing was tested", command)
		}
		run(t, store, command, "resume", name)
		until(t, 60*time.Second, "all commands", func() bool {
			return len(list[jobRow](t, store, "jobs", "list", "--queue", "work", "--state", "ready", "--state", "running")) == 0
		})
		seen := map[string]int{}
		for _, line := range w.lines() {
			seen[strings.Join(line, " ")]++
		}
		if len(seen) != jobs {
			t.Errorf("%s: %d of %d jobs have run", command, len(seen), jobs)
		}
		first.stop()
		third.stop()
	}
}
