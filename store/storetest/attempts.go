package storetest

import (
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

var attemptTests = []scenario{
	{"Outcomes", attemptOutcomes},
	{"CancelRequest", attemptCancelAsked},
	{"Superseded", attemptSuperseded},
	{"Lost", attemptLost},
	{"LostWithCancelRequest", attemptLostAsked},
	{"NodeThatLeft", attemptLeft},
	{"LateOutcomeReplacesLost", attemptLate},
	{"LateRetryLeavesLost", attemptLateRetry},
	{"NewestAreKept", attemptsNewest},
}

// attempts returns the records of a job, with the outputs and errors left out.
func (e *env) attempts(id int64) []store.Attempt {
	e.t.Helper()
	records := e.job(id).Attempts
	for i := range records {
		records[i].Error, records[i].Trace, records[i].Output, records[i].Printed = "", "", nil, 0
	}
	return records
}

// attempt returns the record of a claim that began a second ago and ends now.
func (e *env) attempt(c store.Claimed, node string, how store.AttemptOutcome) store.Attempt {
	return store.Attempt{Attempt: c.Attempt, Token: c.Token, Node: node, StartedAt: e.now.Add(-time.Second), FinishedAt: e.now, Outcome: how}
}

func attemptOutcomes(e *env) {
	n := e.node("n")
	id := e.insertOne(newJob())
	var want []store.Attempt
	for _, step := range []struct {
		result    store.Result
		leaseLost bool
		how       store.AttemptOutcome
	}{
		{store.Retry, false, store.AttemptRetried},
		{store.Release, false, store.AttemptReleased},
		{store.Release, true, store.AttemptLeaseLost},
		{store.Snooze, false, store.AttemptSnoozed},
		{store.Failed, false, store.AttemptFailed},
		{store.Cancelled, false, store.AttemptCancelled},
		{store.Completed, false, store.AttemptCompleted},
	} {
		c := e.claimOne(n)
		e.tick(time.Second)
		o := outcome(c, step.result)
		o.Error, o.LeaseLost = "e", step.leaseLost
		if step.result == store.Snooze {
			o.Error = ""
		}
		if step.result == store.Completed {
			o.Error, o.Output = "", []byte("out")
		}
		e.finishWell(o)
		want = append(want, e.attempt(c, "n", step.how))
		e.want(e.attempts(id), want, "each attempt that did not complete must leave a record with its outcome")
		e.finishWell(o)
		e.want(e.attempts(id), want, "a repetition must leave no record")
		if e.state(id).Finished() && step.result != store.Completed {
			e.changeOne(store.RetryJobs, id)
		}
	}
	c := e.running(n)
	e.finishWell(outcome(c, store.Release))
	e.finishWell(outcome(e.claimOne(n), store.Completed))
	e.want(e.attempts(c.ID), []store.Attempt(nil), "a release without an error, and a completion, must leave no record")
}

func attemptCancelAsked(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Retry, store.Release, store.Snooze, store.Cancelled} {
		c := e.running(n)
		e.cancel(c.ID)
		e.tick(time.Second)
		o := outcome(c, result)
		o.Error, o.LeaseLost = "e", true
		e.finishWell(o)
		e.want(e.attempts(c.ID), []store.Attempt{e.attempt(c, "n", store.AttemptCancelled)}, "an attempt that a cancel request ended must be recorded as cancelled")
	}
}

func attemptSuperseded(e *env) {
	_, running, _ := e.queued()
	e.tick(time.Second)
	o := retryIn(running, time.Minute)
	o.Error = "e"
	started := e.job(running.ID).StartedAt
	e.finishWell(o)
	want := e.attempt(running, "n", store.AttemptSuperseded)
	want.StartedAt = started
	e.want(e.attempts(running.ID), []store.Attempt{want}, "an attempt whose job gave way must be recorded as superseded")
}

func attemptLost(e *env) {
	for name, change := range map[string]func(*store.NewJob){
		"again":   func(*store.NewJob) {},
		"on loss": func(j *store.NewJob) { j.OnLoss = store.OnLossFail },
		"last":    func(j *store.NewJob) { j.MaxAttempts = 1 },
	} {
		started := e.now
		c := e.lost(change)
		want := store.Attempt{Attempt: 1, Token: c.Token, Node: "dead", StartedAt: started, FinishedAt: e.now, Outcome: store.AttemptLost}
		e.want(e.attempts(c.ID), []store.Attempt{want}, "a lost attempt must leave a record: the node, from the claim to the rescue ("+name+")")
		text := e.job(c.ID).Attempts[0].Error
		e.ok(strings.HasPrefix(text, "lost: ") && strings.Contains(text, "dead"), "the error of a lost attempt must name the node", text)
		e.changeOne(store.DeleteJobs, c.ID)
	}
	dead, alive := e.node("dead"), e.nodeFor("alive", 24*time.Hour)
	ids := e.insertN(2)
	e.claimAhead(dead, 2, 1)
	e.lose(alive)
	e.want([]int{len(e.attempts(ids[0])), len(e.attempts(ids[1]))}, []int{1, 0}, "a job that cannot have begun must get no record")
	e.tick(store.LossDelay(1))
	c := e.claim(alive, 2)[0]
	e.tick(time.Second)
	e.finishWell(outcome(c, store.Completed))
	e.want(len(e.attempts(ids[0])), 1, "the record of a lost attempt must stay when the job completes")
}

func attemptLostAsked(e *env) {
	dead, alive := e.node("dead"), e.nodeFor("alive", 24*time.Hour)
	c := e.running(dead)
	e.cancel(c.ID)
	e.lose(alive)
	e.want([]any{e.state(c.ID), e.attempts(c.ID)[0].Outcome}, []any{store.StateCancelled, store.AttemptLost},
		"an attempt whose node died must be recorded as lost, also with a cancel request")
}

func attemptLeft(e *env) {
	n := e.node("leaver")
	ids := e.insert(newJob(), with(func(j *store.NewJob) { j.MaxAttempts = 1 }), with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }), newJob(), newJob())
	claims := e.claimAhead(n, 5, 4).Jobs
	e.cancel(ids[3])
	e.tick(time.Second)
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: n})
	e.must(err)
	for i, how := range []store.AttemptOutcome{store.AttemptReleased, store.AttemptLost, store.AttemptLost, store.AttemptCancelled} {
		text := e.job(ids[i]).Attempts[0].Error
		e.ok(strings.Contains(text, "leaver"), "the error must name the node that left", text)
		e.want(e.attempts(ids[i]), []store.Attempt{e.attempt(claims[i], "leaver", how)}, "an attempt that a node left without an outcome must leave a record")
	}
	e.want(len(e.attempts(ids[4])), 0, "a job that cannot have begun must get no record")
}

func attemptLate(e *env) {
	for result, how := range map[store.Result]store.AttemptOutcome{
		store.Completed: store.AttemptCompleted,
		store.Failed:    store.AttemptFailed, store.Cancelled: store.AttemptCancelled,
	} {
		c := e.lost(func(*store.NewJob) {})
		lost := e.job(c.ID).Attempts[0]
		e.tick(time.Second)
		o := outcome(c, result)
		o.Error, o.Trace, o.Output = "late", "trace", []byte("out")
		e.finishWell(o)
		want := lost
		want.FinishedAt, want.Outcome, want.Error, want.Trace, want.Output, want.Printed = e.now, how, "late", "trace", []byte("out"), 3
		e.want(e.job(c.ID).Attempts, []store.Attempt{want}, "a late outcome that ends its job must replace the record of the lost attempt")
	}
}

func attemptLateRetry(e *env) {
	for _, result := range []store.Result{store.Retry, store.Release, store.Snooze} {
		c := e.lost(func(*store.NewJob) {})
		before := e.job(c.ID).Attempts
		e.tick(time.Second)
		o := outcome(c, result)
		o.Error, o.LeaseLost = "late", true
		e.finishWell(o)
		e.want(e.job(c.ID).Attempts, before, "a late outcome that changes nothing must leave the record of the lost attempt")
		e.changeOne(store.DeleteJobs, c.ID)
	}
}

func attemptsNewest(e *env) {
	n := e.node("n")
	ids := e.insert(with(func(j *store.NewJob) { j.MaxAttempts = 1000 }), with(func(j *store.NewJob) { j.MaxAttempts = 1000 }))
	for range store.MostAttempts + 3 {
		var outcomes []store.Outcome
		for _, c := range e.claim(n, 2) {
			o := outcome(c, store.Retry)
			o.Error = "e"
			if c.ID == ids[1] {
				o.Error = ""
			}
			outcomes = append(outcomes, o)
		}
		e.want(e.finish(outcomes...), []store.ClaimRef(nil), "retries must be accepted")
	}
	got := e.attempts(ids[0])
	e.want([]int{len(got), int(got[0].Attempt), int(got[len(got)-1].Attempt)},
		[]int{store.MostAttempts, 4, store.MostAttempts + 3}, "a job must keep the newest records")
	c := e.claim(n, 2)[0]
	e.tick(time.Minute)
	e.rescue(e.nodeFor("alive", time.Hour))
	got = e.attempts(ids[0])
	e.want([]any{len(got), got[0].Attempt, got[len(got)-1].Token}, []any{store.MostAttempts, int16(5), c.Token},
		"a job must keep the newest records, lost ones too")
	e.want(len(e.attempts(ids[1])), 1, "records of one job must not count for another")
}
