package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// fireAheadBoth lets slots fire early in both stores.
func (w *world) fireAheadBoth(req store.FireRequest, ahead time.Duration) {
	want, err := w.model.FireEarly(w.ctx, store.FireEarlyRequest{FireRequest: req, Ahead: ahead})
	w.must(err)
	got, err := w.client.(store.EarlyFirer).FireEarly(w.ctx, store.FireEarlyRequest{FireRequest: w.realFire(req), Ahead: ahead})
	w.must(err)
	var busy []int64
	for _, id := range got.Busy {
		busy = append(busy, w.names.schedules.model(id))
	}
	slices.Sort(busy)
	slices.Sort(want.Busy)
	w.compare(fmt.Sprint("FireEarly by ", ahead, ", busy"), req, busy, want.Busy)
	fired := sortFire(want.FireResult)
	w.compare("FireEarly", req, w.names.modelFire(got.FireResult, fired), fired)
}

// firedTo compares up to when some schedules have fired early.
func (w *world) firedTo() {
	req := store.FiredToRequest{Now: w.now.Add(-w.within(2 * time.Second)), Names: []string{"none"}}
	for range w.rng.IntN(4) {
		req.Names = append(req.Names, pick(w, scheduleNamesOf...))
	}
	want, err := w.model.FiredTo(w.ctx, req)
	w.must(err)
	got, err := w.client.(store.EarlyFirer).FiredTo(w.ctx, req)
	w.must(err)
	w.compare("FiredTo", req, got, want)
}

// A store that does not fire early may ignore the rules of early firing, which the
// reference always follows. The random run makes no request in which they matter.

// mayHaveFired reports whether these rules matter for a schedule at an instant.
func (w *world) mayHaveFired(schedule int64, now time.Time) bool {
	return !w.early && slices.ContainsFunc(w.rows(), func(row store.Schedule) bool {
		return row.ID == schedule && !row.FiredTo(now).IsZero()
	})
}

// mayBePulled reports whether these rules matter for a job that is retried.
func (w *world) mayBePulled(id int64) bool {
	if w.early {
		return false
	}
	jobs, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1})
	w.must(err)
	return slices.ContainsFunc(jobs, func(j store.JobInfo) bool {
		return w.mayHaveFired(j.Schedule, w.now) || j.Slot.After(w.now) && !j.Slot.After(w.now.Add(store.MostAhead))
	})
}
