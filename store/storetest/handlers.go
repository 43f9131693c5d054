package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var handlerTests = []scenario{
	{"PutListDelete", handlersPut},
	{"AtMost", handlersAtMost},
	{"Outcomes", handlersOutcomes},
	{"Scopes", handlersScopes},
	{"PlainOutcomes", handlersPlain},
	{"FollowUpToo", handlersFollowUp},
	{"NotOfHooks", handlersNotOfHooks},
	{"RepeatedAndRefused", handlersRepeated},
	{"InTheWorkersTransaction", handlersTx},
	{"Recovery", handlersRecovery},
	{"Lost", handlersLost},
	{"MissedSlots", handlersMissed},
	{"NotStarted", handlersNotStarted},
	{"Start", handlersStart},
	{"OtherClientsPut", handlersOtherClient},
	{"PutAndFinishAtTheSameMoment", handlersRace},
}

// handler returns a handler whose jobs no test claims.
func handler(name string, on store.HandlerEvents) store.Handler {
	job := hook(name).JobSpec
	return store.Handler{Name: name, On: on, Job: job}
}

func (e *env) putHandler(h store.Handler) {
	e.t.Helper()
	res, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: h}}})
	e.must(err)
	e.ok(res.Changed > 0, "the put of a new or changed handler must report a change")
}

func (e *env) handlers() []store.Handler {
	e.t.Helper()
	list, err := store.List[store.Handler](e.ctx, e.a, store.ListRequest{})
	e.must(err)
	return list
}

// handled returns the events of the jobs that handlers have made so far, oldest first.
func (e *env) handled() (events []store.HookEvent) {
	e.t.Helper()
	jobs := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "hooks"}, Attempts: true, OldestFirst: true, Limit: 10_000})
	for _, job := range jobs {
		var headers map[string]string
		var about store.HookEvent
		e.must(json.Unmarshal(job.Headers, &headers))
		e.must(json.Unmarshal([]byte(headers[store.HookHeader]), &about))
		e.want([]any{job.Origin, job.Schedule, string(job.Args)}, []any{store.OriginHook, int64(0), about.Handler},
			"the job of a handler belongs to no schedule and has the args of the handler")
		events = append(events, about)
	}
	return events
}

// wantHandled checks the jobs that handlers have made so far, each as the name of the handler,
// the event and the number of the job.
func (e *env) wantHandled(rule string, want ...string) {
	e.t.Helper()
	var got []string
	for _, about := range e.handled() {
		got = append(got, fmt.Sprint(about.Handler, " ", about.Event, " ", about.Job))
	}
	e.want(got, want, rule)
}

// endsOn finishes a claim as a node does.
func (e *env) endsOn(c store.Claimed, change func(o *store.Outcome), result store.Result) []store.ClaimRef {
	e.t.Helper()
	o := outcome(c, result)
	o.Job = &c
	if change != nil {
		change(&o)
	}
	res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Node: "n", Outcomes: []store.Outcome{o}})
	e.must(err)
	return res.Refused
}

func handlersPut(e *env) {
	b := handler("b", store.HandleFailure|store.HandleRetry)
	b.Kind, b.Group, b.Job.Args = "k", "g", []byte(`{"a": [1,2]}`)
	b.Job.Headers, b.Job.Timeout, b.Job.OnLoss = []byte(`{"x":"y"}`), time.Minute, store.OnLossFail
	e.putHandler(b)
	e.tick(time.Second)
	a := handler("ä", store.HandleStart)
	e.putHandler(a)
	b.UpdatedAt, a.UpdatedAt = e.now.Add(-time.Second), e.now
	list := e.handlers()
	e.want(list, []store.Handler{b, a}, "all fields of handlers must be kept, and handlers listed by name in byte order")
	e.tick(time.Second)
	res, err := e.b.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: b}}})
	e.must(err)
	e.ok(res.Changed == 0, "a repeated put must change nothing")
	_, err = e.b.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: b, OnlyNew: true}}})
	e.is(err, store.ErrExists, "a put that only creates must be refused for a name that exists, also where nothing would change")
	e.want(e.handlers(), []store.Handler{b, a}, "a repeated put must change nothing")
	b.On, b.Job.Args, b.UpdatedAt = store.HandleMissed, []byte("2"), e.now
	e.putHandler(b)
	e.want(e.handlers(), []store.Handler{b, a}, "a put replaces the handler")
	_, err = e.b.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: handler("only new", store.HandleStart), OnlyNew: true}}})
	e.must(err)
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"only new"}}))
	e.is(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"b", "missing"}}), store.ErrNotFound, "an unknown name must be refused")
	e.want(len(e.handlers()), 2, "a refused request must delete nothing")
	e.must(e.b.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"b", "ä"}}))
	e.want(len(e.handlers()), 0, "deleted handlers must be gone")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers}))
}

func handlersAtMost(e *env) {
	for i := range store.MaxHandlers {
		e.putHandler(handler(fmt.Sprintf("h%03d", i), store.HandleFailure))
	}
	_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: handler("more", store.HandleFailure)}}})
	e.ok(err != nil, "a store must refuse more handlers than MaxHandlers")
	e.putHandler(handler("h007", store.HandleSuccess))
	e.want(len(e.handlers()), store.MaxHandlers, "a refused put must change nothing")
}

func handlersOutcomes(e *env) {
	n := e.node("n")
	e.putHandler(handler("all", store.HandleSuccess|store.HandleFailure|store.HandleRetry))
	e.putHandler(handler("bad", store.HandleFailure))
	id := e.insertOne(with(func(j *store.NewJob) { j.Group = "g" }))
	e.endsOn(e.claimOne(n), func(o *store.Outcome) { o.Error = "busy" }, store.Retry)
	e.want(e.handled(), []store.HookEvent{
		{Event: "retry", Handler: "all", Kind: newJob().Kind, Group: "g", Job: id, Attempt: 1, Node: "n", Reason: "busy"},
	}, "an attempt that is tried again must make the jobs of handlers of retries, in its transaction")
	e.endsOn(e.claimOne(n), func(o *store.Outcome) { o.Error, o.Output = "broken", []byte("x\xff") }, store.Failed)
	failed := store.HookEvent{
		Event: "failure", Handler: "all", Kind: newJob().Kind, Group: "g", Job: id, Attempt: 2,
		Node: "n", Reason: "broken", Output: "x\uFFFD",
	}
	also := failed
	also.Handler = "bad"
	e.want(e.handled()[1:], []store.HookEvent{failed, also}, "a failure must make a job of each handler of failures, in the order of their names")
	second := e.insertOne(newJob())
	e.endsOn(e.claimOne(n), nil, store.Completed)
	third := e.insertOne(newJob())
	e.endsOn(e.claimOne(n), nil, store.Failed)
	for _, result := range []store.Result{store.Release, store.Snooze, store.Cancelled} {
		e.insertOne(newJob())
		for _, c := range e.claim(n, 10) {
			e.endsOn(c, nil, result)
		}
	}
	e.wantHandled("only completed, failed and retried attempts are outcomes for handlers",
		fmt.Sprint("all retry ", id), fmt.Sprint("all failure ", id), fmt.Sprint("bad failure ", id), fmt.Sprint("all success ", second),
		fmt.Sprint("all failure ", third), fmt.Sprint("bad failure ", third))
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"all", "bad"}}))
	e.insertOne(newJob())
	for _, c := range e.claim(n, 10) {
		e.endsOn(c, nil, store.Completed)
	}
	e.want(len(e.handled()), 6, "a deleted handler must make no further job")
}

func handlersScopes(e *env) {
	n := e.node("n")
	some := func(name, kind, group string) {
		h := handler(name, store.HandleSuccess)
		h.Kind, h.Group = kind, group
		e.putHandler(h)
	}
	own := newJob().Kind
	some("a any", "", "")
	some("b kind", own, "")
	some("c group", "", "g")
	some("d both", own, "g")
	some("e other kind", "other", "")
	some("f other group", "", "G")
	some("g kind, other group", own, "other")
	id := e.insertOne(newJob())
	e.endsOn(e.claimOne(n), nil, store.Completed)
	e.wantHandled("a handler without a group must serve jobs without a group", fmt.Sprint("a any success ", id), fmt.Sprint("b kind success ", id))
	in := e.insertOne(with(func(j *store.NewJob) { j.Group = "g" }))
	e.endsOn(e.claimOne(n), nil, store.Completed)
	e.want(len(e.handled()), 6, "kind and group must both hold")
	e.want(e.handled()[5].Handler, "d both", "kind and group must both hold")
	e.want(e.handled()[5].Job, in, "kind and group must both hold")
}

// handlersPlain ends jobs in a batch without errors and schedules, by which a driver may take a
// shorter way.
func handlersPlain(e *env) {
	n := e.node("n")
	const size = 40
	finish := func(keep time.Duration) {
		e.insertN(size)
		var outcomes []store.Outcome
		for _, c := range e.claim(n, size) {
			o := outcome(c, store.Completed)
			o.Alone, o.Job, o.Keep = true, &c, keep
			outcomes = append(outcomes, o)
		}
		e.finish(outcomes...)
	}
	finish(0)
	e.wantHandled("without handlers nothing must be made")
	e.putHandler(handler("h", store.HandleSuccess))
	for _, keep := range []time.Duration{0, time.Hour, store.Forget} {
		before := len(e.handled())
		finish(keep)
		finish(keep)
		e.want(len(e.handled())-before, 2*size, "each of many outcomes must make a job, however long the job is kept")
	}
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"h"}}))
	finish(0)
	finish(0)
	e.want(len(e.handled()), 6*size, "a deleted handler must make no job")
}

func handlersFollowUp(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	e.putHandler(handler("h", store.HandleFailure))
	e.insertOne(newJob())
	e.endsOn(e.claimOne(n), func(o *store.Outcome) { o.After = fails(s, "hook") }, store.Failed)
	e.want(e.hooks(), []string{"h", "hook"}, "a handler must make its job in addition to the follow-up")
	e.want(e.schedule("s").FailingSince, e.now, "a handler must not change the follow-up")
}

func handlersNotOfHooks(e *env) {
	n := e.node("n")
	e.putHandler(handler("h", store.HandleSuccess|store.HandleFailure|store.HandleStart|store.HandleRetry))
	e.insertOne(with(func(j *store.NewJob) { j.Origin = store.OriginHook }))
	c := e.claimOne(n)
	_, err := e.a.BeginJobs(e.ctx, store.BeginRequest{
		Now: e.now, Node: n, Name: "n",
		Claims: []store.ClaimRef{{ID: c.ID, Token: c.Token}}, Starts: []store.Start{{Job: &c}},
	})
	e.must(err)
	e.endsOn(c, nil, store.Failed)
	e.wantHandled("a job that a hook or a handler has made must set off no handler")
}

func handlersRepeated(e *env) {
	n := e.node("n")
	e.putHandler(handler("h", store.HandleSuccess|store.HandleFailure))
	id := e.insertOne(newJob())
	c := e.claimOne(n)
	for range 2 {
		e.want(len(e.endsOn(c, nil, store.Completed)), 0, "a repeated outcome is not refused")
	}
	e.want(len(e.endsOn(c, nil, store.Failed)), 1, "another outcome is refused")
	e.wantHandled("a repeated or refused outcome must make no further job", fmt.Sprint("h success ", id))
}

func handlersTx(e *env) {
	n := e.node("n")
	e.putHandler(handler("h", store.HandleSuccess))
	for _, commit := range []bool{false, true} {
		id := e.insertOne(newJob())
		c := e.claimOne(n)
		tx := e.begin()
		o := outcome(c, store.Completed)
		o.Job, o.Alone = &c, true
		res, err := e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Outcomes: []store.Outcome{o}, Node: "n"})
		e.must(err)
		e.want(len(res.Refused), 0, "the outcome must be accepted")
		if !commit {
			e.must(tx.Rollback())
			e.wantHandled("a transaction that is rolled back must make no job")
			e.endsOn(c, nil, store.Cancelled)
			continue
		}
		e.must(tx.Commit())
		e.wantHandled("the completion in a caller's transaction must make the job", fmt.Sprint("h success ", id))
	}
}

func handlersRecovery(e *env) {
	n := e.node("n")
	e.putHandler(handler("h", store.HandleRecovery))
	end := func(result store.Result) int64 {
		e.tick(time.Minute)
		row := e.due("s")
		e.fire(ringing(row))
		c := e.claimOne(n)
		e.endsOn(c, nil, result)
		return c.ID
	}
	end(store.Completed)
	e.wantHandled("a completion of a schedule that was not failing is no recovery")
	end(store.Failed)
	e.want(e.schedule("s").FailingSince, e.now, "a handler of recoveries must let the store remember which schedules are failing")
	end(store.Failed)
	e.wantHandled("a failure is no recovery")
	well := end(store.Completed)
	end(store.Completed)
	e.wantHandled("a recovery comes once", fmt.Sprint("h recovery ", well))
	e.want(e.handled()[0].Schedule, "s", "the job must name the schedule")
}

func handlersLost(e *env) {
	e.putHandler(handler("h", store.HandleFailure))
	dead, alive := e.nodeFor("dead", time.Minute), e.nodeFor("alive", 1000*time.Hour)
	id := e.insertOne(with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }))
	e.insertOne(newJob())
	e.claim(dead, 2)
	e.tick(time.Hour)
	e.heartbeat(alive)
	e.rescue(alive)
	e.wantHandled("a job that fails as lost must make the jobs of handlers, a job that runs again must not", fmt.Sprint("h failure ", id))
	e.want(e.handled()[0].Reason, store.LostReason, "the reason must be the loss")
}

func handlersMissed(e *env) {
	h := handler("h", store.HandleMissed|store.HandleNotStarted|store.HandleRecovery)
	h.Kind = "k"
	e.putHandler(h)
	row := e.due("s")
	f := firing(row, e.now, time.Time{})
	missed := store.HookEvent{Event: store.HookMissed, Schedule: "s", Kind: "k", First: e.now, Last: e.now, Count: 2, Reason: "m"}
	other := missed
	other.Kind = "other"
	ended := store.HookEvent{Event: store.HookNotStarted, Schedule: "s", Kind: "k", Slot: e.now, Reason: "r"}
	f.Events = []store.HookEvent{missed, other, ended}
	lost := f
	lost.Revision++
	e.fire(lost)
	e.wantHandled("a lost firing must make no job")
	e.fire(f)
	missed.Handler, ended.Handler = "h", "h"
	e.want(e.handled(), []store.HookEvent{missed, ended}, "the events of a firing must make the jobs of their handlers")
	e.want(e.schedule("s").FailingSince, e.now, "missed slots let a schedule fail")
}

func handlersNotStarted(e *env) {
	n := e.node("n")
	e.putHandler(handler("h", store.HandleNotStarted))
	first := e.insertOne(newJob())
	in := follows(on(first, store.OnSuccess))
	in.Group = "g"
	second := e.insertOne(in)
	third := e.insertOne(follows(on(second, store.OnSuccess)))
	e.endsOn(e.claimOne(n), nil, store.Failed)
	late := e.insertOne(follows(on(first, store.OnSuccess)))
	e.wantHandled("each job that is not started must make a job",
		fmt.Sprint("h not_started ", second), fmt.Sprint("h not_started ", third), fmt.Sprint("h not_started ", late))
	e.want(e.handled()[0], store.HookEvent{
		Event: store.HookNotStarted, Handler: "h", Kind: newJob().Kind, Group: "g", Job: second, Reason: e.job(second).Reason,
	}, "the job must know what was not started, and why")
}

func handlersStart(e *env) {
	n := e.node("n")
	id := e.insertOne(newJob())
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: newJob().Queue, Kinds: []string{newJob().Kind}, Limit: 1})
	e.must(err)
	e.ok(!res.Handled, "without handlers of starts a claim must not ask for BeginJobs")
	c := res.Jobs[0]
	begin := func(token int64, hooks ...store.NewJob) {
		_, err := e.a.BeginJobs(e.ctx, store.BeginRequest{
			Now: e.now, Node: n, Name: "n", Batch: res.Batch, Claims: []store.ClaimRef{{ID: c.ID, Token: token}}, Starts: []store.Start{{Job: &c, Hooks: hooks}},
		})
		e.must(err)
	}
	begin(c.Token)
	e.wantHandled("without handlers a start must make nothing")
	e.putHandler(handler("f", store.HandleFailure))
	begin(c.Token)
	e.wantHandled("handlers of other events must make nothing")
	e.putHandler(handler("h", store.HandleStart))
	begin(c.Token)
	e.want(e.handled(), []store.HookEvent{
		{Event: store.HookStart, Handler: "h", Kind: c.Kind, Job: id, Attempt: 1, Node: "n"},
	}, "a start must make the job of a handler that was put after the claim")
	begin(c.Token + 1)
	e.want(len(e.handled()), 1, "a claim that the node does not hold must make nothing")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"h"}}))
	begin(c.Token, hook("own"))
	e.want(e.hooks(), []string{"h", "own"}, "the hooks of a start must be made without handlers, too")
	begin(c.Token+1, hook("none"))
	e.want(len(e.hooks()), 2, "a claim that the node does not hold must make no hook")
	e.putHandler(handler("h", store.HandleStart))
	res, err = e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: newJob().Queue, Kinds: []string{newJob().Kind}, Limit: 1})
	e.must(err)
	e.ok(res.Handled, "with handlers of starts a claim must ask for BeginJobs")
}

// handlersOtherClient puts handlers by one client, while the other client has been told that
// there are none.
func handlersOtherClient(e *env) {
	n := e.node("n")
	want := 0
	results := []store.Result{store.Completed, store.Retry}
	for range 3 {
		slices.Reverse(results) // each of them is the first outcome after a change
		for _, has := range []bool{false, true} {
			if has {
				_, err := e.b.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: handler("h", store.HandleSuccess|store.HandleRetry)}}})
				e.must(err)
			}
			for _, result := range results {
				e.insertOne(newJob())
				e.endsOn(e.claim(n, 1)[0], func(o *store.Outcome) {
					o.Alone = true
					if result == store.Retry {
						o.Error, o.Delay = "busy", 1000*time.Hour
					}
				}, result)
				if has {
					want++
				}
				e.want(len(e.handled()), want, "a change by another client must hold from its commit on")
			}
			if has {
				e.must(e.b.Delete(e.ctx, store.DeleteRequest{Of: store.OfHandlers, Names: []string{"h"}}))
			}
		}
	}
}

// handlersRace puts a handler while outcomes are recorded: each outcome that was recorded by a
// call that began after the put returned must have its job.
func handlersRace(e *env) {
	n := e.node("n")
	const size = 60
	e.insertN(size)
	jobs := e.claim(n, size)
	var calls sync.WaitGroup
	var mu sync.Mutex
	put := false
	want, made := 0, 0
	calls.Go(func() {
		time.Sleep(3 * time.Millisecond)
		_, err := e.b.Put(e.ctx, store.PutRequest{Now: e.now, Handlers: []store.PutHandler{{Handler: handler("h", store.HandleSuccess)}}})
		if err != nil {
			e.t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		put = true
	})
	for _, c := range jobs {
		mu.Lock()
		after := put
		mu.Unlock()
		e.endsOn(c, func(o *store.Outcome) { o.Alone = true }, store.Completed)
		if after {
			want++
		}
		made++
	}
	calls.Wait()
	got := len(e.handled())
	e.ok(got >= want && got <= made, "outcomes after the put must make jobs", got, want)
}
