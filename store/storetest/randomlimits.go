package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

// changeLimits puts or deletes a limit of a kind or of keys.
func (w *world) changeLimits() {
	name := pick(w, "one", "two")
	if w.chance(3) {
		req := store.DeleteRequest{Of: store.OfLimits, Now: w.now, Names: []string{name}}
		wantErr := w.model.Delete(w.ctx, req)
		gotErr := w.client.Delete(w.ctx, req)
		w.agree("DeleteLimits", req, gotErr, wantErr, true)
		return
	}
	limit := store.Limit{Name: name, Queue: pick(w, "", "q"), Kind: pick(w, "", "k"), ByKey: w.chance(2), Concurrency: 1 + w.rng.IntN(3)}
	if limit.WholeQueue() {
		limit.Kind = "l"
	}
	if w.chance(3) {
		limit.Weights = map[string]int{"d": 2}
	}
	if w.chance(3) {
		limit.Rate, limit.Per, limit.Burst = 1+w.rng.IntN(4), pick(w, time.Millisecond, time.Second, time.Minute), 1+w.rng.IntN(3)
		limit.Concurrency *= w.rng.IntN(2)
	}
	if limit.Concurrency == 0 {
		limit.Weights = nil
	}
	limit.Strict = limit.Rate == 0 && !limit.WholeQueue() && w.chance(3) && !w.overfills(limit)
	req := store.PutRequest{Now: w.now, Limits: []store.PutLimit{{Limit: limit}}}
	want, err := w.model.Put(w.ctx, req)
	w.must(err)
	got, err := w.client.Put(w.ctx, req)
	w.must(err)
	w.compare("PutLimits", req, got.Changed, want.Changed)
}

// overfills reports whether more jobs may hold permits of a lane of a limit than the limit allows, once it is put. If jobs of such a
// lane of a strict limit get next attempts in one request, the stores may keep permits of different jobs: a driver decides for all of them
// together, the reference for one after another. Lanes/StrictAndOverfull has one job a request.
func (w *world) overfills(limit store.Limit) bool {
	used := map[string]int{}
	running, err := w.model.ListJobs(w.ctx, store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateRunning}}, Now: w.now, Limit: 1_000_000})
	w.must(err)
	for _, job := range running {
		if limit.Matches(&job.JobSpec) {
			used[limit.Lane(&job.JobSpec)]++
		}
	}
	before, err := store.List[store.LimitInfo](w.ctx, w.model, store.ListRequest{Now: w.now, Names: []string{limit.Name}, Lanes: 1_000_000})
	w.must(err)
	for _, one := range before {
		for _, lane := range one.Lanes {
			used[lane.Key] = max(used[lane.Key], int(lane.InUse))
		}
	}
	for key, n := range used {
		if width := limit.Width(key); width > 0 && n > width {
			return true
		}
	}
	return false
}

// closeLanes lets nothing start for a while under the limits of jobs that nodes have claimed, and of other jobs with their keys.
func (w *world) closeLanes() {
	req := store.CloseLanesRequest{Now: w.now}
	for _, ref := range w.claims[max(0, len(w.claims)-1-w.rng.IntN(3)):] {
		job := w.known[ref].JobSpec
		job.Key = pick(w, job.Key, "d")
		req.Jobs = append(req.Jobs, store.LimitedJob{JobSpec: job, For: w.within(pick(w, time.Millisecond, time.Second, time.Minute))})
	}
	wantErr := w.model.CloseLanes(w.ctx, req)
	gotErr := w.client.CloseLanes(w.ctx, req)
	w.agree("CloseLanes", req, gotErr, wantErr, true)
}

// recountBoth recounts the permits that jobs hold. No count may be wrong, at no time.
func (w *world) recountBoth() {
	recount := store.RecountRequest{Now: w.now, Limit: 10_000}
	want, err := w.model.RecountPermits(w.ctx, recount)
	w.must(err)
	got, err := w.client.RecountPermits(w.ctx, recount)
	w.must(err)
	w.compare("RecountPermits", recount, got, want)
}

// compareInUse compares how many permits jobs hold, which the reference counts.
func (w *world) compareInUse() {
	req := store.ListRequest{Now: w.now}
	inUse := func(b store.Backend) map[string]int64 {
		list, err := store.List[store.LimitInfo](w.ctx, b, req)
		w.must(err)
		used := map[string]int64{}
		for _, l := range list {
			used[l.Name] = l.InUse
		}
		return used
	}
	w.compare("ListLimits", req, inUse(w.client), inUse(w.model))
}
