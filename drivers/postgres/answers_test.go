package postgres

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/clienttest"
	"github.com/hourbell/hourbell/store"
)

func TestAnswers(t *testing.T) {
	clienttest.Answers(t, func(t *testing.T) (store.Backend, store.Backend) { return fresh(t), nil })
}

// TestProgressGoesWithItsJob checks that no row of progress stays when its job is
// deleted or pruned, whether a batch has recorded the end of the job or not.
func TestProgressGoesWithItsJob(t *testing.T) {
	b := fresh(t)
	for _, jobs := range []int{2, 2 * leastNoted} {
		node := register(t, b)
		_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: noop(jobs)})
		must(t, err)
		res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: jobs})
		must(t, err)
		var progress []store.ClaimProgress
		var outcomes []store.Outcome
		for _, job := range res.Jobs {
			progress = append(progress, store.ClaimProgress{ClaimRef: store.ClaimRef{ID: job.ID, Token: job.Token}})
			outcomes = append(outcomes, store.Outcome{ID: job.ID, Token: job.Token, Alone: true})
		}
		must(t, b.SaveProgress(t.Context(), store.SaveProgressRequest{Claims: progress}))
		finish(t, b, outcomes...)
		rows := func() (n int) {
			must(t, b.pool.QueryRow(t.Context(), withSchema("select count(*) from {schema}.progress", b.schema)).Scan(&n))
			return n
		}
		if n := rows(); n != jobs || len(res.Jobs) != jobs {
			t.Errorf("%d rows for %d jobs", n, jobs)
		}
		_, err = b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: []int64{res.Jobs[0].ID}})
		must(t, err)
		if n := rows(); n != jobs-1 {
			t.Errorf("%d rows after a deletion, want %d", n, jobs-1)
		}
		_, err = b.Prune(t.Context(), store.PruneRequest{Now: time.Now().Add(time.Hour), Completed: time.Minute, Limit: 100})
		must(t, err)
		if n := rows(); n != 0 {
			t.Errorf("%d rows after pruning", n)
		}
	}
}

// TestOutputGoesWithItsAttempt checks that no stored output stays when its attempt ends,
// also if output is stored at the same moment.
func TestOutputGoesWithItsAttempt(t *testing.T) {
	b := fresh(t)
	const jobs, rounds = 20, 30
	node := register(t, b)
	for round := range rounds {
		_, err := b.Insert(t.Context(), store.InsertRequest{Jobs: noop(jobs)})
		must(t, err)
		res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"k"}, Limit: jobs})
		must(t, err)
		var output store.SaveOutputRequest
		var outcomes []store.Outcome
		for i, job := range res.Jobs {
			ref := store.ClaimRef{ID: job.ID, Token: job.Token}
			output.Claims = append(output.Claims, store.ClaimOutput{ClaimRef: ref, Data: []byte("said")})
			o := store.Outcome{ID: job.ID, Token: job.Token, Alone: true, OutputSaved: true}
			if i%2 == 0 {
				o.Result, o.Error, o.Delay = store.Retry, "why", 24*time.Hour
			}
			outcomes = append(outcomes, o)
		}
		_, err = b.SaveOutput(t.Context(), output)
		must(t, err)
		saving := make(chan error)
		go func() {
			var err error
			for range 3 {
				if err == nil {
					_, err = b.SaveOutput(t.Context(), output)
				}
			}
			saving <- err
		}()
		finish(t, b, outcomes...)
		must(t, <-saving)
		var n int
		must(t, b.pool.QueryRow(t.Context(), withSchema("select count(*) from {schema}.output", b.schema)).Scan(&n))
		if n != 0 || len(res.Jobs) != jobs {
			t.Fatalf("round %d: %d rows of %d attempts stayed", round, n, len(res.Jobs))
		}
	}
}
