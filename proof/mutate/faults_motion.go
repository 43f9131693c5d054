package main

// Faults in the motion: in the loops and the decisions of a node, and in the store in memory as an example of a store. Proof
// sim, the simulated cluster, notices them; the driver of these faults is called sim.

// The folders of the faults.
const (
	inMemory = "../../store/memory/"
	inWork   = "../../internal/work/"
	inNode   = "../../internal/node/"
)

var motionFaults = []fault{
	// Claims and their ends.
	{
		"a claim outlives its rolled-back transaction", inMemory + "jobs.go",
		"\treturn out, nil\n}\n\n// claimable returns the jobs",
		"\tif now.UnixMicro()%97 == 0 {\n\t\tfor _, c := range out.Jobs {\n\t\t\tj := s.live[c.ID]\n\t\t\tj.State, j.node, j.Token, j.Attempt = store.StateReady, 0, 0, j.Attempt-1\n\t\t}\n\t}\n\treturn out, nil\n}\n\n// claimable returns the jobs",
	},
	{"an outcome counts without its token", inMemory + "finish.go", "if j.Token != o.Token {\n\t\treturn false\n\t}\n\tasked", "if false {\n\t\treturn false\n\t}\n\tasked"},
	{"jobs are claimed before they are due", inMemory + "jobs.go", "!j.RunAt.After(req.DueBy(now)) && allowed", "true && allowed"},
	{"a running job is claimed again", inMemory + "jobs.go", "if j.State == store.StateReady && !j.waits && j.Queue == req.Queue && !j.RunAt.After(req.DueBy(now))", "if j.State != store.StateWaiting && !j.waits && j.Queue == req.Queue && !j.RunAt.After(req.DueBy(now))"},
	{"tokens do not grow", inMemory + "memory.go", "s.lastToken = max(s.lastToken, last) + 1\n\treturn s.lastToken", "s.lastToken = max(s.lastToken, last) + 1\n\treturn s.lastToken / 2"},
	{"claims in flight are handed back", inWork + "reconcile.go", "patience := r.cfg.CallTimeout + time.Second", "patience := time.Duration(0)"},
	{"claims without an answer are forgotten", inWork + "reconcile.go", "for _, ref := range r.unknown.ripe(unknown, now, patience) {", "for _, ref := range r.unknown.ripe(unknown[:0], now, patience) {"},
	{"jobs that could not begin begin all the same", inWork + "fetch.go", "|| !f.begin(ctx, rest[:n]) {", "|| !f.begin(ctx, rest[:n]) && false {"},
	{"the last attempt is one more", inWork + "attempt_outcome.go", "case job.Attempt >= job.MaxAttempts:", "case job.Attempt > job.MaxAttempts:"},
	{"a final error is tried again", inWork + "attempt_outcome.go", "case final != nil && final.result != store.Retry:", "case false:"},
	{"an error completes its job", inWork + "attempt_outcome.go", "if err == nil {\n\t\tout.Result = store.Completed", "if err == nil || cause == nil {\n\t\tout.Result = store.Completed"},
	{"outcomes that failed are dropped", inWork + "outcomes.go", "o.waiting = slices.Insert(o.waiting, 0, batch...)", "_ = slices.Insert(o.waiting, 0, batch...)"},
	{"a failed write of outcomes counts as done", inWork + "outcomes.go", "o.report.StoreFailed(\"record outcomes\", err)\n\t\t}\n\t\treturn false", "o.report.StoreFailed(\"record outcomes\", err)\n\t\t}\n\t\to.written(batch, nil)\n\t\treturn true"},
	{"a job that has ended stays in flight", inWork + "fetch.go", "if !at.replaced {\n\t\t\tf.inFlight.Add(-1)", "if !at.replaced && run.ID%2 == 0 {\n\t\t\tf.inFlight.Add(-1)"},
	{"a completion is not sent with its transaction", inMemory + "tx.go", "for _, o := range t.outcomes {\n\t\ts.finishAndFollow(o.Outcome, o.node, o.at)\n\t}", ""},
	{"a transaction that was rolled back is kept", inMemory + "tx.go", "t.end()\n\treturn nil\n}\n\nfunc (t *Tx) end() {", "t.store.add(t.jobs...)\n\tt.end()\n\treturn nil\n}\n\nfunc (t *Tx) end() {"},

	// Leases and deaths.
	{"a heartbeat counts from its answer", inNode + "lease.go", "c.trustedUntil = sent.Add(c.length - margin(c.length))", "c.trustedUntil = received.Add(c.length - margin(c.length))"},
	{"a lease is trusted for twice its length", inNode + "lease.go", "c.trustedUntil = sent.Add(c.length - margin(c.length))", "c.trustedUntil = sent.Add(2 * c.length)"},
	{"a rescue without the wait", inNode + "lease.go", "if !c.steady || gap > c.length || drift > slack || drift < -slack {", "if c.steadySince == 0 || gap+drift+slack == 0 {"},
	{"a step of the clock does not restart the wait", inNode + "lease.go", "|| drift > slack || drift < -slack {", "|| drift < -2*slack && gap > slack {"},
	{"the living are rescued", inMemory + "nodes.go", "node.EndedAt.IsZero() && !expiry(node).After(now):", "node.EndedAt.IsZero() && !expiry(node).After(now.Add(node.Lease/2)):"},
	{"no node is rescued", inNode + "rescue.go", "return x.known && now >= x.at", "return x.known && now < 0"},
	{"the jobs of a dead node are forgotten", inMemory + "nodes.go", "s.takeJobs(node, after, now, out)\n\tout.Nodes", "out.Nodes"},

	// Limits.
	{"a permit is returned twice", inWork + "permits.go", "if p.running.Add(-1); p.gated.Load() {", "if p.running.Add(-2); p.gated.Load() {"},
	{"a permit is never returned", inWork + "fetch.go", "if !run.isLeft() && !at.abandoned {", "if run.isLeft() && !at.abandoned {"},
	{"an exchange hides what is in use", inWork + "permits.go", "InUse: used, Want: want", "InUse: 0, Want: want"},
}
