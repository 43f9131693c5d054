package storetest

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// childrenOf returns the request of a running job that makes n children and the last job after them.
func (e *env) childrenOf(c store.Claimed, name string, n int) store.SaveStepRequest {
	return store.SaveStepRequest{
		Now: e.now, Token: c.Token, Children: newJobs(n + 1),
		Step: store.Step{Job: c.ID, Name: name, Place: 1, Sort: store.StepChildren, Open: true, Value: store.Children{Outlive: true}.Value()},
	}
}

// bear makes children of a running job, and returns their batch.
func (e *env) bear(c store.Claimed, name string, n int) store.Batch {
	e.t.Helper()
	res, err := e.a.SaveStep(e.ctx, e.childrenOf(c, name, n))
	e.must(err)
	return e.batch(res.Step.Children().Batch)
}

// childrenEnded is the call of the last job of a batch of children.
func (e *env) childrenEnded(job int64, name string, batch int64) store.SaveStepResult {
	e.t.Helper()
	res, err := e.b.SaveStep(e.ctx, store.SaveStepRequest{
		Now: e.now, Step: store.Step{Job: job, Name: name, Sort: store.StepChildren, Value: store.Children{Batch: batch}.Value()},
	})
	e.must(err)
	return res
}

// waitForChildren begins a wait of a running job for its children.
func (e *env) waitForChildren(c store.Claimed, name string, d time.Duration) store.SaveStepResult {
	e.t.Helper()
	return e.saveStep(c, store.Step{Name: name, Place: 1, Sort: store.StepChildren, Open: true}, d)
}

func stepChildrenOnce(e *env) {
	n := e.node("n")
	c := e.running(n)
	req := e.childrenOf(c, "children 1", 2)
	res, err := e.a.SaveStep(e.ctx, req)
	e.must(err)
	want := store.Step{Job: c.ID, Name: "children 1", Place: 1, Sort: store.StepChildren, Open: true, At: e.now}
	want.Value = res.Step.Value
	e.want(res, store.SaveStepResult{Step: want, Changed: true, Now: e.now}, "the step must be stored")
	children := res.Step.Children()
	b := e.batch(children.Batch)
	e.want([]any{children.Outlive, b.Total(), b.Finally != 0}, []any{true, int64(2), true}, "the children must be a batch with a last job")
	e.want(e.steps(c.ID), []store.Step{want}, "the step must have the number of the batch")
	e.tick(time.Minute)
	req.Now = e.now
	res, err = e.a.SaveStep(e.ctx, req)
	e.must(err)
	e.want(res, store.SaveStepResult{Step: want, Now: e.now}, "a repetition must change nothing")
	e.want(len(e.list(store.ListJobsRequest{})), 4, "a repetition must make no jobs")
	req.Token++
	_, err = e.a.SaveStep(e.ctx, req)
	e.is(err, store.ErrNotHeld, "another claim makes no children")
	req.Token, req.Step.Name, req.Step.Place = c.Token+1, "children 2", 2
	_, err = e.a.SaveStep(e.ctx, req)
	e.is(err, store.ErrNotHeld, "another claim makes no children under another name")
	e.want(len(e.list(store.ListJobsRequest{})), 4, "what is refused must make no jobs")
}

func stepChildrenEnd(e *env) {
	n := e.node("n")
	c := e.running(n)
	b := e.bear(c, "children 1", 2)
	res := e.waitForChildren(c, "children 1", time.Hour)
	e.want([]any{res.Step.Open, res.Step.Until, res.Changed}, []any{true, e.now.Add(time.Hour), true}, "the job must wait for its children")
	e.park(c, "children 1", time.Hour)
	e.want(e.job(c.ID).Parked, true, "a job that waits for its children must be parked")
	for range 2 {
		e.want(e.state(b.Finally), store.StateWaiting, "the last job must wait for all children")
		e.finishWell(outcome(e.claimOne(n), store.Completed))
	}
	last := e.claimOne(n)
	e.want(last.ID, b.Finally, "the last job must run after all children")
	e.want(e.childrenEnded(c.ID, "children 1", b.ID+1).Changed, false, "the end of other children must not count")
	e.want(len(e.claim(n, 1)), 0, "the end of other children must not wake the job")
	e.want(e.childrenEnded(c.ID, "children 1", b.ID).Changed, true, "the end of the children must count")
	e.want(e.childrenEnded(c.ID, "children 1", b.ID).Changed, false, "a repetition must change nothing")
	e.finishWell(outcome(last, store.Completed))
	d := e.claimOne(n)
	e.want([]int64{d.ID, int64(d.Attempt)}, []int64{c.ID, 1}, "the end of the children must wake their job, and no attempt is spent")
	e.want(len(e.entries()), 0, "the end of children is no signal, and is not recorded")
	e.want(e.waitForChildren(d, "children 1", time.Hour).Step.Open, false, "the job must find that its children have ended")
}

func stepChildrenBetween(e *env) {
	n := e.node("n")
	c := e.running(n)
	b := e.bear(c, "children 1", 0)
	e.waitForChildren(c, "children 1", time.Hour)
	e.childrenEnded(c.ID, "children 1", b.ID)
	e.park(c, "children 1", time.Hour)
	found := []int64{e.claimOne(n).ID, e.claimOne(n).ID}
	e.want(found[0]+found[1], c.ID+b.Finally, "the job must not lie aside if its children have ended in the meantime")
}

func stepChildrenLong(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.bear(c, "children 1", 0)
	e.claimOne(n) // the last job, which does not end
	for i := range 3 {
		e.waitForChildren(c, "children 1", time.Hour)
		e.park(c, "children 1", time.Hour)
		e.want(len(e.claim(n, 1)), 0, "the job waits")
		e.tick(time.Hour)
		d := e.claimOne(n)
		e.want([]any{d.ID, e.steps(c.ID)[0].Open, e.steps(c.ID)[0].TimedOut}, []any{c.ID, true, false}, fmt.Sprintf("the job must look after wait %d", i+1))
		c = d
	}
}

func stepChildrenForgotten(e *env) {
	n := e.node("n")
	c := e.running(n)
	b := e.bear(c, "children 1", 0)
	e.finishWell(outcome(c, store.Failed))
	_, err := e.retryFrom("children 1", c.ID)
	e.must(err)
	e.want(e.childrenEnded(c.ID, "children 1", b.ID).Changed, false, "the end of children that their job has forgotten must not count")
	e.want(len(e.steps(c.ID)), 0, "the end of children that their job has forgotten must store nothing")
	var d store.Claimed
	for d.ID != c.ID {
		d = e.claimOne(n)
	}
	other := e.bear(d, "children 1", 0)
	e.want(other.ID != b.ID, true, "the job must get other children")
	e.want(e.childrenEnded(c.ID, "children 1", b.ID).Changed, false, "the end of the forgotten children must not count for the others")
	e.want(e.childrenEnded(c.ID, "children 1", other.ID).Changed, true, "the end of the other children must count")
}
