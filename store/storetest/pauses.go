package storetest

import (
	"errors"
	"slices"
	"strconv"
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
	{"Queue", pauseQueue},
	{"Kind", pauseKind},
	{"Key", pauseKey},
	{"GroupAndKey", pauseGroupAndKey},
	{"Subjects", pauseSubjects},
	{"UntilOfQueuesAndKinds", pauseEndsOthers},
	{"SchedulesGoOn", pauseSchedulesGoOn},
	{"ClaimedAhead", pauseAhead},
	{"Starts", pauseStarts},
	{"ClaimsInPart", pausePart},
}

// pause pauses a group; until is zero or when the pause ends.
func (e *env) pause(group string, until time.Time) {
	e.t.Helper()
	e.pauseOf(store.SubjectGroup, group, until)
}

// pauseOf pauses a subject.
func (e *env) pauseOf(subject store.PauseSubject, name string, until time.Time) {
	e.t.Helper()
	e.must(e.putPause(e.a, store.PutPause{Subject: subject, Name: name, Until: until, Reason: "why", Actor: "me"}))
}

// putPause pauses a subject, now.
func (e *env) putPause(client store.Backend, put store.PutPause) error {
	_, err := client.Put(e.ctx, store.PutRequest{Now: e.now, Pauses: []store.PutPause{put}})
	return err
}

// resume ends the pause of a group, and reports whether there was one.
func (e *env) resume(group string) bool {
	e.t.Helper()
	return e.resumeOf(store.SubjectGroup, group)
}

// resumeOf ends the pause of a subject, and reports whether there was one.
func (e *env) resumeOf(subject store.PauseSubject, name string) bool {
	e.t.Helper()
	err := e.b.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Subject: subject, Names: []string{name}})
	if err != nil {
		e.is(err, store.ErrNotFound, "a subject is paused, or its pause is not found")
	}
	return err == nil
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
	ids = append(ids, e.insert(jobs...)...)
	plain := e.insertOne(newJob())
	e.want(e.claimedIDs(n, 10), []int64{plain}, "a job behind many paused jobs, also behind jobs that became due in the pause")
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
	pauses, err := store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
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
	pauses, err := store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause{{Name: "ü", At: e.now, Reason: "why", Actor: "me"}}, "a group may be paused before it has anything")
	e.insert(inGroup("ü"))
	e.want(e.claimedIDs(n, 1), []int64(nil), "the pause counts for what comes later")
}

func pauseAgain(e *env) {
	since := e.now
	e.pause("g", time.Time{})
	e.tick(time.Second)
	e.must(e.putPause(e.b, store.PutPause{Name: "g", Until: e.now.Add(time.Hour), Reason: "other", Actor: "you"}))
	pauses, err := store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause{{Name: "g", At: since, Until: e.now.Add(time.Hour), Reason: "other", Actor: "you"}}, "a repetition changes all but the beginning")
	e.resume("g")
	e.tick(time.Second)
	e.pause("g", time.Time{})
	pauses, err = store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
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
	queues, err := store.List[store.QueueInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
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
	err := e.putPause(e.a, store.PutPause{Name: "g"})
	e.ok(errors.Is(err, store.ErrUnsettled), "slots before the pause have to be accounted for first", err)
	pauses, err := store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause(nil), "a refused pause changes nothing")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Minute)))
	e.pause("g", time.Time{})
	e.tick(time.Minute)
	err = e.b.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfPauses, Names: []string{"g"}})
	e.ok(errors.Is(err, store.ErrUnsettled), "slots in the pause have to be accounted for before its end", err)
}

func inQueue(queue string) store.NewJob {
	return with(func(j *store.NewJob) { j.Queue = queue })
}

func withKey(key string) store.NewJob {
	return with(func(j *store.NewJob) { j.Key = key })
}

func ofKind(kind string) store.NewJob {
	return with(func(j *store.NewJob) { j.Kind = kind })
}

// claimIn claims up to ten jobs of kinds k and l from a queue, and returns their numbers.
func (e *env) claimIn(node int64, queue string, exact ...store.ExactJob) (ids []int64) {
	e.t.Helper()
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: node, Queue: queue, Kinds: []string{"k", "l"}, Exact: exact, Limit: 10})
	e.must(err)
	for _, job := range res.Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

func pauseQueue(e *env) {
	n := e.node("n")
	first := e.insertOne(newJob())
	running := e.claimOne(n)
	e.want(running.ID, first, "the job that runs")
	due, other, place := e.insertOne(newJob()), e.insertOne(inQueue("r")), e.insertOne(inQueue("q@host"))
	elsewhere := e.insertOne(inQueue("qq@host"))
	later := e.insertOne(with(func(j *store.NewJob) { j.RunAt = e.now.Add(time.Second) }))
	e.pauseOf(store.SubjectQueue, "q", time.Time{})
	e.want(e.claimIn(n, "q"), []int64(nil), "a paused queue gives no job")
	e.want(e.claimIn(n, "r"), []int64{other}, "another queue goes on")
	e.want(e.claimIn(n, "q@host"), []int64(nil), "the queue of a place within the paused queue gives no job")
	e.want(e.claimIn(n, "qq@host"), []int64{elsewhere}, "the queue of a place within another queue goes on")
	res := e.claimHundred(n)
	e.want(res.NextDue, time.Time{}, "when a job of a paused queue is due is of no use to a node")
	e.tick(time.Second)
	e.finishWell(outcome(running, store.Retry))
	e.want(e.claimIn(n, "q"), []int64(nil), "what becomes due or is retried waits, too")
	e.want(e.state(due), store.StateReady, "a job of a paused queue is ready")
	queues, err := store.List[store.QueueInfo](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(queues[0].Ready+queues[0].Scheduled, int64(3), "the queue counts its jobs")
	e.change(store.ChangeJobsRequest{Action: store.MoveJobs, IDs: []int64{later}, Queue: "r"})
	e.want(e.claimIn(n, "r"), []int64{later}, "a job that is moved to another queue runs there")
	e.ok(e.resumeOf(store.SubjectQueue, "q"), "the queue was paused")
	e.want(e.claimIn(n, "q"), []int64{due, first}, "the end of the pause lets all jobs run, in their order")
	e.want(e.claimIn(n, "q@host"), []int64{place}, "also in the place")
	e.ok(!e.resumeOf(store.SubjectQueue, "q"), "the queue is not paused any more")
}

func pauseKind(e *env) {
	n := e.node("n")
	ids := e.insert(ofKind("l"), newJob(), ofKind("l"), with(func(j *store.NewJob) { j.Kind, j.Queue = "l", "r" }), ofKind("m"))
	e.pauseOf(store.SubjectKind, "l", time.Time{})
	e.pauseOf(store.SubjectKind, "m", time.Time{})
	exact := store.NewExactJob("m", newJob().Args)
	e.want(e.claimIn(n, "q", exact), ids[1:2], "no claim takes jobs of a paused kind, of any queue, also by their arguments")
	e.want(e.claimIn(n, "r", exact), []int64(nil), "in another queue neither")
	late := e.insertOne(ofKind("l"))
	e.want(e.claimIn(n, "q", exact), []int64(nil), "a job that is inserted later waits, too")
	e.want(e.state(late), store.StateReady, "it is ready")
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"l"}, Limit: 1})
	e.must(err)
	e.want(len(res.Jobs), 0, "a claim of nothing else gets nothing")
	e.ok(e.resumeOf(store.SubjectKind, "l"), "the kind was paused")
	e.want(e.claimIn(n, "q", exact), []int64{ids[0], ids[2], late}, "the end of the pause lets all jobs run, in their order")
	e.ok(e.resumeOf(store.SubjectKind, "m"), "the other kind was paused")
	e.want(e.claimIn(n, "q", exact), ids[4:], "the other kind")
	e.want(e.claimIn(n, "r"), ids[3:4], "the other queue")
}

func pauseKey(e *env) {
	n := e.node("n")
	first := e.insertOne(withKey("x"))
	running := e.claimOne(n)
	ids := e.insert(withKey("x"), newJob(), withKey("X"))
	e.pauseOf(store.SubjectKey, "x", time.Time{})
	late := e.insertOne(withKey("x"))
	e.want(e.claimIn(n, "q"), ids[1:], "no claim takes jobs of a paused key, also those that are inserted later")
	e.want(e.claimIn(n, "q"), []int64(nil), "a second claim finds none")
	e.want(e.state(late), store.StateReady, "a job of a paused key is ready")
	e.tick(time.Second)
	e.finishWell(outcome(running, store.Retry))
	e.want(e.claimIn(n, "q"), []int64(nil), "the retry of a job that ran waits")
	end := e.now.Add(time.Minute)
	e.pauseOf(store.SubjectKey, "x", end)
	e.want(e.claimHundred(n).NextDue, end, "a claim returns when the pause ends")
	e.tick(time.Minute)
	e.want(e.claimIn(n, "q"), []int64{ids[0], late, first}, "the end of the pause lets all jobs run, in their order")
	e.ok(!e.resumeOf(store.SubjectKey, "x"), "the key is not paused any more")
}

// pauseGroupAndKey checks that jobs with two pauses wait for the end of both, whichever ends first.
func pauseGroupAndKey(e *env) {
	n := e.node("n")
	for _, order := range [][2]store.PauseSubject{{store.SubjectGroup, store.SubjectKey}, {store.SubjectKey, store.SubjectGroup}} {
		var jobs []store.NewJob
		for range 1100 {
			jobs = append(jobs, with(func(j *store.NewJob) { j.Group, j.Key = "both", "both" }))
		}
		ids := e.insert(jobs...)
		e.pause("both", time.Time{})
		e.pauseOf(store.SubjectKey, "both", time.Time{})
		e.want(len(e.claimHundred(n).Jobs), 0, "both pauses count")
		e.ok(e.resumeOf(order[0], "both"), "it was paused")
		for range 3 {
			e.want(len(e.claimHundred(n).Jobs), 0, "the other pause counts")
		}
		e.ok(e.resumeOf(order[1], "both"), "it was paused, too")
		var got []int64
		for claimed := []int64{0}; len(claimed) > 0; got = append(got, claimed...) {
			claimed = e.claimedIDs(n, 500)
		}
		e.want(len(got), len(ids), "all jobs can be claimed after both pauses")
		e.change(store.ChangeJobsRequest{Action: store.CancelJobs, IDs: ids})
	}
}

func pauseSubjects(e *env) {
	n := e.node("n")
	since := e.now
	job := e.insertOne(with(func(j *store.NewJob) { j.Group = "x" }))
	for _, subject := range []store.PauseSubject{store.SubjectKind, store.SubjectGroup, store.SubjectQueue} {
		e.pauseOf(subject, "x", time.Time{})
	}
	pauses, err := store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
	e.must(err)
	e.want(pauses, []store.Pause{
		{Subject: store.SubjectGroup, Name: "x", At: since, Reason: "why", Actor: "me"},
		{Subject: store.SubjectQueue, Name: "x", At: since, Reason: "why", Actor: "me"},
		{Subject: store.SubjectKind, Name: "x", At: since, Reason: "why", Actor: "me"},
	}, "pauses are listed by subject")
	e.ok(e.resumeOf(store.SubjectQueue, "x") && e.resumeOf(store.SubjectKind, "x"), "each subject was paused")
	e.want(e.claimIn(n, "q"), []int64(nil), "the group of the same name is still paused")
	e.pauseOf(store.SubjectQueue, "q", time.Time{})
	e.pauseOf(store.SubjectKind, "k", time.Time{})
	e.ok(e.resume("x"), "the group was paused")
	e.want(e.claimIn(n, "q"), []int64(nil), "a job runs when no pause concerns it any more")
	e.ok(e.resumeOf(store.SubjectQueue, "q"), "the queue was paused")
	e.want(e.claimIn(n, "q"), []int64(nil), "the kind is still paused")
	e.ok(e.resumeOf(store.SubjectKind, "k"), "the kind was paused")
	e.want(e.claimIn(n, "q"), []int64{job}, "the job runs")
}

func pauseEndsOthers(e *env) {
	n := e.node("n")
	for _, subject := range []store.PauseSubject{store.SubjectQueue, store.SubjectKind} {
		id := e.insertOne(newJob())
		end := e.now.Add(time.Minute)
		e.pauseOf(subject, map[store.PauseSubject]string{store.SubjectQueue: "q", store.SubjectKind: "k"}[subject], end)
		res := e.claimHundred(n)
		e.want(len(res.Jobs), 0, subject.String()+": no job")
		e.want(res.NextDue, end, subject.String()+": a claim returns when the pause ends")
		e.tick(time.Minute - time.Microsecond)
		e.want(e.claimIn(n, "q"), []int64(nil), subject.String()+": the pause lasts to its end")
		e.tick(time.Microsecond)
		e.want(e.claimIn(n, "q"), []int64{id}, subject.String()+": at its end by the store's clock the pause is over")
		pauses, err := store.List[store.Pause](e.ctx, e.b, store.ListRequest{Now: e.now})
		e.must(err)
		e.want(pauses, []store.Pause(nil), "a pause that has ended is not listed")
	}
}

func pauseSchedulesGoOn(e *env) {
	n := e.node("n")
	e.planned("s")
	e.pauseOf(store.SubjectQueue, "q", time.Time{})
	e.pauseOf(store.SubjectKind, "k", time.Time{})
	row := e.schedule("s")
	e.want(row.LastPausedAt(), time.Time{}, "a pause of a queue or a kind does not pause schedules")
	e.now = row.NextAt
	e.fire(ringing(row))
	e.want(e.claimIn(n, "q"), []int64(nil), "the job of the slot waits")
	e.tick(time.Minute)
	e.pauseOf(store.SubjectQueue, "q", e.now.Add(time.Second)) // with a due slot that is not accounted for
	e.ok(e.resumeOf(store.SubjectQueue, "q") && e.resumeOf(store.SubjectKind, "k"), "due slots do not hold up the end of a pause")
	e.want(len(e.claimIn(n, "q")), 1, "the job of the slot runs")
}

// pauseAhead checks what becomes of jobs that were claimed before a pause.
func pauseAhead(e *env) {
	n := e.node("n")
	e.insert(inGroup("g"), newJob(), ofKind("l"), inGroup("g"))
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k", "l"}, Limit: 4, Ahead: 3})
	e.must(err)
	refs := refsOf(res.Jobs)
	begin := func(refs ...store.ClaimRef) []int64 {
		e.t.Helper()
		out, err := e.b.BeginJobs(e.ctx, store.BeginRequest{Now: e.now, Node: n, Batch: res.Batch, Claims: refs})
		e.must(err)
		slices.Sort(out.Paused)
		return append([]int64(nil), out.Paused...)
	}
	paused := func() []store.ClaimRef {
		e.t.Helper()
		claims, err := e.b.Claims(e.ctx, store.ClaimsRequest{Now: e.now, Node: n, Paused: true})
		e.must(err)
		return claims
	}
	e.want(len(paused()), 0, "without pauses no claim is paused")
	e.pauseOf(store.SubjectKind, "l", time.Time{})
	e.pause("g", e.now.Add(time.Minute))
	e.want(paused(), []store.ClaimRef{refs[0], refs[2], refs[3]}, "the claims of paused jobs, begun or not")
	e.want(begin(refs[1:]...), []int64{refs[2].ID, refs[3].ID}, "jobs that were claimed ahead and are paused must not begin")
	e.want(begin(store.ClaimRef{ID: refs[2].ID, Token: refs[2].Token + 1}), []int64(nil), "a claim that the node does not hold is ignored")
	e.finishWell(outcome(res.Jobs[2], store.Release))
	e.want(e.claimIn(n, "q"), []int64(nil), "a job that was handed back waits")
	e.want(e.job(refs[2].ID).Attempt, int16(0), "its attempt is refunded")
	e.tick(time.Minute)
	e.want(begin(refs[3]), []int64(nil), "after the pause the job may begin")
	e.pauseOf(store.SubjectQueue, "q", time.Time{})
	e.want(len(paused()), 3, "all jobs of a paused queue")
	other := e.node("other")
	e.tick(time.Minute)
	e.heartbeat(other)
	e.want(e.lose(other), map[int64]bool{refs[0].ID: true, refs[1].ID: true, refs[3].ID: true}, "jobs that were let begin count as begun")
}

// pauseStarts checks that the start of a paused job makes nothing.
func pauseStarts(e *env) {
	n := e.node("n")
	e.insert(inGroup("g"), newJob())
	res, err := e.a.Claim(e.ctx, store.ClaimRequest{Now: e.now, Node: n, Queue: "q", Kinds: []string{"k"}, Limit: 2, Ahead: 2})
	e.must(err)
	e.pause("g", time.Time{})
	var starts []store.Start
	for i := range res.Jobs {
		starts = append(starts, store.Start{Job: &res.Jobs[i], Hooks: []store.NewJob{hook(strconv.Quote(strconv.FormatInt(res.Jobs[i].ID, 10)))}})
	}
	e.putHandler(handler("h", store.HandleStart))
	out, err := e.a.BeginJobs(e.ctx, store.BeginRequest{Now: e.now, Node: n, Name: "n", Batch: res.Batch, Claims: refsOf(res.Jobs), Starts: starts})
	e.must(err)
	e.want(out.Paused, []int64{res.Jobs[0].ID}, "the paused job must not begin")
	e.want(len(e.hooks()), 2, "only the other job makes its hook and the job of the handler")
}

// pausePart checks that claims which begin at low-water cursors find what waited for the end of a
// pause.
func pausePart(e *env) {
	e.now = time.Time{} // cursors follow the store's clock
	n := e.nodeFor("n", time.Hour)
	claim := func() (ids []int64) {
		e.t.Helper()
		for {
			res, err := e.a.Claim(e.ctx, store.ClaimRequest{Part: true, Node: n, Queue: "q", Kinds: []string{"k", "l"}, Limit: 3})
			e.must(err)
			for _, job := range res.Jobs {
				ids = append(ids, job.ID)
			}
			if len(res.Jobs) == 0 && res.Again == 0 {
				return ids
			}
			time.Sleep(res.Again)
		}
	}
	for _, subject := range []store.PauseSubject{store.SubjectQueue, store.SubjectKind, store.SubjectGroup, store.SubjectKey} {
		name := [...]string{"g", "q", "k", "x"}[subject]
		e.pauseOf(subject, name, time.Time{})
		paused := with(func(j *store.NewJob) { j.Group, j.Key = "g", "x" })
		ids := e.insert(paused, paused)
		other := e.insert(ofKind("l"), ofKind("l"))
		if subject == store.SubjectQueue {
			ids, other = append(ids, other...), nil
		}
		e.want(claim(), other, subject.String()+": other jobs")
		time.Sleep(30 * time.Millisecond) // the cursors pass the paused jobs
		e.want(claim(), []int64(nil), subject.String()+": nothing more")
		e.ok(e.resumeOf(subject, name), "the subject was paused")
		e.want(claim(), ids, subject.String()+": the end of a pause")
	}
}

// pauseRace claims concurrently with pauses of each subject: after a pause has returned, no
// claim returns a job of the subject.
func pauseRace(e *env) {
	for subject, name := range []string{"g", "q", "k", "x"} {
		pauseRaceOf(e, store.PauseSubject(subject), name)
	}
}

func pauseRaceOf(e *env, subject store.PauseSubject, name string) {
	n := e.node("n")
	for range 8 {
		for range 30 {
			e.insertOne(with(func(j *store.NewJob) { j.Group, j.Key = "g", "x" }))
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
		e.must(e.putPause(e.a, store.PutPause{Subject: subject, Name: name}))
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
		e.resumeOf(subject, name)
	}
}

// changePause pauses or resumes a subject in both stores.
func (w *world) changePause() {
	subject, name := store.SubjectGroup, pick(w, groupNames...)
	switch w.rng.IntN(5) {
	case 0:
		subject, name = store.SubjectQueue, pick(w, queues...)
	case 1:
		subject, name = store.SubjectKind, pick(w, kinds...)
	case 2:
		subject, name = store.SubjectKey, pick(w, jobKeys...)
	}
	if w.chance(2) || subject != store.SubjectGroup && w.chance(2) { // most of the time jobs can be claimed
		req := store.DeleteRequest{Now: w.now, Of: store.OfPauses, Subject: subject, Names: []string{name}, By: w.someone()}
		wantErr := w.model.Delete(w.ctx, req)
		w.agree("Delete", req, w.client.Delete(w.ctx, req), wantErr, false)
		w.auditBoth(req.By)
		return
	}
	put := store.PutPause{Subject: subject, Name: name, Reason: pick(w, "", "ü"), Actor: "me"}
	if w.chance(2) {
		put.Until = w.now.Add(w.within(time.Minute) + time.Microsecond)
	}
	req := store.PutRequest{Now: w.now, Pauses: []store.PutPause{put}, By: w.someone()}
	wantRes, wantErr := w.model.Put(w.ctx, req)
	gotRes, gotErr := w.client.Put(w.ctx, req)
	if w.agree("Put", req, gotErr, wantErr, false) {
		w.compare("Put", req, gotRes, wantRes)
	}
	list := store.ListRequest{Now: w.now}
	want, err := store.List[store.Pause](w.ctx, w.model, list)
	w.must(err)
	got, err := store.List[store.Pause](w.ctx, w.client, list)
	w.must(err)
	w.compare("ListPauses", list, got, want)
	w.auditBoth(req.By)
}
