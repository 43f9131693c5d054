package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var changeSchedulesTests = []scenario{
	{"PauseAndResume", pauseResume},
	{"Delete", deleteSchedule},
	{"Reset", resetSchedule},
	{"UnknownNameChangesNothing", changeUnknown},
	{"Unsettled", changeUnsettled},
	{"PausedAlreadyNeverRefuses", pausedAlready},
	{"ManyNames", changeMany},
	{"PauseUntil", pauseUntil},
	{"ResumeCountsFailuresAnew", resumeFailures},
}

func pauseResume(e *env) {
	before := e.planned("s")
	e.tick(time.Second)
	e.changeSchedules(store.PauseSchedules, "s")
	want := before
	want.PausedAt = e.now
	e.want(e.schedule("s"), want, "a pause must set paused_at now, and leave next_at and all else as it is")
	e.tick(time.Second)
	e.changeSchedules(store.PauseSchedules, "s")
	e.want(e.schedule("s"), want, "a second pause must change nothing")
	e.changeSchedules(store.ResumeSchedules, "s")
	e.want(e.schedule("s"), before, "a resume must clear paused_at, and leave next_at and all else as it is")
	e.changeSchedules(store.ResumeSchedules, "s")
	e.want(e.schedule("s"), before, "a second resume must change nothing")
}

func deleteSchedule(e *env) {
	before := e.planned("s")
	e.tick(time.Second)
	e.changeSchedules(store.DeleteSchedules, "s")
	want := before
	want.DeletedAt, want.NextAt = e.now, time.Time{}
	e.want(e.schedule("s"), want, "a delete must leave a tombstone that is due no more")
	e.tick(time.Hour)
	res, err := e.a.DueSchedules(e.ctx, store.DueSchedulesRequest{Now: e.now, Limit: 10})
	e.must(err)
	e.want([]any{len(res.Schedules), res.Next}, []any{0, time.Time{}}, "a deleted schedule must not be due")
	for _, action := range []store.ScheduleAction{store.PauseSchedules, store.ResumeSchedules, store.DeleteSchedules, store.ResetSchedules} {
		e.is(e.tryChangeSchedules(action, "s"), store.ErrNotFound, "a deleted schedule is not found")
	}
	e.want(e.schedule("s"), want, "a tombstone must not be changed")
	f := firing(before, e.now, e.now.Add(time.Hour))
	e.want(e.fire(f).Lost, []int64{before.ID}, "a deleted schedule must not fire")
}

func resetSchedule(e *env) {
	row := e.put("s", "1")
	ahead := e.now.Add(1000 * time.Hour)
	e.fire(firing(row, ahead, ahead.Add(time.Hour)))
	row = e.schedule("s")
	e.want(row.Mark, ahead, "the mark lies ahead")
	e.tick(time.Minute)
	e.changeSchedules(store.ResetSchedules, "s")
	row.Mark, row.NextAt = e.now, e.now
	e.want(e.schedule("s"), row, "a reset must set mark = now and next_at = now, and nothing else")
	row = e.put("t", "1")
	e.fire(firing(row, ahead, ahead.Add(time.Hour)))
	row = e.put("t", "2")
	e.want([]time.Time{row.Mark, row.NextAt}, []time.Time{ahead, e.now}, "an edit leaves a mark that lies ahead, and is due for planning")
	e.tick(time.Minute)
	e.changeSchedules(store.ResetSchedules, "t")
	row.Mark, row.NextAt = e.now, e.now
	e.want(e.schedule("t"), row, "a reset must not be refused where the mark lies ahead of the clock, also if the schedule is due")
}

func changeUnknown(e *env) {
	before := e.planned("s")
	for _, action := range []store.ScheduleAction{store.PauseSchedules, store.ResumeSchedules, store.DeleteSchedules, store.ResetSchedules} {
		for _, names := range [][]string{{"s", "nobody"}, {"nobody", "s"}, {"S"}} {
			e.is(e.tryChangeSchedules(action, names...), store.ErrNotFound, "an unknown name must give ErrNotFound")
			e.want(e.schedule("s"), before, "an unknown name must change nothing")
		}
	}
}

func changeUnsettled(e *env) {
	e.put("paused", "every minute")
	e.changeSchedules(store.PauseSchedules, "paused")
	e.fire(firing(e.schedule("paused"), e.now, e.now.Add(time.Minute)))
	e.planned("settled")
	e.fire(firing(e.schedule("settled"), e.now, e.now.Add(time.Hour)))
	e.due("s")
	e.fire(firing(e.schedule("settled"), e.now, e.now.Add(time.Hour)))
	before := e.schedules(store.ListRequest{Deleted: true})
	for action, names := range map[store.ScheduleAction][]string{
		store.PauseSchedules: {"settled", "s"}, store.DeleteSchedules: {"settled", "s"}, store.ResumeSchedules: {"settled", "paused"},
		store.ResetSchedules: {"settled", "s"},
	} {
		e.is(e.tryChangeSchedules(action, names...), store.ErrUnsettled,
			"pause, resume, delete and reset of a schedule with a due slot that is not accounted for must be refused")
		e.want(e.schedules(store.ListRequest{Deleted: true}), before, "a refused change must change nothing")
	}
	e.fire(ringing(e.schedule("s")))
	e.is(e.tryChangeSchedules(store.PauseSchedules, "s"), nil, "once the slot is accounted for, the change must succeed")
	e.is(e.tryChangeSchedules(store.ResetSchedules, "s"), nil, "once the slot is accounted for, a reset must succeed")
}

func pausedAlready(e *env) {
	row := e.put("s", "every minute")
	e.changeSchedules(store.PauseSchedules, "s")
	e.fire(firing(row, e.now, e.now.Add(time.Minute)))
	before := e.schedule("s")
	e.due("t")
	e.ok(!before.NextAt.After(e.now), "the paused schedule is due")
	e.is(e.tryChangeSchedules(store.PauseSchedules, "s"), nil, "pausing what is paused must never be refused")
	e.is(e.tryChangeSchedules(store.ResumeSchedules, "t"), nil, "resuming what is not paused must never be refused")
	e.want(e.schedule("s"), before, "pausing what is paused must change nothing")
}

func changeMany(e *env) {
	for _, name := range []string{"a", "b", "c"} {
		e.planned(name)
	}
	c := e.schedule("c")
	e.changeSchedules(store.PauseSchedules, "a", "b")
	e.want([]time.Time{e.schedule("a").PausedAt, e.schedule("b").PausedAt}, []time.Time{e.now, e.now}, "all named schedules must be paused")
	e.want(e.schedule("c"), c, "a schedule that was not named must be left alone")
	e.must(e.tryChangeSchedules(store.DeleteSchedules))
	e.want(len(e.schedules(store.ListRequest{})), 3, "a change that names nothing must change nothing")
}

func pauseUntil(e *env) {
	e.planned("s")
	pause := func(until time.Time) store.Schedule {
		e.must(e.a.ChangeSchedules(e.ctx, store.ChangeSchedulesRequest{Now: e.now, Action: store.PauseSchedules, Names: []string{"s"}, Until: until}))
		return e.schedule("s")
	}
	first := e.now
	until := e.now.Add(30 * time.Second)
	row := pause(until)
	e.want([]time.Time{row.PausedAt, row.PausedUntil}, []time.Time{first, until}, "a pause until an instant must remember it")
	e.want([]bool{row.PausedFor(until.Add(-time.Microsecond)), row.PausedFor(until)}, []bool{true, false},
		"slots before the end of a pause are under it, and not the one at its end")
	e.tick(10 * time.Second)
	row = pause(until.Add(time.Second))
	e.want([]time.Time{row.PausedAt, row.PausedUntil}, []time.Time{first, until.Add(time.Second)}, "a pause can be prolonged, and began when it began")
	e.tick(40 * time.Second)
	e.want([]time.Time{pause(time.Time{}).PausedAt, e.schedule("s").PausedUntil}, []time.Time{e.now, {}}, "a pause after one that has ended is a new one")
	e.changeSchedules(store.ResumeSchedules, "s")
	pause(e.now.Add(time.Second))
	e.changeSchedules(store.ResumeSchedules, "s")
	row = e.schedule("s")
	e.want([]time.Time{row.PausedAt, row.PausedUntil}, []time.Time{{}, {}}, "resume must forget when the pause was to end")
	pause(e.now.Add(time.Second))
	e.tick(2 * time.Second)
	_, err := e.tryPut(store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: []byte("other"), Paused: true}}})
	e.must(err)
	row = e.schedule("s")
	e.want([]time.Time{row.PausedAt, row.PausedUntil}, []time.Time{e.now, {}},
		"a definition that declares a pause must pause, though there was one that has ended")
}

func resumeFailures(e *env) {
	row := e.planned("s")
	node := e.nodeFor("n", 100*time.Hour)
	end := func(result store.Result, failing, counts bool) int64 {
		e.insertOne(with(func(j *store.NewJob) { j.Schedule, j.Origin = row.ID, store.OriginTrigger }))
		o := outcome(e.claimOne(node), result)
		o.After = &store.FollowUp{Schedule: row.ID, Failing: failing, JobFailed: counts}
		e.finishWell(o)
		return e.schedule("s").Failures
	}
	e.want(end(store.Failed, true, true), int64(1), "a job that failed counts")
	since := e.schedule("s").FailingSince
	e.tick(time.Second)
	e.want(end(store.Failed, true, true), int64(2), "jobs that failed in a row add up")
	e.want(end(store.Failed, true, false), int64(2), "what is no failed job does not count")
	e.tick(time.Minute)
	e.want(e.readDue(1).Schedules[0].Failures, int64(2), "DueSchedules must give the failures of a schedule")
	e.fire(firing(e.schedule("s"), e.now, e.now.Add(time.Hour)))
	e.changeSchedules(store.ResumeSchedules, "s")
	row = e.schedule("s")
	e.want([]any{row.Failures, row.FailingSince}, []any{int64(0), since}, "resume must count from 0 again, of a schedule that still fails")
	e.want(end(store.Failed, true, true), int64(1), "failures after a resume are counted")
	e.want(end(store.Completed, false, false), int64(0), "a job that completes ends the row of failures")
	e.want(e.schedule("s").FailingSince, time.Time{}, "and the schedule is well")
}
