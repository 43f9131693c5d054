package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// someFollowUp returns a follow-up, in the reference's numbers, or nil.
func (w *world) someFollowUp() *store.FollowUp {
	schedule := w.someSchedule()
	if schedule == 0 || w.chance(3) {
		return nil
	}
	after := &store.FollowUp{Schedule: schedule, Failing: w.chance(2), JobFailed: w.chance(2)}
	for i := range w.rng.IntN(3) {
		job := w.someHook(i)
		if after.Jobs = append(after.Jobs, job); w.chance(3) {
			after.Jobs, after.Always = nil, append(after.Always, after.Jobs...)
		}
		w.hooked = true
	}
	return after
}

// someHook returns the job of a hook; n distinguishes jobs of one request.
func (w *world) someHook(n int) store.NewJob {
	job := w.someJob()
	job.Origin, job.Args = store.OriginHook, fmt.Appendf(job.Args, "%d", n)
	job.Schedule, job.Slot, job.Waiting = 0, time.Time{}, false
	return job
}

// realFollowUp translates a follow-up.
func (w *world) realFollowUp(after *store.FollowUp) *store.FollowUp {
	if after == nil {
		return nil
	}
	out := &store.FollowUp{Schedule: w.names.schedules.real(after.Schedule), Failing: after.Failing, JobFailed: after.JobFailed}
	for _, job := range after.Jobs {
		out.Jobs = append(out.Jobs, w.realJob(job))
	}
	for _, job := range after.Always {
		out.Always = append(out.Always, w.realJob(job))
	}
	return out
}

// lostFollowUp returns the follow-up of a lost job, all in the reference's
// numbers: a job with all data about the loss as its args, so that a listing
// shows whether the data was right.
func lostFollowUp(lost store.LostJob) *store.FollowUp {
	if lost.Schedule == 0 || lost.ID%4 == 0 {
		return nil
	}
	told := lost
	told.Headers = nil // may be formatted differently
	job := hook(fmt.Sprintf("%q", fmt.Sprintf("%+v, %d headers", told, min(1, len(lost.Headers)))))
	job.Headers = lost.Headers
	return &store.FollowUp{Schedule: lost.Schedule, Failing: lost.ID%3 != 0, JobFailed: lost.ID%2 == 0, Jobs: []store.NewJob{job}}
}

// realLost is lostFollowUp for the store under test.
func (w *world) realLost(lost store.LostJob) *store.FollowUp {
	lost.ID = w.names.jobs.model(lost.ID)
	lost.Token = w.names.modelToken(lost.ID, lost.Token)
	lost.Schedule = w.names.schedules.model(lost.Schedule)
	return w.realFollowUp(lostFollowUp(lost))
}

// anyLost reports whether a job failed as lost.
func anyLost(jobs []store.RescuedJob) bool {
	return slices.ContainsFunc(jobs, func(j store.RescuedJob) bool { return j.State == store.StateFailed })
}

// pairMade pairs and compares the jobs that hooks and handlers made: the newest jobs
// without a counterpart, in the order of their numbers.
func (w *world) pairMade(op string, req any) {
	if !w.hooked {
		return
	}
	w.hooked = false
	ours, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{Limit: 300})
	w.must(err)
	model := unpaired(ours, w.names.jobs.toReal)
	depth := 10 // the store may have made more
	for i, job := range ours {
		if w.names.jobs.toReal[job.ID] == 0 {
			depth = i + 10
		}
	}
	theirs, err := w.client.ListJobs(w.ctx, store.ListJobsRequest{Limit: depth})
	w.must(err)
	real := unpaired(theirs, w.names.jobs.toModel)
	w.compare(op+": jobs made besides", req, len(real), len(model))
	for i := range model {
		w.names.jobs.add(real[i], model[i])
	}
	if len(model) > 0 {
		w.listBoth(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: model}, Limit: len(model), Attempts: true})
	}
}

// unpaired returns the numbers of jobs that have no counterpart yet.
func unpaired(jobs []store.JobInfo, paired map[int64]int64) []int64 {
	var ids []int64
	for _, job := range jobs {
		if _, ok := paired[job.ID]; !ok {
			ids = append(ids, job.ID)
		}
	}
	return ids
}
