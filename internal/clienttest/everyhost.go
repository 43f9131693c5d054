package clienttest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// EveryHost is the acceptance test of schedules on every host: each host runs and accounts for each slot by itself, also a host
// that joins late and a host that is down; what is done to the schedule concerns all its hosts; and schedules follow schedules
// on the same host. begin begins a transaction of the first backend of two.
func EveryHost(t *testing.T, open Open,
	begin func(t *testing.T, b store.Backend) (tx store.Tx, commit func() error),
) {
	t.Parallel() // it waits most of the time
	for _, test := range []struct {
		name string
		run  func(p *places)
	}{
		{"each host accounts for each slot", (*places).eachHost},
		{"a label selects hosts", (*places).labelled},
		{"changes concern all hosts", (*places).changesOfAll},
		{"a transaction puts and deletes", (*places).inTransaction},
		{"a host follows its own", (*places).followsOnHost},
		{"what is refused", (*places).refusals},
	} {
		t.Run(test.name, func(t *testing.T) {
			with(t, open, func(e *env) { test.run(&places{env: e, ran: map[string]map[string]int{}, begin: begin}) })
		})
	}
}

// pace is the interval of rapid: long enough for a slow store to account for the due slots of all hosts before the next.
const pace = 500 * time.Millisecond

// rapid is a schedule on every host.
func rapid(name string) hourbell.Schedule {
	return hourbell.Schedule{
		Name: name, On: hourbell.Place{Every: true}, Rule: recur.Every(pace), Grace: 3 * pace / 2,
		Job: hourbell.RawArgs{Name: kind}, Overlap: hourbell.OverlapAllow,
	}
}

// slots returns the records of a schedule by host.
func (p *places) slots(client *hourbell.Client, schedule string) map[string][]store.SlotInfo {
	p.Helper()
	list, err := client.Slots.List(context.Background(), hourbell.SlotFilter{Schedule: schedule, Limit: 5000})
	p.must(err)
	found := map[string][]store.SlotInfo{}
	for _, slot := range slices.Backward(list) {
		found[slot.Host] = append(found[slot.Host], slot)
	}
	return found
}

// hosts returns the hosts on which a schedule is.
func (p *places) hosts(client *hourbell.Client, schedule string) (hosts []string) {
	p.Helper()
	list, err := client.Schedules.OnHosts(context.Background(), schedule)
	p.must(err)
	for _, one := range list {
		if one.MadeFrom != schedule || one.Name != schedule+"@"+one.On.Host {
			p.Errorf("%s is made from %q, on %v", one.Name, one.MadeFrom, one.On)
		}
		hosts = append(hosts, one.On.Host)
	}
	return hosts
}

func (p *places) eachHost() {
	client := p.node(p.backend, "web1", "web")
	p.node(p.other, "web1", "web") // shares its host
	p.node(p.other, "web2", "web")
	p.eventually("both hosts are known", func() bool {
		nodes, err := client.Nodes.List(context.Background())
		p.must(err)
		return len(nodes) == 3
	})
	_, err := client.Schedules.Put(context.Background(), rapid("s"))
	p.must(err)
	if hosts := p.hosts(client, "s"); !slices.Equal(hosts, []string{"web1", "web2"}) {
		p.Errorf("it is on hosts %q when the put returns", hosts)
	}
	p.eventually("both hosts have fired", func() bool { return p.count("s@web1", "web1") > 5 && p.count("s@web2", "web2") > 5 })

	late := p.node(p.backend, "web3", "web")
	p.eventually("a host that joins fires", func() bool { return p.count("s@web3", "web3") > 3 })
	p.must(late.Stop(context.Background()))
	p.eventually("the slots of a host that is down are missed", func() bool {
		slots := p.slots(client, "s")["web3"]
		last := slots[len(slots)-1]
		return last.Outcome == store.SlotMissed && strings.Contains(last.Reason, "no node of host web3 fired it")
	})
	p.must(client.Schedules.Pause(context.Background(), []string{"s"}))
	var first time.Time
	for host, slots := range p.slots(client, "s") {
		if host == "" {
			p.Errorf("the schedule itself has %d slots", len(slots))
			continue
		}
		if first.IsZero() {
			first = slots[0].Slot
		}
		for i, slot := range slots {
			if i > 0 && slot.Slot.Sub(slots[i-1].Last) != pace {
				p.Errorf("host %s has no record between %v and %v", host, slots[i-1].Last, slot.Slot)
			}
			if slot.Slot.Sub(first)%pace != 0 {
				p.Errorf("the slot %v of host %s is not an instant of the other hosts", slot.Slot, host)
			}
		}
	}
	p.onlyOn(map[string]string{"s@web1": "web1", "s@web2": "web2", "s@web3": "web3"})
	p.jobsOfHosts(client, "s")
}

// jobsOfHosts checks that a schedule on every host selects the jobs of all its hosts, and that the schedule of a host selects its own.
func (p *places) jobsOfHosts(client *hourbell.Client, schedule string) {
	p.Helper()
	found := map[string]int64{}
	jobs, err := client.Jobs.List(context.Background(), hourbell.JobFilter{Schedule: schedule, Limit: 1000})
	p.must(err)
	for _, job := range jobs {
		found[job.ScheduleName]++
	}
	for _, host := range p.hosts(client, schedule) {
		name := store.HostSchedule(schedule, host)
		n, err := client.Jobs.Count(context.Background(), hourbell.JobFilter{Schedule: name})
		p.must(err)
		if n == 0 || found[name] != n {
			p.Errorf("%d jobs of %s are listed with the jobs of %s, of %d jobs", found[name], name, schedule, n)
		}
	}
}

// onlyOn checks that the jobs of each schedule ran on its host only.
func (p *places) onlyOn(hosts map[string]string) {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for schedule, ran := range p.ran {
		for host := range ran {
			if hosts[schedule] != host {
				p.Errorf("a job of %s ran on host %s", schedule, host)
			}
		}
	}
}

func (p *places) labelled() {
	client := p.node(p.backend, "web1", "web")
	db := rapid("db")
	db.On.Label = "role=db"
	_, err := client.Schedules.Put(context.Background(), db)
	p.must(err)
	info, err := client.Schedules.Get(context.Background(), "db")
	p.must(err)
	if want := "no host with the label role=db is known; start a node with --label role=db"; info.Waits != want || info.State() != "active" {
		p.Errorf("without such a host it is %s and waits: %q", info.State(), info.Waits)
	}
	p.node(p.other, "db1", "db")
	p.eventually("the host with the label fires", func() bool { return p.count("db@db1", "db1") > 3 })
	if hosts := p.hosts(client, "db"); !slices.Equal(hosts, []string{"db1"}) {
		p.Errorf("it is on hosts %q", hosts)
	}
}

func (p *places) changesOfAll() {
	ctx := context.Background()
	client := p.node(p.backend, "a", "x")
	p.node(p.other, "b", "x")
	p.eventually("both hosts are known", func() bool {
		nodes, err := client.Nodes.List(ctx)
		p.must(err)
		return len(nodes) == 2
	})
	s := rapid("s")
	s.Rule, s.Grace = recur.Every(time.Hour), 0
	put, err := client.Schedules.Put(ctx, s)
	p.must(err)
	states := func() string {
		list, err := client.Schedules.OnHosts(ctx, "s")
		p.must(err)
		var words []string
		for _, one := range list {
			words = append(words, one.On.Host+" "+one.State()+" "+one.Rule.String())
		}
		return strings.Join(words, ", ")
	}
	want := func(text, why string) {
		p.Helper()
		if got := states(); got != text {
			p.Errorf("%s: %s, want %s", why, got, text)
		}
	}
	want("a active every 1h, b active every 1h", "after the put")
	ids, err := client.Schedules.TriggerAll(ctx, "s")
	p.must(err)
	if len(ids) != 2 {
		p.Errorf("a trigger made jobs %v", ids)
	}
	p.eventually("each host runs its triggered job", func() bool { return p.count("s@a", "a") == 1 && p.count("s@b", "b") == 1 })

	p.must(client.Schedules.Pause(ctx, []string{"s"}))
	want("a paused every 1h, b paused every 1h", "after a pause")
	p.node(p.backend, "c", "x")
	p.eventually("a host that joins during a pause is paused", func() bool {
		return states() == "a paused every 1h, b paused every 1h, c paused every 1h"
	})
	p.must(client.Schedules.Resume(ctx, []string{"s"}))
	want("a active every 1h, b active every 1h, c active every 1h", "after the resume")
	p.must(client.Schedules.Pause(ctx, []string{"s@b"}))
	want("a active every 1h, b paused every 1h, c active every 1h", "after a pause of one host")

	s.Rule, s.Revision = recur.Every(2*time.Hour), put.Revision
	_, err = client.Schedules.Put(ctx, s)
	p.must(err)
	want("a active every 2h, b paused every 2h, c active every 2h", "after an edit")
	s.On, s.Revision = hourbell.Place{}, 0
	_, err = client.Schedules.Put(ctx, s)
	p.must(err)
	want("", "after an edit to one node")
	s.On.Every = true
	_, err = client.Schedules.Sync(ctx, "file", 0, []hourbell.Schedule{{Name: "t", On: s.On, Rule: s.Rule, Job: s.Job}})
	p.must(err)
	if hosts := p.hosts(client, "t"); len(hosts) != 3 {
		p.Errorf("a sync puts it on hosts %q", hosts)
	}
	done, err := client.Schedules.Sync(ctx, "file", 0, []hourbell.Schedule{{Name: "t", On: s.On, Rule: s.Rule, Job: s.Job}})
	p.must(err)
	if done != (hourbell.SyncResult{Unchanged: 1}) || len(p.hosts(client, "t")) != 3 {
		p.Errorf("an equal sync: %+v, on hosts %q", done, p.hosts(client, "t"))
	}
	_, err = client.Schedules.Sync(ctx, "file", 0, nil)
	p.must(err)
	if hosts := p.hosts(client, "t"); len(hosts) != 0 {
		p.Errorf("after its deletion by a sync it is on hosts %q", hosts)
	}
	_, err = client.Schedules.Put(ctx, s)
	p.must(err)
	want("a active every 2h, b active every 2h, c active every 2h", "on every host again")
	p.must(client.Schedules.Delete(ctx, []string{"s"}))
	want("", "after the deletion")
}

func (p *places) inTransaction() {
	ctx := context.Background()
	client := p.node(p.backend, "a", "x")
	in := func(do func(tx hourbell.Option) error) {
		p.Helper()
		tx, commit := p.begin(p.T, p.backend)
		p.must(do(hourbell.InTx(tx)))
		p.must(commit())
	}
	in(func(tx hourbell.Option) error {
		_, err := client.Schedules.Put(ctx, rapid("s"), tx)
		return err
	})
	p.eventually("a node puts it on its host", func() bool { return p.count("s@a", "a") > 3 })
	in(func(tx hourbell.Option) error { return client.Schedules.Delete(ctx, []string{"s"}, tx) })
	if hosts := p.hosts(client, "s"); len(hosts) != 0 {
		p.Errorf("after its deletion it is on hosts %q", hosts)
	}
}

func (p *places) followsOnHost() {
	ctx := context.Background()
	client := p.node(p.backend, "a", "x")
	p.node(p.other, "b", "x")
	p.eventually("both hosts are known", func() bool {
		nodes, err := client.Nodes.List(ctx)
		p.must(err)
		return len(nodes) == 2
	})
	first := rapid("first")
	first.Rule, first.Grace = recur.Every(time.Hour), 0
	after := []hourbell.ScheduleEdge{{Schedule: "first"}}
	next := hourbell.Schedule{Name: "next", On: first.On, After: after, Job: first.Job}
	each := hourbell.Schedule{Name: "each", After: after, Job: first.Job}
	_, err := client.Schedules.PutAll(ctx, "", 0, []hourbell.Schedule{each, next, first})
	p.must(err)
	_, err = client.Schedules.TriggerAll(ctx, "first")
	p.must(err)
	p.eventually("each host's own follower runs once, and the follower on one node once for each host", func() bool {
		return p.count("next@a", "a") == 1 && p.count("next@b", "b") == 1 && p.count("each") == 2
	})
	_, err = client.Schedules.TriggerAll(ctx, "first@b")
	p.must(err)
	p.eventually("the followers of one host's end run", func() bool {
		return p.count("next@b", "b") == 2 && p.count("each") == 3
	})
	if n := p.count("next@a"); n != 1 {
		p.Errorf("the follower on host a ran %d times", n)
	}
	circle := first
	circle.Rule, circle.Grace, circle.After = recur.Spec{}, 0, []hourbell.ScheduleEdge{{Schedule: "each"}}
	if _, err := client.Schedules.Put(ctx, circle); err == nil || !strings.Contains(err.Error(), "is a cycle") {
		p.Errorf("a circle over hosts: %v", err)
	}
}

func (p *places) refusals() {
	ctx := context.Background()
	client := p.node(p.backend, "a", "x")
	p.eventually("the host is known", func() bool {
		nodes, err := client.Nodes.List(ctx)
		p.must(err)
		return len(nodes) == 1
	})
	s := rapid("s")
	s.Rule = recur.Every(time.Hour)
	_, err := client.Schedules.Put(ctx, s)
	p.must(err)
	refused := func(err error, want string) {
		p.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			p.Errorf("%v, want %q", err, want)
		}
	}
	_, err = client.Schedules.Trigger(ctx, "s")
	refused(err, "is on every host")
	_, err = client.Schedules.Backfill(ctx, "s", hourbell.BackfillRequest{From: time.Now().Add(-time.Hour), To: time.Now()})
	refused(err, "backfill the schedule of each host")
	refused(client.Schedules.Delete(ctx, []string{"s@a"}), `delete schedule "s"`)
	_, err = client.Schedules.Sync(ctx, "every:s", 0, nil)
	refused(err, "is kept for the schedules of hosts")
	own := s
	own.Name, own.On = "s@a", hourbell.Place{}
	_, err = client.Schedules.Put(ctx, own)
	refused(err, "it belongs to owner")

	taken := s
	taken.Name, taken.On = "t@a", hourbell.Place{}
	_, err = client.Schedules.Put(ctx, taken)
	p.must(err)
	taken.Name, taken.On = "t", s.On
	_, err = client.Schedules.Put(ctx, taken)
	refused(err, `schedule "t@a"`)
}
