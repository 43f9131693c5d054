package main

import (
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/filestest"
)

// TestServeCommands checks that --commands selects which commands a node runs,
// and that a job that no node may run has that reason.
func TestServeCommands(t *testing.T) {
	startsProcesses(t)
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
				refused := strings.Contains(waits, "no living node allows stored commands") && strings.Contains(waits, "--commands any")
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

// TestCrontabsOfHosts checks that hosts have equal crontabs of their own side by side on one store.
func TestCrontabsOfHosts(t *testing.T) {
	startsProcesses(t)
	b := newBench(t)
	filestest.Dir(t, "cron.d")
	writeFile(t, "cron.d/own", "1 2 * * * run-parts /etc/cron.daily\n")
	for _, host := range []string{"web1", "web2"} {
		p := b.serve("--crontab-local", "cron.d", "--host", host)
		p.awaits("crontab@"+host+":own", 1)
		if strings.Contains(p.logged(), "housekeeping") {
			t.Errorf("the crontab of a host gets a warning for the cluster's: %s", p.logged())
		}
		p.signal(syscall.SIGTERM)
		p.ends()
	}
	found := map[string]any{}
	for _, s := range b.objects("schedules", "list") {
		found[fmt.Sprint(s["owner"])] = s["on"]
		if !strings.HasPrefix(fmt.Sprint(s["name"]), fmt.Sprint(s["owner"], ":run-parts-")) {
			t.Errorf("the name of %v is %v", s["owner"], s["name"])
		}
	}
	if want := map[string]any{"crontab@web1:own": "host=web1", "crontab@web2:own": "host=web2"}; !maps.Equal(found, want) {
		t.Errorf("schedules by owner: %v", found)
	}
	if text := b.ok("check", "--crontab", "cron.d"); !strings.Contains(text, "looks like the housekeeping of one machine (run-parts)") || !strings.Contains(text, "--crontab-local") {
		t.Errorf("check prints %s", text)
	}
	if text := b.ok("check", "--crontab-local", "cron.d"); strings.Contains(text, "housekeeping") {
		t.Errorf("check of a crontab of the host prints %s", text)
	}
}
