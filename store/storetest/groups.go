package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var groupTests = []scenario{
	{"List", listGroups},
}

// groups lists groups; name is the name of the only group, or empty.
func (e *env) groups(name string) []store.GroupInfo {
	e.t.Helper()
	groups, err := store.List[store.GroupInfo](e.ctx, e.b, store.ListRequest{Now: e.now, Names: []string{name}})
	e.must(err)
	return groups
}

// inGroup returns a job of a group.
func inGroup(group string) store.NewJob {
	return with(func(j *store.NewJob) { j.Group = group })
}

func listGroups(e *env) {
	e.want(len(e.groups("")), 0, "an empty store has no groups")
	n := e.node("n")
	e.putIn("b", "one", "two")
	e.putIn("only schedules", "three")
	e.putIn("deleted", "four")
	e.changeSchedules(store.DeleteSchedules, "four")
	e.ended(n, inGroup("ended"), store.Completed, "")
	e.insert(inGroup("a"), newJob())
	e.claimOne(n)
	later := inGroup("a")
	later.Delay = time.Hour
	waits := inGroup("a")
	waits.After = []store.Edge{{Job: e.insertOne(later)}}
	e.insert(waits, inGroup("b"), inGroup("b"), inGroup("Ü"))
	e.want(e.groups(""), []store.GroupInfo{
		{Name: "a", Scheduled: 1, Running: 1, Waiting: 1},
		{Name: "b", Schedules: 2, Ready: 2},
		{Name: "only schedules", Schedules: 1},
		{Name: "Ü", Ready: 1},
	}, "groups have their schedules and live jobs counted, by name in byte order")
	e.want(e.groups("Ü"), []store.GroupInfo{{Name: "Ü", Ready: 1}}, "one group")
	e.want(len(e.groups("ü")), 0, "groups are compared byte by byte")
}

// groupsBoth compares groups.
func (w *world) groupsBoth() {
	req := store.ListRequest{Now: w.now}
	if w.chance(3) {
		req.Names = []string{pick(w, groupNames...)}
	}
	want, err := store.List[store.GroupInfo](w.ctx, w.model, req)
	w.must(err)
	got, err := store.List[store.GroupInfo](w.ctx, w.client, req)
	w.must(err)
	w.compare("ListGroups", req, got, want)
}
