package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/watch"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// TestOnceForEachBoot checks that @reboot runs once for each boot of a host, and @start at each start
// of a node.
func TestOnceForEachBoot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tab")
	if err := os.WriteFile(path, []byte("@reboot boot\n@start start\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	queues := map[string]int{}
	start := func(host, id string) (made int) {
		t.Helper()
		w, err := watch.Open(files.Loader{}, []files.Input{{Path: path, Form: files.UserCrontab}})
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{Watch: w, Config: hourbell.Config{Logger: slog.New(slog.DiscardHandler)}}
		n.starting = starting{host: host, boot: id}.serving(w.AtStart())
		queues[n.starting.queue]++
		before, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.runAtStart(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		after, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return int(after - before)
	}
	for _, step := range []struct {
		what, host, id string
		made           int
	}{
		{"the first start", "one", "a", 2},
		{"a start without a boot", "one", "a", 1},
		{"a start on another host", "two", "a", 2},
		{"a start after a boot", "one", "b", 2},
		{"a start without a boot", "one", "b", 1},
		{"a system without identities of boots", "three", "", 2},
		{"a system without identities of boots", "three", "", 2},
	} {
		if made := start(step.host, step.id); made != step.made {
			t.Errorf("%s: %d jobs instead of %d", step.what, made, step.made)
		}
	}
	if len(queues) != 7 || queues[""] != 0 {
		t.Errorf("queues of starts: %v", queues)
	}
	// A boot's job that no node has run waits for the next node of the host.
	jobs, err := client.Jobs.List(t.Context(), hourbell.JobFilter{Queue: "default@one", States: []store.State{store.StateReady}})
	if err != nil || len(jobs) != 2 {
		t.Errorf("jobs %v, %v", jobs, err)
	}
}
