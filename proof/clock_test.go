package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheServersClockIsSet (P1, P2, P5, P6): while two nodes run a long command, and fire a schedule each second, the clock
// of the database server is set an hour ahead, and then back by longer than a lease. No job is taken from a node that
// lives, a job that was due in half an hour starts, and each slot is accounted for once. Then the node of the command is killed, and the command
// starts on the other node.
func TestTheServersClockIsSet(t *testing.T) {
	t.Parallel()
	onServers(t, servers, func(t *testing.T, kind string) {
		t.Parallel()
		s := newServer(t, kind)
		s.clock = s.NewClock()
		s.start()
		store, w, enough := s.url, newWitness(t), filepath.Join(t.TempDir(), "enough")
		run(t, store, "schedules", "put", "tick", "--every", "1s", "--overlap", "allow", "--shell", "echo $HOURBELL_SLOT >> "+w.path)
		nodes := map[string]*process{"first": serve(t, store, "--name", "first"), "second": serve(t, store, "--name", "second")}
		long := enqueueShell(t, store, fmt.Sprintf("until [ -f %s ]; do sleep 0.1; done", enough))
		later := enqueueShell(t, store, "true", "--in", "30m")
		fires := func(n int) {
			t.Helper()
			before := len(w.lines())
			until(t, 60*time.Second, "slots", func() bool { return len(w.lines()) >= before+n })
		}
		seconds := int(lease(t).Seconds())
		until(t, 30*time.Second, "the long command", func() bool { return jobByID(t, store, long).State == "running" })
		fires(seconds + 1) // so that each node has lived for a lease
		claim := jobByID(t, store, long)

		s.clock.Set(time.Hour)
		until(t, 30*time.Second, "the job that became due", func() bool { return jobByID(t, store, later).State == "completed" })
		fires(seconds + 1)
		s.clock.Set(time.Hour - lease(t) - time.Second)
		fires(seconds + 1)
		for name, node := range nodes {
			if rescued, dead := node.logged("job rescued"), node.logged("node declared dead"); rescued+dead > 0 {
				t.Errorf("the clock made node %s declare %d nodes dead, and take %d jobs", name, dead, rescued)
			}
		}
		if now := jobByID(t, store, long); now.State != "running" || now.Token != claim.Token {
			t.Errorf("the command was claimed as %+v, and is now %+v", claim, now)
		}

		nodes[claim.Node].kill()
		until(t, 3*lease(t)+30*time.Second, "the command on the other node", func() bool {
			now := jobByID(t, store, long)
			return now.State == "running" && now.Node != claim.Node && now.Token > claim.Token
		})
		if err := os.WriteFile(enough, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, 30*time.Second, "the end of the command", func() bool { return jobByID(t, store, long).State == "completed" })
		delete(nodes, claim.Node)
		for _, node := range nodes {
			node.stop()
		}
		checkSlots(t, store, "tick")
	})
}
