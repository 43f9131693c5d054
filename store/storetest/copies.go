package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

var copyTests = []scenario{
	{"FirstIsInForce", copyFirst},
	{"ChangeIsInForce", copyChange},
	{"RepetitionChangesNothing", copyRepeated},
	{"FirstOfAnotherHostIsKept", copyJoins},
	{"RevisionOutranks", copyRevision},
	{"VersionOfNoHost", copyOfNoHost},
	{"Empty", copyEmpty},
	{"Gone", copyGone},
	{"RefusedLeavesNothing", copyRefused},
	{"InATransaction", copyTx},
	{"List", copyList},
	{"ChangesAtOnce", copyRace},
}

// copyOf returns the sync of a host's copy; the definition of each schedule is its name.
func copyOf(host string, revision int64, names ...string) store.PutSchedulesRequest {
	req := syncRequest("o", revision, names...)
	req.Host, req.Path = host, "/etc/cron.d/"+host
	return req
}

// declareCopy syncs a host's copy and reports whether it is in force.
func (e *env) declareCopy(host string, revision int64, names ...string) bool {
	e.t.Helper()
	req := copyOf(host, revision, names...)
	res, err := e.tryPut(req)
	e.must(err)
	owner := e.owner("o")
	c, known := owner.CopyOf(host)
	e.ok(known && c.Path == req.Path && c.Digest == req.Digest() && c.Revision == revision, "the copy of a host must be stored in any case")
	if res.Kept == nil {
		e.want(owner.Version.Digest, req.Digest(), "a copy that is not kept out must be the version in force")
		e.want(scheduleNames(e.schedules(store.ListRequest{})), slices.Sorted(slices.Values(names)), "the schedules must equal the version in force")
		e.plan(names...)
		return true
	}
	kept := owner
	kept.Copies = nil
	e.want(res, store.PutSchedulesResult{Kept: &kept}, "the result for a copy that is not in force must have what is in force, and nothing else")
	e.ok(owner.Version.Digest != req.Digest(), "a copy that equals the version in force must not be kept out")
	return false
}

// owner returns an owner that was synced.
func (e *env) owner(name string) store.Owner {
	e.t.Helper()
	list, err := store.List[store.Owner](e.ctx, e.a, store.ListRequest{Names: []string{name}, Limit: 10})
	e.must(err)
	if len(list) != 1 {
		e.t.Fatalf("owner %q is listed %d times", name, len(list))
	}
	return list[0]
}

func copyFirst(e *env) {
	e.ok(e.declareCopy("one", 0, "a", "b"), "the first copy of an owner must be in force")
	digest := copyOf("one", 0, "b", "a").Digest()
	want := store.Owner{
		Name: "o", Version: store.Version{Digest: digest, Host: "one", At: e.now},
		Copies: []store.Copy{{Host: "one", Path: "/etc/cron.d/one", Digest: digest, ChangedAt: e.now}},
	}
	e.want(e.owner("o"), want, "an owner must be listed with its version and its copy; the order of schedules does not matter")
	e.tick(time.Minute)
	e.ok(e.declareCopy("two", 0, "b", "a"), "an equal copy of another host must be in force")
	want.Copies = append(want.Copies, store.Copy{Host: "two", Path: "/etc/cron.d/two", Digest: digest, ChangedAt: e.now})
	e.want(e.owner("o"), want, "an equal copy must leave the version as it is")
}

func copyChange(e *env) {
	e.declareCopy("one", 0, "a")
	e.declareCopy("two", 0, "a")
	e.tick(time.Minute)
	e.ok(e.declareCopy("two", 0, "b"), "a copy that differs from the host's last must be in force")
	e.want(e.owner("o").Version, store.Version{Digest: copyOf("", 0, "b").Digest(), Host: "two", At: e.now},
		"a change must be recorded with its host and its instant")
	e.want([][]string{e.owner("o").Declaring(), hostsOf(e.owner("o").Differing())}, [][]string{{"two"}, {"one"}}, "the host that did not change must differ")
	e.tick(time.Minute)
	e.ok(!e.declareCopy("one", 0, "a"), "a copy that has not changed must not undo a change, such as after a restart")
	e.ok(e.declareCopy("one", 0, "c"), "the newest change must be in force")
	e.ok(!e.declareCopy("two", 0, "b"), "a change that a newer change has replaced must not come back")
	e.ok(e.declareCopy("two", 0, "a"), "a host may go back to an earlier content: that is a change")
}

func copyRepeated(e *env) {
	e.declareCopy("one", 0, "a")
	e.declareCopy("two", 0, "a")
	before, rows := e.owner("o"), e.schedules(store.ListRequest{})
	e.tick(time.Minute)
	e.ok(e.declareCopy("two", 0, "a") && e.declareCopy("one", 0, "a"), "a repetition is in force")
	e.want(e.owner("o"), before, "a repetition must not change when a copy changed, nor the version")
	e.want(e.schedules(store.ListRequest{}), rows, "a repetition must leave the schedules as they are")
	e.declareCopy("two", 0, "b")
	owner := e.owner("o")
	e.tick(time.Minute)
	e.ok(!e.declareCopy("one", 0, "a"), "an unchanged copy is kept out")
	e.want(e.owner("o"), owner, "a copy that is kept out again must change nothing")
	_, err := e.tryPut(store.PutSchedulesRequest{Owner: "o", Schedules: []store.PutSchedule{{Name: "by hand", Definition: []byte("1")}}})
	e.must(err)
	e.ok(e.declareCopy("two", 0, "b"), "a repetition must make the set equal again")
}

func copyJoins(e *env) {
	e.declareCopy("one", 0, "a")
	e.ok(!e.declareCopy("two", 0, "b"), "the first copy of a host must not replace a version that another host declares")
	e.ok(!e.declareCopy("two", 0, "b"), "nor may its repetition")
	e.ok(e.declareCopy("two", 0, "c"), "a host that is known may change its copy")
}

func copyRevision(e *env) {
	e.declareCopy("one", 0, "a")
	e.declareCopy("two", 0, "a")
	e.ok(e.declareCopy("one", 3, "b"), "a greater revision must be in force")
	e.ok(!e.declareCopy("two", 0, "c"), "a change without a revision must not outrank a revision")
	e.ok(!e.declareCopy("two", 2, "d"), "a change with a smaller revision must not be in force")
	e.ok(e.declareCopy("two", 3, "d"), "a change with the same revision must be in force")
	e.ok(!e.declareCopy("one", 3, "b"), "the same revision without a change must not be in force")
	e.ok(e.declareCopy("three", 4, "b"), "a greater revision must be in force also if it is a host's first copy")
	e.ok(e.declareCopy("one", 3, "b"), "an equal copy is in force whatever its revision is")
	e.want(e.owner("o").Revision, int64(4), "an equal copy of a smaller revision must leave the owner's revision as it is")
	_, err := e.trySync("o", 3, "a")
	e.is(err, store.ErrStale, "the revisions of hosts must hold for other callers")
	e.ok(e.declareCopy("one", 5, "b"), "an equal copy may have a greater revision")
	_, err = e.trySync("o", 4, "a")
	e.is(err, store.ErrStale, "the greater revision of an equal copy must be remembered")
}

func copyOfNoHost(e *env) {
	_, err := e.trySync("o", 0, "a")
	e.must(err)
	e.want(e.owner("o"), store.Owner{Name: "o", Version: store.Version{Digest: copyOf("", 0, "a").Digest(), At: e.now}}, "a sync without a host must be listed")
	e.ok(e.declareCopy("one", 0, "b"), "the first copy of a host must be in force if no host declares the version that is")
	_, err = e.trySync("o", 0, "c")
	e.must(err)
	e.ok(!e.declareCopy("one", 0, "b"), "an older copy must not undo a sync without a host")
	e.want(e.owner("o").Declaring(), []string(nil), "no host declares the version")
	e.ok(e.declareCopy("one", 0, "c"), "an equal copy is in force")
	_, err = e.trySync("o", 0, "d")
	e.must(err)
	e.ok(e.declareCopy("one", 0, "e"), "a change must be in force")
}

func copyEmpty(e *env) {
	e.declareCopy("one", 0, "a")
	e.declareCopy("two", 0, "a")
	e.ok(e.declareCopy("one", 0), "a copy without schedules is a change")
	e.ok(!e.declareCopy("two", 0, "a"), "an unchanged copy must not undo it")
	e.ok(e.declareCopy("one", 0, "a"), "the same copy again is a change after a copy without schedules")
}

func copyGone(e *env) {
	gone := func(host string) bool {
		e.t.Helper()
		req := copyOf(host, 0)
		req.Path, req.Gone = "", true
		res, err := e.tryPut(req)
		e.must(err)
		_, known := e.owner("o").CopyOf(host)
		e.ok(!known, "a host that has no copy any more must not be listed with one")
		return res.Kept == nil
	}
	living := func() []string { return scheduleNames(e.schedules(store.ListRequest{})) }
	e.ok(!gone("one"), "a copy that was never declared ends nothing")
	e.declareCopy("one", 3, "a")
	e.declareCopy("two", 3, "a")
	e.ok(!gone("one"), "the set must not end while another host has a copy")
	e.want(living(), []string{"a"}, "the schedules must stay while another host has a copy")
	e.ok(!gone("one"), "a host cannot go twice")
	e.declareCopy("two", 3, "b")
	e.ok(!e.declareCopy("one", 3, "a"), "a host that comes back declares a first copy")
	e.ok(!gone("two"), "a copy that is kept out is a copy")
	e.ok(e.declareCopy("one", 3, "a"), "the copy that is left must be in force at its next declaration")
	e.ok(gone("one"), "the set must end with the last copy, whatever its revision is")
	e.want(living(), []string(nil), "the schedules must end with the last copy")
	e.ok(e.declareCopy("two", 3, "b"), "a copy must be in force after an end")
	_, err := e.trySync("o", 3, "c")
	e.must(err)
	e.ok(!gone("two"), "the set of a caller without a host must not end with a copy that differs")
	e.want(living(), []string{"c"}, "the set of a caller must stay")
	e.ok(e.declareCopy("two", 3, "c"), "an equal copy is in force")
	e.ok(gone("two"), "a set that the last copy equals must end with it")
}

func copyRefused(e *env) {
	e.declareCopy("one", 0, "a")
	before := e.owner("o")
	e.tick(2 * time.Hour)
	_, err := e.tryPut(copyOf("one", 0, "b"))
	e.is(err, store.ErrUnsettled, "a copy that would delete a schedule with an unaccounted slot must be refused")
	e.want(e.owner("o"), before, "a refused copy must not be stored: its repetition is still a change")
}

func copyTx(e *env) {
	e.declareCopy("one", 0, "a")
	before := e.owner("o")
	for _, commit := range []bool{false, true} {
		tx := e.begin()
		req := copyOf("one", 0, "b")
		req.Now, req.Tx = e.now, tx.Tx
		_, err := e.a.PutSchedules(e.ctx, req)
		e.must(err)
		e.want(e.owner("o"), before, "the copy of an open transaction must not be seen")
		if !commit {
			e.must(tx.Rollback())
			e.want(e.owner("o"), before, "a transaction that was rolled back must leave the copy as it was")
			continue
		}
		e.must(tx.Commit())
		e.want(e.owner("o").Version.Digest, copyOf("", 0, "b").Digest(), "a committed copy must be in force")
	}
}

func copyList(e *env) {
	for _, owner := range []string{"b", "a", "Z"} {
		for _, host := range []string{"two", "One", "one"} {
			req := copyOf(host, 0, owner)
			req.Owner = owner
			_, err := e.tryPut(req)
			e.must(err)
		}
	}
	_, err := e.trySync("c", 7)
	e.must(err)
	_, err = e.tryPut(store.PutSchedulesRequest{Owner: "unsynced", Schedules: []store.PutSchedule{{Name: "x", Definition: []byte("x")}}})
	e.must(err)
	list := func(req store.ListRequest) (names []string) {
		e.t.Helper()
		owners, err := store.List[store.Owner](e.ctx, e.b, req)
		e.must(err)
		for _, o := range owners {
			names = append(names, fmt.Sprintf("%s%d%v", o.Name, o.Revision, hostsOf(o.Copies)))
		}
		return names
	}
	e.want(list(store.ListRequest{Limit: 10}), []string{"Z0[One one two]", "a0[One one two]", "b0[One one two]", "c7[]"},
		"owners that were synced must be listed by name, with their copies by host, in byte order")
	e.want(list(store.ListRequest{Limit: 2}), []string{"Z0[One one two]", "a0[One one two]"}, "a page has as many owners as asked, with all of their copies")
	e.want(list(store.ListRequest{Limit: 2, After: "a"}), []string{"b0[One one two]", "c7[]"}, "a page goes on after a name")
	e.want(list(store.ListRequest{Limit: 10, Names: []string{"c", "none", "a"}}), []string{"a0[One one two]", "c7[]"}, "names must select")
}

func copyRace(e *env) {
	for round := range 10 {
		var errs [2]error
		names := func(i int) []string { return []string{fmt.Sprint("r", round, "-", i), "both"} }
		e.both(func(i int, client store.Backend) {
			req := copyOf(fmt.Sprint("h", i), 0, names(i)...)
			req.Now = e.now
			_, errs[i] = client.PutSchedules(e.ctx, req)
		})
		e.must(errors.Join(errs[:]...))
		owner := e.owner("o")
		e.ok(len(owner.Copies) == 2 && len(owner.Declaring()) == 1, "of two copies at once one must be in force, and both stored")
		winner := 0
		if owner.Declaring()[0] == "h1" {
			winner = 1
		}
		e.want(scheduleNames(e.schedules(store.ListRequest{})), slices.Sorted(slices.Values(names(winner))),
			"the schedules must be the schedules of the version in force")
	}
}

func hostsOf(copies []store.Copy) (hosts []string) {
	for _, c := range copies {
		hosts = append(hosts, c.Host)
	}
	return hosts
}
