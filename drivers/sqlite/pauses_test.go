package sqlite

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestClaimsParkInSteps checks that no transaction of a claim parks more than a step of the jobs that became due in a pause.
func TestClaimsParkInSteps(t *testing.T) {
	b := openFile(t, newFile(t))
	node := register(t, b, time.Hour)
	pause(t, b, store.PutPause{Subject: store.SubjectGroup, Name: "g"})
	jobs := make([]store.NewJob, 2*sqlrows.PauseStep+1)
	for i := range jobs {
		jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Group: "g", Args: []byte("{}"), Priority: 1, MaxAttempts: 5}}
	}
	_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	plain := insertPlain(t, b, 1)
	parked := func() (n int) {
		t.Helper()
		must(t, b.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_job WHERE state = -1").Scan(&n))
		return n
	}
	for step := 1; step <= 2; step++ {
		out, err := b.claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}, true)
		must(t, err)
		if n := parked(); len(out.Jobs) > 0 || !out.Again || n != step*sqlrows.PauseStep {
			t.Fatalf("step %d of a claim: %d jobs are claimed and %d parked, again: %v", step, len(out.Jobs), n, out.Again)
		}
	}
	if claimed := claimPlain(t, b, node, 10); len(claimed) != 1 || claimed[0].ID != plain[0] || parked() != len(jobs) {
		t.Errorf("a claim took %d jobs, and %d are parked", len(claimed), parked())
	}
}

// pause pauses a subject.
func pause(t *testing.T, b *Backend, put store.PutPause) {
	t.Helper()
	_, err := b.Put(t.Context(), store.PutRequest{Pauses: []store.PutPause{put}})
	must(t, err)
}
