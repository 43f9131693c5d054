package sqlite

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// A burst of enqueues through a client, among them some whose args a trigger of
// the file's owner forbids: each gets its own answer, and what was acknowledged
// is there once.
func TestABurstOfEnqueues(t *testing.T) {
	b := openFile(t, filepath.Join(t.TempDir(), "burst.db"))
	if _, err := b.MigrateUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	const trigger = "CREATE TRIGGER t BEFORE INSERT ON hourbell_job WHEN CAST(new.args AS TEXT) LIKE '%forbidden%' BEGIN SELECT RAISE(ABORT, 'no'); END"
	if _, err := b.writer.ExecContext(t.Context(), trigger); err != nil {
		t.Fatal(err)
	}
	client, err := hourbell.New(b, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 1_000, 3
	var mu sync.Mutex
	enqueued := map[int64]string{}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				subject := fmt.Sprint(g, " ", i)
				if g%250 == 7 {
					subject = "forbidden"
				}
				added, err := client.Enqueue(t.Context(), note{Subject: subject})
				if (subject == "forbidden") != errors.Is(err, store.ErrRejected) || (err == nil) == (subject == "forbidden") {
					t.Errorf("%s: %v", subject, err)
				}
				mu.Lock()
				if err == nil {
					enqueued[added.ID] = fmt.Sprintf(`{"customer":0,"subject":%q}`, subject)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if want := (goroutines - 4) * each; len(enqueued) != want {
		t.Errorf("%d numbers were given, want %d", len(enqueued), want)
	}
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: goroutines*each + 1, Attempts: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != len(enqueued) {
		t.Errorf("%d jobs are stored, %d were acknowledged", len(jobs), len(enqueued))
	}
	for _, job := range jobs {
		if enqueued[job.ID] != string(job.Args) {
			t.Fatalf("job %d is %s, its caller enqueued %s", job.ID, job.Args, enqueued[job.ID])
		}
	}
}
