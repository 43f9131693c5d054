package mysql

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// TestClaimsParkInSteps checks that no transaction of a claim parks more than a step of the jobs that became due in a pause.
func TestClaimsParkInSteps(t *testing.T) {
	b, _ := fresh(t)
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
		must(t, b.db.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_job WHERE state = -1").Scan(&n))
		return n
	}
	for step := 1; step <= 2; step++ {
		done, err := b.claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10}, store.ClaimWay{Last: true})
		must(t, err)
		if n := parked(); len(done.Jobs) > 0 || !done.Again || n != step*sqlrows.PauseStep {
			t.Fatalf("step %d of a claim: %d jobs are claimed and %d parked, again: %v", step, len(done.Jobs), n, done.Again)
		}
	}
	if claimed := claimPlain(t, b, node, 10); len(claimed) != 1 || claimed[0].ID != plain[0] || parked() != len(jobs) {
		t.Errorf("a claim took %d jobs, and %d are parked", len(claimed), parked())
	}
}

// TestABacklogDelaysNoOtherKey checks that a claim lets only some of very many jobs of one key wait before it takes the jobs that may start.
func TestABacklogDelaysNoOtherKey(t *testing.T) {
	b, _ := fresh(t)
	node := register(t, b, time.Hour)
	_, err := b.Put(t.Context(), store.PutRequest{Limits: []store.PutLimit{{Limit: store.Limit{Name: "l", ByKey: true, Concurrency: 1}}}})
	must(t, err)
	jobs := make([]store.NewJob, 5*rowwise.FreshRows)
	for i := range jobs {
		jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Key: "many", Args: []byte("{}"), Priority: 1, MaxAttempts: 5}}
	}
	jobs[len(jobs)-1].Key = "few"
	_, err = b.Insert(t.Context(), store.InsertRequest{Jobs: jobs})
	must(t, err)
	res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 10})
	must(t, err)
	if len(res.Jobs) != 2 || res.Jobs[1].Key != "few" {
		t.Errorf("%d jobs are claimed, want the first of each key", len(res.Jobs))
	}
	if !res.NextDue.Equal(res.Now) {
		t.Errorf("the next claim goes on at %v, want at once (%v)", res.NextDue, res.Now)
	}
	var waiting int
	must(t, b.db.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_job WHERE lane IS NOT NULL").Scan(&waiting))
	if most := mostLaneSteps * rowwise.FreshRows; waiting == 0 || waiting > most {
		t.Errorf("%d jobs wait after one claim, want at most %d", waiting, most)
	}
}

// pause pauses a subject.
func pause(t *testing.T, b *Backend, put store.PutPause) {
	t.Helper()
	_, err := b.Put(t.Context(), store.PutRequest{Pauses: []store.PutPause{put}})
	must(t, err)
}
