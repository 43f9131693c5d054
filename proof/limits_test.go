package proof

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// Visit is a job that stays for a while, and whose worker records from when to when, by the store's clock.
type Visit struct {
	Stay   time.Duration `json:"stay"`
	Refuse time.Duration `json:"refuse,omitempty"` // the first worker is refused for so long
}

func (Visit) Kind() string { return "visit" }

const (
	makeVisits  = "CREATE TABLE visit (place text NOT NULL, job bigint NOT NULL, token bigint NOT NULL, began bigint NOT NULL, ended bigint, PRIMARY KEY (job, token))"
	beginVisit  = "INSERT INTO visit (place, job, token, began) VALUES ($1, $2, $3, $4)"
	endVisit    = "UPDATE visit SET ended = $3 WHERE job = $1 AND token = $2"
	stays       = "SELECT count(*) FROM visit WHERE job = $1 AND ended IS NOT NULL"
	endedVisits = "SELECT place, began, ended FROM visit WHERE ended IS NOT NULL ORDER BY began"
)

// playVisitor is a node whose workers record their visits, to the key of the job, or to its queue if it has no key.
func playVisitor(a *actor) error {
	hourbell.Register(a.workers, func(ctx context.Context, job *hourbell.Job[Visit]) error {
		place := job.Key
		if place == "" {
			place = job.Queue
		}
		sent := time.Now()
		began, err := a.now(ctx)
		if err != nil {
			return err
		}
		arrived := time.Now()
		if err := a.exec(ctx, beginVisit, place, job.ID, job.Token, began); err != nil {
			return err
		}
		if job.Args.Refuse > 0 {
			if n, err := a.count(ctx, stays, job.ID); err != nil || n == 0 {
				return cmp.Or(err, a.exec(ctx, endVisit, job.ID, job.Token, began), hourbell.LimitedFor(job.Args.Refuse))
			}
		}
		if err := work(ctx, job.Args.Stay); err != nil {
			return err
		}
		// A worker that was stopped has no end: its claim may be lost, and then another worker may be there.
		stayed := time.Since(arrived)
		if time.Since(sent) > a.lease/2 {
			return nil
		}
		return a.exec(context.WithoutCancel(ctx), endVisit, job.ID, job.Token, began+stayed.Microseconds())
	})
	return a.serve(hourbell.Config{Queues: map[string]int{"default": 8}})
}

// visits is a store with a table of visits, and the nodes that write into it.
type visits struct{ *clerks }

func newVisits(t *testing.T, at string, limit hourbell.Limit) visits {
	t.Helper()
	v := visits{newClerks(t, at)}
	v.exec(makeVisits)
	if _, err := v.client.Limits.Put(t.Context(), limit, 0); err != nil {
		t.Fatal(err)
	}
	return v
}

// node starts a node.
func (v visits) node() *process {
	v.t.Helper()
	return act(v.t, "visitor", v.at, v.witness)
}

// send enqueues n visits to a place.
func (v visits) send(n int, key string, stay time.Duration) {
	v.t.Helper()
	v.sendAll(key, slices.Repeat([]Visit{{Stay: stay}}, n)...)
}

// sendAll enqueues visits to a place.
func (v visits) sendAll(key string, visits ...Visit) {
	v.t.Helper()
	requests := make([]hourbell.Request, len(visits))
	for i := range requests {
		requests[i] = hourbell.Request{Args: visits[i], Options: []hourbell.Option{hourbell.Key(key)}}
	}
	if _, err := v.client.EnqueueMany(v.t.Context(), requests); err != nil {
		v.t.Fatal(err)
	}
}

// visit is from when to when a worker was at a place, in microseconds of the store's clock.
type visit struct{ began, ended int64 }

// ended returns the visits that have ended by place, in the order in which they began.
func (v visits) ended() map[string][]visit {
	v.t.Helper()
	found := map[string][]visit{}
	err := v.ledger.each(v.t.Context(), endedVisits, func(place string, began, ended int64) {
		found[place] = append(found[place], visit{began, ended})
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return found
}

// most returns how many visits there were at the same time at most.
func most(all []visit) int {
	type edge struct {
		at   int64
		step int
	}
	var edges []edge
	for _, one := range all {
		edges = append(edges, edge{one.began, 1}, edge{one.ended, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.step - b.step
	})
	n, greatest := 0, 0
	for _, e := range edges {
		n += e.step
		greatest = max(greatest, n)
	}
	return greatest
}

// number returns a number of the environment, with which a test is made longer.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestKeysRunOneAtATime: a limit of one job of each key holds on many nodes, although some nodes are killed or stopped, and no key is
// stuck.
func TestKeysRunOneAtATime(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		const keys = 5
		jobs, nodes := number(t, "HOURBELL_PROOF_VISITS", 100), 4
		if kindOf(at) != inSQLite {
			nodes = 8
		}
		v := newVisits(t, at, hourbell.Limit{Name: "one", ByKey: true, Concurrency: 1})
		for key := range keys {
			v.send(jobs/keys, fmt.Sprint("key", key), 10*time.Millisecond)
		}
		var running []*process
		for range nodes {
			running = append(running, v.node())
		}
		seen := func(n int) func() bool {
			return func() bool {
				got, err := v.ledger.count(t.Context(), "SELECT count(*) FROM visit")
				return err == nil && got >= int64(n)
			}
		}
		until(t, 90*time.Second, "some visits", seen(jobs/10))
		running[0].kill()
		running[1].signal(syscall.SIGSTOP)
		if kindOf(at) != inSQLite { // with SQLite, a node that is stopped in a transaction holds up the others
			until(t, 90*time.Second, "more visits", seen(jobs/5))
		}
		running[2].kill()
		time.Sleep(lease(t) + time.Second)
		running[1].signal(syscall.SIGCONT)
		until(t, 120*time.Second, "the end of all jobs", func() bool { return v.live() == 0 })
		for key, all := range v.ended() {
			if n := most(all); n > 1 {
				t.Errorf("key %s: %d jobs ran at the same time", key, n)
			}
			t.Logf("key %s: %d visits", key, len(all))
		}
		limit, err := v.client.Limits.Get(t.Context(), "one")
		if err != nil || limit.InUse != 0 || limit.Waiting != 0 {
			t.Errorf("at the end, %d permits are in use and %d jobs wait (%v)", limit.InUse, limit.Waiting, err)
		}
	})
}

// TestARefusedKeyWaits: after a worker was refused, nothing of its key starts before the time has passed, although all nodes are killed
// in between; and then everything of the key runs.
func TestARefusedKeyWaits(t *testing.T) {
	t.Parallel()
	onEachStore(t, allStores, func(t *testing.T, at string) {
		const refuse = 5 * time.Second
		v := newVisits(t, at, hourbell.Limit{Name: "one", ByKey: true, Concurrency: 1})
		v.sendAll("refused", Visit{Refuse: refuse}, Visit{}, Visit{}, Visit{})
		nodes := []*process{v.node(), v.node()}
		until(t, 60*time.Second, "a refused worker", func() bool {
			limit, err := v.client.Limits.Get(t.Context(), "one")
			closed := func(key hourbell.KeyUse) bool { return !key.Until.IsZero() }
			return err == nil && slices.ContainsFunc(limit.Fullest, closed) || len(v.ended()["refused"]) > 1
		})
		for _, node := range nodes {
			node.kill()
		}
		v.node()
		until(t, 90*time.Second, "the end of all jobs", func() bool { return v.live() == 0 })
		all := v.ended()["refused"]
		if len(all) < 2 {
			t.Fatalf("there were %d visits, want the refused visit and others", len(all))
		}
		for _, one := range all[1:] {
			if after := time.Duration(one.began-all[0].began) * time.Microsecond; after < refuse {
				t.Errorf("a job began %v after the worker that was refused for %v", after, refuse)
			}
		}
	})
}

// TestManyJobsOfOneTenantDelayNoOther: with a limit by key, three jobs start soon although thousands of another key are due
// before them.
func TestManyJobsOfOneTenantDelayNoOther(t *testing.T) {
	t.Parallel()
	v := newVisits(t, serverStore(t), hourbell.Limit{Name: "tenants", Queue: "default", ByKey: true, Concurrency: 8})
	v.send(number(t, "HOURBELL_PROOF_TENANT", 5000), "large", 2*time.Millisecond)
	nodes := []*process{v.node(), v.node()}
	until(t, 60*time.Second, "jobs of the large tenant", func() bool { return len(v.ended()["large"]) > 100 })
	before, err := v.ledger.now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.send(3, "small", time.Millisecond)
	until(t, 30*time.Second, "the jobs of the small tenant", func() bool { return len(v.ended()["small"]) == 3 })
	if live := v.live(); live < 100 {
		t.Skipf("only %d jobs of the large tenant are left: this machine is too fast for the test", live)
	}
	for _, one := range v.ended()["small"] {
		if late := time.Duration(one.began-before) * time.Microsecond; late > 2*time.Second {
			t.Errorf("a job of the small tenant began after %v", late)
		}
	}
	for _, node := range nodes {
		node.kill()
	}
}

// TestWeightsAreShares: tenants whose windows have different weights get shares in proportion, while all of them have jobs.
func TestWeightsAreShares(t *testing.T) {
	weights := map[string]int{}
	for i := range 10 {
		weights[fmt.Sprint("t", i)] = 1 + i%3
	}
	v := newVisits(t, serverStore(t), hourbell.Limit{Name: "tenants", Queue: "default", ByKey: true, Concurrency: 2, Weights: weights})
	const short = 200
	jobs, within := number(t, "HOURBELL_PROOF_SHARES", short), 0.1
	if jobs <= short { // few jobs on a loaded machine: the moments at which a process gets no CPU weigh more
		within = 0.25
	}
	for key, weight := range weights {
		v.send(jobs*weight, key, 10*time.Millisecond)
	}
	node := v.node()
	total := jobs * 19
	until(t, 120*time.Second, "half of the jobs", func() bool {
		n, err := v.ledger.count(t.Context(), "SELECT count(*) FROM visit")
		return err == nil && n > int64(total)/2
	})
	node.kill()
	// Shares count from when each tenant has begun: the jobs were inserted tenant by tenant.
	ended := v.ended()
	from := int64(0)
	for key := range weights {
		if len(ended[key]) == 0 {
			t.Fatalf("tenant %s has had no job", key)
		}
		from = max(from, ended[key][0].began)
	}
	counted, done := map[string]int{}, 0
	for key, all := range ended {
		for _, one := range all {
			if one.began > from {
				counted[key]++
				done++
			}
		}
	}
	if done < total/5 {
		t.Fatalf("only %d of %d jobs ran while each tenant had begun", done, total)
	}
	for key, weight := range weights {
		share, want := float64(counted[key])/float64(done), float64(weight)/19
		if math.Abs(share-want) > within*want {
			t.Errorf("tenant %s with weight %d has %.3f of the jobs, want %.3f", key, weight, share, want)
		}
	}
}
