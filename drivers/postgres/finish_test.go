package postgres

import (
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestStaleOutcomeLeavesTheCancelRequest sends an outcome of an earlier claim
// for a job with a cancel request.
func TestStaleOutcomeLeavesTheCancelRequest(t *testing.T) {
	b := fresh(t)
	node := register(t, b)
	insertN(t, b, 1)
	old := claimN(t, b, node, 1)[0]
	finish(t, b, store.Outcome{ID: old.ID, Token: old.Token, Result: store.Release})
	job := claimN(t, b, node, 1)[0]
	_, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.CancelJobs, IDs: []int64{job.ID}, Reason: "enough"})
	must(t, err)
	if refused := finish(t, b, store.Outcome{ID: old.ID, Token: old.Token, Result: store.Completed}); len(refused) != 1 {
		t.Error("a stale outcome was accepted")
	}
	claims, err := b.Claims(t.Context(), store.ClaimsRequest{Node: node, Cancelled: true})
	must(t, err)
	if len(claims) != 1 {
		t.Error("a stale outcome took the cancel request away")
	}
	finish(t, b, store.Outcome{ID: job.ID, Token: job.Token, Result: store.Retry})
	jobs, err := b.ListJobs(t.Context(), store.ListJobsRequest{Limit: 1})
	must(t, err)
	if jobs[0].State != store.StateCancelled || jobs[0].Reason != "enough" {
		t.Errorf("the job is %v: %q", jobs[0].State, jobs[0].Reason)
	}
}

func finish(t *testing.T, b *Backend, outcomes ...store.Outcome) []store.ClaimRef {
	t.Helper()
	res, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: outcomes})
	must(t, err)
	return res.Refused
}
