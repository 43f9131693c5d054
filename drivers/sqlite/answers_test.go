package sqlite

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
)

func TestAnswers(t *testing.T) {
	clienttest.Answers(t, func(t *testing.T) (store.Backend, store.Backend) { return openFile(t, newFile(t)), nil })
}

// TestProgressGoesWithItsJob checks that no row of progress stays when its job is
// deleted or pruned.
func TestProgressGoesWithItsJob(t *testing.T) {
	b := openFile(t, newFile(t))
	const jobs = 3
	node, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Minute})
	must(t, err)
	for range jobs {
		_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 1}}}})
		must(t, err)
	}
	res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node.Node, Queue: "q", Kinds: []string{"k"}, Limit: jobs})
	must(t, err)
	for _, job := range res.Jobs {
		ref := store.ClaimRef{ID: job.ID, Token: job.Token}
		must(t, b.SaveProgress(t.Context(), store.SaveProgressRequest{Claims: []store.ClaimProgress{{ClaimRef: ref}}}))
		_, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{{ID: job.ID, Token: job.Token}}})
		must(t, err)
	}
	rows := func() (n int) {
		must(t, b.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_progress").Scan(&n))
		return n
	}
	if n := rows(); n != jobs {
		t.Fatalf("%d rows for %d jobs", n, jobs)
	}
	_, err = b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{res.Jobs[0].ID}})
	must(t, err)
	if n := rows(); n != jobs-1 {
		t.Errorf("%d rows after a deletion", n)
	}
	_, err = b.Prune(t.Context(), store.PruneRequest{Now: time.Now().Add(time.Hour), Completed: time.Minute, Limit: 100})
	must(t, err)
	if n := rows(); n != 0 {
		t.Errorf("%d rows after pruning", n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOutputGoesWithItsAttempt checks that no stored output stays when its attempt ends.
func TestOutputGoesWithItsAttempt(t *testing.T) {
	b := openFile(t, newFile(t))
	const jobs = 4
	node, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Minute})
	must(t, err)
	for range jobs {
		_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: []store.NewJob{{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Args: []byte("{}"), Priority: 5, MaxAttempts: 2}}}})
		must(t, err)
	}
	res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node.Node, Queue: "q", Kinds: []string{"k"}, Limit: jobs})
	must(t, err)
	var output store.SaveOutputRequest
	var outcomes []store.Outcome
	for i, job := range res.Jobs {
		output.Claims = append(output.Claims, store.ClaimOutput{ClaimRef: store.ClaimRef{ID: job.ID, Token: job.Token}, Data: []byte("said")})
		o := store.Outcome{ID: job.ID, Token: job.Token, OutputSaved: true}
		if i%2 == 0 {
			o.Result, o.Error = store.Retry, "why"
		}
		outcomes = append(outcomes, o)
	}
	rows := func() (n int) {
		must(t, b.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM hourbell_output").Scan(&n))
		return n
	}
	_, err = b.SaveOutput(t.Context(), output)
	must(t, err)
	if n := rows(); n != jobs {
		t.Fatalf("%d rows of %d attempts", n, jobs)
	}
	_, err = b.Finish(t.Context(), store.FinishRequest{Outcomes: outcomes})
	must(t, err)
	if n := rows(); n != 0 {
		t.Errorf("%d rows stayed", n)
	}
}
