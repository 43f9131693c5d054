package storetest

import (
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var nodeTests = []scenario{
	{"Register", register},
	{"RegistrationGoesOn", registrationGoesOn},
	{"NumbersAreNeverUsedAgain", nodeNumbers},
	{"Heartbeat", heartbeats},
	{"NextExpiry", nextExpiry},
	{"HeartbeatOfAGoneNode", heartbeatGone},
	{"EndedBatches", endedBatches},
	{"Leave", leave},
	{"LeaveTwiceAndAfterDeath", leaveTwice},
	{"ListNodes", listNodes},
	{"ListQueues", listQueues},
}

func register(e *env) {
	problems := []store.NodeProblem{
		{Name: "file-rejected", Subject: `C:\tab "日本".yaml`, Text: "line 3\n<no>", Since: e.now.Add(-time.Microsecond)}, {Name: "worker-stuck", Since: e.now},
	}
	res, err := e.a.Register(e.ctx, store.RegisterRequest{
		Now: e.now, Name: "host/1/日本", Lease: 1500 * time.Millisecond, Version: "v1.2.3", Host: "web-1.example", Labels: []string{"role=db", "zone=b"},
		Queues: []string{"q", "r"}, Kinds: []string{"k", "a b"}, Zones: []string{"Africa/Cairo=1", "Europe/Prague=ä"},
		Problems: problems,
	})
	e.must(err)
	e.want(res.Now, e.now, "Register must return the store's now")
	e.ok(res.Node > 0, "a node's number is positive", res.Node)
	e.want(e.nodes()[res.Node], store.NodeInfo{
		ID: res.Node, Name: "host/1/日本", Version: "v1.2.3", Host: "web-1.example", Labels: []string{"role=db", "zone=b"},
		Queues: []string{"q", "r"}, Kinds: []string{"k", "a b"}, Zones: []string{"Africa/Cairo=1", "Europe/Prague=ä"},
		Problems: problems, Lease: 1500 * time.Millisecond, StartedAt: e.now, SeenAt: e.now,
	}, "a registered node must be listed as it is, alive as of now")
}

func registrationGoesOn(e *env) {
	n, other := e.node("n"), e.nodeFor("other", time.Hour)
	held := e.insertOne(newJob())
	claimed := e.claimOne(n)
	beat := e.heartbeat(n).Beat
	e.tick(10 * time.Second)
	req := store.RegisterRequest{
		Now: e.now, Continue: n, Name: "n2", Lease: 20 * time.Second, Version: "v2", Host: "web-2",
		Labels: []string{"role=db"}, Queues: []string{"q", "r"}, Kinds: []string{"k", "l"}, Zones: []string{"Asia/Tokyo=2"},
	}
	res, err := e.a.Register(e.ctx, req)
	e.must(err)
	e.want([]any{res.Node, res.Now}, []any{n, e.now}, "a node whose registration goes on must keep its number")
	e.ok(res.Position.Node == other, "a registration that goes on must not take a new number", res.Position)
	e.want(e.nodes()[n], store.NodeInfo{
		ID: n, Name: "n", Version: "v2", Host: "web-2", Labels: []string{"role=db"}, Queues: []string{"q", "r"},
		Kinds: []string{"k", "l"}, Zones: []string{"Asia/Tokyo=2"},
		Lease: 20 * time.Second, StartedAt: epoch, SeenAt: e.now, Beats: beat + 1, Running: 1,
	}, "a registration that goes on must be listed with what is registered now, under its name")
	req.Problems = []store.NodeProblem{{Name: "file-rejected", Subject: "a.yaml", Text: "no", Since: e.now}}
	for range 2 {
		_, err = e.a.Register(e.ctx, req)
		e.must(err)
		e.want(e.nodes()[n].Problems, req.Problems, "problems must be listed as they were registered last, and none if none was")
		req.Problems = nil
	}
	e.want(e.claims(n, false), []store.ClaimRef{{ID: held, Token: claimed.Token}}, "a registration that goes on must keep its claims")
	e.tick(19 * time.Second)
	e.want(len(e.rescue(other).Nodes), 0, "a registration that goes on must extend the lease by its new length")
	e.ok(e.heartbeat(n).Beat > beat, "heartbeats must be counted on", beat)
	e.finishWell(outcome(claimed, store.Completed))

	e.tick(time.Minute)
	e.rescue(other)
	before := e.nodes()
	for _, gone := range []int64{n, other + 1000} {
		req.Now, req.Continue = e.now, gone
		_, err := e.a.Register(e.ctx, req)
		e.is(err, store.ErrNodeGone, "the registration of a node that is gone must not go on")
	}
	e.want(e.nodes(), before, "a registration that does not go on must change nothing")
}

func nodeNumbers(e *env) {
	a := e.node("a")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: a})
	e.must(err)
	e.tick(time.Hour)
	_, err = e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Nodes: time.Minute, Limit: 10})
	e.must(err)
	e.want(len(e.nodes()), 0, "the ended node is pruned")
	e.ok(e.node("a") > a, "a node's number must never be used again")
}

func heartbeats(e *env) {
	n, m := e.node("n"), e.node("m")
	e.tick(14 * time.Second)
	e.want(e.heartbeat(n).Now, e.now, "a heartbeat must return the store's now")
	e.want([]time.Time{e.nodes()[n].SeenAt, e.nodes()[n].StartedAt}, []time.Time{e.now, epoch}, "a heartbeat must be remembered")
	e.tick(14 * time.Second)
	res := e.rescue(m)
	e.want(len(res.Nodes), 0, "a heartbeat must prolong the lease to now + its length, counted by the store's clock")
	e.tick(time.Second)
	e.want(len(e.rescue(m).Nodes), 1, "a lease must pass at its end")
}

func nextExpiry(e *env) {
	n := e.nodeFor("n", time.Second)
	e.want(e.heartbeat(n).NextExpiry, time.Time{}, "NextExpiry must be zero where there is no other node")
	e.nodeFor("long", time.Hour)
	short := e.nodeFor("short", time.Minute)
	e.want(e.heartbeat(n).NextExpiry, e.now.Add(time.Minute), "NextExpiry must be the first of the other nodes' leases")
	e.tick(30 * time.Second)
	e.heartbeat(short)
	e.want(e.heartbeat(n).NextExpiry, e.now.Add(time.Minute), "NextExpiry must follow heartbeats")
	e.tick(2 * time.Minute)
	e.want(e.heartbeat(n).NextExpiry, e.now.Add(-time.Minute), "NextExpiry of an expired lease must lie in the past, so that a node rescues")
	e.rescue(n)
	e.want(e.heartbeat(n).NextExpiry, epoch.Add(time.Hour), "a node that was declared dead must not count")
}

func heartbeatGone(e *env) {
	left, dead, alive := e.node("left"), e.node("dead"), e.nodeFor("alive", time.Hour)
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: left})
	e.must(err)
	e.tick(time.Minute)
	e.rescue(alive)
	for _, gone := range []int64{left, dead, alive + 1000} {
		before := e.nodes()
		_, err := e.a.Heartbeat(e.ctx, store.HeartbeatRequest{Now: e.now, Node: gone})
		e.is(err, store.ErrNodeGone, "a heartbeat of a node that is unknown, has left or was declared dead must give ErrNodeGone")
		e.want(e.nodes(), before, "a heartbeat of a node that is gone must not bring it back")
	}
}

func endedBatches(e *env) {
	n, m := e.nodeFor("n", time.Minute), e.nodeFor("m", time.Hour)
	e.insertN(4)
	claim := func() store.ClaimResult {
		res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 2})
		e.must(err)
		return res
	}
	first, second := claim(), claim()
	for _, j := range first.Jobs {
		e.finishWell(outcome(j, store.Completed))
	}
	if first.Batch != 0 {
		e.ok(first.Batch != second.Batch, "each claim must have a batch of its own", first.Batch)
		_, err := e.a.Heartbeat(e.ctx, store.HeartbeatRequest{Now: e.now, Node: n, EndedBatches: []int64{first.Batch}})
		e.must(err)
	}
	e.want(len(e.claims(n, false)), 2, "a batch that ended must not take other claims with it")
	e.tick(time.Hour)
	e.want(len(e.rescue(m).Jobs), 2, "jobs of batches that have not ended must be rescued")
}

func leave(e *env) {
	n, m := e.nodeFor("n", time.Hour), e.nodeFor("m", time.Hour)
	job := func(attempts int16, loss store.OnLoss) int64 {
		return e.insertOne(with(func(j *store.NewJob) { j.MaxAttempts, j.OnLoss = attempts, loss }))
	}
	again, last, never, asked := job(2, store.OnLossRetry), job(1, store.OnLossRetry), job(5, store.OnLossFail), job(5, store.OnLossRetry)
	claims := e.claim(n, 4)
	other := e.insertOne(newJob())
	e.claimOne(m)
	e.cancel(asked)
	e.tick(time.Second)
	res, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: n})
	e.must(err)
	slices.SortFunc(res.Jobs, func(a, b store.RescuedJob) int { return int(a.ID - b.ID) })
	var want []store.RescuedJob
	for i, state := range []store.State{store.StateReady, store.StateFailed, store.StateFailed, store.StateCancelled} {
		want = append(want, store.RescuedJob{ID: claims[i].ID, Token: claims[i].Token, Kind: "k", Queue: "q", Node: n, State: state, Begun: true})
	}
	e.want(res.Jobs, want, "what a leaving node holds must be treated as in Rescue")
	info := e.job(again)
	e.want([]any{info.State, info.RunAt, info.Attempt, info.Token},
		[]any{store.StateReady, e.now, int16(0), claims[0].Token},
		"a job of a node that left must be ready now, its attempt refunded, its token kept")
	e.want([]string{e.job(last).Reason, e.job(never).Reason, e.job(asked).Reason},
		[]string{store.LostReason, store.LostReason, "asked by the test"}, "a job that may not run again must end with the reason")
	e.want(e.state(other), store.StateRunning, "other nodes' jobs must be left alone")
	left := e.nodes()[n]
	e.want([]any{left.EndedAt, left.Died, left.Running}, []any{e.now, false, int64(0)}, "a node that left has ended, and has not died")
	e.want(e.claimOne(m).Attempt, int16(1), "a refunded attempt must be counted again")
}

func leaveTwice(e *env) {
	n, dead, m := e.nodeFor("n", time.Hour), e.nodeFor("dead", time.Minute), e.nodeFor("m", 100*time.Hour)
	for range 2 {
		_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: n})
		e.is(err, nil, "leaving twice must be harmless")
	}
	e.want(e.nodes()[n].EndedAt, e.now, "the node has left")
	before := e.nodes()[n]
	e.tick(time.Hour)
	e.rescue(m)
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: dead})
	e.is(err, nil, "leaving after having been declared dead must be harmless")
	e.want([]any{e.nodes()[dead].Died, e.nodes()[n]}, []any{true, before}, "a node ends once")
}

func listNodes(e *env) {
	a, b, c := e.node("a"), e.nodeFor("b", time.Hour), e.node("c")
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: c})
	e.must(err)
	e.tick(time.Minute)
	e.rescue(b)
	nodes, err := store.List[store.NodeInfo](e.ctx, e.b, store.ListRequest{})
	e.must(err)
	type row struct {
		id    int64
		ended time.Time
		died  bool
	}
	var got []row
	for _, n := range nodes {
		got = append(got, row{n.ID, n.EndedAt, n.Died})
	}
	e.want(got, []row{{c, epoch, false}, {b, time.Time{}, false}, {a, e.now, true}}, "living and ended nodes must be listed, greatest number first")
}

func listQueues(e *env) {
	n := e.node("n")
	in := func(queue string, delay time.Duration) store.NewJob {
		return with(func(j *store.NewJob) { j.Queue, j.Delay = queue, delay })
	}
	e.insert(in("q", 0), in("q", 0), in("q", 0), in("q", 0), in("q", time.Hour), in("q", 2*time.Hour), in("b", time.Hour), in("done", 0), in("a", -time.Hour))
	jobs := e.claim(n, 3)
	e.finish(outcome(jobs[0], store.Completed), outcome(jobs[1], store.Failed))
	e.cancel(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "done"}})[0].ID)
	oldest := map[string]time.Time{}
	for _, j := range e.list(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}}) {
		if at, found := oldest[j.Queue]; !found || j.RunAt.Before(at) {
			oldest[j.Queue] = j.RunAt
		}
	}
	queues, err := store.List[store.QueueInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(queues, []store.QueueInfo{
		{Name: "a", Ready: 1, Oldest: oldest["a"]}, {Name: "b", Scheduled: 1}, {Name: "q", Ready: 1, Scheduled: 2, Running: 1, Oldest: oldest["q"]},
	}, "each queue's live jobs must be counted, by name: ready (due), scheduled (due later), running; with the earliest run_at of the due jobs")
	e.insertOne(with(func(j *store.NewJob) { j.Kind, j.RunAt = "a", e.now.Add(time.Hour) }))
	all, err := store.List[store.KindInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	first := oldest["a"]
	if oldest["q"].Before(first) {
		first = oldest["q"]
	}
	e.want(all, []store.KindInfo{
		{Name: "a", Scheduled: 1}, {Name: "k", Ready: 2, Scheduled: 3, Running: 1, Oldest: first},
	}, "each kind's live jobs must be counted, in the same way")
}
