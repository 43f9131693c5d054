package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store"
)

// TestTheModelFindsWrongAnswers follows calls whose answers the model of claims does not allow.
func TestTheModelFindsWrongAnswers(t *testing.T) {
	begins := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := begins
	register := func(node int64) intercept.Call {
		return intercept.Call{Request: &store.RegisterRequest{Lease: 15 * time.Second}, Result: &store.RegisterResult{Node: node}}
	}
	claim := func(node, token int64, attempt int16) intercept.Call {
		job := store.Claimed{ID: 7, Token: token, Attempt: attempt, JobSpec: store.JobSpec{MaxAttempts: 3}}
		return intercept.Call{Request: &store.ClaimRequest{Node: node, Limit: 1}, Result: &store.ClaimResult{Jobs: []store.Claimed{job}}}
	}
	outcome := func(token int64, result store.Result) intercept.Call {
		return intercept.Call{
			Request: &store.FinishRequest{Outcomes: []store.Outcome{{ID: 7, Token: token, Result: result}}}, Result: &store.FinishResult{},
		}
	}
	heartbeat := func(node int64) intercept.Call {
		return intercept.Call{Request: &store.HeartbeatRequest{Node: node}, Result: &store.HeartbeatResult{}}
	}
	rescue := func(jobs ...store.RescuedJob) intercept.Call {
		return intercept.Call{
			Request: &store.RescueRequest{Node: 2, Beat: 1}, Result: &store.RescueResult{Nodes: []store.NodeInfo{{ID: 1}}, Jobs: jobs},
		}
	}
	lost := store.RescuedJob{ID: 7, Token: 5, Node: 1, Begun: true, State: store.StateReady}
	unbegun := lost
	unbegun.Begun = false
	for _, one := range []struct {
		name  string
		after time.Duration // before the last call, and node 2 sends a heartbeat then
		calls []intercept.Call
		wrong string // empty: the model accepts the calls
	}{
		{"a claim and its outcome", 0, []intercept.Call{claim(1, 5, 1), outcome(5, store.Completed)}, ""},
		{"a claim of a job that runs", 0, []intercept.Call{claim(1, 5, 1), claim(2, 6, 2)}, "node 2 claims job 7"},
		{"a token that was given before", 0, []intercept.Call{claim(1, 5, 1), outcome(5, store.Retry), claim(2, 5, 2)}, "node 2 claims job 7"},
		{"an attempt that was not refunded", 0, []intercept.Call{claim(1, 5, 1), outcome(5, store.Release), claim(2, 6, 2)}, "node 2 claims job 7"},
		{"an earlier token", 0, []intercept.Call{claim(1, 5, 1), outcome(5, store.Retry), claim(2, 6, 2), outcome(5, store.Completed)}, "the outcome 0"},
		{"a claim by a node that has ended", 0, []intercept.Call{claim(3, 5, 1)}, "which has ended"},
		{"a rescue", 16 * time.Second, []intercept.Call{claim(1, 5, 1), rescue(lost)}, ""},
		{"a rescue that another heartbeat has overtaken", 16 * time.Second, []intercept.Call{claim(1, 5, 1), heartbeat(2), rescue(lost)}, "has sent 2"},
		{"a rescue before the lease ends", 14 * time.Second, []intercept.Call{claim(1, 5, 1), rescue(lost)}, "before its lease ends"},
		{"a rescue that leaves the job", 16 * time.Second, []intercept.Call{claim(1, 5, 1), rescue()}, "is left with it"},
		{"a rescue that does not know that the job has begun", 16 * time.Second, []intercept.Call{claim(1, 5, 1), rescue(unbegun)}, "is taken from node 1"},
		{"a late outcome", 16 * time.Second, []intercept.Call{claim(1, 5, 1), rescue(lost), outcome(5, store.Completed), outcome(5, store.Completed)}, ""},
	} {
		now = begins
		m := newClaimsModel(func() time.Time { return now })
		m.follow(register(1))
		m.follow(register(2))
		m.follow(one.calls[0])
		now = now.Add(one.after)
		m.follow(heartbeat(2))
		for _, call := range one.calls[1:] {
			m.follow(call)
		}
		found := strings.Join(m.problems, "\n")
		if (found == "") != (one.wrong == "") || !strings.Contains(found, one.wrong) {
			t.Errorf("%s: found %q, want %q", one.name, found, one.wrong)
		}
	}
}
