package proof

import (
	"testing"
	"time"
)

// handledRow is a job that a handler has made.
type handledRow struct {
	ID   int64 `json:"id"`
	Hook struct {
		Event   string `json:"event"`
		Handler string `json:"handler"`
		Job     int64  `json:"job"`
		Node    string `json:"node"`
	} `json:"hook"`
}

// TestHandlersSurviveTheirNodes (P3): nodes run jobs and are killed again and again. Each outcome
// that is recorded has exactly one job of the handler, on whichever node it was recorded, and a
// handler that has been deleted makes no further job.
func TestHandlersSurviveTheirNodes(t *testing.T) {
	t.Parallel()
	onEachStore(t, usualStores, func(t *testing.T, store string) {
		run(t, store, "migrate", "up")
		nodes := []*process{serve(t, store), serve(t, store)}
		run(t, store, "enqueue", "command", "--shell", "true") // before the handler
		until(t, 20*time.Second, "the first job to end", func() bool { return len(completed(t, store)) == 1 })
		run(t, store, "handlers", "put", "all", "--on", "success", "--job", "note")
		const jobs = 40
		for range jobs {
			run(t, store, "enqueue", "command", "--shell", "sleep 0.2")
		}
		for i := 0; len(completed(t, store)) < jobs+1; i = 1 - i {
			nodes[i].kill()
			nodes[i] = serve(t, store)
			time.Sleep(lease(t) / 2)
		}
		run(t, store, "handlers", "delete", "all")
		run(t, store, "enqueue", "command", "--shell", "true") // after the handler
		until(t, 4*lease(t)+20*time.Second, "the last job to end", func() bool { return len(completed(t, store)) == jobs+2 })
		made := map[int64]int{}
		for _, row := range list[handledRow](t, store, "jobs", "list", "--kind", "note") {
			if row.Hook.Event != "success" || row.Hook.Handler != "all" || row.Hook.Node == "" {
				t.Errorf("the job of a handler: %+v", row)
			}
			made[row.Hook.Job]++
		}
		ended := completed(t, store) // newest first
		for i, row := range ended {
			want := 1
			if i == 0 || i == len(ended)-1 {
				want = 0
			}
			if made[row.ID] != want {
				t.Errorf("job %d has made %d jobs of the handler, want %d", row.ID, made[row.ID], want)
			}
		}
		for _, node := range nodes {
			node.stop()
		}
	})
}

func completed(t *testing.T, store string) []jobRow {
	t.Helper()
	return list[jobRow](t, store, "jobs", "list", "--kind", "command", "--state", "completed")
}
