package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var uniqueConflictTests = []scenario{
	{"Replace", conflictReplaces},
	{"ReplaceElsewhere", conflictReplacesElsewhere},
	{"Reschedule", conflictReschedules},
	{"PushAtMost", conflictPushes},
	{"AJobThatHasBegun", conflictBegun},
	{"ARunningJobRunsAgain", conflictAgain},
	{"AgainAndTheEndRace", conflictAgainRace},
	{"AgainAndARetryRace", conflictAgainRetryRace},
	{"UntilStart", conflictUntilStart},
	{"UntilStartComesFirst", conflictUntilStartFirst},
	{"TheOrderOfARequest", conflictOrderOfNumbers},
	{"TheJobOfTheTransaction", conflictTakesFrom},
	{"AHoldStays", conflictHeld},
	{"Error", conflictRefuses},
	{"ManyInARequest", conflictBatch},
	{"InATransaction", conflictInTx},
	{"ATransactionIsWaitedFor", conflictWaits},
	{"ChangesAndClaimsRace", conflictRace},
	{"ManyKeysInAnyOrder", conflictOrders},
}

// conflicting returns a plain job with a key and a choice.
func conflicting(key string, choice store.OnConflict, more ...func(*store.NewJob)) store.NewJob {
	job := keyed("k", key)
	job.OnConflict = choice
	for _, change := range more {
		change(&job)
	}
	return job
}

func after(d time.Duration) func(*store.NewJob) { return func(j *store.NewJob) { j.Delay = d } }

func answered(id int64, conflict store.Conflict) store.Inserted {
	return store.Inserted{ID: id, Existed: true, Conflict: conflict}
}

func conflictReplaces(e *env) {
	id := e.insertHeld(e.a, nil, conflicting("key", store.OnConflictReplace, after(time.Hour), func(j *store.NewJob) { j.Headers = []byte(`{"a":"b"}`) })).ID
	before := e.job(id)
	e.tick(time.Minute)
	other := conflicting("key", store.OnConflictReplace, after(time.Second), func(j *store.NewJob) {
		j.Args, j.MaxAttempts, j.OnLoss, j.Timeout = []byte(`{ "new": 1 }`), 3, store.OnLossFail, time.Minute
	})
	e.want(e.insertHeld(e.b, nil, other), answered(id, store.ConflictReplaced), "a job that has not begun must be replaced")
	want := before
	want.JobSpec = other.JobSpec
	e.want(e.job(id), want, "a replaced job must be what the new job is, with its own number, times and state")
	e.tick(time.Hour)
	claimed := e.claimOne(e.node("n"))
	e.want([]any{claimed.ID, string(claimed.Args), claimed.Headers}, []any{id, `{ "new": 1 }`, []byte(nil)}, "a claim must get the new args")
}

func conflictReplacesElsewhere(e *env) {
	node := e.node("n")
	id := e.insertHeld(e.a, nil, conflicting("key", store.OnConflictReplace)).ID
	first := e.now
	e.tick(time.Minute)
	e.want(e.insertHeld(e.a, nil, conflicting("key", store.OnConflictReplace)).Conflict, store.ConflictReplaced, "a job that is due must be replaced")
	e.want(e.job(id).RunAt, first, "a replaced job must keep its place")
	elsewhere := conflicting("key", store.OnConflictReplace, func(j *store.NewJob) { j.Queue, j.Priority = "r", 2 })
	e.want(e.insertHeld(e.a, nil, elsewhere).Conflict, store.ConflictReplaced, "a job must be replaced by a job of another queue")
	e.want([]any{e.job(id).Queue, e.job(id).Priority, e.job(id).RunAt}, []any{"r", int16(2), e.now}, "in another queue a job that was due must be due from now on")
	e.want(len(e.claim(node, 5)), 0, "the job must have left its queue")
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "r", Kinds: []string{"k"}, Limit: 5})
	e.must(err)
	e.want(len(res.Jobs), 1, "the job must be claimed from its new queue")
}

func conflictReschedules(e *env) {
	id := e.insertHeld(e.a, nil, conflicting("key", store.OnConflictReschedule, after(time.Hour))).ID
	before := e.job(id)
	e.tick(time.Minute)
	move := conflicting("key", store.OnConflictReschedule, after(2*time.Hour), func(j *store.NewJob) { j.Args, j.Priority = []byte(`"other"`), 1 })
	e.want(e.insertHeld(e.b, nil, move), answered(id, store.ConflictRescheduled), "a job that has not begun must be moved")
	before.RunAt = e.now.Add(2 * time.Hour)
	e.want(e.job(id), before, "a job that is moved must keep everything but its time")
	e.want(e.insertHeld(e.b, nil, move), answered(id, store.ConflictKept), "a job that is due at that time already must not change")
	move.RunAt, move.Delay = e.now.Add(time.Second), 0
	e.want(e.insertHeld(e.a, nil, move).Conflict, store.ConflictRescheduled, "a job must also be moved to an earlier time")
	e.want(e.job(id).RunAt, move.RunAt, "a job must be moved to the time of the new job")
	move.RunAt = e.now.Add(-time.Hour)
	e.want(e.insertHeld(e.a, nil, move).Conflict, store.ConflictRescheduled, "a job must be moved to the past")
	e.want(e.job(id).RunAt, e.now, "a job that is moved to the past must be due now")
	e.tick(time.Second)
	e.want(e.insertHeld(e.a, nil, move).Conflict, store.ConflictKept, "a job that is due must not lose its place to a time that has passed")
	e.want(e.claimOne(e.node("n")).ID, id, "a job that was moved must be claimed")
}

func conflictPushes(e *env) {
	push := conflicting("key", store.OnConflictReschedule, after(time.Minute), func(j *store.NewJob) { j.PushAtMost = 150 * time.Second })
	id := e.insertHeld(e.a, nil, push).ID
	first := e.now
	for _, want := range []struct {
		at       time.Duration // of the enqueue, since the first
		due      time.Duration
		conflict store.Conflict
	}{
		{30 * time.Second, 90 * time.Second, store.ConflictRescheduled},
		{80 * time.Second, 140 * time.Second, store.ConflictRescheduled},
		{130 * time.Second, 150 * time.Second, store.ConflictRescheduled},
		{140 * time.Second, 150 * time.Second, store.ConflictKept},
		{160 * time.Second, 150 * time.Second, store.ConflictKept},
	} {
		e.now = first.Add(want.at)
		e.want(e.insertHeld(e.b, nil, push), answered(id, want.conflict), fmt.Sprint("the enqueue after ", want.at))
		e.want(e.job(id).RunAt.Sub(first), want.due, fmt.Sprint("when the job is due after the enqueue after ", want.at))
	}
	late := e.insertHeld(e.a, nil, conflicting("late", store.OnConflictKeep, after(time.Hour))).ID
	push.Unique, push.Delay = "late", 2*time.Hour
	e.want(e.insertHeld(e.a, nil, push), answered(late, store.ConflictKept), "the bound must not move a job that is due later")
	push.Delay = time.Minute
	e.want(e.insertHeld(e.a, nil, push), answered(late, store.ConflictRescheduled), "the bound must not keep a job from an earlier time")
}

// conflictBegun: replace reaches a job that awaits another attempt; reschedule does not, because of the back-off.
func conflictBegun(e *env) {
	node := e.node("n")
	id := e.insertHeld(e.a, nil, keyed("k", "key")).ID
	meets := func(why string) {
		e.t.Helper()
		before := e.job(id)
		other := conflicting("key", store.OnConflictReschedule, after(time.Hour))
		e.want(e.insertHeld(e.a, nil, other), answered(id, store.ConflictKept), why+": reschedule must say that nothing changed")
		e.want(e.job(id), before, why+" must keep its time")
		other = conflicting("key", store.OnConflictReplace, func(j *store.NewJob) { j.Args = fmt.Appendf(nil, "%q", why) })
		e.want(e.insertHeld(e.b, nil, other), answered(id, store.ConflictReplaced), why+" must be replaced")
		before.Args = other.Args
		e.want(e.job(id), before, why+" must keep all but what the new job is")
		e.want(e.insertHeld(e.a, nil, keyed("k", "key")), answered(id, store.ConflictKept), why+" must keep its key")
	}
	for _, outcome := range []store.Outcome{
		{Result: store.Retry, Error: "e"}, {Result: store.Snooze}, {Result: store.Release, LeaseLost: true}, {Result: store.Release},
	} {
		c := e.claimOne(node)
		outcome.ID, outcome.Token = c.ID, c.Token
		e.finishWell(outcome)
		meets("a job after " + fmt.Sprint(outcome.Result, outcome.LeaseLost))
	}
	c := e.claimOne(node)
	e.want(string(c.Args), `"a job after `+fmt.Sprint(store.Release, false)+`"`, "the next attempt must get the new args")
}

// conflictAgain: a job that runs does so once more after its end, however often it is enqueued and however it ends.
func conflictAgain(e *env) {
	node := e.node("n")
	for _, choice := range []store.OnConflict{store.OnConflictReplace, store.OnConflictReschedule} {
		for _, end := range []store.Result{store.Completed, store.Failed, store.Cancelled} {
			rule := fmt.Sprint(choice, " and ", end)
			id := e.insertHeld(e.a, nil, keyed("k", "key")).ID
			c := e.claimOne(node)
			first := conflicting("key", choice, after(time.Second), func(j *store.NewJob) { j.Args, j.Priority = []byte(`1`), 2 })
			got := e.insertHeld(e.b, nil, first)
			e.want(got, store.Inserted{ID: got.ID, Conflict: store.ConflictAgain}, rule+": the answer")
			e.ok(got.ID > id, rule+": the new job has a number of its own")
			e.want([]any{e.job(id).State, e.job(id).Unique}, []any{store.StateRunning, ""}, rule+": the key passes")
			e.want([]any{e.job(got.ID).State, e.job(got.ID).Unique}, []any{store.StateWaiting, "key"}, rule+": the new job waits")
			second := conflicting("key", choice, after(2*time.Second), func(j *store.NewJob) { j.Args, j.Priority = []byte(`2`), 2 })
			e.want(e.insertHeld(e.a, nil, second).ID, got.ID, rule+": another enqueue meets the new job")
			e.want(e.insertHeld(e.a, nil, keyed("k", "key")), answered(got.ID, store.ConflictKept), rule+": the new job has the key")
			e.want(e.state(got.ID), store.StateWaiting, rule+": it still waits")
			e.finishWell(store.Outcome{ID: c.ID, Token: c.Token, Result: store.Retry, Error: "e"})
			e.want(e.state(got.ID), store.StateWaiting, rule+": it waits for the end, not for an attempt")
			e.finishWell(outcome(e.claimOne(node), end))
			e.want(e.state(got.ID), store.StateReady, rule+": it is released")
			e.want(len(e.claim(node, 5)), 0, rule+": it is not due yet")
			e.tick(2 * time.Second)
			c = e.claimOne(node)
			args := map[store.OnConflict]string{store.OnConflictReplace: `2`, store.OnConflictReschedule: `1`}[choice]
			e.want([]any{c.ID, string(c.Args), c.Priority}, []any{got.ID, args, int16(2)}, rule+": it runs once, with the new args")
			e.finishWell(outcome(c, store.Completed))
			e.want(len(e.claim(node, 5)), 0, rule+": nothing else runs")
		}
	}
	_, ids := e.insertBatch(nil, with(func(j *store.NewJob) { j.Kind, j.Unique, j.OnConflict = "k", "b", store.OnConflictError }))
	e.want(e.insertHeld(e.a, nil, conflicting("b", store.OnConflictReplace)), answered(ids[0], store.ConflictKept), "a job of a batch stays as it is")
	c := e.claimOne(node)
	e.want(e.insertHeld(e.a, nil, conflicting("b", store.OnConflictReplace)).Conflict, store.ConflictAgain, "a job of a batch that runs")
	e.finishWell(outcome(c, store.Completed))
	e.finishWell(outcome(e.claimOne(node), store.Completed))
	held := e.insertHeld(e.a, nil, held("k", "held", time.Hour)).ID
	e.claimOne(node)
	e.want(e.insertHeld(e.a, nil, conflicting("held", store.OnConflictReplace)), answered(held, store.ConflictKept), "a key that is held does not pass")
}

// enqueueAtTheEnd runs a job with a key, and enqueues another with the same key, which replaces, at the moment at which the attempt
// ends with the outcome that end returns. It returns the number of the job that ran, and the answer of the enqueue.
func (e *env) enqueueAtTheEnd(node int64, key string, end func(store.Claimed) store.Outcome) (id int64, answer store.Inserted) {
	e.t.Helper()
	id = e.insertHeld(e.a, nil, keyed("k", key)).ID
	c := e.claimOne(node)
	var answers []store.Inserted
	e.atOnce(
		func(b store.Backend) error {
			_, err := b.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{end(c)}})
			return err
		},
		func(b store.Backend) (err error) {
			job := conflicting(key, store.OnConflictReplace, func(j *store.NewJob) { j.Args = []byte(`"new"`) })
			answers, err = e.tryKeyed(b, nil, job)
			return err
		})
	return id, answers[0]
}

// conflictAgainRace: an enqueue and the end of the job at the same moment; no enqueue is lost, and two do not run at once.
func conflictAgainRace(e *env) {
	node := e.nodeFor("n", time.Hour)
	for round := range 4 * afterRounds() {
		id, answer := e.enqueueAtTheEnd(node, fmt.Sprint(round), func(c store.Claimed) store.Outcome { return outcome(c, store.Completed) })
		e.settle()
		e.ok(answer.ID != id && !answer.Existed, "the enqueue is a job of its own", answer)
		next := e.claimOne(node)
		e.want([]any{next.ID, string(next.Args)}, []any{answer.ID, `"new"`}, "it runs after the end")
		e.finishWell(outcome(next, store.Completed))
		e.want(len(e.claim(node, 5)), 0, "nothing else runs")
	}
}

// conflictAgainRetryRace: an enqueue that comes while an attempt fails either waits for the job or replaces it, and is never dropped.
func conflictAgainRetryRace(e *env) {
	node := e.nodeFor("n", time.Hour)
	for round := range 4 * afterRounds() {
		id, answer := e.enqueueAtTheEnd(node, fmt.Sprint(round), func(c store.Claimed) store.Outcome { return retryIn(c, time.Hour) })
		e.ok(answer == answered(id, store.ConflictReplaced) || answer == store.Inserted{ID: answer.ID, Conflict: store.ConflictAgain} && answer.ID != id,
			"the job has the new args, or a new job waits for it", answer)
		e.want(string(e.job(answer.ID).Args), `"new"`, "the args")
	}
}

// conflictUntilStart: a key is unique among jobs that have not begun.
func conflictUntilStart(e *env) {
	node := e.node("n")
	until := func(j *store.NewJob) { j.UntilStart = true }
	insert := func() store.Inserted { return e.insertHeld(e.b, nil, conflicting("key", store.OnConflictKeep, until)) }
	first := insert()
	e.want(insert(), answered(first.ID, store.ConflictKept), "a job that has not begun")
	one := e.claimOne(node)
	second := insert()
	e.want(second, store.Inserted{ID: second.ID}, "a job that runs")
	e.want(insert(), answered(second.ID, store.ConflictKept), "the new job has the key")
	two := e.claimOne(node)
	e.want(two.ID, second.ID, "both run concurrently")
	e.finishWell(store.Outcome{ID: two.ID, Token: two.Token, Result: store.Retry, Error: "e", Delay: time.Hour})
	third := insert()
	e.want(third, store.Inserted{ID: third.ID}, "a job that awaits another attempt")
	e.finishWell(outcome(one, store.Completed))
	e.want(e.claimOne(node).ID, third.ID, "the new job runs")
	e.want(e.insertHeld(e.a, nil, keyed("k", "key")), answered(third.ID, store.ConflictKept), "other jobs keep to the key")
	both := e.insertKeyed(e.a, nil, conflicting("key", store.OnConflictKeep, until), conflicting("key", store.OnConflictKeep, until))
	e.want(both[1], answered(both[0].ID, store.ConflictKept), "two of a request")
	held := e.insertHeld(e.a, nil, held("k", "held", time.Hour)).ID
	e.claim(node, 5)
	e.want(e.insertHeld(e.a, nil, conflicting("held", store.OnConflictKeep, until)), answered(held, store.ConflictKept), "a key that is held stays taken")
}

// conflictUntilStartFirst: the key of a job that has begun passes to a new job, which otherwise would change that job.
func conflictUntilStartFirst(e *env) {
	node := e.node("n")
	until := func(j *store.NewJob) { j.UntilStart = true }
	for _, choice := range []store.OnConflict{store.OnConflictReplace, store.OnConflictReschedule} {
		e.insertHeld(e.a, nil, keyed("k", choice.String()))
		e.finishWell(retryIn(e.claimOne(node), time.Hour))
		answer := e.insertHeld(e.b, nil, conflicting(choice.String(), choice, until, after(time.Hour)))
		e.want(answer, store.Inserted{ID: answer.ID}, "a job that awaits another attempt, "+choice.String())
	}
	first := e.insertHeld(e.a, nil, keyed("k", "both")).ID
	e.finishWell(retryIn(e.claimOne(node), time.Hour))
	both := e.insertKeyed(e.b, nil, keyed("k", "both"), conflicting("both", store.OnConflictKeep, until, after(time.Hour)))
	e.want(both, []store.Inserted{answered(first, store.ConflictKept), {ID: both[1].ID}}, "behind a job of the request that meets the same job")
	first = e.insertHeld(e.a, nil, keyed("k", "replaced")).ID
	e.finishWell(retryIn(e.claimOne(node), time.Hour))
	both = e.insertKeyed(e.b, nil, conflicting("replaced", store.OnConflictReplace, func(j *store.NewJob) { j.Args = []byte(`"new"`) }),
		conflicting("replaced", store.OnConflictKeep, until, after(time.Hour)))
	e.want(both, []store.Inserted{answered(first, store.ConflictReplaced), {ID: both[1].ID}}, "behind a job of the request that replaces the same job")
	e.want([]string{string(e.job(first).Args), e.job(first).Unique, e.job(both[1].ID).Unique}, []string{`"new"`, "", "replaced"}, "the new job has the key")
	id := e.insertHeld(e.a, nil, held("k", "held", 2*time.Hour)).ID
	e.finishWell(retryIn(e.claimOne(node), time.Hour))
	e.want(e.insertHeld(e.b, nil, conflicting("held", store.OnConflictReplace, until)), answered(id, store.ConflictReplaced), "a key that is held does not pass")
}

// conflictOrderOfNumbers: the numbers of new jobs grow in the order of the request, also if a job gets the key of a running job.
func conflictOrderOfNumbers(e *env) {
	node := e.node("n")
	for _, choose := range []func(*store.NewJob){
		func(j *store.NewJob) { j.UntilStart = true },
		func(j *store.NewJob) { j.OnConflict = store.OnConflictReschedule },
	} {
		running := e.insertHeld(e.a, nil, keyed("k", "key")).ID
		c := e.claimOne(node)
		answers := e.insertKeyed(e.b, nil, conflicting("key", store.OnConflictKeep, choose), keyed("k", "other"), newJob())
		ids := []int64{running, answers[0].ID, answers[1].ID, answers[2].ID}
		e.ok(slices.IsSorted(ids) && ids[0] < ids[1], "numbers grow in the order of the request", ids)
		e.finishWell(outcome(c, store.Completed))
		e.settle()
		for _, job := range e.claim(node, 5) {
			e.finishWell(outcome(job, store.Completed))
		}
	}
}

// conflictTakesFrom: a transaction that completes a job may insert a job with its key.
func conflictTakesFrom(e *env) {
	node := e.node("n")
	id := e.insertHeld(e.a, nil, keyed("k", "key")).ID
	c := e.claimOne(node)
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		answers, err := e.tryKeyed(e.a, tx.Tx, conflicting("key", store.OnConflictKeep, func(j *store.NewJob) { j.TakesFrom = id }))
		e.must(err)
		e.want(answers[0], store.Inserted{ID: answers[0].ID}, "the successor is stored")
		if !commit {
			e.must(tx.Rollback())
			e.want([]any{e.job(id).Unique, len(e.list(store.ListJobsRequest{}))}, []any{"key", 1}, "a rollback leaves nothing")
			continue
		}
		_, err = e.a.Finish(e.ctx, store.FinishRequest{Now: e.now, Tx: tx.Tx, Outcomes: []store.Outcome{outcome(c, store.Completed)}})
		e.must(err)
		e.must(tx.Commit())
		e.want(e.claimOne(node).ID, answers[0].ID, "the successor runs")
		e.want(e.state(id), store.StateCompleted, "the job has completed")
	}
}

func conflictHeld(e *env) {
	id := e.endHeld(e.node("n"), "key", time.Hour, store.Completed)
	before := e.job(id)
	for _, choice := range []store.OnConflict{store.OnConflictReplace, store.OnConflictReschedule} {
		e.want(e.insertHeld(e.a, nil, conflicting("key", choice)), answered(id, store.ConflictHeld), choice.String()+" must not change a job that has ended")
	}
	e.want(e.job(id), before, "a job that has ended must stay as it is")
}

// refused inserts jobs that must be refused because of a conflict.
func (e *env) refused(tx store.Tx, jobs ...store.NewJob) store.DuplicateError {
	e.t.Helper()
	_, err := e.tryKeyed(e.a, tx, jobs...)
	var duplicate *store.DuplicateError
	if !errors.As(err, &duplicate) || !errors.Is(err, store.ErrDuplicate) {
		e.t.Fatalf("the insert must be refused with a DuplicateError, not %v", err)
	}
	return *duplicate
}

func conflictRefuses(e *env) {
	id := e.insertHeld(e.a, nil, conflicting("key", store.OnConflictError)).ID
	ended := e.insertHeld(e.a, nil, held("k", "ended", time.Hour)).ID
	e.want(e.cancel(ended), store.Changed, "a ready job must be cancelled")
	e.want(e.refused(nil, conflicting("key", store.OnConflictError)),
		store.DuplicateError{ID: id, Conflict: store.ConflictKept}, "the error must name the live job")
	e.want(e.refused(nil, newJob(), keyed("k", "new"), conflicting("ended", store.OnConflictError)),
		store.DuplicateError{Index: 2, ID: ended, Conflict: store.ConflictHeld}, "the error must name the job that holds the key, and the place")
	e.want(e.refused(nil, conflicting("twice", store.OnConflictError), newJob(), conflicting("twice", store.OnConflictError)),
		store.DuplicateError{Index: 2}, "two jobs of a request with one key must be refused")
	replaces := conflicting("key", store.OnConflictReplace, func(j *store.NewJob) { j.Args = []byte(`"new"`) })
	before := e.job(id)
	tx := e.begin()
	e.want(e.refused(tx.Tx, replaces, keyed("k", "a"), newJob(), held("k", "b", time.Hour), conflicting("ended", store.OnConflictError)),
		store.DuplicateError{Index: 4, ID: ended, Conflict: store.ConflictHeld}, "a transaction must be refused the same")
	e.want(e.refused(tx.Tx, conflicting("key", store.OnConflictError)).ID, id, "one job must be refused in a transaction")
	e.want(e.insertHeld(e.a, tx.Tx, keyed("k", "b")).Existed, false, "after a refusal the transaction must go on, without the refused jobs")
	e.must(tx.Commit())
	e.want(len(e.list(store.ListJobsRequest{})), 3, "a refused request must store none of its jobs")
	e.want(e.job(id), before, "a refused request must change nothing")
}

func conflictBatch(e *env) {
	live := e.insertKeyed(e.a, nil, conflicting("a", store.OnConflictKeep, after(time.Hour)), conflicting("b", store.OnConflictKeep, after(time.Hour)))
	text := func(s string) func(*store.NewJob) {
		return func(j *store.NewJob) { j.Args = fmt.Appendf(nil, "%q", s) }
	}
	got := e.insertKeyed(e.b, nil,
		conflicting("new", store.OnConflictKeep, text("1")), conflicting("b", store.OnConflictReplace, text("2")), newJob(),
		conflicting("new", store.OnConflictReplace, text("3")), conflicting("a", store.OnConflictReschedule, after(time.Minute), text("4")),
		conflicting("b", store.OnConflictReschedule, after(2*time.Minute)), conflicting("b", store.OnConflictReplace, text("5")),
		conflicting("new", store.OnConflictReschedule, after(3*time.Minute)), conflicting("new", store.OnConflictKeep), conflicting("a", store.OnConflictKeep))
	e.want(got, []store.Inserted{
		{ID: got[0].ID},
		answered(live[1].ID, store.ConflictReplaced),
		{ID: got[2].ID},
		answered(got[0].ID, store.ConflictReplaced),
		answered(live[0].ID, store.ConflictRescheduled),
		answered(live[1].ID, store.ConflictRescheduled),
		answered(live[1].ID, store.ConflictReplaced),
		answered(got[0].ID, store.ConflictRescheduled), answered(got[0].ID, store.ConflictKept), answered(live[0].ID, store.ConflictKept),
	}, "the jobs of a request must count one after the other")
	for id, want := range map[int64][]any{
		live[0].ID: {`{}`, e.now.Add(time.Minute)}, live[1].ID: {`"5"`, e.now.Add(2 * time.Minute)}, got[0].ID: {`"3"`, e.now.Add(3 * time.Minute)},
	} {
		e.want([]any{string(e.job(id).Args), e.job(id).RunAt}, want, "each job must be what the requests made of it")
	}
}

func conflictInTx(e *env) {
	id := e.insertHeld(e.a, nil, conflicting("key", store.OnConflictKeep, after(time.Hour))).ID
	before := e.job(id)
	replace := conflicting("key", store.OnConflictReplace, func(j *store.NewJob) { j.Args = []byte(`"new"`) })
	move := conflicting("key", store.OnConflictReschedule, after(2*time.Hour))
	tx := e.begin()
	e.want(e.insertHeld(e.a, tx.Tx, replace), answered(id, store.ConflictReplaced), "a transaction must replace a job")
	e.must(tx.Rollback())
	e.want(e.job(id), before, "a roll-back must leave the job as it was")
	tx = e.begin()
	e.want(e.insertHeld(e.a, tx.Tx, replace), answered(id, store.ConflictReplaced), "a transaction must replace a job")
	e.want(e.insertHeld(e.a, tx.Tx, move), answered(id, store.ConflictRescheduled), "a transaction must move a job that it has replaced")
	fresh := e.insertHeld(e.a, tx.Tx, keyed("k", "new"))
	move.Unique = "new"
	e.want(e.insertHeld(e.a, tx.Tx, move), answered(fresh.ID, store.ConflictRescheduled), "a transaction must move a job that it has inserted")
	e.want(e.job(id), before, "before the commit other transactions must see the job as it was")
	e.must(tx.Commit())
	e.want([]any{string(e.job(id).Args), e.job(id).RunAt, e.job(fresh.ID).RunAt},
		[]any{`"new"`, e.now.Add(2 * time.Hour), e.now.Add(2 * time.Hour)}, "the commit must show all changes")
}

// conflictWaits changes a job in a transaction that stays open: no claim takes the job, and
// another change of it waits.
func conflictWaits(e *env) {
	node := e.node("n")
	for _, name := range []string{"commit", "roll-back"} {
		id := e.insertHeld(e.a, nil, keyed("k", name)).ID
		tx := e.begin()
		end := map[string]func() error{"commit": tx.Commit, "roll-back": tx.Rollback}[name]
		e.want(e.insertHeld(e.a, tx.Tx, conflicting(name, store.OnConflictReschedule, after(time.Hour))).Conflict,
			store.ConflictRescheduled, "a due job must be moved")
		short, cancel := context.WithTimeout(e.ctx, 300*time.Millisecond)
		res, err := e.b.Claim(short, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 5})
		cancel()
		e.ok(err != nil || len(res.Jobs) == 0, "a claim must not take a job that an open transaction changes", res.Jobs)
		got := untilEnd(e, end, "a change must wait for a transaction that has changed the job", func() ([]store.Inserted, error) {
			return e.tryKeyed(e.b, nil, conflicting(name, store.OnConflictReplace, func(j *store.NewJob) { j.Args = []byte(`"new"`) }))
		})
		e.want(got[0], answered(id, store.ConflictReplaced), "after the "+name+" the job must be replaced")
		due := map[string]time.Time{"commit": e.now.Add(time.Hour), "roll-back": e.now}[name]
		e.want([]any{string(e.job(id).Args), e.job(id).RunAt}, []any{`"new"`, due}, "both changes must count, unless rolled back")
		e.claim(node, 5)
	}
}

// conflictRace replaces jobs while they are claimed: a change that was reported is what the
// claim gets, and a change that was refused is not.
func conflictRace(e *env) {
	const rounds = 40
	node := e.node("n")
	for round := range rounds {
		key := fmt.Sprint(round)
		id := e.insertHeld(e.a, nil, keyed("k", key)).ID
		var claimed []store.Claimed
		var answer []store.Inserted
		var failed [2]error
		var all sync.WaitGroup
		all.Go(func() {
			res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 5})
			claimed, failed[0] = res.Jobs, err
		})
		all.Go(func() {
			if round%2 == 0 {
				time.Sleep(time.Duration(round) * 20 * time.Microsecond)
			}
			answer, failed[1] = e.tryKeyed(e.b, nil, conflicting(key, store.OnConflictReplace, func(j *store.NewJob) { j.Args = []byte(`"new"`) }))
		})
		all.Wait()
		e.must(errors.Join(failed[:]...))
		if len(claimed) == 0 { // the row was locked at that moment
			claimed = e.claim(node, 5)
		}
		want := map[store.Conflict]string{store.ConflictReplaced: `"new"`, store.ConflictAgain: `{}`}[answer[0].Conflict]
		if len(claimed) != 1 || claimed[0].ID != id || (answer[0].ID == id) != (want != `{}`) || string(claimed[0].Args) != want {
			e.t.Fatalf("the answer %+v and the claim %+v of job %d must agree", answer, claimed, id)
		}
	}
}

// conflictOrders changes and inserts the same keys in different orders, several requests at
// once: no two of them may wait for each other.
func conflictOrders(e *env) {
	const rounds, keys, goroutines = 8, 10, 3
	for round := range rounds {
		var old []store.NewJob
		for i := 0; i < keys; i += 2 {
			old = append(old, conflicting(fmt.Sprint(round, " ", i), store.OnConflictKeep, after(time.Hour)))
		}
		e.insertKeyed(e.a, nil, old...)
		var mu sync.Mutex
		ids := map[string]map[int64]bool{}
		var failed error
		e.both(func(client int, backend store.Backend) {
			var all sync.WaitGroup
			for g := range goroutines {
				var jobs []store.NewJob
				for i := range keys {
					choice := store.OnConflict((i + g + client) % 3)
					jobs = append(jobs, conflicting(fmt.Sprint(round, " ", (i*(2*g+1+client*2)+g)%keys), choice, after(time.Duration(g+1)*time.Hour)))
				}
				all.Go(func() {
					answers, err := e.tryKeyed(backend, nil, jobs...)
					mu.Lock()
					defer mu.Unlock()
					failed = errors.Join(failed, err)
					for i, a := range answers {
						if ids[jobs[i].Unique] == nil {
							ids[jobs[i].Unique] = map[int64]bool{}
						}
						ids[jobs[i].Unique][a.ID] = true
					}
				})
			}
			all.Wait()
		})
		e.must(failed)
		for key := range ids {
			e.ok(len(ids[key]) == 1, "all requests with a key must agree on its job", key, ids[key])
		}
	}
	e.want(len(e.list(store.ListJobsRequest{})), rounds*keys, "there must be one job for each key")
}
