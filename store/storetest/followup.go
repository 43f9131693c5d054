package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var followUpTests = []scenario{
	{"FailingThenWell", followUpStates},
	{"JobsAsAsked", followUpJobs},
	{"NoSchedule", followUpWithoutSchedule},
	{"RepetitionDoesNothing", followUpRepeated},
	{"RefusedDoesNothing", followUpRefused},
	{"OnlyCompletedFailedAndRetried", followUpResults},
	{"OfARetry", followUpRetry},
	{"Always", followUpAlways},
	{"LateOutcome", followUpLate},
	{"OrderWithinABatch", followUpOrder},
	{"LargeBatch", followUpLarge},
	{"LostByRescue", followUpRescue},
	{"LostByLeave", followUpLeave},
	{"OnlyLostJobs", followUpOnlyLost},
	{"Firing", followUpFiring},
	{"LostFiring", followUpLostFiring},
	{"DeletedSchedule", followUpDeleted},
	{"ChangedSchedule", followUpChanged},
	{"RecoveryAtTheSameMoment", followUpRecoveryRace},
	{"FinishAndFireAtTheSameMoment", followUpRace},
}

// hook returns a hook's job, in a queue that no test claims from.
func hook(text string) store.NewJob {
	return store.NewJob{JobSpec: store.JobSpec{Kind: "hook", Queue: "hooks", Args: []byte(text), Priority: 3, MaxAttempts: 2}, Origin: store.OriginHook}
}

// fails and recovers are follow-ups that make one hook.
func fails(schedule int64, text string) *store.FollowUp {
	return &store.FollowUp{Schedule: schedule, Failing: true, Jobs: []store.NewJob{hook(text)}}
}

func recovers(schedule int64, text string) *store.FollowUp {
	return &store.FollowUp{Schedule: schedule, Jobs: []store.NewJob{hook(text)}}
}

// hooks returns the texts of the hooks made so far, oldest first.
func (e *env) hooks() []string {
	e.t.Helper()
	var texts []string
	for _, job := range slices.Backward(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "hooks"}, Attempts: true, Limit: 10_000})) {
		texts = append(texts, string(job.Args))
	}
	return texts
}

// wantHooks checks the hooks made so far, and since when a schedule has been
// failing.
func (e *env) wantHooks(schedule string, since time.Time, rule string, hooks ...string) {
	e.t.Helper()
	e.want([]any{e.hooks(), e.schedule(schedule).FailingSince}, []any{hooks, since}, rule)
}

// endsWith makes a job and ends it with a follow-up.
func (e *env) endsWith(n int64, result store.Result, after *store.FollowUp) {
	e.t.Helper()
	o := outcome(e.running(n), result)
	o.After = after
	e.finishWell(o)
}

func followUpStates(e *env) {
	n := e.node("n")
	s, other := e.put("s", "{}").ID, e.put("other", "{}").ID
	e.endsWith(n, store.Completed, recovers(s, "well 0"))
	e.wantHooks("s", time.Time{}, "a completion of a schedule that was not failing must make no job")
	since := e.now.Add(time.Second)
	e.tick(time.Second)
	e.endsWith(n, store.Failed, fails(s, "bad 1"))
	e.wantHooks("s", since, "a failure must make its jobs, and the schedule failing since now", "bad 1")
	e.tick(time.Second)
	e.endsWith(n, store.Failed, fails(s, "bad 2"))
	e.wantHooks("s", since, "each failure must make its jobs; the first says since when", "bad 1", "bad 2")
	e.endsWith(n, store.Completed, recovers(other, "well"))
	e.wantHooks("s", since, "what happens to other schedules must not count", "bad 1", "bad 2")
	e.endsWith(n, store.Completed, nil)
	e.wantHooks("s", since, "an outcome without a follow-up must make no job", "bad 1", "bad 2")
	e.endsWith(n, store.Completed, recovers(s, "well 1"))
	e.wantHooks("s", time.Time{}, "the first that is well must make its jobs, and the schedule well", "bad 1", "bad 2", "well 1")
	e.endsWith(n, store.Completed, recovers(s, "well 2"))
	e.wantHooks("s", time.Time{}, "a recovery comes once", "bad 1", "bad 2", "well 1")
	e.tick(time.Second)
	e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s, Failing: true})
	e.wantHooks("s", e.now, "a failure without jobs must be remembered", "bad 1", "bad 2", "well 1")
	e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s})
	e.wantHooks("s", time.Time{}, "a recovery without jobs must be remembered, whatever the result", "bad 1", "bad 2", "well 1")
}

func followUpWithoutSchedule(e *env) {
	n := e.node("n")
	e.endsWith(n, store.Failed, fails(0, "bad"))
	e.want(e.hooks(), []string{"bad"}, "the failure of a job without a schedule must make its jobs")
	e.endsWith(n, store.Completed, recovers(0, "well"))
	e.want(e.hooks(), []string{"bad"}, "failures of jobs without a schedule are not counted, so none of these jobs is a recovery")
}

func followUpJobs(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	one, two := hook("one"), hook("two")
	one.Headers, two.Delay, two.OnLoss, two.Timeout = []byte(`{"hourbell.hook":"failed"}`), time.Minute, store.OnLossFail, time.Second
	e.tick(time.Second)
	e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s, Failing: true, Jobs: []store.NewJob{one, two}})
	jobs := e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "hooks"}, Attempts: true})
	if len(jobs) != 2 {
		e.t.Fatalf("a follow-up must make all its jobs: %+v", jobs)
	}
	slices.Reverse(jobs)
	e.ok(sameJSON(jobs[0].Headers, one.Headers), "headers must be kept", string(jobs[0].Headers))
	for i, job := range jobs {
		n := []store.NewJob{one, two}[i]
		n.Headers = job.Headers // compared above
		e.want(job, store.JobInfo{
			JobSpec: n.JobSpec, ID: job.ID, State: store.StateReady, Origin: store.OriginHook, RunAt: e.now.Add(n.Delay), CreatedAt: e.now,
		}, "the jobs of a follow-up must be as requested, and belong to no schedule")
	}
}

func followUpRepeated(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	since := e.now
	bad := outcome(e.running(n), store.Failed)
	bad.Error, bad.After = "e", fails(s, "bad")
	plain := outcome(e.running(n), store.Failed)
	plain.After = fails(s, "bad too")
	e.finish(bad, plain)
	e.finish(bad, plain)
	e.wantHooks("s", since, "a repeated outcome must make no further job", "bad", "bad too")
	well := outcome(e.running(n), store.Completed)
	well.After = recovers(s, "well")
	e.finishWell(well)
	e.finish(bad, plain)
	e.wantHooks("s", time.Time{}, "a repeated failure must not make a schedule fail again", "bad", "bad too", "well")
	e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s, Failing: true})
	e.finishWell(well)
	e.wantHooks("s", e.now, "a repeated success must not make a schedule well again", "bad", "bad too", "well")
}

func followUpRefused(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	old := e.running(n)
	e.finishWell(outcome(old, store.Retry))
	e.claimOne(n)
	for _, text := range []string{"", "said"} {
		for _, o := range []store.Outcome{
			{ID: old.ID, Token: old.Token, Result: store.Failed, Error: text, After: fails(s, "zombie")},
			{ID: old.ID + 1000, Token: 1, Result: store.Failed, Error: text, After: fails(s, "unknown")},
		} {
			e.want(len(e.finish(o)), 1, "the outcome must be refused")
			e.wantHooks("s", time.Time{}, "a refused outcome must make no job")
		}
	}
}

func followUpResults(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	for _, result := range []store.Result{store.Snooze, store.Release, store.Cancelled} {
		for _, cancel := range []bool{false, true} {
			o := outcome(e.running(n), result)
			o.Error, o.After = "e", fails(s, "not at the end")
			if cancel {
				e.cancel(o.ID)
			}
			e.finishWell(o)
			e.changeOne(store.DeleteJobs, o.ID)
		}
	}
	e.wantHooks("s", time.Time{}, "a snooze, a release and a cancellation must make no job")
	c := e.running(n)
	e.cancel(c.ID)
	o := outcome(c, store.Failed)
	o.After = fails(s, "bad")
	e.finishWell(o)
	e.wantHooks("s", e.now, "a failure in spite of a cancel request is a failure", "bad")
}

// always returns a follow-up without a schedule that makes one hook in any case.
func always(text string) *store.FollowUp {
	return &store.FollowUp{Always: []store.NewJob{hook(text)}}
}

func followUpRetry(e *env) {
	n := e.node("n")
	c := e.running(n)
	o := retryIn(c, time.Second)
	o.Error, o.After = "busy", always("again")
	e.finishWell(o)
	e.want(e.hooks(), []string{"again"}, "an attempt that is tried again must have its follow-up")
	e.finishWell(o)
	e.want(e.hooks(), []string{"again"}, "a repeated outcome must make no further job")
	e.tick(time.Minute)
	c = e.claimOne(n)
	e.want(len(e.finish(o)), 1, "an outcome of an earlier claim must be refused")
	e.want(e.hooks(), []string{"again"}, "a refused outcome must make no job")
	e.cancel(c.ID)
	o = retryIn(c, time.Second)
	o.Error, o.After = "busy", always("cancelled")
	e.finishWell(o)
	e.want([]any{e.state(c.ID), e.hooks()}, []any{store.StateCancelled, []string{"again"}},
		"an attempt that is not tried again because of a cancel request must make no job")
	_, running, _ := e.queued()
	o = retryIn(running, time.Second)
	o.Error, o.After = "busy", always("superseded")
	e.finishWell(o)
	e.want(e.hooks(), []string{"again"}, "an attempt whose job gives way must make no job")
}

func followUpAlways(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	follow := func(failing bool, texts ...string) *store.FollowUp {
		return &store.FollowUp{Schedule: s, Failing: failing, Jobs: []store.NewJob{hook(texts[1])}, Always: []store.NewJob{hook(texts[0])}}
	}
	e.endsWith(n, store.Completed, follow(false, "done 1", "well 1"))
	e.wantHooks("s", time.Time{}, "Always must be made also if the schedule was not failing", "done 1")
	e.endsWith(n, store.Failed, follow(true, "ended 2", "bad 2"))
	e.wantHooks("s", e.now, "Always must be made before Jobs", "done 1", "ended 2", "bad 2")
	e.endsWith(n, store.Completed, follow(false, "done 3", "well 3"))
	e.wantHooks("s", time.Time{}, "Always must be made before Jobs", "done 1", "ended 2", "bad 2", "done 3", "well 3")
	e.endsWith(n, store.Completed, always("alone"))
	e.wantHooks("s", time.Time{}, "Always must be made without a schedule", "done 1", "ended 2", "bad 2", "done 3", "well 3", "alone")
}

func followUpLate(e *env) {
	c := e.lost(func(*store.NewJob) {})
	s := e.put("s", "{}").ID
	o := outcome(c, store.Failed)
	o.After = fails(s, "late")
	e.finishWell(o)
	e.wantHooks("s", e.now, "a late outcome that counts must have its follow-up", "late")
}

func followUpOrder(e *env) {
	n := e.node("n")
	s, t := e.put("s", "{}").ID, e.put("t", "{}").ID
	batch := func(after ...*store.FollowUp) {
		e.insertN(len(after))
		var outcomes []store.Outcome
		for i, c := range slices.Backward(e.claim(n, len(after))) {
			o := outcome(c, []store.Result{store.Completed, store.Failed}[i%2])
			o.After = after[len(after)-1-i]
			if i%3 == 0 {
				o.Output = []byte("out")
			}
			outcomes = append(outcomes, o)
		}
		e.finish(outcomes...)
	}
	batch(recovers(s, "no"), fails(s, "1"), recovers(t, "no"), recovers(s, "2"), recovers(s, "no"))
	e.wantHooks("s", time.Time{}, "the outcomes of a batch must happen in the order of the request", "1", "2")
	batch(fails(s, "3"), recovers(s, "4"), fails(s, "5"), fails(t, "6"), nil)
	since := e.now
	e.wantHooks("s", since, "the outcomes of a batch must happen in the order of the request", "1", "2", "3", "4", "5", "6")
	e.tick(time.Second)
	batch(fails(s, "7"), recovers(s, "8"), fails(t, "9"), fails(s, "10"))
	e.wantHooks("s", e.now, "a schedule that was well in between must fail since the failure after that", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
	e.want(e.schedule("t").FailingSince, since, "a schedule that was not well in between must fail since the first failure")
	e.tick(time.Second)
	batch(recovers(t, "11"), recovers(s, "12"), recovers(s, "no"))
	e.wantHooks("s", time.Time{}, "a recovery comes once", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
	e.want(e.schedule("t").FailingSince, time.Time{}, "each schedule of a batch must be remembered")
}

func followUpLarge(e *env) {
	n := e.node("n")
	const size = 1200
	s := e.put("s", "{}").ID
	e.insertN(size)
	var outcomes []store.Outcome
	var want []string
	for i, c := range e.claim(n, size) {
		o := outcome(c, store.Failed)
		o.After = fails(s, fmt.Sprint(i))
		want = append(want, fmt.Sprint(i))
		outcomes = append(outcomes, o)
	}
	last := &outcomes[size-1]
	last.Result, last.After = store.Completed, recovers(s, fmt.Sprint(size-1))
	e.want(len(e.finish(outcomes...)), 0, "none may be refused")
	e.wantHooks("s", time.Time{}, "the follow-ups of any number of outcomes must be applied in order", want...)
}

// lostOne makes a schedule with a job on a node that has died or will leave.
func (e *env) lostOne(node int64) (store.Schedule, store.Claimed) {
	e.t.Helper()
	row := e.due("s")
	f := ringing(row)
	f.Jobs[0].OnLoss, f.Jobs[0].Headers = store.OnLossFail, []byte(`{"x":"y"}`)
	e.fire(f)
	res, err := e.a.Heartbeat(e.ctx, store.HeartbeatRequest{Now: e.now, Node: node})
	e.must(err)
	e.want(res.Now, e.now, "the node lives")
	return row, e.claimOne(node)
}

// wantLost checks what After got about one lost job of a schedule.
func (e *env) wantLost(got store.LostJob, c store.Claimed, schedule store.Schedule) {
	e.t.Helper()
	e.ok(sameJSON(got.Headers, []byte(`{"x":"y"}`)), "After must get a lost job with its headers", string(got.Headers))
	got.Headers = nil
	spec := c.JobSpec
	spec.Args, spec.Headers = nil, nil
	e.want(got, store.LostJob{
		JobSpec: spec, ID: c.ID, Token: c.Token, Attempt: 1, Origin: c.Origin, Schedule: schedule.ID, ScheduleName: "s", Slot: schedule.NextAt,
	}, "After must get all fields of a lost job")
}

func followUpRescue(e *env) {
	dead, alive := e.nodeFor("dead", time.Minute), e.nodeFor("alive", 1000*time.Hour)
	row, c := e.lostOne(dead)
	e.changeSchedules(store.ResumeSchedules, "s")
	e.tick(time.Hour)
	e.heartbeat(alive)
	var told store.LostJob
	req := e.rescueBy(alive)
	req.After = func(lost store.LostJob) *store.FollowUp {
		told = lost
		return fails(lost.Schedule, "lost")
	}
	for range 2 {
		_, err := e.a.Rescue(e.ctx, req)
		e.must(err)
	}
	e.wantLost(told, c, row)
	e.wantHooks("s", e.now, "a job that a rescue fails as lost must have the follow-up that After returns, once", "lost")
	o := outcome(c, store.Failed)
	o.After = fails(row.ID, "late")
	e.finish(o)
	e.wantHooks("s", e.now, "a late failure of a job that failed as lost is recorded already", "lost")
}

func followUpLeave(e *env) {
	n := e.nodeFor("n", time.Hour)
	row, c := e.lostOne(n)
	e.fire(firing(e.schedule("s"), e.now, time.Time{}))
	e.must(e.tryChangeSchedules(store.DeleteSchedules, "s"))
	var told store.LostJob
	req := store.LeaveRequest{Now: e.now, Node: n, After: func(lost store.LostJob) *store.FollowUp {
		told = lost
		return fails(lost.Schedule, "lost")
	}}
	for range 2 {
		_, err := e.a.Leave(e.ctx, req)
		e.must(err)
	}
	e.wantLost(told, c, row) // After gets the schedule's name, although the schedule is deleted
	e.want(e.hooks(), []string{"lost"}, "a job that fails because its node leaves must have the follow-up that After returns, once")
}

func followUpOnlyLost(e *env) {
	s := e.put("s", "{}").ID
	for _, end := range []func(node int64, after func(store.LostJob) *store.FollowUp) error{
		func(node int64, after func(store.LostJob) *store.FollowUp) error {
			_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: node, After: after})
			return err
		},
		func(_ int64, after func(store.LostJob) *store.FollowUp) error {
			alive := e.nodeFor("alive", 1000*time.Hour)
			e.tick(time.Hour)
			e.heartbeat(alive)
			req := e.rescueBy(alive)
			req.After = after
			_, err := e.a.Rescue(e.ctx, req)
			return err
		},
	} {
		n := e.node("n")
		ids := e.insert(newJob(), with(func(j *store.NewJob) { j.MaxAttempts = 1 }),
			with(func(j *store.NewJob) { j.MaxAttempts = 1 }), with(func(j *store.NewJob) { j.OnLoss = store.OnLossFail }))
		e.claim(n, 4)
		e.cancel(ids[3])
		told := map[int64]bool{}
		e.must(end(n, func(lost store.LostJob) *store.FollowUp {
			told[lost.ID] = true
			if lost.ID == ids[1] {
				return nil
			}
			return fails(s, fmt.Sprint("lost ", lost.Schedule, lost.ScheduleName))
		}))
		e.want(told, map[int64]bool{ids[1]: true, ids[2]: true}, "After must be called for jobs that fail as lost, not for jobs that run again or are cancelled")
		e.wantHooks("s", e.now, "where After says nothing, nothing more may happen", "lost 0")
		e.change(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: append(e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "hooks"}}), ids...)})
		e.endsWith(e.node("m"), store.Completed, &store.FollowUp{Schedule: s})
	}
}

func followUpFiring(e *env) {
	n := e.node("n")
	e.planned("s")
	e.planned("t")
	e.tick(time.Minute)
	s, t := e.schedule("s"), e.schedule("t")
	fs, ft := firing(s, e.now, e.now.Add(time.Minute)), ringing(t)
	fs.Slots = []store.SlotRecord{{Slot: s.NextAt, Last: s.NextAt, Count: 1, Outcome: store.SlotMissed, Reason: "m"}}
	fs.After, ft.After = fails(s.ID, "missed"), fails(t.ID, "missed too")
	res := e.fire(ft, fs)
	e.want([]int{len(res.Fired), len(res.Slots)}, []int{1, 1}, "the jobs of a follow-up are not jobs of slots")
	e.wantHooks("s", e.now, "the follow-ups of firings must be applied in the order of the request", "missed too", "missed")
	e.want(e.schedule("t").FailingSince, e.now, "a firing with jobs must have its follow-up")
	e.want(e.schedule("t").Fired, int64(1), "the jobs of a follow-up do not count as fired")
	since := e.now
	e.claimOne(n)
	e.tick(time.Minute)
	ft = ringing(e.schedule("t"))
	ft.After = recovers(t.ID, "well")
	fs = firing(e.schedule("s"), e.now, e.now.Add(time.Minute))
	fs.After = fails(s.ID, "again")
	res = e.fire(fs, ft)
	e.want(len(res.Slots), 1, "the slot must be skipped: its schedule's job runs")
	e.wantHooks("s", since, "a firing whose slot is skipped must have its follow-up", "missed too", "missed", "again", "well")
	e.want(e.schedule("t").FailingSince, time.Time{}, "a firing may make its schedule well")
}

func followUpLostFiring(e *env) {
	row := e.due("s")
	f := ringing(row)
	f.Revision++
	f.After = fails(row.ID, "lost")
	e.lostFiring(f, "the firing must be lost")
	e.wantHooks("s", time.Time{}, "a lost firing must make no job")
	f.Revision--
	e.fire(f)
	e.fire(f)
	e.wantHooks("s", e.now, "a repeated firing is lost and must make no further job", "lost")
}

func followUpDeleted(e *env) {
	n := e.node("n")
	remove := map[string]func(){
		"by name": func() { e.changeSchedules(store.DeleteSchedules, "s") },
		"by a sync": func() {
			_, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true})
			e.must(err)
		},
	}
	back := func() {
		_, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Schedules: []store.PutSchedule{{Name: "s", Definition: []byte("{}")}}})
		e.must(err)
		e.plan("s")
	}
	back()
	s := e.schedule("s").ID
	for how, remove := range remove {
		e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s, Failing: true})
		e.want(e.schedule("s").FailingSince, e.now, "it fails")
		remove()
		e.want(e.schedule("s").FailingSince, time.Time{}, "a schedule that is deleted "+how+" must be well")
		e.endsWith(n, store.Completed, recovers(s, "no"))
		e.want(len(e.hooks()), 0, "a schedule that was deleted does not recover")
		e.endsWith(n, store.Failed, fails(s, "last"))
		e.want(e.hooks(), []string{"last"}, "the last failure of a deleted schedule must make its hook")
		e.tick(time.Second)
		back()
		e.want(e.schedule("s").FailingSince, time.Time{}, "a schedule that comes back must be well")
		e.endsWith(n, store.Completed, recovers(s, "no"))
		e.want(e.hooks(), []string{"last"}, "a schedule that came back has nothing to recover from")
		e.change(store.ChangeJobsRequest{Action: store.DeleteJobs, IDs: e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "hooks"}})})
		e.tick(time.Second)
	}
}

func followUpChanged(e *env) {
	n := e.node("n")
	s := e.planned("s").ID
	since := e.now
	e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s, Failing: true})
	e.tick(time.Second)
	for _, action := range []store.ScheduleAction{store.PauseSchedules, store.ResumeSchedules, store.ResetSchedules} {
		e.changeSchedules(action, "s")
		e.want(e.schedule("s").FailingSince, since, "pause, resume and reset do not make a schedule well")
	}
	e.put("s", "edited")
	e.want(e.schedule("s").FailingSince, since, "an edit does not make a schedule well")
	e.endsWith(n, store.Completed, recovers(s, "well"))
	e.wantHooks("s", time.Time{}, "a success does", "well")
}

func followUpRecoveryRace(e *env) {
	n := e.node("n")
	s := e.put("s", "{}").ID
	var want []string
	for round := range 15 {
		e.endsWith(n, store.Failed, &store.FollowUp{Schedule: s, Failing: true})
		e.insertN(2)
		claims := e.claim(n, 2)
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			o := outcome(claims[i], store.Completed)
			o.After = recovers(s, fmt.Sprint(round))
			_, errs[i] = client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: []store.Outcome{o}})
		})
		e.must(errors.Join(errs...))
		want = append(want, fmt.Sprint(round))
		e.wantHooks("s", time.Time{}, "of two successes at once exactly one is the recovery", want...)
	}
}

// followUpRace runs firings and outcomes of the same schedules concurrently,
// with their follow-ups in opposite orders.
func followUpRace(e *env) {
	const schedules, rounds = 6, 15
	n := e.nodeFor("n", 1000*time.Hour)
	for i := range schedules {
		e.planned(fmt.Sprint("s", i))
	}
	for round := range rounds {
		e.tick(time.Minute)
		due := e.readDue(schedules).Schedules
		e.insertN(schedules)
		claims := e.claim(n, schedules)
		errs := make([]error, 2)
		e.both(func(i int, client store.Backend) {
			if i == 0 {
				var firings []store.Firing
				for k, row := range slices.Backward(due) {
					f := ringing(row)
					f.Jobs[0].Queue, f.Overlap = "slots", store.OverlapAllow
					f.After = []*store.FollowUp{fails(row.ID, "fire"), recovers(row.ID, "fire")}[(k+round)%2]
					firings = append(firings, f)
				}
				res, err := client.Fire(e.ctx, store.FireRequest{Now: e.now, Firings: firings})
				e.want(len(res.Fired), schedules, "slots fire whatever ends at that moment")
				errs[i] = err
				return
			}
			var outcomes []store.Outcome
			for k, c := range claims {
				o := outcome(c, store.Failed)
				o.After = []*store.FollowUp{recovers(due[k].ID, "finish"), fails(due[k].ID, "finish")}[(k+round)%2]
				outcomes = append(outcomes, o)
			}
			_, errs[i] = client.Finish(e.ctx, store.FinishRequest{Now: e.now, Outcomes: outcomes})
		})
		e.must(errors.Join(errs...))
		e.want(len(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{Queue: "q", States: []store.State{store.StateRunning}}})), 0, "all must end")
	}
}
