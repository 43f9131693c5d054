package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var progressTests = []scenario{
	{"OfARunningJob", progressRunning},
	{"OfAFinishedJob", progressFinished},
	{"StaleTokenIsIgnored", progressStale},
	{"Batch", progressBatch},
	{"OfAStuckWorker", progressStuck},
	{"GoesWithItsJob", progressGoes},
}

// saveProgress stores the progress of a claim, as of now.
func (e *env) saveProgress(c store.Claimed, done, total int64, note string) store.Progress {
	e.t.Helper()
	p := store.Progress{Done: done, Total: total, Note: note}
	e.must(e.a.SaveProgress(e.ctx, store.SaveProgressRequest{Now: e.now, Claims: []store.ClaimProgress{
		{ClaimRef: store.ClaimRef{ID: c.ID, Token: c.Token}, Progress: p},
	}}))
	p.At = e.now
	return p
}

func progressRunning(e *env) {
	c := e.running(e.node("n"))
	e.want(e.job(c.ID).Progress, store.Progress{}, "a job that has reported nothing must have no progress")
	p := e.saveProgress(c, 1, 3, "copied \"ü\" 🔔\n")
	e.want(e.job(c.ID).Progress, p, "progress must be kept, with the time of the store")
	e.tick(time.Second)
	p = e.saveProgress(c, 1<<60, 0, "")
	e.want(e.job(c.ID).Progress, p, "newer progress must replace the older progress")
	e.want(e.list(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{c.ID}}})[0].Progress, store.Progress{},
		"progress is read only where Attempts asks for it")
	e.want(e.state(c.ID), store.StateRunning, "progress must not change the state")
	e.must(e.a.SaveProgress(e.ctx, store.SaveProgressRequest{Now: e.now}))
}

func progressFinished(e *env) {
	n := e.node("n")
	c := e.running(n)
	e.saveProgress(c, 1, 2, "half")
	e.finishWell(outcome(c, store.Completed))
	e.tick(time.Second)
	p := e.saveProgress(c, 2, 2, "all")
	e.want(e.job(c.ID).Progress, p, "the last progress of an attempt must be kept, also after the attempt has ended its job")
	e.changeOne(store.RetryJobs, c.ID)
	d := e.claimOne(n)
	e.want(e.job(c.ID).Progress, store.Progress{}, "the next attempt must begin without progress")
	p = e.saveProgress(d, 0, 2, "again")
	e.want(e.job(c.ID).Progress, p, "the next attempt must have its own progress")
}

func progressStale(e *env) {
	n := e.node("n")
	old := e.running(n)
	e.finishWell(outcome(old, store.Retry))
	current := e.claimOne(n)
	p := e.saveProgress(current, 1, 2, "mine")
	e.saveProgress(old, 2, 2, "zombie")
	e.want(e.job(old.ID).Progress, p, "progress under an old token must be ignored")
	e.finishWell(outcome(current, store.Completed))
	e.saveProgress(old, 2, 2, "zombie")
	e.want(e.job(old.ID).Progress, p, "progress under an old token of a finished job must be ignored")
	e.changeOne(store.DeleteJobs, old.ID)
	e.saveProgress(current, 2, 2, "of no job") // must not fail
}

func progressBatch(e *env) {
	const size = 300
	e.insertN(size)
	jobs := e.claim(e.node("n"), size)
	req := store.SaveProgressRequest{Now: e.now}
	for i, j := range jobs {
		if i%5 == 0 {
			j.Token++
		}
		p := store.ClaimProgress{ClaimRef: store.ClaimRef{ID: j.ID, Token: j.Token}, Progress: store.Progress{Done: int64(i), Total: size}}
		req.Claims = append([]store.ClaimProgress{p}, req.Claims...)
	}
	e.must(e.a.SaveProgress(e.ctx, req))
	for i, j := range jobs {
		want := store.Progress{Done: int64(i), Total: size, At: e.now}
		if i%5 == 0 {
			want = store.Progress{}
		}
		e.want(e.job(j.ID).Progress, want, "each progress of a batch must be kept with its own job, unless the token is not the job's")
	}
}

// progressStuck: since when a worker is stuck is kept with the progress of its attempt, by the store's clock.
func progressStuck(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	c, d := e.running(n), e.running(n)
	since := e.now.Add(-90 * time.Second)
	save := func(progress ...store.ClaimProgress) {
		e.must(e.a.SaveProgress(e.ctx, store.SaveProgressRequest{Now: e.now, Claims: progress}))
	}
	ref := func(c store.Claimed) store.ClaimRef { return store.ClaimRef{ID: c.ID, Token: c.Token} }
	p := store.Progress{Done: 1, Note: "n"}
	save(store.ClaimProgress{ClaimRef: ref(c), Progress: p, StuckFor: 90 * time.Second}, store.ClaimProgress{ClaimRef: ref(d), Progress: p})
	p.At = e.now
	e.want(e.job(d.ID).Progress, p, "a worker that is not stuck must not be shown as stuck")
	p.Stuck = since
	e.want(e.job(c.ID).Progress, p, "since when a worker is stuck must be kept")
	e.tick(time.Minute)
	save(store.ClaimProgress{ClaimRef: ref(c), Progress: store.Progress{Done: 2}, StuckFor: 150 * time.Second})
	e.want(e.job(c.ID).Progress, store.Progress{Done: 2, At: e.now, Stuck: since}, "a worker that is stuck may report more progress")
	e.finishWell(outcome(c, store.Retry))
	c = e.claimOne(n)
	e.want(e.job(c.ID).Progress, store.Progress{}, "the next attempt must not be stuck")
}

func progressGoes(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	deleted, pruned := e.running(n), e.running(n)
	for _, c := range []store.Claimed{deleted, pruned} {
		e.saveProgress(c, 1, 2, "half")
		e.finishWell(outcome(c, store.Completed))
	}
	e.changeOne(store.DeleteJobs, deleted.ID)
	e.tick(time.Hour)
	_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Completed: time.Minute, Limit: 10})
	e.must(err)
	for _, c := range []store.Claimed{deleted, pruned} {
		e.saveProgress(c, 2, 2, "of no job")
		e.want(len(e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{c.ID}}})), 0, "progress must not bring a job back")
	}
}

// saveProgress stores the progress of some claims in both stores.
func (w *world) saveProgress() {
	want, got := store.SaveProgressRequest{Now: w.now}, store.SaveProgressRequest{Now: w.now}
	for _, ref := range w.someClaims() {
		p := store.Progress{Done: int64(w.rng.IntN(10)), Total: int64(w.rng.IntN(10)), Note: pick(w, "", "ü")}
		stuck := pick(w, 0, 0, time.Duration(w.rng.IntN(1000))*time.Second)
		want.Claims = append(want.Claims, store.ClaimProgress{ClaimRef: ref, Progress: p, StuckFor: stuck})
		got.Claims = append(got.Claims, store.ClaimProgress{ClaimRef: w.names.realRef(ref), Progress: p, StuckFor: stuck})
	}
	w.must(w.model.SaveProgress(w.ctx, want))
	w.must(w.client.SaveProgress(w.ctx, got))
	w.compare("SaveProgress", want.Claims, nil, nil)
}
