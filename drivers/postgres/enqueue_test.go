package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
)

// A burst of enqueues through a client, among them some whose args a constraint
// of the database's owner forbids: each gets its own answer, and what was
// acknowledged is there once.
func TestABurstOfEnqueues(t *testing.T) {
	client, b := newClient(t)
	_, err := b.pool.Exec(t.Context(), "alter table "+pgx.Identifier{b.schema, "job"}.Sanitize()+" add check (args not like '%forbidden%')")
	must(t, err)
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
					enqueued[added.ID] = fmt.Sprintf(`{"to":"","subject":%q}`, subject)
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
	must(t, err)
	if len(jobs) != len(enqueued) {
		t.Errorf("%d jobs are stored, %d were acknowledged", len(jobs), len(enqueued))
	}
	for _, job := range jobs {
		if enqueued[job.ID] != string(job.Args) {
			t.Fatalf("job %d is %s, its caller enqueued %s", job.ID, job.Args, enqueued[job.ID])
		}
	}
}

// One job, many alike and many that differ go three ways, and come out the same.
func TestWaysOfInserting(t *testing.T) {
	b := fresh(t)
	jobs := noop(6)
	for i := range jobs {
		jobs[i].Args = fmt.Append(nil, i)
	}
	jobs[5].Priority = 1
	var ids []int64
	for _, some := range [][]store.NewJob{jobs[:1], jobs[1:4], jobs[4:]} {
		res, err := b.Insert(context.Background(), store.InsertRequest{Jobs: some})
		must(t, err)
		ids = append(ids, res.IDs()...)
	}
	listed, err := b.ListJobs(t.Context(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: 10, Attempts: true})
	must(t, err)
	slices.Reverse(listed) // now in order of their numbers
	if len(listed) != len(jobs) {
		t.Fatalf("%d jobs are stored, want %d", len(listed), len(jobs))
	}
	for i, job := range listed {
		if job.ID != ids[i] || string(job.Args) != fmt.Sprint(i) || job.Priority != jobs[i].Priority || job.Queue != "q" || job.Kind != "k" || !job.RunAt.Equal(job.CreatedAt) {
			t.Errorf("job %d of number %d: %+v", i, ids[i], job)
		}
	}
}
