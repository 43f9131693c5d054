package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

func TestRescueKeepsTheRules(t *testing.T) {
	r := newRuleTest(t)
	for round := range ruleRounds {
		r.fill(30)
		r.endNodes(round%2 == 0)
	}
}

// endNodes rescues the jobs of both nodes, or lets one node leave.
func (r *ruleTest) endNodes(died bool) {
	var want []store.RescuedJob
	var freed []store.SerialGroup
	var hooks []string
	after := func(j store.LostJob) *store.FollowUp { return hook(j.ID) }
	losses := map[int64]store.Loss{}
	for _, id := range r.ids() {
		j := r.table.jobs[id]
		if j.State == store.StateRunning && (died || j.Node == r.nodes[0]) {
			losses[id] = store.Loss{
				Died: died, Begun: j.begun, Asked: j.Asked, Why: j.Why, OnLoss: j.OnLoss, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts,
				Losses: j.Losses, Group: j.group(), Waits: r.table.state(j.group()).Waits(),
			}
		}
	}
	for _, node := range r.nodes {
		for _, id := range r.ids() {
			j := r.table.jobs[id]
			loss, taken := losses[id]
			if !taken || j.Node != node {
				continue
			}
			j.record(loss.Record(id, "n"))
			r.table.apply(j, loss.Effect())
			want = append(want, store.RescuedJob{ID: id, Token: j.Token, Kind: j.Kind, Queue: "q", Node: node, State: j.State, Begun: j.begun})
			if j.State.Finished() {
				freed = append(freed, j.group())
			}
			if j.State == store.StateFailed {
				hooks = append(hooks, hookKind(id))
			}
		}
	}
	r.table.release(freed...)

	var res store.RescueResult
	var err error
	if died {
		res, err = r.b.Rescue(r.Context(), store.RescueRequest{Now: r.table.now, Node: r.node(r.table.now), After: after})
	} else {
		res, err = r.b.Leave(r.Context(), store.LeaveRequest{Now: r.table.now, Node: r.nodes[0], After: after})
	}
	must(r, err)
	same(r, "jobs", res.Jobs, want)
	r.compare(fmt.Sprintf("died: %v", died), hooks)
}

func TestExpiryKeepsTheRules(t *testing.T) {
	r := newRuleTest(t)
	for range ruleRounds {
		r.exec("DELETE FROM {schema}.heartbeat; DELETE FROM {schema}.node")
		var living []store.NodeInfo
		for range 1 + r.IntN(10) {
			n := store.NodeInfo{Lease: []time.Duration{time.Hour, 2 * store.MostAhead}[r.IntN(2)], SeenAt: r.about()}
			res, err := r.b.Register(r.Context(), store.RegisterRequest{Now: n.SeenAt, Name: "n", Lease: n.Lease})
			must(r, err)
			n.ID = res.Node
			living = append(living, n)
		}
		asker := living[0].ID
		if r.chance(20) {
			asker = 0
		}
		var want, got []int64
		req := store.RescueRequest{Now: r.table.now, Node: asker}
		if r.chance(20) {
			req.Beat++
		}
		for _, n := range store.Expired(living, req, r.table.now) {
			want = append(want, n.ID)
		}
		res, err := r.b.Rescue(r.Context(), req)
		must(r, err)
		for _, n := range res.Nodes {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("expired %v, want %v of %+v when %+v asks at %v", got, want, living, req, r.table.now)
		}
	}
}
