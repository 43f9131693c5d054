package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

var limitTests = []scenario{
	{"PutListDelete", limitsPut},
	{"Unchanged", limitsUnchanged},
	{"Conflicts", limitsConflicts},
	{"AtMost", limitsAtMost},
	{"Synced", limitsSynced},
	{"CopiesOfHosts", limitsOfHosts},
	{"SameNewNameAtOnce", limitsPutRace},
	{"WhyJobsWait", limitsWaits},
}

func (e *env) tryPutLimits(limits ...store.Limit) (store.PutResult, error) {
	req := store.PutRequest{Now: e.now}
	for _, l := range limits {
		req.Limits = append(req.Limits, store.PutLimit{Limit: l})
	}
	return e.a.Put(e.ctx, req)
}

// putLimits puts limits and returns all, as stored.
func (e *env) putLimits(limits ...store.Limit) []store.Limit {
	e.t.Helper()
	_, err := e.tryPutLimits(limits...)
	e.must(err)
	return e.limits()
}

// limits returns all limits without what they hold.
func (e *env) limits(names ...string) (limits []store.Limit) {
	e.t.Helper()
	infos, err := store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Names: names})
	e.must(err)
	for _, info := range infos {
		limits = append(limits, info.Limit)
	}
	return limits
}

// fullLimit has a value in every field that a caller gives.
func fullLimit(name string) store.Limit {
	return store.Limit{
		Name: name, Owner: "ö", Queue: "q '; --", Kind: "k", ByKey: true, Concurrency: 3, Rate: 10, Per: 1500 * time.Millisecond, Burst: 20,
		Weights: map[string]int{"ü\"": 2, "b": 1}, Strict: true,
	}
}

func limitsPut(e *env) {
	full, plain := fullLimit("ü"), store.Limit{Name: "b", Queue: "q", Concurrency: 1}
	res, err := e.tryPutLimits(full, plain)
	e.must(err)
	rows := e.limits()
	e.want(len(rows), 2, "all limits must be listed")
	e.want(res, store.PutResult{Revisions: []int64{rows[1].Revision, rows[0].Revision}, Changed: 2}, "a put must return the revisions in the order of the request")
	e.ok(rows[0].Revision > 0 && rows[0].ID > 0 && rows[0].ID != rows[1].ID, "revisions and numbers are positive, and each limit has a number of its own")
	for i, want := range []*store.Limit{&plain, &full} {
		want.ID, want.Revision, want.CreatedAt, want.UpdatedAt = rows[i].ID, rows[i].Revision, e.now, e.now
	}
	e.want(rows, []store.Limit{plain, full}, "all fields of limits must be kept, and limits listed by name in byte order")
	e.want(e.limits("ü", "missing"), []store.Limit{full}, "limits must be found by name")

	first := e.now
	e.tick(time.Second)
	full.Concurrency, full.Weights = 4, nil
	rows = e.putLimits(full)
	e.ok(rows[1].Revision > full.Revision, "a changed limit must get a greater revision")
	e.want(rows[1].ID, full.ID, "a limit keeps its number as long as it keeps its scope")
	e.want([]any{rows[1].CreatedAt, rows[1].UpdatedAt, rows[1].Concurrency, len(rows[1].Weights)},
		[]any{first, e.now, 4, 0}, "a put replaces the limit and keeps when it was created")
	e.want(rows[0], plain, "a put must leave other limits alone")

	full.ByKey = false
	moved := e.putLimits(full)[1]
	e.ok(moved.ID != rows[1].ID && moved.Revision > rows[1].Revision, "a limit with another scope must have another number and a greater revision")
	e.want([]any{moved.CreatedAt, moved.ByKey}, []any{first, false}, "a limit with another scope is still the same limit in listings")

	e.is(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"b", "missing"}}),
		store.ErrNotFound, "an unknown name must be refused")
	e.want(len(e.limits()), 2, "a refused request must delete nothing")
	e.must(e.b.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now, Names: []string{"b", "ü"}}))
	e.want(len(e.limits()), 0, "deleted limits must be gone")
	e.must(e.a.Delete(e.ctx, store.DeleteRequest{Of: store.OfLimits, Now: e.now}))
	e.ok(e.putLimits(full)[0].Revision > moved.Revision, "a name that was deleted must get a greater revision than it ever had")
}

func limitsUnchanged(e *env) {
	before := e.putLimits(fullLimit("l"))
	e.tick(time.Second)
	res, err := e.tryPutLimits(fullLimit("l"))
	e.must(err)
	e.want(res, store.PutResult{Revisions: []int64{before[0].Revision}}, "an unchanged limit must keep its revision and count as unchanged")
	e.want(e.limits(), before, "an unchanged limit must keep its row as it is")
}

func limitsConflicts(e *env) {
	row := e.putLimits(fullLimit("l"))[0]
	try := func(change func(put *store.PutLimit)) error {
		put := store.PutLimit{Limit: fullLimit("l")}
		put.Limit.Concurrency++
		change(&put)
		_, err := e.a.Put(e.ctx, store.PutRequest{Now: e.now, Limits: []store.PutLimit{{Limit: fullLimit("other")}, put}})
		return err
	}
	refused := func(want store.LimitConflictError, claim string, change func(put *store.PutLimit)) {
		err := try(change)
		e.is(err, store.ErrConflict, claim)
		got := &store.LimitConflictError{}
		e.ok(errors.As(err, &got), "a refused put must have its cause")
		e.want(*got, want, claim)
	}
	refused(store.LimitConflictError{Name: "l", Owner: row.Owner, PutOwner: row.Owner}, "a put with another revision than the row's must be refused",
		func(put *store.PutLimit) { put.IfRevision = row.Revision + 1 })
	refused(store.LimitConflictError{Name: "new", Missing: true}, "a put with a revision of a limit that does not exist must be refused",
		func(put *store.PutLimit) { put.Limit.Name, put.IfRevision = "new", row.Revision })
	refused(store.LimitConflictError{Name: "l", Owner: row.Owner}, "a put of another owner's limit must be refused",
		func(put *store.PutLimit) { put.Limit.Owner = "" })
	e.is(try(func(put *store.PutLimit) { put.IfRevision = store.OnlyNew }), store.ErrExists, "a put that only creates must be refused for a name that exists")
	e.is(try(func(put *store.PutLimit) { put.Limit, put.IfRevision = row, store.OnlyNew }), store.ErrExists,
		"a put that only creates must be refused also where nothing would change")
	e.want(e.limits(), []store.Limit{row}, "a refused put must write nothing")
	e.is(try(func(put *store.PutLimit) { put.Limit.Name, put.IfRevision = "only new", store.OnlyNew }), nil, "a put that only creates must create")
	e.is(try(func(put *store.PutLimit) { put.IfRevision = row.Revision }), nil, "a put with the row's revision must succeed")
}

func limitsAtMost(e *env) {
	var limits []store.Limit
	for i := range store.MaxLimits {
		limits = append(limits, store.Limit{Name: fmt.Sprintf("l%03d", i), Kind: "k" + strconv.Itoa(i), Concurrency: 1})
	}
	e.putLimits(limits...)
	_, err := e.tryPutLimits(store.Limit{Name: "more", Kind: "k", Concurrency: 1})
	e.ok(err != nil, "a limit more than a store may have must be refused")
	e.want(len(e.limits()), store.MaxLimits, "a refused put must write nothing")
	limits[7].Concurrency = 2
	e.want(e.putLimits(limits[7])[7].Concurrency, 2, "a full store must accept changes")
}

// namesOfLimits returns name, owner and concurrency of limits.
func namesOfLimits(limits []store.Limit) (names []string) {
	for _, l := range limits {
		names = append(names, fmt.Sprint(l.Name, " ", l.Owner, " ", l.Concurrency))
	}
	return names
}

func limitsSynced(e *env) {
	set := func(revision int64, limits ...store.Limit) store.PutSchedulesResult {
		e.t.Helper()
		res, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: revision, Limits: append([]store.Limit{}, limits...)})
		e.must(err)
		return res
	}
	a, b := store.Limit{Name: "a", Kind: "k", Concurrency: 1}, store.Limit{Name: "b", Kind: "k", Concurrency: 1}
	e.putLimits(store.Limit{Name: "by hand", Kind: "k", Concurrency: 9}, store.Limit{Name: "of p", Owner: "p", Kind: "k", Concurrency: 9})
	res := set(1, a, b)
	e.want([]int{res.LimitsChanged, res.LimitsDeleted}, []int{2, 0}, "a sync must count the limits that it creates")
	before := e.limits("a", "b")
	e.want(namesOfLimits(before), []string{"a o 1", "b o 1"}, "a sync must put its limits under its owner")
	e.tick(time.Second)
	res = set(1, b, a)
	e.want([]int{res.LimitsChanged, res.LimitsDeleted}, []int{0, 0}, "a repeated sync must change no limit")
	e.want(e.limits("a", "b"), before, "a repeated sync must leave the rows as they are")
	a.Concurrency = 5
	res = set(2, a)
	e.want([]int{res.LimitsChanged, res.LimitsDeleted}, []int{1, 1}, "a sync must count the limits that it changes and deletes")
	want := []string{"a o 5", "by hand  9", "of p p 9"}
	e.want(namesOfLimits(e.limits()), want, "a sync deletes the other limits of its owner, and no others")
	_, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: 1})
	e.is(err, store.ErrStale, "a sync with an older revision must be refused")
	_, err = e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: 3, Limits: []store.Limit{{Name: "of p", Kind: "k", Concurrency: 1}}})
	e.is(err, store.ErrConflict, "a sync with a limit of another owner must be refused")
	e.want(namesOfLimits(e.limits()), want, "a refused sync must change no limit")
	res, err = e.tryPut(store.PutSchedulesRequest{Owner: "o", Limits: []store.Limit{{Name: "c", Kind: "k", Concurrency: 1}}})
	e.must(err)
	e.want([]int{res.LimitsChanged, res.LimitsDeleted}, []int{1, 0}, "a put without Sync must add limits")
	_, err = e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true, SyncRevision: 2})
	e.must(err)
	e.want(len(e.limits()), 4, "a sync without limits must leave them as they are")
	set(3)
	e.want(namesOfLimits(e.limits()), []string{"by hand  9", "of p p 9"}, "an empty set has no limits")
}

func limitsOfHosts(e *env) {
	from := func(host string, limits ...store.Limit) store.PutSchedulesResult {
		e.t.Helper()
		res, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true, Host: host, Path: "/f", Limits: limits})
		e.must(err)
		return res
	}
	old, changed := store.Limit{Name: "l", Kind: "k", Concurrency: 1}, store.Limit{Name: "l", Kind: "k", Concurrency: 2}
	from("a", old)
	from("b", old)
	e.ok(from("b", changed).Kept == nil, "a copy that only has another limit is a change")
	e.ok(from("a", old).Kept != nil, "an unchanged copy must not undo the change")
	e.want(namesOfLimits(e.limits()), []string{"l o 2"}, "the newest change must be in force")
	for i, host := range []string{"a", "b"} {
		_, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Sync: true, Host: host, Gone: true})
		e.must(err)
		e.want(len(e.limits()), 1-i, "limits end with the last copy")
	}
}

func limitsPutRace(e *env) {
	for i := range 5 {
		name := fmt.Sprint("l", i)
		var wg sync.WaitGroup
		var errs [2]error
		for j, client := range []store.Backend{e.a, e.b} {
			wg.Go(func() {
				_, errs[j] = client.Put(e.ctx, store.PutRequest{Now: e.now, Limits: []store.PutLimit{{Limit: store.Limit{Name: name, Kind: "k", Concurrency: j + 1}}}})
			})
		}
		wg.Wait()
		e.must(errs[0])
		e.must(errs[1])
		e.want(len(e.limits(name)), 1, "two puts of a new name must make one limit")
	}
}

func limitsWaits(e *env) {
	kind := newJob().Kind
	limit := e.putLimits(store.Limit{Name: "l", Kind: kind, ByKey: true, Concurrency: 1, Weights: map[string]int{"wide": 2}})[0]
	n := e.node("n")
	keyed := func(key string, priority int16) store.NewJob {
		return with(func(j *store.NewJob) { j.Key, j.Priority = key, priority })
	}
	ids := e.insert(keyed("a", 5), keyed("a", 5), keyed("a", 5), keyed("a", 4), keyed("wide", 5), keyed("wide", 5), keyed("wide", 5), newJob())
	waits := func(ids ...int64) []store.LimitWait {
		e.t.Helper()
		found, err := store.List[store.LimitWait](e.ctx, e.b, store.ListRequest{Now: e.now, IDs: ids})
		e.must(err)
		return found
	}
	info := func() store.LimitInfo {
		e.t.Helper()
		list, err := store.List[store.LimitInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Lanes: 10})
		e.must(err)
		e.want(len(list), 1, "there is one limit")
		return list[0]
	}
	e.want(info(), store.LimitInfo{Limit: limit}, "a limit of jobs that were not claimed holds nothing")
	claimed := e.claim(n, 10)
	e.want(len(claimed), 4, "one job of the key, two of the key with the weight, and the job without a key can start")
	e.want(claimed[0].ID, ids[3], "priorities are honoured")
	e.want(info(), store.LimitInfo{Limit: limit, InUse: 3, Waiting: 4, Keys: 2, Lanes: []store.LaneInfo{
		{Key: "a", InUse: 1, Waiting: 3}, {Key: "wide", InUse: 2, Waiting: 1},
	}}, "a limit lists the permits in use and the waiting jobs, the fullest key first")
	e.want(waits(ids...), []store.LimitWait{
		{Job: ids[0], Limit: limit, Key: "a", InUse: 1},
		{Job: ids[1], Limit: limit, Key: "a", InUse: 1, Before: 1},
		{Job: ids[2], Limit: limit, Key: "a", InUse: 1, Before: 2},
		{Job: ids[6], Limit: limit, Key: "wide", InUse: 2},
	}, "each job that waits has its lane, and how many jobs are before it")
	e.want(len(waits()), 0, "no jobs have no waits")
	for _, job := range e.listIDs(store.ListJobsRequest{JobFilter: store.JobFilter{States: []store.State{store.StateReady}}, Limit: 10}) {
		e.want(e.job(job).State, store.StateReady, "a job that waits for a permit is ready")
	}
	for len(claimed) > 0 {
		for _, c := range claimed {
			e.finishWell(outcome(c, store.Completed))
		}
		claimed = e.claim(n, 10)
	}
	e.want(info(), store.LimitInfo{Limit: limit}, "when all jobs have ended, no permit is in use")
	e.want(len(waits(ids...)), 0, "jobs that have ended do not wait")
}
