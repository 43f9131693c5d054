package storetest

import (
	"errors"
	"time"

	"github.com/hourbell/hourbell/store"
)

var pauseTests = []scenario{
	{"Claim", pauseClaim},
	{"ClaimAfterManyWerePaused", pauseMany},
	{"Until", pauseEnds},
	{"InAdvance", pauseInAdvance},
	{"Again", pauseAgain},
	{"StateIsReady", pauseState},
	{"ChangesOfPausedJobs", pauseChanges},
	{"Dependents", pauseDependents},
	{"Schedules", pauseSchedules},
	{"FiringDecidedBefore", pauseFiring},
	{"Unsettled", pauseUnsettled},
	{"ClaimAtOnce", pauseRace},
}

// pause pauses a group; until is zero or when the pause ends.
func (e *env) pause(group string, until time.Time) {
	e.t.Helper()
	e.must(e.a.PauseSubject(e.ctx, store.PauseRequest{Now: e.now, Name: group, Until: until, Reason: "why", Actor: "me"}))
}

// resume ends the pause of a group, and reports whether there was one.
func (e *env) resume(group string) bool {
	e.t.Helper()
	res, err := e.b.ResumeSubject(e.ctx, store.ResumeRequest{Now: e.now, Name: group})
	e.must(err)
	return res.Resumed
}

// claimedIDs claims jobs and returns their numbers.
func (e *env) claimedIDs(node int64, limit int) (ids []int64) {
	e.t.Helper()
	for _, job := range e.claim(node, limit) {
		ids = append(ids, job.ID)
	}
	return ids
}

func pauseClaim(e *env) {
	n := e.node("n")
	first := e.insertOne(inGroup("g"))
	running := e.claimOne(n).ID
	e.want(running, first, "the job that runs")
	ids := e.insert(inGroup("g"), newJob(), inGroup("G"))
	e.pause("g", time.Time{})
	ids = append(ids, e.insertOne(inGroup("g")))
	e.want(e.claimedIDs(n, 10), ids[1:3], "no claim takes jobs of a paused group, also those that are inserted later")
	e.want(e.claimedIDs(n, 10), []int64(nil), "a second claim finds none")
	e.tick(time.Second)
	e.finishWell(store.Outcome{ID: running, Token: e.job(running).Token, Result: store.Retry, Error: "again"})
	e.want(e.claimedIDs(n, 10), []int64(nil), "a job that ran goes on, and its retry waits")
	e.ok(e.resume("g"), "the group was paused")
	e.want(e.claimedIDs(n, 10), []int64{ids[0], ids[3], running}, "the end of the pause lets all jobs run, in their order")
	e.ok(!e.resume("g"), "the group is not paused any more")
}

func pauseMany(e *env) {
	n := e.node("n")
	var jobs []store.NewJob
	for range 2500 {
		jobs = append(jobs, inGroup("g"))
	}
	ids := e.insert(jobs...)
	e.pause("g", time.Time{})
	plain := e.insertOne(newJob())
	e.want(e.claimedIDs(n, 10), []int64{plain}, "a job behind many paused jobs")
	e.resume("g")
	var got []int64
	for len(got) < len(ids) {
		claimed := e.claimedIDs(n, 700)
		if len(claimed) == 0 {
			break
		}
		got = append(got, claimed...)
	}
	e.want(len(got), len(ids), "all jobs can be claimed after the pause")
}

func pauseEnds(e *env) {
	n := e.node("n")
	ids := e.insert(inGroup("g"), newJob())
	end := e.now.Add(time.Minute)
	e.pause("g", end)
	res := e.claimHundred(n)
	e.want(res.NextDue, end, "a claim returns when the first pause ends")
	e.want(len(res.Jobs), 1, "the other job")
	e.tick(time.Minute - time.Microsecond)
	e.want(e.claimedIDs(n, 1), []int64(nil), "the pause lasts to its end")
	e.tick(time.Microsecond)
	later := e.insertOne(newJob())
	e.want(e.claimedIDs(n, 1), ids[:1], "at its end by the store's clock the pause is over, and the jobs come in their order")
	e.want(e.claimedIDs(n, 1), []int64{later}, "the next job")
	pauses, err := e.b.ListPauses(e.ctx, store.ListPausesRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause(nil), "a pause that has ended is not listed")
	e.ok(!e.resume("g"), "a pause that has ended cannot be ended")
}

// claimHundred makes a claim with a large limit.
func (e *env) claimHundred(node int64) store.ClaimResult {
	e.t.Helper()
	res, err := e.b.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: "q", Kinds: []string{"k"}, Limit: 100})
	e.must(err)
	return res
}

func pauseInAdvance(e *env) {
	n := e.node("n")
	e.pause("ü", time.Time{})
	pauses, err := e.b.ListPauses(e.ctx, store.ListPausesRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause{{Name: "ü", At: e.now, Reason: "why", Actor: "me"}}, "a group may be paused before it has anything")
	e.insert(inGroup("ü"))
	e.want(e.claimedIDs(n, 1), []int64(nil), "the pause counts for what comes later")
}

func pauseAgain(e *env) {
	since := e.now
	e.pause("g", time.Time{})
	e.tick(time.Second)
	e.must(e.b.PauseSubject(e.ctx, store.PauseRequest{Now: e.now, Name: "g", Until: e.now.Add(time.Hour), Reason: "other", Actor: "you"}))
	pauses, err := e.b.ListPauses(e.ctx, store.ListPausesRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause{{Name: "g", At: since, Until: e.now.Add(time.Hour), Reason: "other", Actor: "you"}}, "a repetition changes all but the beginning")
	e.resume("g")
	e.tick(time.Second)
	e.pause("g", time.Time{})
	pauses, err = e.b.ListPauses(e.ctx, store.ListPausesRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause{{Name: "g", At: e.now, Reason: "why", Actor: "me"}}, "a new pause begins now")
}

func pauseState(e *env) {
	n := e.node("n")
	e.pause("g", time.Time{})
	id := e.insertOne(inGroup("g"))
	e.claimHundred(n) // may park the job
	e.want(e.state(id), store.StateReady, "a job of a paused group is ready")
	e.want(e.matching(store.JobFilter{States: []store.State{store.StateReady}}), []int64{id}, "it is listed as ready")
	e.want(e.groups("g"), []store.GroupInfo{{Name: "g", Ready: 1}}, "its group counts it as ready")
	queues, err := e.b.ListQueues(e.ctx)
	e.must(err)
	e.want(queues[0].Ready+queues[0].Scheduled, int64(1), "its queue counts it")
}

func pauseChanges(e *env) {
	n := e.node("n")
	e.pause("g", time.Time{})
	ids := e.insert(inGroup("g"), inGroup("g"), inGroup("g"))
	e.claimHundred(n)
	e.want(e.changeOne(store.CancelJobs, ids[0]), store.Changed, "a job of a paused group can be cancelled")
	e.want(e.changeOne(store.DeleteJobs, ids[1]), store.Changed, "and deleted")
	e.change(store.ChangeJobsRequest{Action: store.ReprioritiseJobs, IDs: ids[2:], Priority: 1})
	e.want(e.job(ids[2]).Priority, int16(1), "and changed")
	e.want(e.changeOne(store.RetryJobs, ids[0]), store.Changed, "a cancelled job is retried")
	e.want(e.claimedIDs(n, 10), []int64(nil), "none of the changes lets a job of the group run")
	e.resume("g")
	e.want(e.claimedIDs(n, 10), []int64{ids[2], ids[0]}, "they run after the pause")
}

func pauseDependents(e *env) {
	n := e.node("n")
	first := e.insertOne(newJob())
	job := inGroup("g")
	job.After = []store.Edge{{Job: first}}
	id := e.insertOne(job)
	e.pause("g", time.Time{})
	e.finishWell(outcome(e.claimOne(n), store.Completed))
	e.want(e.state(id), store.StateReady, "the job has become ready")
	e.want(e.claimedIDs(n, 10), []int64(nil), "its group is paused")
	e.resume("g")
	e.want(e.claimedIDs(n, 10), []int64{id}, "it runs after the pause")
}

func pauseSchedules(e *env) {
	e.putIn("g", "a", "b")
	e.putIn("", "other")
	for _, name := range []string{"a", "b", "other"} {
		e.fire(firing(e.schedule(name), e.now, e.now.Add(time.Hour)))
	}
	since := e.now
	e.pause("g", since.Add(30*time.Minute))
	e.want(e.schedule("a").GroupPausedAt, since, "a schedule of the group has the pause")
	e.want(e.schedule("a").GroupPausedUntil, since.Add(30*time.Minute), "with its end")
	e.want(e.schedule("a").PausedAt, time.Time{}, "its own pause is another")
	e.want(e.schedule("other").GroupPausedAt, time.Time{}, "another schedule does not have it")
	e.tick(time.Second)
	e.putIn("g", "later")
	e.want(e.schedule("later").GroupPausedAt, since, "a schedule that is put later has the pause, too")
	e.putIn("", "a")
	e.want(e.schedule("a").GroupPausedAt, time.Time{}, "a schedule that leaves the group leaves the pause")
	e.fire(firing(e.schedule("later"), e.now, e.now.Add(time.Hour)))
	e.changeSchedules(store.ResumeSchedules, "b")
	e.want(e.schedule("b").GroupPausedAt, since, "the resume of a schedule does not end the pause of its group")
	e.ok(e.resume("g"), "the group was paused")
	e.want(e.schedule("b").GroupPausedAt, time.Time{}, "the end of the pause counts for the schedules")
	e.tick(time.Second)
	e.putIn("g", "last")
	e.want(e.schedule("last").GroupPausedAt, time.Time{}, "no pause is left")
}

func pauseFiring(e *env) {
	e.putIn("g", "s")
	row := e.schedule("s")
	next := e.now.Add(time.Minute)
	e.fire(firing(row, e.now, next))
	row = e.schedule("s")
	decided := firing(row, next, next.Add(time.Minute))
	e.pause("g", time.Time{})
	e.now = next
	e.want(e.fire(decided).Lost, []int64{row.ID}, "a firing that was decided before the pause is lost")
	row = e.schedule("s")
	decided = firing(row, next, next.Add(time.Minute))
	e.want(len(e.fire(decided).Lost), 0, "a firing that was decided after it is not")
	row = e.schedule("s")
	decided = firing(row, next.Add(time.Minute), next.Add(2*time.Minute))
	e.resume("g")
	e.now = next.Add(time.Minute)
	e.want(e.fire(decided).Lost, []int64{row.ID}, "a firing that was decided in the pause is lost after it")
}

func pauseUnsettled(e *env) {
	e.putIn("g", "s")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Minute)))
	e.tick(time.Minute)
	err := e.a.PauseSubject(e.ctx, store.PauseRequest{Now: e.now, Name: "g"})
	e.ok(errors.Is(err, store.ErrUnsettled), "slots before the pause have to be accounted for first", err)
	pauses, err := e.b.ListPauses(e.ctx, store.ListPausesRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause(nil), "a refused pause changes nothing")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Minute)))
	e.pause("g", time.Time{})
	e.tick(time.Minute)
	_, err = e.b.ResumeSubject(e.ctx, store.ResumeRequest{Now: e.now, Name: "g"})
	e.ok(errors.Is(err, store.ErrUnsettled), "slots in the pause have to be accounted for before its end", err)
}

// pauseRace claims concurrently with a pause: after the pause has returned, no claim
// returns a job of the group.
func pauseRace(e *env) {
	n := e.node("n")
	for range 20 {
		for range 30 {
			e.insert(inGroup("g"))
		}
		paused := make(chan struct{})
		claimed := make(chan int64, 1000)
		go func() {
			defer close(claimed)
			for {
				over := false
				select {
				case <-paused:
					over = true
				default:
				}
				res, err := e.b.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 1})
				if err != nil {
					e.t.Error(err)
					return
				}
				for _, job := range res.Jobs {
					claimed <- job.ID
					if over {
						e.t.Errorf("job %d was claimed after the pause had returned", job.ID)
					}
				}
				if over {
					return
				}
			}
		}()
		e.must(e.a.PauseSubject(e.ctx, store.PauseRequest{Now: e.now, Name: "g"}))
		running := map[int64]bool{}
		listed, err := e.a.ListJobs(e.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateRunning}}, Limit: 10_000})
		e.must(err)
		for _, job := range listed {
			running[job.ID] = true
		}
		close(paused)
		for id := range claimed {
			e.ok(running[id], "a job that was claimed was running when the pause returned", id)
		}
		e.resume("g")
	}
}

// changePause pauses or resumes a group in both stores.
func (w *world) changePause() {
	group := pick(w, groupNames...)
	if w.chance(2) {
		req := store.ResumeRequest{Now: w.now, Name: group, By: w.someone()}
		want, wantErr := w.model.ResumeSubject(w.ctx, req)
		got, gotErr := w.client.ResumeSubject(w.ctx, req)
		if w.agree("ResumeSubject", req, gotErr, wantErr, false) {
			w.compare("ResumeSubject", req, got, want)
		}
		w.auditBoth(req.By)
		return
	}
	req := store.PauseRequest{Now: w.now, Name: group, Reason: pick(w, "", "ü"), Actor: "me", By: w.someone()}
	if w.chance(2) {
		req.Until = w.now.Add(w.within(time.Minute) + time.Microsecond)
	}
	wantErr := w.model.PauseSubject(w.ctx, req)
	w.agree("PauseSubject", req, w.client.PauseSubject(w.ctx, req), wantErr, false)
	list := store.ListPausesRequest{Now: w.now}
	want, err := w.model.ListPauses(w.ctx, list)
	w.must(err)
	got, err := w.client.ListPauses(w.ctx, list)
	w.must(err)
	w.compare("ListPauses", list, got, want)
	w.auditBoth(req.By)
}
