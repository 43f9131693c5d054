package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var syncTests = []scenario{
	{"MakesTheSetEqual", syncEqual},
	{"LeavesOthersAlone", syncOthers},
	{"StaleRevision", syncStale},
	{"PutWithARevision", syncPut},
	{"AllOrNone", syncAllOrNone},
	{"Empty", syncEmpty},
	{"TwoRevisionsAtOnce", syncRace},
	{"EqualSetsAtOnce", syncSameRace},
}

// trySync syncs an owner's set; the definition of each schedule is its name.
func (e *env) trySync(owner string, revision int64, names ...string) (store.PutSchedulesResult, error) {
	return e.tryPut(syncRequest(owner, revision, names...))
}

func syncRequest(owner string, revision int64, names ...string) store.PutSchedulesRequest {
	req := store.PutSchedulesRequest{Owner: owner, Sync: true, SyncRevision: revision}
	for _, name := range names {
		req.Schedules = append(req.Schedules, store.PutSchedule{Name: name, Definition: []byte(name)})
	}
	return req
}

func syncEqual(e *env) {
	_, err := e.trySync("o", 1, "a", "b", "c")
	e.must(err)
	e.plan("a", "b", "c")
	a, b := e.schedule("a"), e.schedule("b")
	e.tick(time.Minute)
	res, err := e.trySync("o", 2, "d", "a")
	e.must(err)
	slices.Sort(res.Edited)
	e.want(res, store.PutSchedulesResult{Revisions: []int64{e.schedule("d").Revision, a.Revision}, Changed: 1, Deleted: 2, Edited: []string{"b", "c", "d"}},
		"a sync must report what it created and deleted")
	e.want(scheduleNames(e.schedules(store.ListRequest{})), []string{"a", "d"}, "a sync must make the owner's set equal")
	e.want(e.schedule("a"), a, "an unchanged entry of a sync must keep its row, anchor and mark")
	want := b
	want.DeletedAt, want.NextAt = e.now, time.Time{}
	e.want(e.schedule("b"), want, "what a sync deletes must leave a tombstone of number, name and mark, due no more")
	res, err = e.trySync("o", 2, "d", "a")
	e.must(err)
	e.want([]int{res.Changed, res.Deleted}, []int{0, 0}, "a sync of the same revision again must change nothing")
}

func syncPut(e *env) {
	put := func(revision int64, definition string) error {
		_, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", SyncRevision: revision, Schedules: []store.PutSchedule{{Name: "a", Definition: []byte(definition)}}})
		return err
	}
	_, err := e.trySync("o", 5, "a", "b")
	e.must(err)
	e.is(put(4, "older"), store.ErrStale, "a put with a revision older than the owner's last must be refused")
	e.is(put(0, "unordered"), nil, "a put without a revision is not compared")
	e.must(put(6, "newer"))
	e.ok(e.schedule("b").DeletedAt.IsZero(), "a put with a revision must delete nothing")
	_, err = e.trySync("o", 5, "a")
	e.is(err, store.ErrStale, "a put's revision must be remembered as the owner's last")
}

func syncOthers(e *env) {
	e.must(e.putAs("", "free", "1"))
	_, err := e.trySync("one", 1, "a")
	e.must(err)
	_, err = e.trySync("two", 1, "b")
	e.must(err)
	_, err = e.trySync("one", 2)
	e.must(err)
	e.want(scheduleNames(e.schedules(store.ListRequest{})), []string{"b", "free"}, "a sync must delete its own owner's schedules alone")
	_, err = e.tryPut(store.PutSchedulesRequest{Owner: "two", Schedules: []store.PutSchedule{{Name: "c", Definition: []byte("c")}}})
	e.must(err)
	e.want(scheduleNames(e.schedules(store.ListRequest{})), []string{"b", "c", "free"}, "a put without Sync must delete nothing")
}

func syncStale(e *env) {
	_, err := e.trySync("o", 5, "a")
	e.must(err)
	before := e.schedules(store.ListRequest{Deleted: true})
	_, err = e.trySync("o", 4, "b")
	e.is(err, store.ErrStale, "a sync of an older revision must be refused")
	_, err = e.trySync("o", 4, "a")
	e.is(err, store.ErrStale, "a sync of an older revision must be refused also where nothing would change")
	e.want(e.schedules(store.ListRequest{Deleted: true}), before, "a refused sync must write nothing")
	_, err = e.trySync("other", 1, "c")
	e.is(err, nil, "each owner has revisions of its own")
	_, err = e.trySync("o", 5, "a", "b")
	e.is(err, nil, "the same revision again is not older")
	_, err = e.trySync("o", 9)
	e.must(err)
	_, err = e.trySync("o", 8, "a")
	e.is(err, store.ErrStale, "a revision must be remembered also where a sync left no schedule")
}

func syncAllOrNone(e *env) {
	_, err := e.trySync("o", 1, "a", "b")
	e.must(err)
	row := e.schedule("a")
	e.fire(firing(row, e.now, e.now.Add(time.Minute)))
	e.tick(time.Minute)
	e.must(e.putAs("other", "taken", "1"))
	before := e.schedules(store.ListRequest{Deleted: true})
	_, err = e.trySync("o", 2, "b", "c")
	e.is(err, store.ErrUnsettled, "a sync that would delete a schedule with an unaccounted slot must be refused")
	_, err = e.trySync("o", 2, "a", "c", "taken")
	e.is(err, store.ErrConflict, "a sync of a name that lives under another owner must be refused")
	e.want(e.schedules(store.ListRequest{Deleted: true}), before, "a refused sync must write nothing")
	_, err = e.trySync("o", 1, "a", "b", "c")
	e.is(err, nil, "a refused sync must not leave its revision behind, and an unchanged unsettled entry is no hindrance")
}

func syncEmpty(e *env) {
	res, err := e.trySync("o", 1)
	e.must(err)
	e.want([]int{res.Changed, res.Deleted, len(res.Revisions)}, []int{0, 0, 0}, "an empty sync of nothing does nothing")
	_, err = e.trySync("o", 1, "a", "b")
	e.must(err)
	res, err = e.trySync("o", 2)
	e.must(err)
	e.want(res.Deleted, 2, "an empty sync must delete all of the owner's schedules")
	e.want(len(e.schedules(store.ListRequest{Deleted: true})), 2, "tombstones stay")
}

func syncRace(e *env) {
	for round := range 15 {
		owner := fmt.Sprint("o", round)
		name := func(i int) string { return fmt.Sprint(owner, "-r", i) }
		var errs [2]error
		e.both(func(i int, client store.Backend) {
			req := syncRequest(owner, int64(i+1), name(i), owner+"-both")
			req.Now = e.now
			_, errs[i] = client.PutSchedules(e.ctx, req)
		})
		e.is(errs[1], nil, "the newer of two syncs at once must succeed")
		if errs[0] != nil {
			e.is(errs[0], store.ErrStale, "the older of two syncs at once may only be stale")
		}
		e.want(scheduleNames(e.schedules(store.ListRequest{Owner: &owner})), []string{owner + "-both", name(1)},
			"after two syncs at once the newer revision's set must be in place")
	}
}

func syncSameRace(e *env) {
	for round := range 10 {
		owner := fmt.Sprint("o", round)
		var errs [2]error
		var results [2]store.PutSchedulesResult
		e.both(func(i int, client store.Backend) {
			req := syncRequest(owner, 1, owner+"a", owner+"b", owner+"c")
			req.Now = e.now
			results[i], errs[i] = client.PutSchedules(e.ctx, req)
		})
		e.must(errors.Join(errs[:]...))
		e.want(results[0].Changed+results[1].Changed, 3, "two nodes that sync the same set at once must create it once, without an error")
	}
}
