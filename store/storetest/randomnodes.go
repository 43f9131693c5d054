package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

func (w *world) register() {
	nodes, err := store.List[store.NodeInfo](w.ctx, w.model, store.ListRequest{})
	w.must(err)
	if len(nodes) > 12 {
		return
	}
	req := store.RegisterRequest{
		Now: w.now, Name: fmt.Sprint("node ", w.steps), Lease: 10*time.Second + w.within(time.Minute), Version: "v",
		Host: fmt.Sprint("host", w.steps%3), Labels: []string{fmt.Sprint("step=", w.steps)},
		Zones:  []string{fmt.Sprint("Test/Town=", w.steps)},
		Queues: queues, Kinds: kinds,
	}
	if w.chance(2) {
		req.Problems = []store.NodeProblem{{Name: "p", Subject: fmt.Sprint(w.steps), Since: w.now}}
	}
	if req.Continue = w.someNode(); req.Continue != 0 && w.chance(4) {
		w.goOn(req)
		return
	}
	req.Continue = 0
	want, err := w.model.Register(w.ctx, req)
	w.must(err)
	got, err := w.client.Register(w.ctx, req)
	w.must(err)
	w.names.nodes.add(got.Node, want.Node)
	got.Node = w.names.nodes.model(got.Node)
	got.Position, want.Position = store.Position{}, store.Position{} // numbers of the one store mean nothing in the other
	w.compare("Register", req, got, want)
	w.nodes = append(w.nodes, want.Node)
	w.nodes = w.nodes[max(0, len(w.nodes)-10):]
}

// goOn continues the registration of a node, which may be gone.
func (w *world) goOn(req store.RegisterRequest) {
	sent := req
	sent.Continue = w.names.nodes.real(req.Continue)
	want, wantErr := w.model.Register(w.ctx, req)
	got, gotErr := w.client.Register(w.ctx, sent)
	if w.agree("Register", req, gotErr, wantErr, true) {
		got.Node = w.names.nodes.model(got.Node)
		got.Position, want.Position = store.Position{}, store.Position{}
		w.compare("Register", req, got, want)
	}
}

func (w *world) heartbeat() {
	w.heartbeatBoth(w.someNode())
}

func (w *world) heartbeatBoth(node int64) {
	req := store.HeartbeatRequest{Now: w.now, Node: node}
	sent := req
	sent.Node = w.names.nodes.real(req.Node)
	if w.chance(2) {
		sent.EndedBatches = w.endedBatches(req.Node)
	}
	want, wantErr := w.model.Heartbeat(w.ctx, req)
	got, gotErr := w.client.Heartbeat(w.ctx, sent)
	got.Position, want.Position = store.Position{}, store.Position{}
	if w.agree("Heartbeat", req, gotErr, wantErr, true) {
		w.compare("Heartbeat", req, got, want)
	}
}

// endedBatches returns the claims of a node whose jobs have all ended, and
// removes them.
func (w *world) endedBatches(node int64) []int64 {
	held, err := w.model.Claims(w.ctx, store.ClaimsRequest{Node: node})
	w.must(err)
	var ended []int64
	w.batches[node] = slices.DeleteFunc(w.batches[node], func(b batch) bool {
		if slices.ContainsFunc(b.refs, func(ref store.ClaimRef) bool { return slices.Contains(held, ref) }) {
			return false
		}
		ended = append(ended, b.id)
		return true
	})
	return ended
}

func (w *world) readClaims() {
	req := store.ClaimsRequest{Node: w.someNode(), Cancelled: w.chance(2)}
	w.claimsBoth(req)
}

func (w *world) claimsBoth(req store.ClaimsRequest) {
	want, err := w.model.Claims(w.ctx, req)
	w.must(err)
	sent := req
	sent.Node = w.names.nodes.real(req.Node)
	got, err := w.client.Claims(w.ctx, sent)
	w.must(err)
	w.compare("Claims", req, w.names.modelRefs(got, nil), sortRefs(want))
}

// rescue requests a rescue by a node that mostly, but not always, may rescue, and that mostly knows its last heartbeat.
func (w *world) rescue() {
	node := w.someNode()
	if node == 0 {
		return
	}
	if !w.chance(4) {
		w.heartbeatBoth(node)
	}
	req := store.RescueRequest{Now: w.now, Node: node, Beat: w.beats(node), After: lostFollowUp}
	if w.chance(8) {
		req.Beat--
	}
	want, err := w.model.Rescue(w.ctx, req)
	w.must(err)
	req.Node, req.After = w.names.nodes.real(node), w.realLost
	got, err := w.client.Rescue(w.ctx, req)
	w.must(err)
	w.compare("Rescue", node, w.names.modelRescue(got), sortRescue(want))
	w.hooked = anyLost(want.Jobs)
	w.pairMade("Rescue", node)
}

// beats returns how many heartbeats a node has sent.
func (w *world) beats(node int64) int64 {
	nodes, err := store.List[store.NodeInfo](w.ctx, w.model, store.ListRequest{})
	w.must(err)
	for _, n := range nodes {
		if n.ID == node {
			return n.Beats
		}
	}
	return 0
}

func (w *world) leave() {
	node := w.someNode()
	if node == 0 {
		return
	}
	want, err := w.model.Leave(w.ctx, store.LeaveRequest{Now: w.now, Node: node, After: lostFollowUp})
	w.must(err)
	got, err := w.client.Leave(w.ctx, store.LeaveRequest{Now: w.now, Node: w.names.nodes.real(node), After: w.realLost})
	w.must(err)
	got.Nodes, want.Nodes = nil, nil
	w.compare("Leave", node, w.names.modelRescue(got), sortRescue(want))
	w.hooked = anyLost(want.Jobs)
	w.pairMade("Leave", node)
}

// prune prunes with ages that no row has exactly, until nothing is left to
// prune. The order of deletion is free, so only the sums are compared.
func (w *world) prune() {
	age := func() time.Duration {
		if w.chance(5) {
			return 0
		}
		return w.within(5*time.Minute) + time.Microsecond
	}
	w.pruneBoth(store.PruneRequest{Now: w.now, Completed: age(), Failed: age(), Slots: age(), Nodes: age(), Limit: 1 + w.rng.IntN(50)})
}

func (w *world) pruneBoth(req store.PruneRequest) {
	want := w.pruneAll(w.model, req)
	got := w.pruneAll(w.client, req)
	w.compare("Prune", req, got, want)
}

func (w *world) pruneAll(backend store.Maintenance, req store.PruneRequest) store.PruneResult {
	var sum store.PruneResult
	for more := true; more; {
		res, err := backend.Prune(w.ctx, req)
		w.must(err)
		sum.Jobs += res.Jobs
		sum.Slots += res.Slots
		sum.Nodes += res.Nodes
		sum.Audit += res.Audit
		more = res.More
	}
	return sum
}

// tidy keeps the stores small, so that many steps take little time.
func (w *world) tidy() {
	w.pruneBoth(store.PruneRequest{
		Now: w.now, Completed: time.Minute + time.Microsecond,
		Failed: time.Minute + time.Microsecond, Slots: 2*time.Minute + time.Microsecond,
		Nodes: time.Minute + time.Microsecond, Audit: 2*time.Minute + time.Microsecond, Limit: 100,
	})
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}, Limit: 1000})
	w.must(err)
	if len(jobs) < 60 {
		return
	}
	want := store.ChangeJobsRequest{Now: w.now, Action: store.DeleteJobs}
	got := want
	for _, j := range jobs[20:] {
		want.IDs = append(want.IDs, j.ID)
		got.IDs = append(got.IDs, w.names.jobs.real(j.ID))
	}
	a, err := w.model.ChangeJobs(w.ctx, want)
	w.must(err)
	b, err := w.client.ChangeJobs(w.ctx, got)
	w.must(err)
	for i := range b.Changes {
		b.Changes[i].ID = w.names.jobs.model(b.Changes[i].ID)
	}
	w.compare("ChangeJobs", want, b.Changes, a.Changes)
}

// compareAll compares everything that can be listed.
func (w *world) compareAll() {
	w.client = w.real.Clients[w.rng.IntN(2)]
	w.listBoth(store.ListJobsRequest{Limit: 10000, Attempts: true})
	w.schedulesBoth()
	w.calendarsBoth()
	w.slotsBoth(store.ListRequest{Limit: 10000})
	w.nodesBoth()
	w.queuesBoth()
	w.feedBoth()
	w.compareAudit(1000)
	for _, node := range w.nodes {
		w.claimsBoth(store.ClaimsRequest{Node: node})
	}
}

func (w *world) schedulesBoth() {
	got, err := store.List[store.Schedule](w.ctx, w.client, store.ListRequest{Deleted: true, Limit: 1000})
	w.must(err)
	var rows, want []store.Schedule
	for _, row := range got {
		rows = append(rows, w.names.modelSchedule(row))
	}
	for _, row := range w.rows() {
		want = append(want, withoutRemains(row))
	}
	w.compare("ListSchedules", nil, rows, want)
}

func (w *world) nodesBoth() {
	want, err := store.List[store.NodeInfo](w.ctx, w.model, store.ListRequest{})
	w.must(err)
	got, err := store.List[store.NodeInfo](w.ctx, w.client, store.ListRequest{})
	w.must(err)
	var nodes []store.NodeInfo
	for _, n := range got {
		n.ID = w.names.nodes.model(n.ID)
		nodes = append(nodes, n)
	}
	w.compare("ListNodes", nil, nodes, want)
}

func (w *world) queuesBoth() {
	want, err := store.List[store.QueueInfo](w.ctx, w.model, store.ListRequest{Now: w.now})
	w.must(err)
	got, err := store.List[store.QueueInfo](w.ctx, w.client, store.ListRequest{Now: w.now})
	w.must(err)
	w.compare("ListQueues", nil, got, want)
	wantKinds, err := store.List[store.KindInfo](w.ctx, w.model, store.ListRequest{Now: w.now})
	w.must(err)
	gotKinds, err := store.List[store.KindInfo](w.ctx, w.client, store.ListRequest{Now: w.now})
	w.must(err)
	w.compare("ListKinds", nil, gotKinds, wantKinds)
}
