package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestServeCommands checks that --commands selects which commands a node runs,
// and that a job that no node may run has that reason.
func TestServeCommands(t *testing.T) {
	for _, test := range []struct {
		policy       string
		own, foreign bool
	}{
		{"off", false, false},
		{"declared", true, false},
		{"any", true, true},
	} {
		t.Run(test.policy, func(t *testing.T) {
			b := newBench(t)
			writeFile(t, "own.yaml", "schedules:\n  - {name: own, every: 1s, shell: 'echo own', overlap: allow}\n")
			node := b.serve("--commands", test.policy, "--file", "own.yaml")
			node.awaits("node started", 1)
			b.run("enqueue", "command", "--shell", "echo foreign")
			jobs := func(conditions ...string) []map[string]any {
				return b.objects(append([]string{"jobs", "list"}, conditions...)...)
			}
			foreign := func() map[string]any {
				for _, job := range jobs() {
					if job["schedule"] == nil {
						return job
					}
				}
				return nil
			}
			eventually(t, "the foreign command to run, or to say why not", func() bool {
				waits, _ := foreign()["waits"].(string)
				refused := strings.Contains(waits, "may run it") && strings.Contains(waits, "--commands any")
				return test.foreign && foreign()["state"] == "completed" || !test.foreign && refused
			})
			own := func() bool { return len(jobs("--schedule", "own", "--state", "completed")) > 0 }
			if test.own {
				eventually(t, "its own command to run", own)
			} else if own() {
				t.Error("its own command ran")
			}
			node.signal(syscall.SIGTERM)
			if code := node.ends(); code != exitDone {
				t.Errorf("the node ended with %d", code)
			}
		})
	}
}
