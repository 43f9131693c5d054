package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

var stepTests = []scenario{
	{"AResultCountsOnce", stepResult},
	{"ACursorCountsAlways", stepCursor},
	{"OnlyUnderTheClaim", stepClaim},
	{"ASignalWakesItsJob", stepSignal},
	{"ASignalThatComesFirst", stepSignalFirst},
	{"ASignalBeforeTheJobLiesAside", stepSignalBetween},
	{"AWaitTimesOut", stepTimeout},
	{"ASleepEnds", stepSleep},
	{"ASignalToAnEndedJob", stepEnded},
	{"InATransaction", stepInTx},
	{"InATransactionWithAnOldSnapshot", stepOldSnapshot},
	{"CommittedByTheCall", stepCommit},
	{"TwoTransactions", stepTwoTransactions},
	{"GoWithTheirJob", stepGoes},
	{"Listed", stepListed},
	{"RetriedFromAStep", stepRetriedFrom},
	{"RetriedFromAStepThatIsNotTaken", stepRetriedFromNone},
	{"ChildrenAreMadeOnce", stepChildrenOnce},
	{"ChildrenWakeTheirJob", stepChildrenEnd},
	{"ChildrenThatEndBeforeTheJobLiesAside", stepChildrenBetween},
	{"ChildrenThatTakeLong", stepChildrenLong},
	{"ChildrenThatAreForgotten", stepChildrenForgotten},
}

// saveStep stores a step under a claim.
func (e *env) saveStep(c store.Claimed, s store.Step, wait time.Duration) store.SaveStepResult {
	e.t.Helper()
	s.Job = c.ID
	res, err := e.a.SaveStep(e.ctx, store.SaveStepRequest{Now: e.now, Token: c.Token, Step: s, For: wait})
	e.must(err)
	return res
}

// waitFor begins a wait of a running job for a signal, and lets the job lie aside.
func (e *env) waitFor(c store.Claimed, name string, d time.Duration) {
	e.t.Helper()
	res := e.saveStep(c, store.Step{Name: name, Place: 1, Sort: store.StepSignal, Open: true}, d)
	e.want(res.Step.Open, true, "the job waits")
	e.park(c, name, max(d, time.Hour))
}

// park lets a job lie aside because of a step.
func (e *env) park(c store.Claimed, name string, d time.Duration) {
	e.t.Helper()
	o := outcome(c, store.Snooze)
	o.Wait, o.Delay = name, d
	e.finishWell(o)
}

// signal sends a signal.
func (e *env) signal(id int64, name, value string) (store.SaveStepResult, error) {
	return e.b.SaveStep(e.ctx, store.SaveStepRequest{Now: e.now, By: store.Actor{Name: "ada"}, Step: store.Step{Job: id, Name: name, Sort: store.StepSignal, Value: []byte(value)}})
}

// steps lists the steps of jobs.
func (e *env) steps(ids ...int64) []store.Step {
	e.t.Helper()
	steps, err := store.List[store.Step](e.ctx, e.b, store.ListRequest{IDs: ids})
	e.must(err)
	return steps
}

func stepResult(e *env) {
	c := e.running(e.node("n"))
	first := store.Step{Job: c.ID, Name: "charge", Place: 1, Version: 3, Value: []byte(`{"ü":"🔔"}`)}
	res := e.saveStep(c, first, 0)
	first.At = e.now
	e.want(res, store.SaveStepResult{Step: first, Changed: true, Now: e.now}, "the first result must be stored")
	e.tick(time.Second)
	again := first
	again.Value, again.Version = []byte("2"), 4
	res = e.saveStep(c, again, 0)
	e.want(res, store.SaveStepResult{Step: first, Now: e.now}, "a result must not replace an earlier result")
	e.want(e.steps(c.ID), []store.Step{first}, "the result must be listed")
	res = e.saveStep(c, store.Step{Name: "charge", Place: 1, Sort: store.StepSignal, Open: true}, time.Hour)
	e.want(res.Step, first, "a step of another sort must change nothing")
}

func stepCursor(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.saveStep(c, store.Step{Name: "import", Place: 2, Version: 1, Sort: store.StepCursor, Value: []byte("10")}, 0)
	e.tick(time.Second)
	e.saveStep(c, store.Step{Name: "import", Place: 2, Version: 2, Sort: store.StepCursor, Value: []byte("20")}, 0)
	want := []store.Step{{Job: c.ID, Name: "import", Place: 2, Version: 1, Sort: store.StepCursor, Value: []byte("20"), At: e.now}}
	e.want(e.steps(c.ID), want, "a cursor must be replaced")
	e.finishWell(outcome(c, store.Retry))
	e.want(e.steps(c.ID), want, "steps must stay when an attempt ends")
}

func stepClaim(e *env) {
	n := e.node("n")
	old := e.running(n)
	try := func(c store.Claimed) error {
		_, err := e.a.SaveStep(e.ctx, store.SaveStepRequest{Now: e.now, Token: c.Token, Step: store.Step{Job: c.ID, Name: "s", Place: 1, Value: []byte("1")}})
		return err
	}
	e.finishWell(outcome(old, store.Retry))
	e.is(try(old), store.ErrNotHeld, "a job that does not run must take no step")
	current := e.claimOne(n)
	e.is(try(old), store.ErrNotHeld, "a step under an old token must be refused")
	e.want(len(e.steps(old.ID)), 0, "nothing must be stored then")
	e.must(try(current))
	e.finishWell(outcome(current, store.Completed))
	e.is(try(current), store.ErrNotHeld, "a job that has ended must take no step")
	e.changeOne(store.DeleteJobs, current.ID)
	e.is(try(current), store.ErrNotHeld, "a job that was deleted must take no step")
}

func stepSignal(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.waitFor(c, "approval", 0)
	e.want(len(e.claim(n, 1)), 0, "a job that waits must not run")
	e.want(e.job(c.ID).Snoozes, int64(1), "a wait is a snooze")
	e.want(e.job(c.ID).Parked, true, "a job that waits must be parked")
	for i, f := range []store.JobFilter{{Parked: true}, {Scheduled: true}, {Retrying: true}, {States: []store.State{store.StateReady}}} {
		e.want(len(e.list(store.ListJobsRequest{JobFilter: f})), []int{1, 0, 0, 1}[i], fmt.Sprintf("a parked job by filter %d", i))
	}
	_, err := e.signal(c.ID, "other", "1")
	e.must(err)
	e.want(len(e.claim(n, 1)), 0, "another signal must not wake the job")
	e.tick(time.Minute)
	res, err := e.signal(c.ID, "approval", `"yes"`)
	e.must(err)
	e.want(res.Changed, true, "the signal must count")
	d := e.claimOne(n)
	e.want(e.job(c.ID).Parked, false, "a job that runs must not be parked")
	e.want([]int64{d.ID, int64(d.Attempt)}, []int64{c.ID, 1}, "the signal must wake its job, and no attempt is spent")
	want := store.Step{Job: c.ID, Name: "approval", Place: 1, Sort: store.StepSignal, Value: []byte(`"yes"`), At: e.now}
	res = e.saveStep(d, store.Step{Name: "approval", Place: 1, Sort: store.StepSignal, Open: true}, 0)
	e.want(res, store.SaveStepResult{Step: want, Now: e.now}, "the job must get the signal")
	e.want(len(e.entries()), 2, "each signal that counts must be recorded")
	res, err = e.signal(c.ID, "approval", `"no"`)
	e.must(err)
	e.want(res, store.SaveStepResult{Step: want, Now: e.now}, "a second signal must change nothing")
}

func stepSignalFirst(e *env) {
	n := e.node("n")
	c := e.running(n)
	_, err := e.signal(c.ID, "approval", "1")
	e.must(err)
	at := e.now
	e.tick(time.Second)
	res := e.saveStep(c, store.Step{Name: "approval", Place: 3, Version: 2, Sort: store.StepSignal, Open: true}, time.Hour)
	want := store.Step{Job: c.ID, Name: "approval", Place: 3, Version: 2, Sort: store.StepSignal, Value: []byte("1"), At: at}
	e.want(res.Step, want, "a signal that came first must be there when the job waits")
	e.want(e.steps(c.ID), []store.Step{want}, "its place must be stored")
	waiting := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
	_, err = e.signal(waiting, "approval", "1")
	e.must(err)
	e.want(len(e.claim(n, 1)), 0, "a signal to a job that does not wait for it must not make the job due")
}

func stepSignalBetween(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.saveStep(c, store.Step{Name: "approval", Place: 1, Sort: store.StepSignal, Open: true}, 0)
	_, err := e.signal(c.ID, "approval", "1")
	e.must(err)
	e.park(c, "approval", time.Hour)
	e.want(e.claimOne(n).ID, c.ID, "a signal that came before the job lay aside must make the job due")
}

func stepTimeout(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	c := e.running(n)
	e.waitFor(c, "approval", time.Hour)
	until := e.now.Add(time.Hour)
	e.tick(time.Hour - time.Microsecond)
	e.changeOne(store.RetryJobs, c.ID)
	d := e.claimOne(n)
	wait := store.Step{Name: "approval", Place: 1, Sort: store.StepSignal, Open: true}
	res := e.saveStep(d, wait, 5*time.Hour)
	e.want([]any{res.Step.Open, res.Step.Until}, []any{true, until}, "a wait must keep its end")
	e.park(d, "approval", time.Microsecond)
	e.tick(time.Microsecond)
	d = e.claimOne(n)
	res = e.saveStep(d, wait, 5*time.Hour)
	e.want([]any{res.Step.Open, res.Step.TimedOut, res.Changed}, []any{false, true, true}, "a wait must end at its end")
	res, err := e.signal(c.ID, "approval", "1")
	e.must(err)
	e.want([]any{res.Step.TimedOut, res.Changed}, []any{true, false}, "a signal after the end must not count")
}

func stepSleep(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	c := e.running(n)
	sleep := store.Step{Name: "sleep 1", Place: 1, Sort: store.StepSleep, Open: true}
	e.saveStep(c, sleep, time.Hour)
	e.park(c, "sleep 1", time.Hour)
	e.want(len(e.claim(n, 1)), 0, "a job that sleeps must not run")
	e.tick(time.Hour)
	d := e.claimOne(n)
	res := e.saveStep(d, sleep, time.Hour)
	e.want([]any{res.Step.Open, res.Step.TimedOut}, []any{false, false}, "the sleep must be over")
}

func stepEnded(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.finishWell(outcome(c, store.Completed))
	_, err := e.signal(c.ID, "approval", "1")
	e.is(err, store.ErrJobEnded, "a signal to a job that has ended must be refused")
	e.changeOne(store.DeleteJobs, c.ID)
	_, err = e.signal(c.ID, "approval", "1")
	e.is(err, store.ErrNotFound, "a signal to no job must be refused")
}

func stepInTx(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.waitFor(c, "approval", 0)
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		_, err := e.a.SaveStep(e.ctx, store.SaveStepRequest{
			Now: e.now, Tx: tx.Tx, Step: store.Step{Job: c.ID, Name: "approval", Sort: store.StepSignal, Value: []byte("1")},
		})
		e.must(err)
		if !commit {
			e.must(tx.Rollback())
			e.want(e.steps(c.ID)[0].Open, true, "a signal that was rolled back must not count")
			e.want(len(e.claim(n, 1)), 0, "the job must still wait")
			continue
		}
		e.must(tx.Commit())
		e.want(e.claimOne(n).ID, c.ID, "a signal must wake its job with the commit")
	}
}

// stepOldSnapshot: a transaction of the program that has read before the job waited finds the wait.
func stepOldSnapshot(e *env) {
	if !e.RowLocks {
		e.t.Skip("an open transaction holds up all other writers, or sees the newest rows")
	}
	n := e.node("n")
	c := e.running(n)
	tx := e.begin()
	_, err := store.List[store.Step](e.ctx, e.a, store.ListRequest{Tx: tx.Tx, IDs: []int64{c.ID}})
	e.must(err)
	e.waitFor(c, "approval", 0)
	_, err = e.a.SaveStep(e.ctx, store.SaveStepRequest{
		Now: e.now, Tx: tx.Tx, Step: store.Step{Job: c.ID, Name: "approval", Sort: store.StepSignal, Value: []byte("1")},
	})
	e.must(err)
	e.must(tx.Commit())
	e.want(e.claimOne(n).ID, c.ID, "a signal must wake a job that began to wait after the transaction had read")
}

func stepCommit(e *env) {
	n := e.node("n")
	c := e.running(n)
	save := func(token int64, value string) (store.SaveStepResult, error) {
		tx := e.begin()
		e.insertTx(tx.Tx, with(func(j *store.NewJob) { j.Queue = "effects" }))
		res, err := e.a.SaveStep(e.ctx, store.SaveStepRequest{
			Now: e.now, Tx: tx.Tx, Commit: true, Token: token, Step: store.Step{Job: c.ID, Name: "s", Place: 1, Value: []byte(value)},
		})
		if err != nil {
			e.must(tx.Rollback())
		}
		return res, err
	}
	_, err := save(c.Token+1, "0")
	e.is(err, store.ErrNotHeld, "a step under another token must be refused")
	e.want(e.effects(), 0, "the effect must be rolled back then")
	res, err := save(c.Token, "1")
	e.must(err)
	e.want([]any{res.Changed, e.effects()}, []any{true, 1}, "effect and step must be committed together")
	res, err = save(c.Token, "2")
	e.must(err)
	e.want([]any{res.Changed, string(res.Step.Value), e.effects()}, []any{false, "1", 1}, "the effect of a step that was stored before must be rolled back")
}

func stepTwoTransactions(e *env) {
	c := e.running(e.node("n"))
	first := e.begin()
	req := store.SaveStepRequest{Now: e.now, Token: c.Token, Step: store.Step{Job: c.ID, Name: "s", Place: 1, Value: []byte("1")}}
	req.Tx = first.Tx
	_, err := e.a.SaveStep(e.ctx, req)
	e.must(err)
	type answer struct {
		res store.SaveStepResult
		err error
	}
	second := make(chan answer, 1)
	ctx, stop := context.WithTimeout(e.ctx, time.Minute)
	defer stop()
	go func() {
		req := req
		req.Tx, req.Step.Value = nil, []byte("2")
		res, err := e.b.SaveStep(ctx, req)
		second <- answer{res, err}
	}()
	time.Sleep(50 * time.Millisecond) // the second may begin to wait; it must find the step of the first in any case
	e.must(first.Commit())
	got := <-second
	e.must(got.err)
	e.want([]any{got.res.Changed, string(got.res.Step.Value)}, []any{false, "1"}, "the second must find the step of the first")
}

func stepGoes(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	deleted, pruned, forgotten := e.running(n), e.running(n), e.running(n)
	for _, c := range []store.Claimed{deleted, pruned, forgotten} {
		e.saveStep(c, store.Step{Name: "s", Place: 1, Value: []byte("1")}, 0)
	}
	e.finishWell(outcome(deleted, store.Completed))
	e.finishWell(outcome(pruned, store.Completed))
	o := outcome(forgotten, store.Completed)
	o.Keep = store.Forget
	e.finishWell(o)
	e.want(len(e.steps(deleted.ID, pruned.ID)), 2, "steps must stay as long as their job")
	e.want(len(e.steps(forgotten.ID)), 0, "steps must go with a job that is not kept")
	e.changeOne(store.DeleteJobs, deleted.ID)
	e.tick(time.Hour)
	_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Minute, Limit: 10})
	e.must(err)
	e.want(len(e.steps(deleted.ID, pruned.ID)), 0, "steps must go with their job")
}

func stepListed(e *env) {
	n := e.node("n")
	a, b := e.running(n), e.running(n)
	var want []store.Step
	for _, c := range []store.Claimed{b, a} {
		for _, name := range []string{"z", "a"} {
			place := int32(len(want)%2 + 1)
			want = append(want, e.saveStep(c, store.Step{Name: name, Place: place, Value: []byte("1")}, 0).Step)
		}
	}
	want = append(want[2:], want[:2]...)
	e.want(e.steps(b.ID, a.ID), want, "steps must be listed by job and place")
	e.want(len(e.steps(b.ID+1000)), 0, "a job without steps has none")
	e.want(len(e.steps()), 0, "nothing is listed without jobs")
}

// retryFrom retries jobs from a step.
func (e *env) retryFrom(step string, ids ...int64) (store.ChangeJobsResult, error) {
	return e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{
		Now: e.now, Action: store.RetryJobs, IDs: ids, FromStep: step, By: store.Actor{Name: "ada"},
	})
}

// namesOf returns the names of the steps of jobs.
func (e *env) namesOf(ids ...int64) (names []string) {
	e.t.Helper()
	for _, step := range e.steps(ids...) {
		names = append(names, step.Name)
	}
	return names
}

func stepRetriedFrom(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	failed, parked, runs, other := e.running(n), e.running(n), e.running(n), e.running(n)
	for _, c := range []store.Claimed{failed, parked, runs, other} {
		for i, name := range []string{"a", "b", "Ü"} {
			e.saveStep(c, store.Step{Name: name, Place: int32(i + 1), Value: []byte("1")}, 0)
		}
	}
	e.saveStep(parked, store.Step{Name: "approval", Place: 4, Sort: store.StepSignal, Open: true}, 0)
	e.park(parked, "approval", time.Hour)
	_, err := e.signal(failed.ID, "early", "1")
	e.must(err)
	e.finishWell(outcome(failed, store.Failed))
	e.finishWell(outcome(other, store.Failed))
	res, err := e.retryFrom("b", parked.ID, failed.ID, runs.ID)
	e.must(err)
	e.want([]store.Change{res.Changes[0].Change, res.Changes[1].Change, res.Changes[2].Change}, []store.Change{store.Changed, store.Changed, store.Unchanged}, "the answers")
	e.want(e.namesOf(failed.ID), []string{"early", "a"}, "a failed job must keep the steps before, and signals that wait for it")
	e.want(e.namesOf(parked.ID), []string{"a"}, "a parked job must keep the steps before")
	e.want(e.namesOf(runs.ID), []string{"a", "b", "Ü"}, "a job that runs must keep its steps")
	e.want(e.namesOf(other.ID), []string{"a", "b", "Ü"}, "other jobs must keep their steps")
	e.want(e.job(parked.ID).Parked, false, "a job without an open step is not parked")
	e.want(len(e.claim(n, 10)), 2, "the jobs must be due")
	entries := e.entries()
	e.want(entries[len(entries)-1].Detail, `from step "b"`, "the audit must name the step")
}

func stepRetriedFromNone(e *env) {
	n := e.node("n")
	with, without := e.running(n), e.running(n)
	for i, name := range []string{"a", "b"} {
		e.saveStep(with, store.Step{Name: name, Place: int32(i + 1), Value: []byte("1")}, 0)
	}
	_, err := e.signal(without.ID, "b", "1")
	e.must(err)
	e.finishWell(outcome(with, store.Failed))
	e.finishWell(outcome(without, store.Failed))
	for _, try := range []struct {
		name string
		id   int64
		has  []string
	}{{"c", with.ID, []string{"a", "b"}}, {"b", without.ID, nil}} {
		_, err := e.retryFrom(try.name, with.ID, without.ID)
		if try.name == "c" {
			_, err = e.retryFrom(try.name, with.ID)
		}
		var none *store.NoStepError
		if !errors.As(err, &none) {
			e.t.Fatalf("retry from %q: %v, want a NoStepError", try.name, err)
		}
		e.want(*none, store.NoStepError{Job: try.id, Name: try.name, Has: try.has}, "the error must name the job and its steps")
	}
	e.want([]store.State{e.job(with.ID).State, e.job(without.ID).State}, []store.State{store.StateFailed, store.StateFailed}, "nothing must be changed")
	e.want(e.namesOf(with.ID), []string{"a", "b"}, "no step must be forgotten")
	_, err = e.retryFrom("b", with.ID+1000)
	e.must(err)
}
