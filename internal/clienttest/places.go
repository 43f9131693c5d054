package clienttest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// Places is the acceptance test of schedules whose jobs run on a host, or on nodes with a label: other nodes run none of
// these jobs; while no node of the place lives, the slots are missed; and a job that was made for a place waits for it.
func Places(t *testing.T, open Open) {
	t.Parallel() // it waits most of the time
	with(t, open, func(e *env) { (&places{env: e, ran: map[string]map[string]int{}}).eachPlace() })
}

func (p *places) eachPlace() {
	client := p.node(p.backend, "web1", "web")
	p.node(p.other, "db1", "db")
	p.node(p.backend, "db2", "db")
	for name, on := range map[string]hourbell.Place{
		"one": {}, "web": {Host: "web1"}, "db": {Label: "role=db"}, "gone": {Host: "gone"},
	} {
		_, err := client.Schedules.Put(context.Background(), hourbell.Schedule{
			Name: name, On: on, Rule: recur.Every(200 * time.Millisecond), Grace: 300 * time.Millisecond,
			Job: hourbell.RawArgs{Name: kind}, Overlap: hourbell.OverlapAllow,
		})
		p.must(err)
	}
	triggered, err := client.Schedules.Trigger(context.Background(), "gone")
	p.must(err)
	p.eventually("jobs have run on each place", func() bool {
		return p.count("one") > 5 && p.count("web", "web1") > 5 && p.count("db") > 5
	})
	p.eventually("slots of a host without a node are missed", func() bool {
		slots, err := client.Slots.List(context.Background(), hourbell.SlotFilter{Schedule: "gone"})
		p.must(err)
		return len(slots) > 2 && slots[0].Outcome == store.SlotMissed && strings.Contains(slots[0].Reason, "no node of host gone fired it")
	})
	job, err := client.Jobs.Get(context.Background(), triggered)
	p.must(err)
	waits, err := client.Jobs.Waits(context.Background(), job)
	p.must(err)
	if job.Queue != "default@gone" || waits[triggered] != `no living node of host gone serves queue "default"; start one with --host gone` {
		p.Errorf("a job of a host without a node is in queue %s and waits: %q", job.Queue, waits[triggered])
	}
	p.node(p.other, "gone", "web")
	p.eventually("the host's node runs what waited, and its slots", func() bool { return p.count("gone", "gone") > 3 })
	p.eventually("the triggered job has completed", func() bool {
		job, err := client.Jobs.Get(context.Background(), triggered)
		p.must(err)
		return job.State == store.StateCompleted
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, allowed := range map[string]string{"web": "web1", "db": "db1 db2", "gone": "gone"} {
		for host := range p.ran[name] {
			if !strings.Contains(allowed, host) {
				p.Errorf("a job of %s ran on host %s", name, host)
			}
		}
	}
}

// places counts on which hosts the jobs of each schedule ran.
type places struct {
	*env
	mu  sync.Mutex
	ran map[string]map[string]int

	begin func(t *testing.T, b store.Backend) (tx store.Tx, commit func() error) // see EveryHost
}

// node runs a node of a host, whose label is its role.
func (p *places) node(backend store.Backend, host, role string) *hourbell.Client {
	workers := hourbell.NewWorkers()
	workers.Handle(kind, func(_ context.Context, job *hourbell.JobRow) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ran[job.Schedule] == nil {
			p.ran[job.Schedule] = map[string]int{}
		}
		_, on := job.Place()
		p.ran[job.Schedule][on]++
		return nil
	})
	return p.runNode(backend, hourbell.Config{Workers: workers, Host: host, Labels: map[string]string{"role": role}})
}

// count returns how many jobs of a schedule ran: on one host, or on all if none is given.
func (p *places) count(schedule string, hosts ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for host, ran := range p.ran[schedule] {
		if len(hosts) == 0 || hosts[0] == host {
			n += ran
		}
	}
	return n
}
