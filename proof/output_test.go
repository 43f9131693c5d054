package proof

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestOutputOfADeadNode (P5): kill -9 of a node whose command prints ten lines a second.
// Before that, the output is read while the command runs; then the record of the lost
// attempt has the output up to about the last second.
func TestOutputOfADeadNode(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		w := newWitness(t)
		p := &commandProof{t: t, store: store, w: w, lease: 2 * time.Second}
		victim := p.serve(store)
		id := enqueueShell(t, store, `i=0; while :; do i=$((i+1)); echo line $i; echo $i >>"$WITNESS"; sleep 0.1; done`, "--env", "WITNESS="+w.path, "--on-loss", "fail")
		type printed struct {
			State  string `json:"state"`
			Output string `json:"output"`
		}
		job := func() (now printed) {
			if err := json.Unmarshal([]byte(run(t, store, "jobs", "show", fmt.Sprint(id), "--output", "json")), &now); err != nil {
				t.Fatal(err)
			}
			return now
		}
		last := func(output string) int {
			at := strings.LastIndex(output, "line ")
			if at < 0 {
				return 0
			}
			n, _ := strconv.Atoi(strings.TrimSpace(output[at+len("line "):]))
			return n
		}
		until(t, 20*time.Second, "output of the running command", func() bool {
			now := job()
			return now.State == "running" && last(now.Output) >= 15
		})
		rescuer := p.serve(store)
		victim.kill()
		ran := len(w.lines())
		until(t, 30*time.Second, "the loss of the job", func() bool { return job().State == "failed" })
		shown := last(job().Output)
		t.Logf("the command had printed %d lines when its node was killed; %d are shown", ran, shown)
		if shown < ran-30 || shown > len(w.lines()) || !strings.HasPrefix(job().Output, "line 1\nline 2\n") {
			t.Errorf("of %d lines %d are shown:\n%s", ran, shown, job().Output)
		}
		rescuer.stop()
	})
}
