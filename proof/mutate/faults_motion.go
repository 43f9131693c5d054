package main

// Faults in the motion: in the loops and the decisions of a node, and in the store in memory as an example of a store. Proof
// sim, the simulated cluster, notices them; the driver of these faults is called sim. The statements of SQL drivers are not
// simulated, nor is store/rowwise: the suites notice the faults there (faults.go and the files of the drivers).

// The folders of the faults.
const (
	inMemory = "../../store/memory/"
	inWork   = "../../internal/work/"
	inNode   = "../../internal/node/"
	inFire   = "../../internal/fire/"
	inPlan   = "../../internal/plan/"
	inInsert = "../../internal/insert/"
	inStore  = "../../store/"
)

// motionFault is a fault in the motion.
type motionFault struct {
	fault
	// seed is a plan with which the simulated cluster notices the fault, and which it passes without the fault; 0: none is
	// known. A change of the workload makes it another plan: then fresh seeds notice the fault.
	seed uint64
	// also is what notices the fault besides, among the tests of its package with -short, as -driver units prints; empty: none does.
	also string
}

// withoutSeeds returns the faults.
func withoutSeeds(list []motionFault) (faults []fault) {
	for _, f := range list {
		faults = append(faults, f.fault)
	}
	return faults
}

// motionFaults are the faults. These are not among them, because they break no promise:
//
//   - a rescue leaves the number of the node on a job that is ready: each claim writes it
//   - a job that an open transaction has completed is rescued: its commit looks at the token, and fails if another claim has come
//   - a commit does not look at the token: the transaction has locked the job since its completion, so that no other claim can come
//   - the next slot is computed from the present instant, and not from a mark that is later: the decision at this slot begins after
//     the mark all the same, and fires nothing twice
//   - a follower's job for an end is made for each reading of the end: the second decision does not match the row any more
//   - slots fire earlier than they may: their jobs are due at the slot, and an edit waits for the mark
var motionFaults = []motionFault{
	// The store in memory.
	{
		fault{
			"a claim outlives its rolled-back transaction", inMemory + "jobs.go",
			"\treturn out, nil\n}\n\n// claimable returns the jobs",
			"\tif now.UnixMicro()%97 == 0 {\n\t\tfor _, c := range out.Jobs {\n\t\t\tj := s.live[c.ID]\n\t\t\tj.State, j.node, " +
				"j.Token, j.Attempt = store.StateReady, 0, 0, j.Attempt-1\n\t\t}\n\t}\n\treturn out, nil\n}\n\n// claimable returns the jobs",
		}, 1, "TestStore/FireEarly/RetryAtTheSameMoment",
	},
	{
		fault{
			"an outcome counts without its token", inMemory + "finish.go",
			"if j.Token != o.Token {\n\t\treturn false\n\t}\n\tasked",
			"if false {\n\t\treturn false\n\t}\n\tasked",
		}, 8, "TestStore/Feed/RefusedDoesNothing",
	},
	{
		fault{
			"jobs are claimed before they are due", inMemory + "jobs.go",
			"!j.RunAt.After(req.DueBy(now)) && allowed",
			"true && allowed",
		}, 1, "TestStore/FireEarly/FiresAhead",
	},
	{
		fault{
			"a running job is claimed again", inMemory + "jobs.go",
			"if j.State == store.StateReady && !j.waits && j.Queue == req.Queue && !j.RunAt.After(req.DueBy(now))",
			"if j.State != store.StateWaiting && !j.waits && j.Queue == req.Queue && !j.RunAt.After(req.DueBy(now))",
		}, 2, "TestStore/History/AcceptRaisesAboveAllThatWasReported",
	},
	{
		fault{
			"tokens do not grow", inMemory + "memory.go",
			"s.lastToken = max(s.lastToken, last) + 1\n\treturn s.lastToken",
			"s.lastToken = max(s.lastToken, last) + 1\n\treturn s.lastToken / 2",
		}, 1, "TestStore/Random/Year2035",
	},
	{
		fault{
			"a completion is not sent with its transaction", inMemory + "tx.go",
			"for _, o := range t.outcomes {\n\t\ts.finishAndFollow(o.Outcome, o.node, o.at)\n\t}",
			"",
		}, 1, "TestStore/Feed/WithTheTransaction",
	},
	{
		fault{
			"a transaction that was rolled back is kept", inMemory + "tx.go",
			"t.end()\n\treturn nil\n}\n\nfunc (t *Tx) end() {",
			"t.store.add(t.jobs...)\n\tt.end()\n\treturn nil\n}\n\nfunc (t *Tx) end() {",
		}, 1, "TestStore/Random/Year2035",
	},
	{
		fault{
			"the living are rescued", inMemory + "nodes.go",
			"node.EndedAt.IsZero() && !expiry(node).After(now):",
			"node.EndedAt.IsZero() && !expiry(node).After(now.Add(node.Lease/2)):",
		}, 7, "TestStore/Rescue/OnlyExpiredLeases",
	},
	{
		fault{
			"a rescue counts although a heartbeat has overtaken it", inMemory + "nodes.go",
			"s.beats[req.Node] == req.Beat && now", "now",
		}, 33, "TestStore/Rescue/OvertakenByAHeartbeat",
	},
	{
		fault{
			"the jobs of a dead node are forgotten", inMemory + "nodes.go",
			"s.takeJobs(node, after, now, out)\n\tout.Nodes",
			"out.Nodes",
		}, 2, "TestStore/Insert/NothingIsFine",
	},
	{
		fault{
			"a job that has begun is handed back by a rescue as if it had not", inMemory + "nodes.go",
			"\tcase !j.begun:\n\t\tj.Attempt--\n\t\ts.ready(j, now)\n\tcase j.OnLoss",
			"\tcase !j.begun || j.Losses == 1:\n\t\tj.Attempt--\n\t\ts.ready(j, now)\n\tcase j.OnLoss",
		}, 2, "TestStore/Feed/Losses",
	},
	{
		fault{
			"a dead node may go on", inMemory + "nodes.go",
			"\tif node == nil || !node.EndedAt.IsZero() {\n\t\treturn nil, store.NodeGone",
			"\tif node == nil {\n\t\treturn nil, store.NodeGone",
		}, 6, "TestStore/Permits/OfDeadNodes",
	},
	{
		fault{
			"a rescue forgets what is to become of a lost job", inMemory + "nodes.go",
			"\tcase j.OnLoss == store.OnLossFail || j.Attempt >= j.MaxAttempts:\n\t\ts.end",
			"\tcase j.Attempt >= j.MaxAttempts:\n\t\ts.end",
		}, 2, "TestStore/Feed/Losses",
	},
	{
		fault{
			"a lost attempt does not count", inMemory + "nodes.go",
			"\tcase died:\n\t\ts.ready(j, now.Add(store.LossDelay(j.Losses)))",
			"\tcase died:\n\t\tj.Attempt--\n\t\ts.ready(j, now.Add(store.LossDelay(j.Losses)))",
		}, 2, "TestStore/FinishTx/RescueComesBack",
	},
	{
		fault{
			"a lost last attempt is repeated", inMemory + "nodes.go",
			"\tcase j.OnLoss == store.OnLossFail || j.Attempt >= j.MaxAttempts:\n\t\ts.end",
			"\tcase j.OnLoss == store.OnLossFail:\n\t\ts.end",
		}, 2, "TestStore/FollowUp/OnlyLostJobs",
	},
	{
		fault{
			"a node that leaves keeps its claims", inMemory + "nodes.go",
			"\t\ts.endNode(node, req.After, now, &out)\n\t}\n\treturn out, nil\n}\n\n// endNode",
			"\t\tnode.EndedAt = now\n\t}\n\treturn out, nil\n}\n\n// endNode",
		}, 13, "TestStore/Overlap/RunningJobSkips",
	},
	{
		fault{
			"a repeated outcome is applied again", inMemory + "finish.go",
			"\tcase store.Retry:\n\t\tj.Losses = 0\n\t\ts.ready(j, now.Add(o.Delay))",
			"\tcase store.Retry:\n\t\tj.Losses = 0\n\t\tj.Attempt--\n\t\ts.ready(j, now.Add(o.Delay))",
		}, 11, "TestStore/Handlers/Outcomes",
	},
	{
		fault{
			"a retry forgets its back-off", inMemory + "finish.go",
			"\t\tj.Losses = 0\n\t\ts.ready(j, now.Add(o.Delay))\n\tcase store.Snooze:",
			"\t\tj.Losses = 0\n\t\ts.ready(j, now)\n\tcase store.Snooze:",
		}, 1, "TestStore/JobFilter/ByError",
	},
	{
		fault{
			"a retry keeps its permit", inMemory + "jobs.go",
			"\tif !s.keepsPermits(j) {\n\t\tj.permits = permits{}\n\t}\n\tj.RunAt",
			"\tif !s.keepsPermits(j) && j.ID%2 == 0 {\n\t\tj.permits = permits{}\n\t}\n\tj.RunAt",
		}, 12, "TestStore/Random/Year2035",
	},
	{
		fault{
			"a unique key is free while its job waits for a retry", inMemory + "unique.go",
			"\t\tif j.Unique == key.key && j.Kind == key.kind {\n\t\t\treturn j.ID\n\t\t}",
			"\t\tif j.Unique == key.key && j.Kind == key.kind && j.Attempt == 0 {\n\t\t\treturn j.ID\n\t\t}",
		}, 1, "TestStore/UniqueConflict/AJobThatHasBegun",
	},
	{
		fault{
			"a key that is held is free at the end of its job", inMemory + "unique.go",
			"\tif h := i.store.holds[key]; h.until.After(i.now) {",
			"\tif h := i.store.holds[key]; h.until.After(i.now.Add(time.Minute)) {",
		}, 1, "TestStore/UniqueFor/AKeyIsHeldAfterTheEnd",
	},
	// The loops of workers: claims, runs, outcomes, permits.
	{
		fault{
			"claims in flight are handed back", inWork + "reconcile.go",
			"patience := r.cfg.CallTimeout + time.Second",
			"patience := time.Duration(0)",
		}, 8, "",
	},
	{
		fault{
			"claims without an answer are forgotten", inWork + "reconcile.go",
			"for _, ref := range r.unknown.ripe(unknown, now, patience) {",
			"for _, ref := range r.unknown.ripe(unknown[:0], now, patience) {",
		}, 1, "TestAnUndecidedRunEndsWithItsResult",
	},
	{
		fault{
			"jobs that could not begin begin all the same", inWork + "fetch_gate.go",
			"|| !f.begin(ctx, rest[:n]) {",
			"|| !f.begin(ctx, rest[:n]) && false {",
		}, 2, "",
	},
	{
		fault{
			"the last attempt is one more", inWork + "attempt_outcome.go",
			"case job.Attempt >= job.MaxAttempts:",
			"case job.Attempt > job.MaxAttempts:",
		}, 1, "TestAttemptOutcome",
	},
	{
		fault{
			"a final error is tried again", inWork + "attempt_outcome.go",
			"case final != nil && final.result != store.Retry:",
			"case false:",
		}, 1, "TestAttemptOutcome",
	},
	{
		fault{
			"an error completes its job", inWork + "attempt_outcome.go",
			"if err == nil {\n\t\tout.Result = store.Completed",
			"if err == nil || cause == nil {\n\t\tout.Result = store.Completed",
		}, 1, "TestAttemptOutcome",
	},
	{
		fault{
			"outcomes that failed are dropped", inWork + "outcomes.go",
			"o.waiting = slices.Insert(o.waiting, 0, batch...)",
			"_ = slices.Insert(o.waiting, 0, batch...)",
		}, 16, "TestASecondBatchIsBegunOnlyWhenItIsFull",
	},
	{
		fault{
			"a failed write of outcomes counts as done", inWork + "outcomes.go",
			"o.report.StoreFailed(\"record outcomes\", err)\n\t\t}\n\t\treturn false",
			"o.report.StoreFailed(\"record outcomes\", err)\n\t\t}\n\t\to.written(batch, nil)\n\t\treturn true",
		}, 1, "",
	},
	{
		fault{
			"a job that has ended stays in flight", inWork + "fetch_crew.go",
			"if !at.replaced {\n\t\t\tf.inFlight.Add(-1)",
			"if !at.replaced && run.ID%2 == 0 {\n\t\t\tf.inFlight.Add(-1)",
		}, 1, "",
	},
	{
		fault{
			"a permit is returned twice", inWork + "permits.go",
			"if p.running.Add(-1); p.gated.Load() {",
			"if p.running.Add(-2); p.gated.Load() {",
		}, 2, "TestClaimedJobsWaitForPermits",
	},
	{
		fault{
			"a permit is never returned", inWork + "fetch_crew.go",
			"if !run.isLeft() && !at.abandoned {",
			"if run.isLeft() && !at.abandoned {",
		}, 9, "TestRunsThatWereLeftKeepTheirPermits",
	},
	{
		fault{
			"an exchange hides what is in use", inWork + "permits.go",
			"InUse: used, Want: want",
			"InUse: 0, Want: want",
		}, 2, "TestClaimedJobsWaitForPermits",
	},
	{
		fault{
			"jobs claimed ahead begin before the store knows", inWork + "fetch.go",
			"res, limit-ahead)",
			"res, limit)",
		}, 4, "",
	},
	{
		fault{
			"an outcome that could not be written is only put back once", inWork + "outcomes.go",
			"\tif len(batch) == 1 {\n\t\to.waiting = append(o.waiting, batch[0])",
			"\tif len(batch) == 1 {\n\t\tif o.failures < 2 {\n\t\t\to.waiting = append(o.waiting, batch[0])\n\t\t}",
		}, 6, "",
	},
	// Nodes: leases and rescues.
	{
		fault{
			"a heartbeat counts from its answer", inNode + "lease.go",
			"c.trustedUntil = sent.Add(c.length - margin(c.length))",
			"c.trustedUntil = received.Add(c.length - margin(c.length))",
		}, 1, "TestLeaseIsTrustedFromWhenTheHeartbeatWasSent",
	},
	{
		fault{
			"a lease is trusted for twice its length", inNode + "lease.go",
			"c.trustedUntil = sent.Add(c.length - margin(c.length))",
			"c.trustedUntil = sent.Add(2 * c.length)",
		}, 34, "TestLeaseIsTrustedFromWhenTheHeartbeatWasSent",
	},
	{
		fault{
			"a rescue without the wait", inNode + "lease.go",
			"if !c.steady || gap > c.length || drift > slack || drift < -slack {",
			"if c.steadySince == 0 || gap+drift+slack == 0 {",
		}, 13, "TestWhoMayDeclareOthersDead",
	},
	{
		fault{
			"a step of the clock does not restart the wait", inNode + "lease.go",
			"|| drift > slack || drift < -slack {",
			"|| drift < -2*slack && gap > slack {",
		}, 13, "TestWhoMayDeclareOthersDead",
	},
	{
		fault{
			"no node is rescued", inNode + "rescue.go",
			"return x.known && now >= x.at",
			"return x.known && now < 0",
		}, 2, "",
	},
	// Inserts.
	{
		fault{
			"an enqueue that timed out was not stored", inInsert + "batcher.go",
			"\t\tif c.err != nil && ctx.Err() != nil {\n\t\t\treturn nil, Unknown(c.err)\n\t\t}",
			"\t\tif c.err != nil {\n\t\t\treturn nil, fmt.Errorf(\"the job was not stored: %w\", c.err)\n\t\t}",
		}, 1, "",
	},
	{
		fault{
			"answers of a batch are of other jobs", inInsert + "batcher.go",
			"\t\t\tc.answer[0] = res.Jobs[i]",
			"\t\t\tc.answer[0] = res.Jobs[len(res.Jobs)-1-i]",
		}, 1, "TestABurstOfEnqueuesIsBatched",
	},
	{
		fault{
			"an excluded slot fires", inPlan + "slot_outcome.go",
			"if why := p.excluded(slot); why != \"\" {",
			"if why := p.excluded(slot); why != \"\" && slot.Second()%2 == 0 {",
		}, 2, "",
	},
	{
		fault{
			"the hooks of a lost job are forgotten", inMemory + "nodes.go",
			"\t\tif j.State == store.StateFailed {\n\t\t\tfor _, a",
			"\t\tif j.State == store.StateFailed && j.Losses > 1 {\n\t\t\tfor _, a",
		}, 8, "TestStore/Handlers/Lost",
	},
	{
		fault{
			"a repeated outcome makes its hooks again", inMemory + "finish.go",
			"\tif !s.finish(o, now) {\n\t\treturn false\n\t}\n\tif j != nil",
			"\tif !s.finish(o, now) {\n\t\treturn false\n\t}\n\tif j == nil {\n\t\ts.follow(s.allHandlers().AfterOutcome(&o, node), now)\n\t}\n\tif j != nil",
		}, 1, "TestStore/Handlers/RepeatedAndRefused",
	},
	{
		fault{
			"a paused slot fires", inPlan + "slot_outcome.go",
			"\tswitch {\n\tcase s.PausedFor(slot) && s.PausedUntil.IsZero():",
			"\tswitch {\n\tcase !s.PausedFor(slot) || s.PausedUntil.IsZero():\n\t\treturn \"\"\n\tcase s.PausedFor(slot) && s.PausedUntil.IsZero():",
		}, 1, "TestFollow",
	},
	{
		fault{
			"a completion makes the hooks of a failure", inMemory + "finish.go",
			"s.follow(s.allHandlers().AfterOutcome(&o, node), now)\n\t}\n\treturn true",
			"if o.Result == store.Completed && j.Attempt > 1 {\n\t\t\to.Result = " +
				"store.Failed\n\t\t}\n\t\ts.follow(s.allHandlers().AfterOutcome(&o, node), now)\n\t}\n\treturn true",
		}, 1, "",
	},
	{
		fault{
			"a late outcome of a rescued job counts as the present one", inMemory + "finish.go",
			"\tif j.Token != o.Token {\n\t\treturn false\n\t}\n\tswitch o.Result {",
			"\tswitch o.Result {",
		}, 4, "TestStore/Keep/ForgottenByAZombie",
	},
	{
		fault{
			"jobs that fired early start at once", inMemory + "jobs.go",
			"!j.RunAt.After(req.DueBy(now)) && allowed(req, j) &&\n",
			"!j.RunAt.After(req.DueBy(now).Add(time.Second)) && allowed(req, j) &&\n",
		}, 1, "TestStore/FireEarly/FiresAhead",
	},
	{
		fault{
			"a dependent starts after its first predecessor", inMemory + "edges.go",
			"\tcase j.any && matched > 0, !j.any && open+missed == 0:",
			"\tcase j.any && matched > 0, !j.any && matched > 0 && missed == 0:",
		}, 1, "TestStore/Batch/DeletedJobsDoNotCount",
	},
	{
		fault{
			"a predecessor that has ended already is not seen", inMemory + "edges.go",
			"\t\tif p, is := ended(j.After[i].Job); is {\n\t\t\ts.decide",
			"\t\tif p, is := ended(j.After[i].Job); is && i == 0 {\n\t\t\ts.decide",
		}, 1, "TestStore/AfterTx/CommitAndEndAtTheSameMoment",
	},
	{
		fault{
			"the delay of an edge is forgotten", inMemory + "edges.go",
			"\tif e.Delay > 0 && s.finished",
			"\tif e.Delay < 0 && s.finished",
		}, 1, "TestStore/Reopen/Delays",
	},
	{
		fault{
			"a dependent is linked before it is stored", inMemory + "edges.go",
			"\t\ts.dependents[e.Job] = append(slices.Clip(s.dependents[e.Job]), j.ID)\n\t}\n\tslices.SortFunc",
			"\t\tif j.ID%2 == 0 {\n\t\t\ts.dependents[e.Job] = append(slices.Clip(s.dependents[e.Job]), j.ID)\n\t\t}\n\t}\n\tslices.SortFunc",
		}, 1, "TestStore/Handlers/NotStarted",
	},
	{
		fault{
			"a snooze spends an attempt", inMemory + "finish.go",
			"\tcase store.Snooze:\n\t\tj.Attempt--\n",
			"\tcase store.Snooze:\n",
		}, 1, "TestStore/Finish/Snooze",
	},
	{
		fault{
			"a hand-back spends an attempt", inMemory + "finish.go",
			"\tcase store.Release:\n\t\tj.Attempt--\n",
			"\tcase store.Release:\n",
		}, 1, "TestStore/Loss/RefundsAreCounted",
	},
	{
		fault{
			"a job that is handed back is due much later", inMemory + "finish.go",
			"\t\t\tj.refunds++\n\t\t}\n\t\ts.ready(j, now)",
			"\t\t\tj.refunds++\n\t\t}\n\t\ts.ready(j, now.Add(2*time.Hour))",
		}, 1, "TestStore/Feed/Attempts",
	},
	{
		fault{
			"a begin is not recorded", inMemory + "jobs.go",
			"\t\tj.begun, held[ref] = true, true",
			"\t\theld[ref] = true",
		}, 2, "TestStore/Loss/Begin",
	},
	{
		fault{
			"a dependent waits on after an edge was missed", inMemory + "edges.go",
			"\tcase j.any && open == 0, !j.any && missed > 0:",
			"\tcase j.any && open == 0, !j.any && missed > 1:",
		}, 1, "TestStore/Feed/NotStarted",
	},
	{
		fault{
			"an edge on failure matches a success", inMemory + "edges.go",
			"return on != store.OnFailure",
			"return true",
		}, 1, "TestStore/Batch/LastJob",
	},
	{
		fault{
			"a batch of outcomes loses its last one", inWork + "outcomes.go",
			"\tbuffer = append(buffer, o.waiting[:n]...)",
			"\tbuffer = append(buffer, o.waiting[:max(n-1, 1)]...)",
		}, 1, "TestTwoOutcomesOfOneJobNeverMeet",
	},
	{
		fault{
			"one permit too many", inWork + "permits.go",
			"p.last.Bounded && p.running.Load() < int64(p.most)",
			"p.last.Bounded && p.running.Load() <= int64(p.most)",
		}, 2, "TestClaimedJobsWaitForPermits",
	},
	{
		fault{
			"a claim does not notice that a limit has changed", inMemory + "jobs.go",
			"\tif out.LimitRevision != req.Permits.Revision {\n\t\treq.Limit = 0",
			"\tif out.LimitRevision != req.Permits.Revision && false {\n\t\treq.Limit = 0",
		}, 9, "TestStore/Permits/InForceAtOnce",
	},
	{
		fault{
			"a lane gives one permit more", inMemory + "lanes.go",
			"width > 0 && used >= width {",
			"width > 0 && used > width {",
		}, 1, "TestStore/LaneRates/WithConcurrency",
	},
	{
		fault{
			"a rate counts the starts of one claim once", inMemory + "lanes.go",
			"\treturn lane.notBefore.After(now) || rated && rate.Room(lane.tat, now, starts+1) <= starts",
			"\treturn lane.notBefore.After(now) || rated && rate.Room(lane.tat, now, starts+1) < starts",
		}, 12, "TestStore/LaneRates/ByKey",
	},
	{
		fault{
			"no suspect is looked for", inWork + "suspects.go",
			"\tif f.noSuspects || now.Sub",
			"\tif !f.noSuspects || now.Sub",
		}, 2, "",
	},
	{
		fault{
			"a run begins without a look at the lease", inWork + "execute.go",
			"if run.delivered.Load() || !r.trusted(run, run.started) {",
			"if run.delivered.Load() {",
		}, 8, "TestNothingStartsAfterTheLease/too_late",
	},
	{
		fault{
			"the last job of a batch starts with the last of the others", inMemory + "edges.go",
			"\tcase j.atEnd && open > 0:\n",
			"\tcase j.atEnd && open == 1:\n\t\ts.ready(j, laterOf(j.RunAt, now))\n\tcase j.atEnd && open > 0:\n",
		}, 4, "TestStore/Batch/LastJob",
	},
	{
		fault{
			"an edge is released before its commit", inMemory + "finish.go",
			"\t\t\ts.locked[o.ID] = tx\n",
			"\t\t\ts.locked[o.ID] = tx\n\t\t\ts.predecessorEnded(o.ID, store.StateCompleted, \"\", now)\n",
		}, 63, "",
	},
	{
		fault{
			"a firing does not see a pause", inMemory + "fire.go",
			"laterOf(row.PausedAt, row.GroupPausedAt).Equal(instant(f.PausedAt)) &&",
			"true &&",
		}, 4, "TestStore/FireEarly/ComparesAsAtTheInstant",
	},
	{
		fault{
			"an edit does not wait for slots that have fired early", inFire + "early.go",
			"\tif len(schedules) == 0 {",
			"\tif len(schedules) >= 0 {",
		}, 7, "TestAChangeReturnsAfterSlotsThatHadFiredAhead",
	},
	{
		fault{
			"a stale decision is written", inMemory + "fire.go",
			"row.Revision == f.Revision && row.Mark.Equal(instant(f.Mark)) && row.NextAt.Equal(instant(f.NextAt)) &&",
			"row.Revision == f.Revision &&",
		}, 6, "TestStore/Maintenance/PruneLeavesWhatLives",
	},
	{
		fault{
			"the mark of a firing is the present instant", inMemory + "fire.go",
			"\trow.Mark = instant(f.NewMark)\n",
			"\trow.Mark = now\n",
		}, 2, "TestStore/FireEarly/FiresAhead",
	},
	{
		fault{
			"a node keeps its old number when it registers again", inNode + "node.go",
			"n.session.confirm(res.Node, 0, sent, n.around.Uptime(), res.Now)\n\tif n.readStateFile",
			"n.session.confirm(max(n.session.number(), 1), 0, sent, n.around.Uptime(), res.Now)\n\tif n.readStateFile",
		}, 1, "",
	},
	{
		fault{
			"a late outcome delays a job that is ready", inMemory + "finish.go",
			"\tcase j.State == store.StateRunning: //",
			"\tcase j.State != store.StateWaiting: //",
		}, 2, "TestStore/Loss/RefundsAreCounted",
	},
	{
		fault{
			"the jobs of callers who have left are stored", inInsert + "batcher.go",
			"\tif b.present < len(b.calls) {\n\t\tb.dropLeft()\n\t}\n",
			"",
		}, 18, "TestWhoLeavesBeforeTheInsertStoresNothing",
	},
	{
		fault{
			"a decision is written when its slot is too late", inMemory + "fire.go",
			"late := !req.Until.IsZero() && now.After(instant(req.Until))",
			"late := !req.Until.IsZero() && now.After(instant(req.Until)) && s.lastNode < 0",
		}, 17, "TestStore/FireEarly/NotBesideALivingJob",
	},
	{
		fault{
			"a job claimed ahead begins during a pause", inMemory + "jobs.go",
			"\t\tif s.jobPaused(j, now) {\n\t\t\tout.Paused = append(out.Paused, ref.ID)\n\t\t\tcontinue\n\t\t}\n",
			"",
		}, 10, "TestStore/Pauses/ClaimedAhead",
	},
	{
		fault{
			"an insert of several callers is given up when one of them leaves", inInsert + "batcher.go",
			"\tif b.present--; b.present == 0 {\n\t\tb.forget()\n\t}\n",
			"\tb.present--\n\tb.forget()\n",
		}, 5, "TestWhoLeavesBeforeTheInsertStoresNothing",
	},
	{
		fault{
			"the end of a job is passed on to one follower only", inMemory + "chain.go",
			"\t\ts.wake(store.Wake{Kind: store.WakeSchedules})\n\t}\n}\n\n// jobEnded",
			"\t\ts.wake(store.Wake{Kind: store.WakeSchedules})\n\t\tbreak\n\t}\n}\n\n// jobEnded",
		}, 760116463258, "TestStore/SchedulesOfHosts/Dependents",
	},
}
