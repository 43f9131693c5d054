package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// faultCalls are the calls of RunFaults: each method of store.Backend and of its abilities that sends statements, and each method whose
// work depends on what is stored in several ways. TestEveryMethodHasAFaultCall finds a method that is missing.
var faultCalls = []faultCall{
	// Jobs.
	{name: "Insert", prepare: func(e *env) faultTry {
		return e.inserting(newJob(), with(func(j *store.NewJob) { j.Queue, j.Delay = "r", time.Minute }), newJob())
	}},
	{name: "Insert/many", prepare: func(e *env) faultTry { return e.inserting(newJobs(1200)...) }},
	{name: "Insert/a batch that ends", prepare: func(e *env) faultTry {
		id := e.insertOne(newJob())
		jobs := []store.NewJob{follows(on(id, store.OnSuccess)), newJob(), with(func(j *store.NewJob) { j.After = []store.Edge{{Place: 1, On: store.OnEither}} })}
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Insert(ctx, store.InsertRequest{Now: e.now, Jobs: append(jobs, newJob()), Batch: &store.BatchInsert{Finally: &store.Finally{}}, By: operator})
		})
	}},
	{name: "Insert/after jobs that have ended", prepare: func(e *env) faultTry {
		done := e.completed(e.node("n"))
		return e.inserting(follows(on(done, store.OnSuccess)), follows(on(done, store.OnFailure)))
	}},
	{name: "Insert/keys", prepare: func(e *env) faultTry {
		e.insert(keyed("k", "a"), keyed("k", "b"), keyed("k", "c"))
		e.tick(time.Second)
		return e.inserting(keyed("k", "d"), keyed("k", "a"), with(func(j *store.NewJob) {
			*j = keyed("k", "b")
			j.OnConflict, j.Queue, j.Args = store.OnConflictReplace, "r", []byte(`{"new":1}`)
		}), with(func(j *store.NewJob) {
			*j = keyed("k", "c")
			j.OnConflict, j.Delay = store.OnConflictReschedule, time.Minute
		}), keyed("k", "e"), newJob())
	}},
	{name: "Insert/keys that jobs hold", prepare: func(e *env) faultTry {
		held := func(key string) store.NewJob {
			return with(func(j *store.NewJob) { j.Unique, j.UniqueFor = key, time.Hour })
		}
		n := e.node("n")
		e.insert(held("a"))
		e.finishWell(outcome(e.claimOne(n), store.Completed))
		return e.inserting(held("a"), held("b"), held("b"), newJob())
	}},
	{name: "Insert/a serial group", prepare: func(e *env) faultTry {
		row := e.planned("s")
		return e.inserting(with(func(j *store.NewJob) {
			j.Schedule, j.Slot, j.Origin, j.Waiting = row.ID, e.now.Add(-time.Hour), store.OriginBackfill, true
		}), with(func(j *store.NewJob) {
			j.Schedule, j.Slot, j.Origin, j.Waiting = row.ID, e.now.Add(-time.Minute), store.OriginBackfill, true
		}))
	}},
	{name: "Insert/a transaction of the program", prepare: func(e *env) faultTry {
		e.insert(keyed("k", "a"))
		return e.inTx(func(ctx context.Context, tx store.Tx) (any, error) {
			return e.a.Insert(ctx, store.InsertRequest{Now: e.now, Tx: tx, Jobs: []store.NewJob{newJob(), keyed("k", "a"), keyed("k", "b")}})
		})
	}},
	{name: "Claim", prepare: func(e *env) faultTry {
		e.insertN(3)
		return e.claiming(store.ClaimRequest{Limit: 2})
	}, steps: true},
	{name: "Claim/nothing", prepare: func(e *env) faultTry {
		e.insert(with(func(j *store.NewJob) { j.Delay = time.Hour }))
		return e.claiming(store.ClaimRequest{Limit: 2})
	}, steps: true, reads: true},
	{name: "Claim/exact", prepare: func(e *env) faultTry {
		e.insertN(3)
		return e.claiming(store.ClaimRequest{Limit: 2, Exact: []store.ExactJob{exactly("k", `{}`)}})
	}, steps: true},
	{name: "Claim/ahead", prepare: func(e *env) faultTry {
		e.insertN(4)
		return e.claiming(store.ClaimRequest{Limit: 3, Ahead: 2})
	}, steps: true},
	{name: "Claim/due for long", prepare: func(e *env) faultTry {
		e.insert(e.dueSince(1, time.Second), e.dueSince(5, time.Hour), e.dueSince(9, 2*time.Hour))
		return e.claiming(store.ClaimRequest{Limit: 2, DueFor: time.Minute})
	}, steps: true},
	{name: "Claim/suspects", prepare: func(e *env) faultTry {
		alive := e.nodeFor("alive", 1000*time.Hour)
		id := e.insertOne(with(func(j *store.NewJob) { j.MaxAttempts = 20 }))
		for range store.SuspectLosses {
			e.claimOne(e.node("dead"))
			e.lose(alive)
			e.now = e.job(id).RunAt
		}
		return e.claimingBy(alive, store.ClaimRequest{Limit: 1, Suspects: true})
	}, steps: true},
	{name: "Claim/pauses", prepare: func(e *env) faultTry {
		e.insert(inGroup("g"), inGroup("h"), limited("x"), newJob(), with(func(j *store.NewJob) { j.Kind = "l" }))
		e.pause("g", time.Time{})
		e.pauseOf(store.SubjectKey, "x", e.now.Add(time.Hour))
		e.pauseOf(store.SubjectKind, "l", time.Time{})
		return e.claiming(store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/a pause that has ended", prepare: func(e *env) faultTry {
		e.insert(inGroup("g"), inGroup("g"), newJob())
		e.pause("g", e.now.Add(time.Minute))
		n := e.nodeFor("n", time.Hour)
		e.claim(n, 9)
		e.tick(time.Hour / 2)
		return e.claimingBy(n, store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/limits by key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"), limited("x"), newJob())
		return e.claiming(store.ClaimRequest{Limit: 2})
	}, steps: true, some: true},
	{name: "Claim/limits by key, all jobs", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"), limited("x"), newJob())
		return e.claiming(store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/limits of the kind and by key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1), store.Limit{Name: "kind", Kind: "k", Concurrency: 3})
		e.insert(limited("x"), limited("x"), limited("y"), limited("z"), newJob(), limited("z"), newJob())
		return e.claiming(store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/jobs that have waited for permits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		n := e.nodeFor("n", time.Hour)
		e.insert(limited("x"), limited("x"), limited("y"), limited("y"), limited("x"))
		for _, c := range e.claim(n, 9) {
			e.finishWell(outcome(c, store.Completed))
		}
		return e.claimingBy(n, store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/exact, with limits by key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"), newJob())
		return e.claiming(store.ClaimRequest{Limit: 9, Exact: []store.ExactJob{exactly("k", `{}`)}})
	}, steps: true},
	{name: "Claim/a rate of keys", prepare: func(e *env) faultTry {
		e.putLimits(ratePerKey(1))
		e.insert(limited("x"), limited("x"), limited("y"), newJob())
		return e.claiming(store.ClaimRequest{Limit: 9, Starts: true})
	}, steps: true},
	{name: "Claim/limits and pauses", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x", func(j *store.NewJob) { j.Group = "g" }), limited("y", func(j *store.NewJob) { j.Group = "g" }), newJob())
		e.pause("g", time.Time{})
		return e.claiming(store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/permits of the queue", prepare: func(e *env) faultTry {
		e.putLimits(queueLimit("l", 2))
		n := e.node("n")
		e.insertN(3)
		return e.claimingBy(n, store.ClaimRequest{Limit: 2, Permits: e.exchange(n, 0, 2)})
	}, steps: true},
	{name: "Claim/a rate of the queue", prepare: func(e *env) faultTry {
		e.putLimits(store.Limit{Name: "rate", Queue: "q", Rate: 10, Per: time.Second, Burst: 2})
		n := e.node("n")
		e.insertN(3)
		return e.claimingBy(n, store.ClaimRequest{Limit: 2, Starts: true, Permits: e.exchange(n, 0, 2)})
	}, steps: true},
	{name: "Claim/jobs of schedules, handlers and batches", prepare: func(e *env) faultTry {
		e.putHandler(handler("h", store.HandleStart))
		e.fire(ringing(e.due("s")))
		e.insert(keyed("k", "a"))
		e.insertBatch(nil, newJob())
		return e.claiming(store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "Claim/part", prepare: func(e *env) faultTry {
		e.insertN(3)
		return e.claimingPart(e.node("n"), store.ClaimRequest{Limit: 2})
	}, steps: true},
	{name: "Claim/part, limits by key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"), limited("x"), newJob())
		return e.claimingPart(e.node("n"), store.ClaimRequest{Limit: 9})
	}, steps: true},
	{name: "BeginJobs", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.insertN(3)
		res := e.claimAhead(n, 3, 1)
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.BeginJobs(ctx, store.BeginRequest{Now: e.now, Node: n, Name: "n", Batch: res.Batch, Claims: refsOf(res.Jobs[1:])})
		})
	}, reads: true}, // what has begun shows only when the node is lost
	{name: "BeginJobs/hooks and pauses", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.putHandler(handler("h", store.HandleStart))
		e.insert(newJob(), newJob(), inGroup("g"))
		res := e.claimAhead(n, 3, 0)
		e.pause("g", time.Time{})
		req := store.BeginRequest{Now: e.now, Node: n, Name: "n", Batch: res.Batch, Claims: refsOf(res.Jobs)}
		for i := range res.Jobs[:2] {
			req.Starts = append(req.Starts, store.Start{Job: &res.Jobs[i], Hooks: []store.NewJob{hook("own")}})
		}
		return e.calls(func(ctx context.Context) (any, error) { return e.a.BeginJobs(ctx, req) })
	}},
	{name: "Finish", prepare: func(e *env) faultTry {
		return e.finishing3(func(jobs []store.Claimed) []store.Outcome {
			failed, retry := outcome(jobs[1], store.Failed), retryIn(jobs[2], time.Minute)
			failed.Error, failed.Output, retry.Error = "why", []byte("printed"), "again"
			return []store.Outcome{outcome(jobs[0], store.Completed), failed, retry}
		})
	}},
	{name: "Finish/one", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		return e.ending(outcome(c, store.Completed))
	}},
	{name: "Finish/snooze, release, forget and keep", prepare: func(e *env) faultTry {
		return e.finishing3(func(jobs []store.Claimed) []store.Outcome {
			snooze, forgotten := outcome(jobs[0], store.Snooze), outcome(jobs[1], store.Completed)
			snooze.Delay, forgotten.Keep = time.Minute, store.Forget
			return []store.Outcome{snooze, forgotten, outcome(jobs[2], store.Release)}
		})
	}},
	{name: "Finish/output and progress", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.saveOutput(c, 0, []byte("some output"))
		e.saveProgress(c, 1, 2, "half")
		o := outcome(c, store.Failed)
		o.Error, o.Output, o.Printed, o.Value, o.Keep = "why", []byte("output"), 11, []byte(`{"r":1}`), time.Hour
		return e.ending(o)
	}},
	{name: "Finish/many", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.insertN(40)
		var outcomes []store.Outcome
		for _, c := range e.claim(n, 40) {
			outcomes = append(outcomes, outcome(c, store.Completed))
		}
		return e.ending(outcomes...)
	}},
	{name: "Finish/dependents", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		next := e.insertOne(follows(on(c.ID, store.OnSuccess)))
		e.insert(follows(on(c.ID, store.OnFailure)), follows(on(next, store.OnSuccess)))
		return e.ending(outcome(c, store.Completed))
	}},
	{name: "Finish/dependents that do not start", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.putHandler(handler("h", store.HandleFailure|store.HandleNotStarted))
		next := e.insertOne(follows(on(c.ID, store.OnSuccess)))
		e.insert(follows(on(next, store.OnSuccess)), follows(on(next, store.OnFailure)))
		return e.ending(outcome(c, store.Failed))
	}},
	{name: "Finish/the last of a batch", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.insertBatch(&store.Finally{On: store.OnEither}, newJobs(3)...)
		jobs := e.claim(n, 2)
		return e.ending(outcome(jobs[0], store.Completed), outcome(jobs[1], store.Failed))
	}},
	{name: "Finish/a serial group", prepare: func(e *env) faultTry {
		_, running, _ := e.queued()
		return e.ending(outcome(running, store.Completed))
	}},
	{name: "Finish/schedules after schedules", prepare: func(e *env) faultTry {
		n := e.nodeFor("n", 1000*time.Hour)
		e.planned("export")
		e.putAfter("report", "export")
		e.trigger("export")
		e.tick(time.Second)
		return e.ending(outcome(e.claimOne(n), store.Completed))
	}},
	{name: "Finish/follow-ups and handlers", prepare: func(e *env) faultTry {
		n := e.nodeFor("n", 1000*time.Hour)
		e.putHandler(handler("h", store.HandleFailure))
		row := e.due("s")
		e.fire(ringing(row))
		c := e.claimOne(n)
		o := outcome(c, store.Failed)
		o.Job, o.After, o.Error = &c, fails(row.ID, "failed"), "why"
		return e.ending(o)
	}},
	{name: "Finish/limits by key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		n := e.node("n")
		e.insert(limited("x"), limited("x"), limited("y"), limited("y"))
		jobs := e.claim(n, 9)
		return e.ending(outcome(jobs[0], store.Completed), retryIn(jobs[1], time.Minute))
	}},
	{name: "Finish/cancel requests", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.cancel(c.ID)
		return e.ending(retryIn(c, time.Minute))
	}},
	{name: "Finish/the transaction of a worker", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		n := e.node("n")
		e.insert(limited("x"), limited("x"))
		c := e.claimOne(n)
		e.insertOne(follows(on(c.ID, store.OnSuccess)))
		return e.workersTx(c, false)
	}},
	{name: "Finish/the transaction of a worker, with its commit", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.insertOne(follows(on(c.ID, store.OnSuccess)))
		return e.workersTx(c, true)
	}},
	{name: "FindClaim", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.FindClaim(ctx, store.ClaimRef{ID: c.ID, Token: c.Token})
		})
	}, reads: true},
	{name: "SaveProgress", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		return e.does(func(ctx context.Context) error {
			return e.a.SaveProgress(ctx, store.SaveProgressRequest{Now: e.now, Claims: []store.ClaimProgress{{
				ClaimRef: store.ClaimRef{ID: c.ID, Token: c.Token}, Progress: store.Progress{Done: 1, Total: 2, Note: "half"},
			}}})
		})
	}},
	{name: "SaveStep", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		return e.calls(func(ctx context.Context) (any, error) {
			_, err := e.a.SaveStep(ctx, store.SaveStepRequest{Now: e.now, Token: c.Token, Step: store.Step{Job: c.ID, Name: "s", Place: 1, Value: []byte("1")}})
			return nil, err
		})
	}},
	{name: "SaveStep/signal", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.waitFor(c, "approval", 0)
		return e.calls(func(ctx context.Context) (any, error) {
			_, err := e.a.SaveStep(ctx, store.SaveStepRequest{Now: e.now, Step: store.Step{Job: c.ID, Name: "approval", Sort: store.StepSignal, Value: []byte("1")}})
			return nil, err
		})
	}},
	{name: "SaveStep/children", prepare: func(e *env) faultTry {
		req := e.childrenOf(e.running(e.node("n")), "children 1", 2)
		return e.calls(func(ctx context.Context) (any, error) {
			_, err := e.a.SaveStep(ctx, req)
			return nil, err
		})
	}},
	{name: "Finish/wait", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.saveStep(c, store.Step{Name: "approval", Place: 1, Sort: store.StepSignal, Open: true}, 0)
		_, err := e.signal(c.ID, "approval", "1")
		e.must(err)
		o := outcome(c, store.Snooze)
		o.Wait, o.Delay = "approval", time.Hour
		return e.ending(o)
	}},
	{name: "SaveOutput", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.insertN(2)
		jobs := e.claim(n, 2)
		e.saveOutput(jobs[0], 0, []byte("some output"))
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.SaveOutput(ctx, store.SaveOutputRequest{Claims: []store.ClaimOutput{
				{ClaimRef: refsOf(jobs)[0], From: 4, Data: []byte("more output")}, {ClaimRef: refsOf(jobs)[1], Data: []byte("other output")},
			}})
		})
	}},
	{name: "ReadOutput", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		e.saveOutput(c, 0, []byte("some output"))
		return e.calls(func(ctx context.Context) (any, error) { return e.a.ReadOutput(ctx, store.ReadOutputRequest{ID: c.ID}) })
	}, reads: true},
	{name: "ChangeJobs/cancel", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		ids := e.insertN(2)
		e.insert(follows(on(ids[0], store.OnSuccess)), follows(on(ids[0], store.OnFailure)))
		return e.changing(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: append(ids, c.ID), Reason: "why"})
	}},
	{name: "ChangeJobs/cancel the jobs of a schedule", prepare: func(e *env) faultTry {
		e.queued()
		return e.changing(store.ChangeJobsRequest{Action: store.CancelJobs, Schedule: "s", Reason: "why"})
	}},
	{name: "ChangeJobs/cancel jobs that wait for permits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		ids := e.insert(limited("x"), limited("x"), limited("x"))
		e.claim(e.node("n"), 9)
		return e.changing(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids, Reason: "why"})
	}},
	{name: "ChangeJobs/retry", prepare: func(e *env) faultTry {
		n := e.node("n")
		failed := e.failed(n)
		e.insert(follows(on(failed, store.OnSuccess)))
		e.settle()
		later := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
		return e.changing(store.ChangeJobsRequest{Action: store.RetryJobs, IDs: []int64{failed, later, e.completed(n)}})
	}},
	{name: "ChangeJobs/delete", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.putLimits(perKey(1))
		ids := []int64{e.failed(n), e.insertOne(keyed("k", "a")), e.insertOne(limited("x"))}
		e.insert(follows(on(ids[1], store.OnEither)))
		return e.changing(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: ids})
	}},
	{name: "ChangeJobs/move", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		ids := e.insert(limited("x"), limited("x"), newJob())
		e.claim(e.node("n"), 1)
		return e.changing(store.ChangeJobsRequest{Action: store.MoveJobs, IDs: ids, Queue: "r"})
	}},
	{name: "ChangeJobs/reprioritise", prepare: func(e *env) faultTry {
		return e.changing(store.ChangeJobsRequest{Action: store.ReprioritiseJobs, IDs: e.insertN(2), Priority: 1})
	}},
	{name: "ChangeJobs/a transaction of the program", prepare: func(e *env) faultTry {
		ids := e.insertN(2)
		e.insert(follows(on(ids[0], store.OnFailure)))
		return e.inTx(func(ctx context.Context, tx store.Tx) (any, error) {
			return e.a.ChangeJobs(ctx, store.ChangeJobsRequest{Now: e.now, Tx: tx, Action: store.CancelJobs, IDs: ids, Reason: "why"})
		})
	}},
	{name: "ListJobs", prepare: func(e *env) faultTry {
		e.completed(e.node("n"))
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.ListJobs(ctx, store.ListJobsRequest{Now: e.now, Limit: 10, Attempts: true})
		})
	}, reads: true},
	{name: "CountJobs", prepare: func(e *env) faultTry {
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) { return e.a.CountJobs(ctx, store.CountJobsRequest{}) })
	}, reads: true},

	// Batches.
	{name: "List/Batches", prepare: func(e *env) faultTry {
		e.insertBatch(&store.Finally{}, newJobs(2)...)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Batch](ctx, e.a, store.ListRequest{Limit: 9})
		})
	}, reads: true},
	{name: "List/Links", prepare: func(e *env) faultTry {
		id := e.insertOne(newJob())
		e.insert(follows(on(id, store.OnSuccess)))
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Link](ctx, e.a, store.ListRequest{IDs: []int64{id}, Limit: 9})
		})
	}, reads: true},

	// Schedules.
	{name: "PutSchedules", prepare: func(e *env) faultTry {
		e.planned("a")
		e.putCalendar("c", "1")
		return e.putting(store.PutSchedulesRequest{Schedules: []store.PutSchedule{
			{Name: "a", Definition: []byte("new"), Group: "g"}, {Name: "b", Definition: []byte("1"), Calendars: []string{"c"}, Paused: true},
		}})
	}},
	{name: "PutSchedules/after schedules", prepare: func(e *env) faultTry {
		e.planned("a")
		e.putAfter("b", "a")
		e.putAfter("c", "b")
		return e.putting(store.PutSchedulesRequest{Schedules: []store.PutSchedule{
			{Name: "c", Definition: []byte("after a"), After: []string{"a"}}, {Name: "d", Definition: []byte("after c"), After: []string{"c", "b"}},
		}})
	}},
	{name: "PutSchedules/a sync with limits", prepare: func(e *env) faultTry {
		_, err := e.tryPut(syncRequest("o", 1, "a", "b"))
		e.must(err)
		e.plan("a", "b")
		req := syncRequest("o", 2, "b", "c")
		req.Limits = []store.Limit{{Name: "l", Owner: "o", Kind: "k", Concurrency: 2}}
		return e.putting(req)
	}},
	{name: "PutSchedules/the copy of a host", prepare: func(e *env) faultTry {
		e.declareCopy("one", 0, "a", "b")
		e.tick(time.Minute)
		return e.putting(copyOf("one", 0, "b", "c"))
	}},
	{name: "PutSchedules/a transaction of the program", prepare: func(e *env) faultTry {
		e.planned("a")
		return e.inTx(func(ctx context.Context, tx store.Tx) (any, error) {
			return e.a.PutSchedules(ctx, store.PutSchedulesRequest{
				Now: e.now, Tx: tx,
				Schedules: []store.PutSchedule{{Name: "a", Definition: []byte("new")}, {Name: "b"}},
			})
		})
	}},
	{name: "ChangeSchedules/pause", prepare: func(e *env) faultTry {
		e.planned("a")
		e.planned("b")
		return e.changingSchedules(store.ChangeSchedulesRequest{Action: store.PauseSchedules, Names: []string{"a", "b"}, Until: e.now.Add(time.Hour)})
	}},
	{name: "ChangeSchedules/resume", prepare: func(e *env) faultTry {
		e.planned("a")
		e.changeSchedules(store.PauseSchedules, "a")
		return e.changingSchedules(store.ChangeSchedulesRequest{Action: store.ResumeSchedules, Names: []string{"a"}})
	}},
	{name: "ChangeSchedules/delete", prepare: func(e *env) faultTry {
		e.planned("a")
		e.putAfter("b", "a")
		e.trigger("a")
		return e.changingSchedules(store.ChangeSchedulesRequest{Action: store.DeleteSchedules, Names: []string{"a"}})
	}},
	{name: "ChangeSchedules/reset", prepare: func(e *env) faultTry {
		e.due("a")
		e.ring("a")
		e.tick(-10 * time.Second)
		return e.changingSchedules(store.ChangeSchedulesRequest{Action: store.ResetSchedules, Names: []string{"a"}})
	}},
	{name: "ChangeSchedules/a transaction of the program", prepare: func(e *env) faultTry {
		e.planned("a")
		return e.inTx(func(ctx context.Context, tx store.Tx) (any, error) {
			return nil, e.a.ChangeSchedules(ctx, store.ChangeSchedulesRequest{Now: e.now, Tx: tx, Action: store.PauseSchedules, Names: []string{"a"}})
		})
	}},
	{name: "DueSchedules", prepare: func(e *env) faultTry {
		e.due("a")
		e.planned("b")
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.DueSchedules(ctx, store.DueSchedulesRequest{Now: e.now, Limit: 9})
		})
	}, reads: true},
	{name: "Fire", prepare: func(e *env) faultTry {
		a, b := e.due("a"), e.due("b")
		e.now = b.NextAt
		f := ringing(b)
		f.Slots = []store.SlotRecord{{Slot: a.NextAt, Last: a.NextAt, Count: 1, Outcome: store.SlotMissed, Reason: "m"}}
		return e.firing1(ringing(a), f)
	}},
	{name: "Fire/a job that runs is replaced", prepare: func(e *env) faultTry {
		n := e.nodeFor("n", 1000*time.Hour)
		e.planned("a")
		e.ring("a")
		e.claimOne(n)
		e.now = e.schedule("a").NextAt
		f := ringing(e.schedule("a"))
		f.Overlap = store.OverlapReplace
		return e.firing1(f)
	}},
	{name: "Fire/overlap", prepare: func(e *env) faultTry {
		n := e.nodeFor("n", 1000*time.Hour)
		e.planned("a")
		e.ring("a")
		e.finishWell(retryIn(e.claimOne(n), time.Hour))
		e.planned("b")
		e.ring("b")
		e.claimOne(n)
		e.now = e.schedule("b").NextAt
		return e.firing1(ringing(e.schedule("a")), ringing(e.schedule("b")))
	}},
	{name: "Fire/ends of jobs", prepare: func(e *env) faultTry {
		n := e.nodeFor("n", 1000*time.Hour)
		e.planned("export")
		e.putAfter("report", "export")
		e.triggerAndEnd(n, "export", store.Completed)
		e.settle()
		return e.firing1(following(e.schedule("report"), e.ends("report")))
	}},
	{name: "Fire/follow-ups", prepare: func(e *env) faultTry {
		row := e.due("a")
		e.putHandler(handler("h", store.HandleMissed))
		f := firing(row, row.NextAt, row.NextAt.Add(time.Minute))
		f.Slots = []store.SlotRecord{{Slot: row.NextAt, Last: row.NextAt, Count: 1, Outcome: store.SlotMissed, Reason: "m"}}
		f.After = fails(row.ID, "missed")
		f.Events = []store.HookEvent{{Event: store.HookMissed, Schedule: "a", First: row.NextAt, Last: row.NextAt, Count: 1}}
		return e.firing1(f)
	}},
	{name: "Fire/early", prepare: func(e *env) faultTry {
		row := e.soon("a")
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Fire(ctx, e.earlyRequest(aWhile, ringing(row)))
		})
	}},
	{name: "List/ends", prepare: func(e *env) faultTry {
		e.planned("export")
		e.putAfter("report", "export")
		e.triggerAndEnd(e.nodeFor("n", time.Hour), "export", store.Completed)
		id := e.schedule("report").ID
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.ScheduleEnd](ctx, e.a, store.ListRequest{IDs: []int64{id}, Limit: 9})
		})
	}, reads: true},
	{name: "List/Schedules", prepare: func(e *env) faultTry {
		e.planned("a")
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Schedule](ctx, e.a, store.ListRequest{Limit: 9})
		})
	}, reads: true},
	{name: "List/Owners", prepare: func(e *env) faultTry {
		e.declareCopy("one", 0, "a")
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Owner](ctx, e.a, store.ListRequest{Limit: 9})
		})
	}, reads: true},
	{name: "List/Slots", prepare: func(e *env) faultTry {
		e.put("s", "1")
		e.account("s", missed(0, 9))
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.SlotInfo](ctx, e.a, store.ListRequest{Limit: 9})
		})
	}, reads: true},

	// Calendars, groups, pauses and handlers.
	{name: "Put/Calendars", prepare: func(e *env) faultTry {
		e.putCalendar("c", "1")
		e.plannedNaming("a", "c")
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Put(ctx, store.PutRequest{Now: e.now, By: operator, Calendars: []store.PutCalendar{
				{Name: "c", Definition: []byte("2")}, {Name: "d", Definition: []byte("1")},
			}})
		})
	}},
	{name: "Delete/Calendars", prepare: func(e *env) faultTry {
		e.putCalendar("c", "1")
		return e.does(func(ctx context.Context) error {
			return e.a.Delete(ctx, store.DeleteRequest{Of: store.OfCalendars, Now: e.now, Names: []string{"c"}, By: operator})
		})
	}},
	{name: "List/Calendars", prepare: func(e *env) faultTry {
		e.putCalendar("c", "1")
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Calendar](ctx, e.a, store.ListRequest{Limit: 9})
		})
	}, reads: true},
	{name: "List/Groups", prepare: func(e *env) faultTry {
		e.insert(inGroup("g"))
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.GroupInfo](ctx, e.a, store.ListRequest{Now: e.now})
		})
	}, reads: true},
	{name: "Put/a pause of a group", prepare: func(e *env) faultTry {
		e.putIn("g", "a")
		e.insert(inGroup("g"), inGroup("g"))
		return e.pausing(store.PutPause{Subject: store.SubjectGroup, Name: "g"})
	}, steps: true},
	{name: "Put/a pause of a queue, with its running jobs", prepare: func(e *env) faultTry {
		e.insertN(3)
		e.claim(e.node("n"), 2)
		return e.pausing(store.PutPause{Subject: store.SubjectQueue, Name: "q", CancelRunning: true})
	}, steps: true},
	{name: "Put/a pause of a key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"))
		e.claim(e.node("n"), 1)
		return e.pausing(store.PutPause{Subject: store.SubjectKey, Name: "x", Until: e.now.Add(time.Hour)})
	}, steps: true},
	{name: "Delete/a pause of a group", prepare: func(e *env) faultTry {
		e.putIn("g", "a")
		e.insert(inGroup("g"), newJob(), inGroup("g"))
		e.pause("g", time.Time{})
		e.claim(e.node("n"), 9)
		return e.resuming(store.SubjectGroup, "g")
	}, steps: true},
	{name: "Delete/a pause of a kind", prepare: func(e *env) faultTry {
		e.pauseOf(store.SubjectKind, "k", time.Time{})
		return e.resuming(store.SubjectKind, "k")
	}, steps: true},
	{name: "List/Pauses", prepare: func(e *env) faultTry {
		e.pause("g", time.Time{})
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Pause](ctx, e.a, store.ListRequest{Now: e.now})
		})
	}, reads: true},
	{name: "Put/Handlers", prepare: func(e *env) faultTry {
		e.putHandler(handler("h", store.HandleFailure))
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Put(ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: handler("h", store.HandleSuccess)}}, By: operator})
		})
	}},
	{name: "Put/Handlers/new", prepare: func(e *env) faultTry {
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Put(ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: handler("h", store.HandleSuccess)}}, By: operator})
		})
	}},
	{name: "Delete/Handlers", prepare: func(e *env) faultTry {
		e.putHandler(handler("h", store.HandleFailure))
		return e.does(func(ctx context.Context) error {
			return e.a.Delete(ctx, store.DeleteRequest{Of: store.OfHandlers, Now: e.now, Names: []string{"h"}, By: operator})
		})
	}},
	{name: "List/Handlers", prepare: func(e *env) faultTry {
		e.putHandler(handler("h", store.HandleFailure))
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.Handler](ctx, e.a, store.ListRequest{})
		})
	}, reads: true},

	// Limits and permits.
	{name: "Put/Limits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"))
		e.claim(e.node("n"), 9)
		return e.puttingLimits(perKey(2), queueLimit("queue", 3))
	}, steps: true},
	{name: "Put/Limits/of jobs that run", prepare: func(e *env) faultTry {
		e.insert(limited("x"), limited("x"), limited("y"))
		e.claim(e.node("n"), 2)
		return e.puttingLimits(perKey(1))
	}, steps: true},
	{name: "Put/Limits/another scope", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"))
		e.claim(e.node("n"), 9)
		other := perKey(1)
		other.Queue = "q"
		return e.puttingLimits(other)
	}, steps: true},
	{name: "Delete/Limits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"), limited("y"))
		e.claim(e.node("n"), 9)
		return e.does(func(ctx context.Context) error {
			return e.a.Delete(ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"per key"}, By: operator})
		})
	}, steps: true},
	{name: "List/Limits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		e.insert(limited("x"), limited("x"))
		e.claim(e.node("n"), 9)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.LimitInfo](ctx, e.a, store.ListRequest{Now: e.now, Lanes: 9})
		})
	}, reads: true},
	{name: "List/LimitWaits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		ids := e.insert(limited("x"), limited("x"))
		e.claim(e.node("n"), 9)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.LimitWait](ctx, e.a, store.ListRequest{Now: e.now, IDs: ids})
		})
	}, reads: true},
	{name: "CloseLanes", prepare: func(e *env) faultTry {
		perKey := perKey(2)
		perKey.Queue = "q"
		e.putLimits(ratePerKey(100), perKey)
		n := e.node("n")
		e.insert(limited("x"), limited("x"), limited("x"), limited("y"))
		jobs := e.startIn("q", n, 1).Jobs
		return e.does(func(ctx context.Context) error {
			return e.a.CloseLanes(ctx, store.CloseLanesRequest{Now: e.now, Jobs: []store.LimitedJob{{JobSpec: jobs[0].JobSpec, For: time.Minute}}})
		})
	}, steps: true},
	{name: "RecountPermits", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		k, l := e.register("k", unchanged, "k"), e.register("l", unchanged, "l")
		e.insert(limited("a"), limited("x"), limited("x", func(j *store.NewJob) { j.Kind = "l" }))
		e.claimKind(k, "k") // and the next job has a permit
		e.leaveNode(k)
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.RecountPermits(ctx, store.RecountRequest{Now: e.now, Node: l, Limit: 100})
		})
	}, steps: true},
	{name: "ExchangePermits", prepare: func(e *env) faultTry {
		e.putLimits(queueLimit("l", 5), store.Limit{Name: "rate", Queue: "q", Rate: 10, Per: time.Second, Burst: 2})
		n, other := e.node("n"), e.node("other")
		e.exchange(other, 0, 5)
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.ExchangePermits(ctx, store.ExchangePermitsRequest{Now: e.now, Node: n, Queue: "q", Want: 3})
		})
	}, reads: true}, // the permits of nodes are not listed

	// Nodes.
	{name: "Register", prepare: func(e *env) faultTry {
		e.node("other")
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Register(ctx, store.RegisterRequest{
				Now: e.now, Name: "n", Lease: time.Minute, Host: "h",
				Labels: []string{"a=b"}, Queues: []string{"q"}, Kinds: []string{"k"},
			})
		})
	}},
	{name: "Register/continue", prepare: func(e *env) faultTry {
		n := e.node("n")
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Register(ctx, store.RegisterRequest{Now: e.now, Continue: n, Name: "n2", Lease: time.Hour, Version: "v2", Queues: []string{"r"}})
		})
	}},
	{name: "Heartbeat", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.insertN(1)
		res := e.claimAhead(n, 1, 1)
		e.finishWell(outcome(res.Jobs[0], store.Completed))
		e.tick(time.Second)
		return e.calls(func(ctx context.Context) (any, error) {
			res, err := e.a.Heartbeat(ctx, store.HeartbeatRequest{Now: e.now, Node: n, EndedBatches: []int64{res.Batch}})
			res.Beat = 0 // heartbeats are counted, also a repetition
			return res, err
		})
	}},
	{name: "Claims", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.insertN(2)
		e.claim(n, 2)
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Claims(ctx, store.ClaimsRequest{Now: e.now, Node: n})
		})
	}, reads: true},
	{name: "Rescue", prepare: func(e *env) faultTry {
		dead, alive := e.node("dead"), e.nodeFor("alive", 1000*time.Hour)
		ids := e.insert(newJob(), with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }), newJob(), newJob())
		e.insert(follows(on(ids[1], store.OnFailure)))
		e.claimAhead(dead, 4, 3)
		e.saveOutput(e.claimOf(dead, ids[0]), 0, []byte("output of a lost attempt"))
		e.cancel(ids[2])
		e.tick(time.Minute)
		e.heartbeat(alive)
		req := e.rescueBy(alive)
		req.After = func(store.LostJob) *store.FollowUp { return &store.FollowUp{Jobs: []store.NewJob{hook("lost")}} }
		return e.calls(func(ctx context.Context) (any, error) { return e.a.Rescue(ctx, req) })
	}, steps: true},
	{name: "Rescue/limits by key", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1), queueLimit("queue", 5))
		dead, alive := e.node("dead"), e.nodeFor("alive", 1000*time.Hour)
		e.insert(limited("x"), limited("x"), limited("y"))
		e.claimWith(dead, 9, e.exchange(dead, 0, 5))
		e.tick(time.Minute)
		e.heartbeat(alive)
		req := e.rescueBy(alive)
		return e.calls(func(ctx context.Context) (any, error) { return e.a.Rescue(ctx, req) })
	}, steps: true},
	{name: "Leave", prepare: func(e *env) faultTry {
		e.putLimits(perKey(1))
		n := e.node("n")
		e.insert(limited("x"), limited("x"), newJob())
		e.claim(n, 9)
		return e.calls(func(ctx context.Context) (any, error) { return e.a.Leave(ctx, store.LeaveRequest{Now: e.now, Node: n}) })
	}, steps: true},
	{name: "List/Nodes", prepare: func(e *env) faultTry {
		e.node("n")
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.NodeInfo](ctx, e.a, store.ListRequest{})
		})
	}, reads: true},
	{name: "Delete/Nodes", prepare: func(e *env) faultTry {
		n := e.nodeOf("web1")
		e.copyOn("file", "web1")
		e.copyOn("file", "web2")
		e.leaveNode(n)
		return e.does(func(ctx context.Context) error {
			return e.a.Delete(ctx, store.DeleteRequest{Now: e.now, Of: store.OfNodes, Names: []string{"web1"}, By: operator})
		})
	}},
	{name: "List/Queues", prepare: func(e *env) faultTry {
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.QueueInfo](ctx, e.a, store.ListRequest{Now: e.now})
		})
	}, reads: true},
	{name: "List/Kinds", prepare: func(e *env) faultTry {
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.KindInfo](ctx, e.a, store.ListRequest{Now: e.now})
		})
	}, reads: true},
	{name: "List/EstimateQueues", prepare: func(e *env) faultTry {
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.QueueInfo](ctx, e.a, store.ListRequest{Estimate: true})
		})
	}, reads: true},
	{name: "List/EstimateKinds", prepare: func(e *env) faultTry {
		e.insertN(2)
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.KindInfo](ctx, e.a, store.ListRequest{Estimate: true})
		})
	}, reads: true},
	{name: "List/EstimateGroups", prepare: func(e *env) faultTry {
		e.insert(inGroup("g"))
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.GroupInfo](ctx, e.a, store.ListRequest{Estimate: true})
		})
	}, reads: true},

	// Upkeep.
	{name: "Prune", prepare: func(e *env) faultTry {
		e.old()
		e.copyOn("file", "web1")
		e.must(e.a.RecordAudit(e.ctx, store.RecordAuditRequest{Now: e.now, Entry: e.entry("a", "d", "queue", "q")}))
		e.tick(1000 * time.Hour)
		e.insertN(1)
		age := time.Hour
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Prune(ctx, store.PruneRequest{Now: e.now, Completed: age, Failed: age, Slots: age, Nodes: age, Audit: age, Limit: 100})
		})
	}, steps: true},
	{name: "AddStats", prepare: func(e *env) faultTry {
		n := e.node("n")
		e.addStats(n, e.statsRow(time.Minute, 1, "old"))
		e.tick(1000 * time.Hour)
		return e.calls(func(ctx context.Context) (any, error) {
			rows := []store.StatsRow{e.statsRow(time.Minute, 1, "one"), e.statsRow(6*time.Hour, 1, "two")}
			return anyOf(e.a.AddStats(ctx, store.AddStatsRequest{Now: e.now, Node: n, Rows: rows}))
		})
	}},
	{name: "Now", prepare: func(e *env) faultTry {
		return e.calls(func(ctx context.Context) (any, error) {
			at, err := e.a.Now(ctx)
			return err == nil && !at.IsZero(), err
		})
	}, reads: true},
	{name: "CarryOut", prepare: func(e *env) faultTry {
		c := e.running(e.node("n"))
		next := e.insertOne(follows(on(c.ID, store.OnSuccess)))
		e.insert(follows(on(c.ID, store.OnFailure)), follows(on(next, store.OnSuccess)))
		row := e.planned("s")
		id := e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
		tx := e.begin()
		e.finishTx(tx, outcome(c, store.Completed))
		e.changeTx(tx, store.CancelJobs, id) // some stores only request it
		e.must(tx.Commit())
		return e.does(func(ctx context.Context) error {
			return e.a.(store.Deferring).CarryOut(ctx, store.CarryOutRequest{Now: e.now})
		})
	}, needs: has[store.Deferring], steps: true, settles: true},

	{name: "MigrateStatus", prepare: func(e *env) faultTry {
		return e.calls(func(ctx context.Context) (any, error) { return anyOf(e.a.(store.Migrator).MigrateStatus(ctx)) })
	}, needs: has[store.Migrator], reads: true},

	// The history, the feed and the audit.
	{name: "List/Position", prepare: func(e *env) faultTry {
		return e.calls(func(ctx context.Context) (any, error) { return store.ReadPosition(ctx, e.a) })
	}, reads: true},
	{name: "ReportLoss", prepare: func(e *env) faultTry {
		seen := e.position()
		seen.Token, seen.Node = seen.Token+1000, seen.Node+1000
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.ReportLoss(ctx, store.ReportLossRequest{Now: e.now, Accepted: seen.Accepted, Seen: seen})
		})
	}},
	{name: "AcceptLoss", prepare: func(e *env) faultTry {
		seen := e.position()
		accepted := seen.Accepted
		seen.Token, seen.Node = seen.Token+1000, seen.Node+1000
		e.report(accepted, seen)
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.AcceptLoss(ctx, store.AcceptLossRequest{Now: e.now, By: operator})
		})
	}},
	{name: "ListEvents", prepare: func(e *env) faultTry {
		e.completed(e.node("n"))
		e.feed()
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.ListEvents(ctx, store.ListEventsRequest{Limit: 100})
		})
	}, reads: true},
	{name: "Put/Feed", prepare: func(e *env) faultTry {
		return e.calls(func(ctx context.Context) (any, error) {
			return e.a.Put(ctx, store.PutRequest{Now: e.now, Feed: &store.PutFeed{Keep: 100 * time.Hour}, By: operator})
		})
	}},
	{name: "List/Audit", prepare: func(e *env) faultTry {
		e.cancel(e.insertOne(newJob()))
		return e.calls(func(ctx context.Context) (any, error) {
			return store.List[store.AuditEntry](ctx, e.a, store.ListRequest{Limit: 9})
		})
	}, reads: true},
	{name: "RecordAudit", prepare: func(e *env) faultTry {
		entry := e.entry("a", "detail", store.AuditSchedule, "s", "t")
		return e.does(func(ctx context.Context) error {
			return e.a.RecordAudit(ctx, store.RecordAuditRequest{Now: e.now, Entry: entry})
		})
	}},
}

// notInFaultCalls are the methods that RunFaults leaves out, each with the reason.
var notInFaultCalls = map[string]string{
	"Close":      "it ends the use of the store",
	"Connection": "it sends no statement",
	"Flush":      "it sends wake-ups, which may be lost",
	"Listen":     "it receives wake-ups, which may be lost",
	"MigrateUp":  "each driver tests that a step is a transaction",
	"Migrations": "it sends no statement",
}

// calls returns a try that makes a call.
func (e *env) calls(call func(ctx context.Context) (any, error)) faultTry {
	return faultTry{call: call}
}

// does returns a try that makes a call without an answer.
func (e *env) does(call func(ctx context.Context) error) faultTry {
	return e.calls(func(ctx context.Context) (any, error) { return nil, call(ctx) })
}

// anyOf returns the answer of a call as a try does.
func anyOf[T any](answer T, err error) (any, error) { return answer, err }

func (e *env) inserting(jobs ...store.NewJob) faultTry {
	return e.calls(func(ctx context.Context) (any, error) {
		return anyOf(e.a.Insert(ctx, store.InsertRequest{Now: e.now, Jobs: jobs}))
	})
}

// inTx makes a change in a transaction of the program, which commits it if the change succeeds.
func (e *env) inTx(change func(ctx context.Context, tx store.Tx) (any, error)) faultTry {
	return e.calls(func(ctx context.Context) (any, error) {
		tx, err := e.Begin(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := change(ctx, tx.Tx)
		if err != nil {
			_ = tx.Rollback() // its connection may be gone
			return nil, err
		}
		if err := tx.Commit(); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrUnknown, err) // the program must find out itself
		}
		return answer, nil
	})
}

// workersTx completes a claim in a transaction of a worker, which Finish or the worker commits.
func (e *env) workersTx(c store.Claimed, commit bool) faultTry {
	return e.calls(func(ctx context.Context) (any, error) {
		tx, err := e.Begin(ctx)
		if err != nil {
			return nil, err
		}
		_, err = e.a.Insert(ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: []store.NewJob{hook("effect")}})
		var answer store.FinishResult
		if err == nil {
			answer, err = e.a.Finish(ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Commit: commit, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
			if err != nil && commit {
				// As a node does: the transaction is rolled back, and it is looked up what became of the claim.
				_ = tx.Rollback()
				if state, lookErr := e.b.FindClaim(ctx, store.ClaimRef{ID: c.ID, Token: c.Token}); lookErr == nil && state == store.ClaimCompleted {
					return answer, nil
				}
				return nil, err
			}
		}
		if err != nil {
			_ = tx.Rollback()
			return nil, err
		}
		if !commit {
			if err := tx.Commit(); err != nil {
				return nil, fmt.Errorf("%w: %w", store.ErrUnknown, err)
			}
		}
		return answer, nil
	})
}

// claiming claims by a new node.
func (e *env) claiming(req store.ClaimRequest) faultTry { return e.claimingBy(e.node("n"), req) }

// claimRequest completes a request: jobs of kind k from queue q.
func (e *env) claimRequest(node int64, req store.ClaimRequest) store.ClaimRequest {
	req.Now, req.Node, req.Queue = e.now, node, "q"
	if len(req.Exact) == 0 {
		req.Kinds = []string{"k", "l"}
	}
	return req
}

func (e *env) claimingBy(node int64, req store.ClaimRequest) faultTry {
	req = e.claimRequest(node, req)
	return faultTry{node: node, call: e.claimRest(req, func(ctx context.Context, req store.ClaimRequest) (any, int, error) {
		res, err := e.a.Claim(ctx, req)
		return res, len(res.Jobs), err
	})}
}

func (e *env) claimingPart(node int64, req store.ClaimRequest) faultTry {
	req.Part = true
	return e.claimingBy(node, req)
}

// claimRest claims what a first claim has left of its limit.
func (e *env) claimRest(req store.ClaimRequest, claim func(context.Context, store.ClaimRequest) (any, int, error)) func(context.Context) (any, error) {
	held := len(e.claims(req.Node, false))
	limit := req.Limit
	return func(ctx context.Context) (any, error) {
		req.Limit = limit - (len(e.claims(req.Node, false)) - held)
		if req.Ahead > req.Limit {
			req.Ahead = req.Limit
		}
		answer, _, err := claim(ctx, req)
		return answer, err
	}
}

// finishing3 ends three jobs.
func (e *env) finishing3(outcomes func(jobs []store.Claimed) []store.Outcome) faultTry {
	n := e.node("n")
	e.insertN(3)
	return e.ending(outcomes(e.claim(n, 3))...)
}

func (e *env) ending(outcomes ...store.Outcome) faultTry {
	return e.calls(func(ctx context.Context) (any, error) {
		return anyOf(e.a.Finish(ctx, store.FinishRequest{Now: e.now, Outcomes: outcomes, Node: "n"}))
	})
}

func (e *env) changing(req store.ChangeJobsRequest) faultTry {
	req.Now, req.By = e.now, operator
	return e.calls(func(ctx context.Context) (any, error) { return anyOf(e.a.ChangeJobs(ctx, req)) })
}

func (e *env) putting(req store.PutSchedulesRequest) faultTry {
	req.Now, req.By = e.now, operator
	return e.calls(func(ctx context.Context) (any, error) { return anyOf(e.a.PutSchedules(ctx, req)) })
}

func (e *env) changingSchedules(req store.ChangeSchedulesRequest) faultTry {
	req.Now, req.By = e.now, operator
	return e.does(func(ctx context.Context) error { return e.a.ChangeSchedules(ctx, req) })
}

func (e *env) firing1(firings ...store.Firing) faultTry {
	return e.calls(func(ctx context.Context) (any, error) {
		return anyOf(e.a.Fire(ctx, store.FireRequest{Now: e.now, Firings: firings}))
	})
}

func (e *env) pausing(put store.PutPause) faultTry {
	put.Reason, put.Actor = "why", "me"
	req := store.PutRequest{Now: e.now, Pauses: []store.PutPause{put}, By: operator}
	return e.calls(func(ctx context.Context) (any, error) { return anyOf(e.a.Put(ctx, req)) })
}

func (e *env) resuming(of store.PauseSubject, name string) faultTry {
	req := store.DeleteRequest{Now: e.now, Of: store.OfPauses, Subject: of, Names: []string{name}, By: operator}
	return e.does(func(ctx context.Context) error { return e.a.Delete(ctx, req) })
}

func (e *env) puttingLimits(limits ...store.Limit) faultTry {
	req := store.PutRequest{Now: e.now, By: operator}
	for _, l := range limits {
		req.Limits = append(req.Limits, store.PutLimit{Limit: l})
	}
	return e.calls(func(ctx context.Context) (any, error) { return anyOf(e.a.Put(ctx, req)) })
}
