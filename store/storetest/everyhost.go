package storetest

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// everyHostTests are the tests of schedules of hosts that are made from a schedule on every host.
var everyHostTests = []scenario{
	{"Slots", hostSlots},
	{"Jobs", hostJobs},
	{"Dependents", hostDependents},
	{"LiveJobsCountFromThePut", hostLiveJobs},
	{"Forget", hostForget},
	{"PruneCopies", hostPrune},
}

// onHost puts the schedule of a host that is made from a schedule.
func (e *env) onHost(of, host string) store.Schedule {
	e.t.Helper()
	name := store.HostSchedule(of, host)
	_, err := e.tryPut(store.PutSchedulesRequest{Owner: store.EveryOwner(of), Schedules: []store.PutSchedule{{Name: name, Definition: []byte("1")}}})
	e.must(err)
	return e.schedule(name)
}

func hostSlots(e *env) {
	e.put("s", "1")
	e.put("s@other", "1") // made by hand
	e.put("s2", "1")
	e.onHost("s", "web1")
	e.onHost("s", "web2")
	e.onHost("s2", "web1")
	for i, name := range []string{"s", "s@other", "s2", "s@web1", "s@web2", "s2@web1"} {
		e.account(name, missed(i, i))
	}
	e.changeSchedules(store.DeleteSchedules, "s@web2")
	for _, c := range []struct {
		req  store.ListRequest
		want []string
	}{
		{store.ListRequest{HostsOf: "s"}, []string{"4 s@web2 web2", "3 s@web1 web1", "0 s "}},
		{store.ListRequest{HostsOf: "s2"}, []string{"5 s2@web1 web1", "2 s2 "}},
		{store.ListRequest{HostsOf: "s@web1"}, []string{"3 s@web1 web1"}},
		{store.ListRequest{HostsOf: "s", From: epoch.Add(3 * time.Minute), Limit: 1}, []string{"4 s@web2 web2"}},
		{store.ListRequest{Names: []string{"s@other"}}, []string{"1 s@other "}},
	} {
		var got []string
		for _, s := range e.slots(c.req) {
			got = append(got, fmt.Sprintf("%d %s %s", int(s.Slot.Sub(epoch)/time.Minute), s.ScheduleName, s.Host))
		}
		e.want(got, c.want, "records of a schedule and of its hosts, also of a deleted one: "+show(c.req))
	}
}

func hostJobs(e *env) {
	n := e.nodeFor("n", 24*time.Hour)
	for _, name := range []string{"s", "s@other", "s2"} {
		e.put(name, "1") // s@other is made by hand
	}
	e.onHost("s", "web1")
	e.onHost("s", "web2")
	e.onHost("s2", "web1")
	var ids []int64
	for _, name := range []string{"s", "s@other", "s2", "s@web1", "s@web2", "s2@web1"} {
		id := e.schedule(name).ID
		ids = append(ids, e.insert(with(func(j *store.NewJob) { j.Schedule = id }))...)
	}
	ended := e.claim(n, 4)
	e.finish(outcome(ended[0], store.Completed), outcome(ended[3], store.Failed))
	e.changeSchedules(store.DeleteSchedules, "s@web2")
	for _, c := range []struct {
		filter store.JobFilter
		want   []int64
	}{
		{store.JobFilter{HostsOf: "s"}, []int64{ids[4], ids[3], ids[0]}},
		{store.JobFilter{HostsOf: "s2"}, []int64{ids[5], ids[2]}},
		{store.JobFilter{HostsOf: "s@web1"}, []int64{ids[3]}},
		{store.JobFilter{HostsOf: "none"}, nil},
		{store.JobFilter{HostsOf: "s", States: []store.State{store.StateReady}}, []int64{ids[4]}},
		{store.JobFilter{Schedule: "s"}, []int64{ids[0]}},
	} {
		e.want(e.listIDs(store.ListJobsRequest{JobFilter: c.filter}), c.want, "jobs of a schedule and of its hosts, also of a deleted schedule: "+show(c.filter))
		n, err := e.a.CountJobs(e.ctx, store.CountJobsRequest{Now: e.now, JobFilter: c.filter})
		e.must(err)
		e.want(n, int64(len(c.want)), "how many jobs a schedule and its hosts have: "+show(c.filter))
	}
	res, err := e.a.ChangeJobs(e.ctx, store.ChangeJobsRequest{
		Now: e.now, Action: store.CancelJobs,
		IDs: []int64{ids[4], ids[5]}, Match: store.JobFilter{HostsOf: "s"},
	})
	e.must(err)
	e.want([]store.State{e.job(ids[4]).State, e.job(ids[5]).State}, []store.State{store.StateCancelled, store.StateReady},
		"a change is for jobs of a schedule and of its hosts: "+show(res))
}

func hostDependents(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.put("export", "1")
	e.putAfter("report", "export")
	e.putAfter("mine", "export@web1")
	for _, host := range []string{"web1", "web2"} {
		e.onHost("export", host)
		e.plan("export@" + host)
	}
	first := e.triggerAndEnd(node, "export@web1", store.Completed)
	second := e.triggerAndEnd(node, "export@web2", store.Completed)
	ends := e.ends("report")
	e.want(len(ends), 2, "the ends of all hosts are slots of a schedule that follows the schedule on every host")
	e.want([]any{ends[0].ID, ends[0].After, ends[1].ID, ends[1].After}, []any{first, "export@web1", second, "export@web2"},
		"an end names the schedule of its host")
	e.want(len(e.follow("report")), 2, "each end makes a job")
	ends = e.ends("mine")
	e.want(len(ends), 1, "the end of one host is a slot of a schedule that follows the schedule of this host")
	e.want(ends[0].ID, first, "it is the end of this host")
}

func hostLiveJobs(e *env) {
	node := e.nodeFor("n", 1000*time.Hour)
	e.put("export", "1")
	e.onHost("export", "web1")
	e.plan("export@web1")
	id := e.trigger("export@web1")
	e.putAfter("report", "export")
	e.tick(time.Second)
	e.end(node, id, store.Completed)
	e.want(len(e.ends("report")), 1, "the end of a job that was live when the follower was put counts")
}

// copyOn declares a host's copy of an owner's set.
func (e *env) copyOn(owner, host string) {
	e.t.Helper()
	_, err := e.tryPut(store.PutSchedulesRequest{Owner: owner, Sync: true, Host: host, Schedules: []store.PutSchedule{{Name: owner, Definition: []byte("1")}}})
	e.must(err)
}

// hostsWithCopies returns the hosts that have a copy of an owner's set.
func (e *env) hostsWithCopies(owner string) (hosts []string) {
	e.t.Helper()
	owners, err := store.List[store.Owner](e.ctx, e.b, store.ListRequest{Names: []string{owner}, Limit: 1})
	e.must(err)
	for _, c := range owners[0].Copies {
		hosts = append(hosts, c.Host)
	}
	return hosts
}

// nodeOf registers a node of a host.
func (e *env) nodeOf(host string) int64 {
	e.t.Helper()
	res, err := e.a.Register(e.ctx, store.RegisterRequest{Now: e.now, Name: host, Host: host, Lease: time.Minute, Queues: []string{"q"}})
	e.must(err)
	return res.Node
}

func hostForget(e *env) {
	forget := func(hosts ...string) error {
		return e.a.Delete(e.ctx, store.DeleteRequest{Now: e.now, Of: store.OfNodes, Names: hosts})
	}
	first, second := e.nodeOf("web1"), e.nodeOf("web1")
	e.nodeOf("web2")
	e.copyOn("file", "web1")
	e.copyOn("file", "web2")
	e.leaveNode(first)
	e.is(forget("web1"), store.ErrConflict, "a host with a living node is not forgotten")
	e.want(len(e.nodes()), 3, "a refusal changes nothing")
	e.leaveNode(second)
	e.is(forget("web1", "web2"), store.ErrConflict, "all hosts are forgotten, or none")
	e.want(len(e.nodes()), 3, "a refusal changes nothing")
	e.must(forget("web1"))
	e.want(len(e.nodes()), 1, "the nodes of the host are deleted")
	e.want(e.hostsWithCopies("file"), []string{"web2"}, "the copies of the host are deleted")
	e.is(forget("web1"), store.ErrNotFound, "a host is forgotten once")
	e.want(len(e.schedules(store.ListRequest{})), 1, "schedules stay")
}

func hostPrune(e *env) {
	gone := e.nodeOf("web1")
	e.copyOn("file", "web1")
	e.copyOn("file", "web2")
	e.nodeOf("web3")
	e.copyOn("file", "web3")
	e.leaveNode(gone)
	prune := func(keep time.Duration) {
		_, err := e.a.Prune(e.ctx, store.PruneRequest{Now: e.now, Nodes: keep, Limit: 100})
		e.must(err)
	}
	e.tick(time.Hour)
	prune(2 * time.Hour)
	e.want(e.hostsWithCopies("file"), []string{"web1", "web2", "web3"}, "young copies stay")
	prune(0)
	e.want(e.hostsWithCopies("file"), []string{"web1", "web2", "web3"}, "without an age all copies stay")
	prune(time.Minute)
	e.want(e.hostsWithCopies("file"), []string{"web3"}, "old copies of hosts without a node are deleted")
}

func (e *env) leaveNode(node int64) {
	e.t.Helper()
	_, err := e.a.Leave(e.ctx, store.LeaveRequest{Now: e.now, Node: node})
	e.must(err)
}
