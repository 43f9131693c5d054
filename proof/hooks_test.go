package proof

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hookEvent is the data that a hook gets, as described in docs/hooks.md.
type hookEvent struct {
	Event    string `json:"event"`
	Schedule string `json:"schedule"`
	Job      int64  `json:"job"`
	Reason   string `json:"reason"`
	Output   string `json:"output"`
	Count    int64  `json:"count"`
}

// monitor is a server that hooks call. It refuses the first call of each kind
// of event, so that each call has to be tried again.
type monitor struct {
	*httptest.Server
	mu     sync.Mutex
	events []hookEvent
	failed map[string]bool
}

func newMonitor(t *testing.T) *monitor {
	m := &monitor{failed: map[string]bool{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var e hookEvent
		if err != nil || json.Unmarshal(text, &e) != nil || r.Header.Get("X-Team") != "ops" {
			t.Errorf("a hook's request: %v, %q", r.Header, text)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.failed[e.Event] {
			m.failed[e.Event] = true
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		m.events = append(m.events, e)
	}))
	t.Cleanup(m.Close)
	return m
}

// told returns the events of a kind that the monitor received.
func (m *monitor) told(kind string) (found []hookEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if e.Event == kind {
			found = append(found, e)
		}
	}
	return found
}

// TestHooksSurviveTheirNodes (P3): a job fails for good, and another job is
// lost with a node that is killed; both failures are reported, by an HTTP call
// that is tried again and by a command, although each node allows only the
// commands of its own file. The next success is reported as a recovery, once.
func TestHooksSurviveTheirNodes(t *testing.T) {
	t.Parallel()
	store := serverStore(t)
	m := newMonitor(t)
	dir := t.TempDir()
	broken, told := filepath.Join(dir, "broken"), filepath.Join(dir, "told")
	file := filepath.Join(dir, "hooks.yaml")
	text := fmt.Sprintf(`
on_failure: {url: %[1]s/hook, header: {X-Team: ops}}
on_recovery: {url: %[1]s/hook, header: {X-Team: ops}}
schedules:
  - name: nightly
    every: 1s
    max_attempts: 1
    shell: "if [ -e %[2]s ]; then echo no disk; exit 3; fi"
  - name: fragile
    cron: "0 0 1 1 *"
    on_loss: fail
    shell: "echo started; sleep 600"
    on_failure: "cat >> %[3]s; echo >> %[3]s; echo $HOURBELL_HOOK >> %[3]s"
`, m.URL, broken, told)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	declared := []string{"--commands", "declared", "--file", file}
	first := serve(t, store, declared...)
	second := serve(t, store, declared...)
	until(t, 20*time.Second, "the failure to be told, at the second attempt", func() bool { return len(m.told("failure")) > 0 })
	e := m.told("failure")[0]
	if e.Schedule != "nightly" || e.Job == 0 || e.Reason != "exit code 3" || e.Output != "no disk\n" {
		t.Errorf("a failure: %+v", e)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	until(t, 20*time.Second, "the recovery to be told", func() bool { return len(m.told("recovery")) > 0 })

	// A job of the schedule that was lost with the node would be another failure, and another recovery.
	run(t, store, "schedules", "pause", "nightly")
	until(t, 10*time.Second, "the jobs of the schedule to end", func() bool {
		return len(list[jobRow](t, store, "jobs", "list", "--schedule", "nightly", "--state", "ready")) == 0 &&
			len(list[jobRow](t, store, "jobs", "list", "--schedule", "nightly", "--state", "running")) == 0
	})
	run(t, store, "schedules", "trigger", "fragile")
	var victim, other *process
	running := func() (found *jobRow) {
		for _, job := range list[jobRow](t, store, "jobs", "list", "--schedule", "fragile", "--state", "running") {
			found = &job
		}
		return found
	}
	until(t, 10*time.Second, "the job to run", func() bool { return running() != nil })
	for victim == nil {
		for _, pair := range [][2]*process{{first, second}, {second, first}} {
			for _, line := range pair[0].lines("job started") {
				if line.Job == running().ID {
					victim, other = pair[0], pair[1]
				}
			}
		}
	}
	victim.kill()
	var lost hookEvent
	until(t, 4*lease(t)+20*time.Second, "the loss to be told", func() bool {
		text, err := os.ReadFile(told)
		end := len("\nfailure\n")
		return err == nil && len(text) > end && json.Unmarshal(text[:len(text)-end], &lost) == nil
	})
	if lost.Event != "failure" || lost.Schedule != "fragile" || !strings.HasPrefix(lost.Reason, "lost: its node died") {
		t.Errorf("a loss: %+v", lost)
	}
	other.stop()
	if n := len(m.told("recovery")); n != 1 {
		t.Errorf("%d recoveries were told", n)
	}
	for _, job := range list[jobRow](t, store, "jobs", "list", "--kind", "http") {
		if job.State == "failed" || job.Schedule != "" {
			t.Errorf("a hook's job: %+v", job)
		}
	}
}
