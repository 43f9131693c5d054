package storetest

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

var finishTests = []scenario{
	{"Completed", finishCompleted},
	{"FailedAndCancelled", finishEnds},
	{"Retry", finishRetry},
	{"Release", finishRelease},
	{"Snooze", finishSnooze},
	{"SnoozeGivesWay", finishSnoozeGivesWay},
	{"StaleTokenIsRefused", finishStale},
	{"UnknownJobIsRefused", finishUnknown},
	{"MixedBatch", finishMixed},
	{"RepetitionIsHarmless", finishRepeated},
	{"RepeatedRetryIsHarmless", finishRepeatedRetry},
	{"AnotherOutcomeOfAFinishedJobIsRefused", finishOther},
	{"LateOutcomeAfterRescue", finishLate},
	{"LateRetryAfterRescue", finishLateRetry},
	{"LateOutcomeAfterOthersTookIt", finishTooLate},
	{"CancelRequestTurnsRetryIntoCancelled", finishCancelAsked},
	{"CompletionWinsOverCancelRequest", finishCompletedAsked},
	{"AttemptsAreRecorded", finishAttempts},
	{"LargeRecords", finishLargeRecords},
	{"Results", finishResults},
	{"ResultsOfABatch", finishResultsOfABatch},
	{"TwoNodesAtOnce", finishRace},
}

// running makes one job and claims it.
func (e *env) running(n int64) store.Claimed {
	e.t.Helper()
	id := e.insertOne(newJob())
	c := e.claimOne(n)
	if c.ID != id {
		e.t.Fatalf("claimed job %d, want the new one %d", c.ID, id)
	}
	return c
}

func finishCompleted(e *env) {
	n := e.node("n")
	c := e.running(n)
	started := e.now
	e.tick(time.Second)
	e.finishWell(outcome(c, store.Completed))
	info := e.job(c.ID)
	e.want([]any{info.State, info.FinishedAt, info.StartedAt, info.Reason, info.Attempt, info.Token, info.Node, info.CancelAsked, info.MaxAttempts},
		[]any{store.StateCompleted, e.now, started, "", int16(1), c.Token, "n", false, int16(5)}, "a completed job must move to history, finished now")
	e.want(string(info.Args), `{}`, "history must keep the args")
	e.want(len(e.claims(n, false)), 0, "a finished job must not be claimed")
	e.want(e.nodes()[n].Running, int64(0), "a finished job must not count with its node")
}

func finishEnds(e *env) {
	n := e.node("n")
	c := e.running(n)
	o := outcome(c, store.Failed)
	o.Error = "disk full"
	e.finishWell(o)
	info := e.job(c.ID)
	e.want([]any{info.State, info.Reason, info.FinishedAt}, []any{store.StateFailed, "disk full", e.now}, "a failed job must keep its error as reason")
	c = e.running(n)
	o = outcome(c, store.Cancelled)
	o.Error = "as you wish"
	e.finishWell(o)
	info = e.job(c.ID)
	e.want([]any{info.State, info.Reason, info.FinishedAt}, []any{store.StateCancelled, "as you wish", e.now}, "a cancelled job must keep its error as reason")
}

func finishRetry(e *env) {
	n := e.node("n")
	c := e.running(n)
	started := e.now
	e.tick(time.Second)
	o := outcome(c, store.Retry)
	o.Delay, o.Error = time.Minute, "try later"
	e.finishWell(o)
	info := e.job(c.ID)
	e.want([]any{info.State, info.RunAt, info.Attempt, info.StartedAt, info.Token, info.FinishedAt},
		[]any{store.StateReady, e.now.Add(time.Minute), int16(1), started, c.Token, time.Time{}},
		"a retry must make the job ready at now + Delay, the attempt spent")
	e.want(len(e.claims(n, false)), 0, "a job to be retried must not be claimed")
	e.tick(time.Minute - time.Microsecond)
	e.want(len(e.claim(n, 1)), 0, "a retry must not come before its delay")
	e.tick(time.Microsecond)
	d := e.claimOne(n)
	e.want(d.Attempt, int16(2), "a retry spends an attempt")
}

func finishRelease(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.tick(time.Second)
	o := outcome(c, store.Release)
	o.Delay = time.Hour // must be ignored for this result
	e.finishWell(o)
	info := e.job(c.ID)
	e.want([]any{info.State, info.RunAt, info.Attempt}, []any{store.StateReady, e.now, int16(0)},
		"a release must make the job ready now, the attempt refunded")
	e.want(e.claimOne(n).Attempt, int16(1), "a released attempt counts again")
}

func finishSnooze(e *env) {
	n := e.nodeFor("n", time.Hour)
	c := e.running(n)
	first := c
	for snoozes := int64(1); snoozes <= 3; snoozes++ {
		e.tick(time.Second)
		o := outcome(c, store.Snooze)
		o.Delay, o.Error, o.Output = time.Minute, "not yet", []byte("not yet")
		e.finishWell(o)
		info := e.job(c.ID)
		e.want([]any{info.State, info.RunAt, info.Attempt, info.Token, info.Snoozes, len(info.Attempts), info.Losses},
			[]any{store.StateReady, e.now.Add(time.Minute), int16(0), c.Token, snoozes, int(snoozes), int16(0)},
			"a snooze must make the job ready at now + Delay, refund the attempt, add one to the snoozes and leave a record")
		e.tick(time.Minute - time.Microsecond)
		e.want(len(e.claim(n, 1)), 0, "a snoozed job must not run before its delay")
		e.tick(time.Microsecond)
		again := e.claimOne(n)
		e.want(again.Attempt, int16(1), "the attempt after a snooze must have the same number")
		e.ok(again.Token > c.Token, "the attempt after a snooze must have a greater token", again.Token, c.Token)
		e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}},
			"an outcome under the token of an attempt that snoozed must be refused")
		c = again
	}
	e.finishWell(outcome(c, store.Failed))
	e.want(e.job(first.ID).Snoozes, int64(3), "history must keep the number of snoozes")
	e.changeOne(store.RetryJobs, c.ID)
	e.want(e.job(first.ID).Snoozes, int64(3), "a retry by hand must keep the number of snoozes")
	e.finishWell(outcome(e.claimOne(n), store.Snooze))
	info := e.job(first.ID)
	e.want([]any{info.Snoozes, info.Attempt, info.RunAt}, []any{int64(4), int16(1), e.now}, "snoozes must be counted also after a retry by hand")
	e.cancel(c.ID)
	e.want([]any{e.job(c.ID).State, e.job(c.ID).Snoozes}, []any{store.StateCancelled, int64(4)}, "a job that snoozes can be cancelled")
}

func finishSnoozeGivesWay(e *env) {
	row := e.due("s")
	n := e.nodeFor("n", 24*time.Hour)
	e.fire(ringing(row))
	first := e.claimOne(n)
	e.finishWell(outcome(first, store.Snooze))
	row = e.schedule("s")
	e.tick(row.NextAt.Sub(e.now))
	f := ringing(row)
	f.Overlap = store.OverlapSkip
	e.want(len(e.fire(f).Fired), 1, "a job that snoozes must not be in the way of the next slot")
	e.want([]any{e.job(first.ID).State, e.job(first.ID).Reason}, []any{store.StateCancelled, store.SupersededReason},
		"a slot that fires must supersede a job that snoozes, as one that waits for a retry")
	running := e.claimOne(n)
	row = e.schedule("s")
	e.tick(row.NextAt.Sub(e.now))
	f = ringing(row)
	f.Overlap = store.OverlapQueue
	next := e.fire(f).Fired[0].Job
	e.want(e.state(next), store.StateWaiting, "the job of the next slot must wait")
	o := outcome(running, store.Snooze)
	o.Delay = time.Hour
	e.finishWell(o)
	e.want([]any{e.job(running.ID).State, e.job(running.ID).Reason, e.state(next)}, []any{store.StateCancelled, store.SupersededReason, store.StateReady},
		"a job that snoozes must give way to a waiting job of its serial group, as a job that is retried")
}

func finishStale(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled, store.Retry, store.Release, store.Snooze} {
		old := e.running(n)
		e.finishWell(outcome(old, store.Retry))
		current := e.claimOne(n)
		before := e.job(old.ID)
		o := outcome(old, result)
		o.Error, o.Output = "zombie", []byte("zombie")
		e.want(e.finish(o), []store.ClaimRef{{ID: old.ID, Token: old.Token}}, "an outcome under an old token must be refused")
		e.want(e.job(old.ID), before, "a refused outcome must touch nothing")
		o.Token = current.Token + 1
		e.want(e.finish(o), []store.ClaimRef{{ID: old.ID, Token: o.Token}}, "an outcome under a token that was never given must be refused")
		e.want(e.job(old.ID), before, "a refused outcome must touch nothing")
		e.finishWell(outcome(current, store.Completed))
		before = e.job(old.ID)
		o.Token = old.Token
		e.want(e.finish(o), []store.ClaimRef{{ID: old.ID, Token: old.Token}}, "an outcome under an old token of a finished job must be refused")
		e.want(e.job(old.ID), before, "a refused outcome must touch nothing")
	}
}

func finishUnknown(e *env) {
	n := e.node("n")
	c := e.running(n)
	o := store.Outcome{ID: c.ID + 1000, Token: c.Token, Result: store.Completed, Error: "x"}
	e.want(e.finish(o), []store.ClaimRef{{ID: o.ID, Token: o.Token}}, "an outcome of a job that does not exist must be refused")
	e.finishWell(outcome(c, store.Completed))
	e.changeOne(store.DeleteJobs, c.ID)
	e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}}, "an outcome of a deleted job must be refused")
	e.want(e.finish(), []store.ClaimRef(nil), "no outcomes, no refusals")
}

func finishMixed(e *env) {
	n := e.node("n")
	const size = 200
	e.insertN(size)
	jobs := e.claim(n, size)
	results := []store.Result{store.Completed, store.Failed, store.Cancelled, store.Retry, store.Release, store.Snooze}
	states := []store.State{store.StateCompleted, store.StateFailed, store.StateCancelled, store.StateReady, store.StateReady, store.StateReady}
	var outcomes []store.Outcome
	var stale []store.ClaimRef
	for i, j := range jobs {
		o := outcome(j, results[i%6])
		if i%7 == 3 {
			o.Token--
			stale = append(stale, store.ClaimRef{ID: o.ID, Token: o.Token})
		}
		if i%3 == 0 {
			o.Error = "e"
		}
		outcomes = append(outcomes, o)
	}
	refused := map[store.ClaimRef]bool{}
	for _, ref := range e.finish(outcomes...) {
		refused[ref] = true
	}
	e.want(len(refused), len(stale), "a batch must refuse exactly its stale outcomes")
	for _, ref := range stale {
		e.ok(refused[ref], "a stale outcome in a batch must be refused", ref)
	}
	for i, j := range jobs {
		want := states[i%6]
		if i%7 == 3 {
			want = store.StateRunning
		}
		e.want(e.state(j.ID), want, "each outcome of a batch must be applied to its own job")
	}
}

func finishRepeated(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
		c := e.running(n)
		o := outcome(c, result)
		o.Error, o.Output = "why", []byte("out")
		e.finishWell(o)
		before := e.job(c.ID)
		e.tick(time.Minute)
		o.Error = "said twice"
		e.want(e.finish(o), []store.ClaimRef(nil), "an outcome that is recorded already must not be refused when it is repeated")
		e.want(e.job(c.ID), before, "a repeated outcome must touch nothing")
	}
}

func finishRepeatedRetry(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Retry, store.Release, store.Snooze} {
		c := e.running(n)
		o := outcome(c, result)
		o.Error, o.Delay = "why", time.Minute
		e.finishWell(o)
		before := e.job(c.ID)
		e.tick(time.Second)
		e.want(e.finish(o), []store.ClaimRef(nil), "a retry, release or snooze that is recorded already must not be refused when it is repeated")
		e.want(e.job(c.ID), before, "a repeated retry, release or snooze must touch nothing (no second refund, record, count or delay)")
		e.tick(time.Hour)
		e.finishWell(outcome(e.claimOne(n), store.Completed))
	}
}

func finishOther(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.finishWell(outcome(c, store.Failed))
	before := e.job(c.ID)
	for _, result := range []store.Result{store.Completed, store.Cancelled, store.Retry, store.Release, store.Snooze} {
		e.want(e.finish(outcome(c, result)), []store.ClaimRef{{ID: c.ID, Token: c.Token}},
			"an outcome other than the one that is recorded must be refused")
		e.want(e.job(c.ID), before, "a refused outcome must touch nothing")
	}
}

// lost makes a claim of a node that is then declared dead.
func (e *env) lost(change func(*store.NewJob)) store.Claimed {
	e.t.Helper()
	dead, alive := e.node("dead"), e.nodeFor("alive", 24*time.Hour)
	id := e.insertOne(with(change))
	c := e.claimOne(dead)
	e.want(c.ID, id, "the new job must be claimed")
	e.tick(time.Minute)
	res := e.rescue(alive)
	if len(res.Jobs) != 1 {
		e.t.Fatalf("the dead node's job must be rescued: %+v", res)
	}
	return c
}

func finishLate(e *env) {
	for result, state := range map[store.Result]store.State{
		store.Completed: store.StateCompleted, store.Failed: store.StateFailed, store.Cancelled: store.StateCancelled,
	} {
		c := e.lost(func(*store.NewJob) {})
		e.want(e.state(c.ID), store.StateReady, "a rescued job must be ready")
		e.tick(time.Second)
		o := outcome(c, result)
		o.Error = "late"
		e.want(e.finish(o), []store.ClaimRef(nil), "a late outcome must be accepted while the job has not been claimed again")
		info := e.job(c.ID)
		e.want([]any{info.State, info.FinishedAt, info.Attempt, len(info.Attempts)}, []any{state, e.now, int16(1), 1},
			"a late outcome must count as any other")
	}
}

func finishLateRetry(e *env) {
	for _, result := range []store.Result{store.Retry, store.Release, store.Snooze} {
		c := e.lost(func(*store.NewJob) {})
		before := e.job(c.ID)
		e.tick(time.Second)
		o := outcome(c, result)
		o.Delay = time.Hour
		e.want(e.finish(o), []store.ClaimRef(nil), "a late retry, release or snooze must not be refused while the job has not been claimed again")
		e.want(e.job(c.ID), before, "a late retry, release or snooze must leave the job as it is: it is ready already")
		e.changeOne(store.DeleteJobs, c.ID)
	}
}

func finishTooLate(e *env) {
	c := e.lost(func(*store.NewJob) {})
	e.tick(store.LossDelay(1))
	d := e.claimOne(e.node("next"))
	e.want(d.ID, c.ID, "a rescued job must be claimable after its rest")
	e.want(d.Attempt, int16(2), "a rescue must not refund the attempt")
	before := e.job(c.ID)
	e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}}, "a late outcome must be refused once another has taken the job")
	e.want(e.job(c.ID), before, "a refused outcome must touch nothing")
	e.finishWell(outcome(d, store.Completed))

	c = e.lost(func(j *store.NewJob) { j.OnLoss = store.OnLossFail })
	before = e.job(c.ID)
	e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}}, "a late outcome must be refused after the job failed as lost")
	e.want(e.job(c.ID), before, "a refused outcome must touch nothing")

	c = e.lost(func(*store.NewJob) {})
	e.cancel(c.ID)
	e.want(e.finish(outcome(c, store.Completed)), []store.ClaimRef{{ID: c.ID, Token: c.Token}},
		"a late outcome must be refused after the rescued job was cancelled")
	e.want(e.state(c.ID), store.StateCancelled, "a refused outcome must touch nothing")
}

func finishCancelAsked(e *env) {
	n := e.node("n")
	for _, result := range []store.Result{store.Retry, store.Release, store.Snooze, store.Cancelled} {
		c := e.running(n)
		e.want(e.cancel(c.ID), store.Requested, "cancelling a running job leaves a request")
		e.tick(time.Second)
		o := outcome(c, result)
		e.finishWell(o)
		info := e.job(c.ID)
		e.want([]any{info.State, info.FinishedAt, info.Reason, info.CancelAsked}, []any{store.StateCancelled, e.now, "asked by the test", false},
			"a retry, release, snooze or cancelled outcome of a job with a cancel request must end it as cancelled, with the request's reason")
		e.want(e.finish(o), []store.ClaimRef(nil), "a repetition of what became a cancellation must not be refused")
		e.want(len(e.claims(n, true)), 0, "a cancel request must end with its claim")
	}
}

func finishCompletedAsked(e *env) {
	n := e.node("n")
	for result, state := range map[store.Result]store.State{store.Completed: store.StateCompleted, store.Failed: store.StateFailed} {
		c := e.running(n)
		e.cancel(c.ID)
		e.finishWell(outcome(c, result))
		e.want(e.state(c.ID), state, "a job that completed or failed in spite of a cancel request is completed or failed")
		e.changeOne(store.RetryJobs, c.ID)
		d := e.claimOne(n)
		e.want(e.job(c.ID).CancelAsked, false, "a cancel request must not outlive its claim")
		e.want(len(e.claims(n, true)), 0, "a cancel request must not outlive its claim")
		e.finishWell(outcome(d, store.Completed))
	}
}

func finishAttempts(e *env) {
	n := e.node("n")
	c := e.running(n)
	id := c.ID
	var want []store.Attempt
	say := func(result store.Result, errText, trace, output string) {
		e.tick(time.Second)
		o := store.Outcome{ID: id, Token: c.Token, Result: result, Error: errText, Trace: trace}
		if output != "" {
			o.Output = []byte(output)
		}
		e.finishWell(o)
		if errText != "" || output != "" {
			want = append(want, store.Attempt{
				Attempt: c.Attempt, Token: c.Token, Node: "n", StartedAt: e.now.Add(-time.Second), FinishedAt: e.now,
				Outcome: map[store.Result]store.AttemptOutcome{store.Retry: store.AttemptRetried, store.Failed: store.AttemptFailed}[result],
				Error:   errText, Trace: trace, Output: o.Output, Printed: int64(len(output)),
			})
		}
		if result == store.Retry {
			c = e.claimOne(n)
		}
	}
	say(store.Retry, "first: ü 🔔", "main.go:1\n\tmain.go:2", "")
	say(store.Retry, "", "a trace alone says nothing", "")
	say(store.Retry, "", "", "out\x00\xff\n")
	say(store.Failed, "last", "", "out")
	got := e.job(id).Attempts
	for i := range got {
		if len(got[i].Output) == 0 {
			got[i].Output = nil
		}
	}
	e.want(got, want, "each attempt that had an error or output must leave a record, oldest first")
	e.want(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}})[0].Attempts, []store.Attempt(nil),
		"records are read only where Attempts asks for them")
	e.changeOne(store.RetryJobs, id)
	e.want(len(e.job(id).Attempts), len(want), "records must stay with a job that is retried")
	c = e.claimOne(n)
	e.finishWell(outcome(c, store.Completed))
	e.want(len(e.job(id).Attempts), len(want), "an attempt that had nothing to say must leave no record")
}

func finishLargeRecords(e *env) {
	n := e.node("n")
	c := e.running(n)
	o := outcome(c, store.Failed)
	big := make([]byte, 64<<10)
	for i := range big {
		big[i] = byte(i * 7)
	}
	o.Output = big
	text := make([]byte, 64<<10)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	o.Error, o.Trace = string(text), string(text)
	e.finishWell(o)
	info := e.job(c.ID)
	e.ok(len(info.Attempts) == 1 && string(info.Attempts[0].Output) == string(big), "64 KiB of output must be kept byte for byte")
	e.ok(info.Reason == o.Error && info.Attempts[0].Error == o.Error && info.Attempts[0].Trace == o.Trace, "64 KiB of error and trace must be kept")
}

func finishResults(e *env) {
	n := e.nodeFor("n", time.Hour)
	const value = `{ "ü": [1, "\u0000", 1.50]}`
	for _, result := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
		for _, text := range []string{"", "why"} {
			c := e.running(n)
			o := outcome(c, result)
			o.Error, o.Value = text, []byte(value)
			e.finishWell(o)
			e.want(string(e.job(c.ID).Result), value, "the result of an attempt that ends its job must be kept byte for byte")
			e.want(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{c.ID}}})[0].Result, []byte(nil),
				"results are read only where Attempts asks for them")
			o.Value = []byte("2")
			e.want(e.finish(o), []store.ClaimRef(nil), "a repeated outcome must not be refused")
			e.want(string(e.job(c.ID).Result), value, "a repeated outcome must not change the result")
			e.changeOne(store.RetryJobs, c.ID)
			e.want(e.job(c.ID).Result, []byte(nil), "a job that is retried by hand must lose its result")
			e.finishWell(outcome(e.claimOne(n), store.Completed))
			e.want(e.job(c.ID).Result, []byte(nil), "a job must not have the result of an attempt before the last")
		}
	}
	for _, result := range []store.Result{store.Retry, store.Snooze, store.Release} {
		c := e.running(n)
		o := outcome(c, result)
		o.Value = []byte(value)
		e.finishWell(o)
		e.want(e.job(c.ID).Result, []byte(nil), "the result of an attempt that does not end its job must be dropped")
		e.finishWell(outcome(e.claimOne(n), store.Completed))
		e.want(e.job(c.ID).Result, []byte(nil), "a job must not have the result of an attempt before the last")
	}
	c := e.running(n)
	o := outcome(c, store.Completed)
	o.Value = make([]byte, 64<<10)
	for i := range o.Value {
		o.Value[i] = byte('0' + i%10)
	}
	e.finishWell(o)
	e.ok(string(e.job(c.ID).Result) == string(o.Value), "64 KiB of result must be kept")
	o.Token--
	c = e.running(n)
	o.ID = c.ID
	e.want(len(e.finish(o)), 1, "an outcome under an old token must be refused")
	e.want(e.job(c.ID).Result, []byte(nil), "a refused outcome must leave no result")
}

func finishResultsOfABatch(e *env) {
	n := e.node("n")
	const size = 100
	e.insertN(size)
	jobs := e.claim(n, size)
	var outcomes []store.Outcome
	for i, j := range jobs {
		o := outcome(j, store.Completed)
		if i%3 == 1 {
			o.Value = fmt.Append(nil, j.ID)
		}
		if i%7 == 2 {
			o.Result, o.Error = store.Failed, "e"
		}
		if i%10 == 9 {
			o.Token--
		}
		outcomes = append(outcomes, o)
	}
	e.want(len(e.finish(outcomes...)), size/10, "a batch must refuse exactly its stale outcomes")
	for i, j := range jobs {
		want := ""
		if i%3 == 1 && i%10 != 9 {
			want = fmt.Sprint(j.ID)
		}
		e.want(string(e.job(j.ID).Result), want, "each result of a batch must be kept with its own job")
	}
}

func finishRace(e *env) {
	n := e.node("n")
	for range 20 {
		c := e.running(n)
		o := outcome(c, store.Retry)
		o.Error = "e"
		var errs [2]error
		var results [2]store.FinishResult
		e.both(func(i int, client store.Backend) {
			results[i], errs[i] = client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{o}})
		})
		e.must(errs[0])
		e.must(errs[1])
		e.want(len(results[0].Refused)+len(results[1].Refused), 0, "the same outcome sent twice at once must be accepted twice")
		e.want(len(e.job(c.ID).Attempts), 1, "the same outcome sent twice at once must leave one record")
		e.finishWell(outcome(e.claimOne(n), store.Completed))
	}
}
