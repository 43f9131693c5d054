package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestAShopIsExact (P3, P5): a shop stores each order in a transaction, with a job that charges and jobs that follow it: one
// ships, and one reports a failure. Some of them also follow jobs of older orders, which run or have ended. A third of the
// transactions is rolled back, while nodes are killed. The audit must find nothing: each job of an order that was
// committed ran once, after its predecessors, or was not started, and no job of another order ran.
func TestAShopIsExact(t *testing.T) {
	t.Run(inSQLite, func(t *testing.T) {
		t.Parallel()
		needs(t, inSQLite)
		newOrdeal(t, freshStore(t, inSQLite)).runShop()
	})
	onServers(t, allStores, func(t *testing.T, kind string) {
		t.Parallel()
		newOrdeal(t, freshStore(t, kind)).runShop()
	})
}

// shopOrders is how many transactions the shop begins.
const shopOrders = 300

func (o *ordeal) runShop() {
	t, began := o.t, time.Now()
	p := &plan{t: t, client: o.client, rng: random(t), lease: lease(t)}
	var withdrawn []int64
	quiet := o.endure([]harm{o.kill, o.kill}, 3*shopOrders, func() {
		for n := range shopOrders {
			withdrawn = append(withdrawn, o.sell(p, n)...)
			time.Sleep(10 * time.Millisecond)
		}
	})
	a := o.graphAccount(p.steps)
	reportFindings(t, auditGraph(a))
	states := map[string]int{}
	for _, job := range a.jobs {
		states[job.state]++
	}
	for _, id := range withdrawn {
		if _, found := a.jobs[id]; found && !slices.ContainsFunc(p.steps, func(s step) bool { return s.id == id }) { // numbers are given again in SQLite
			t.Errorf("job %d exists, whose transaction was rolled back", id)
		}
	}
	if len(a.jobs) != len(p.steps) {
		t.Errorf("%d jobs exist, and %d were committed", len(a.jobs), len(p.steps))
	}
	t.Logf("%v: jobs by state %v, %d jobs rolled back, %d calls of workers; %d of %d nodes harmed; nothing was left %v after the last order",
		time.Since(began).Round(time.Second), states, len(withdrawn), len(a.calls), len(o.harmed), o.numbered, quiet.Round(100*time.Millisecond))
	if states["not_started"] < shopOrders/10 || states["completed"] < shopOrders || len(withdrawn) < shopOrders/2 {
		t.Error("too little happened; this proves little")
	}
}

// sell makes one order in a transaction, and returns its jobs if it was rolled back.
func (o *ordeal) sell(p *plan, n int) (withdrawn []int64) {
	first := len(p.steps)
	older := func() (after []link) { // a job of an older order
		if first > 0 && n%4 == 1 {
			after = append(after, link{place: max(0, first-1-p.rng.IntN(30)), on: store.OnEither})
		}
		return after
	}
	end := "completed"
	if n%5 == 2 {
		end = "failed"
	}
	charge := p.add(end, n%20 == 10, false)
	p.add("completed", false, false, append(older(), link{place: charge, on: store.OnSuccess, delay: time.Duration(n%2) * 50 * time.Millisecond})...)
	p.add("completed", false, false, link{place: charge, on: store.OnFailure})
	tx, err := o.ledger.begin(o.t.Context())
	if err == nil {
		defer tx.rollback()
		err = tx.exec(o.t.Context(), insertOrder, fmt.Sprint("order ", n))
	}
	for place := first; place < len(p.steps) && err == nil; place++ {
		s := &p.steps[place]
		options := []hourbell.Option{hourbell.InTx(tx.store), hourbell.MaxAttempts(100), hourbell.Backoff("constant:100ms")}
		for _, l := range s.after {
			options = append(options, hourbell.After(p.steps[l.place].id, l.on, l.delay))
		}
		var job hourbell.Enqueued
		job, err = p.client.Enqueue(o.t.Context(), s.args, options...)
		s.id = job.ID
		withdrawn = append(withdrawn, job.ID)
		if n%10 == 0 {
			time.Sleep(rand.N(30 * time.Millisecond)) // the shop is slow
		}
	}
	if err == nil && n%3 != 0 {
		if err = tx.commit(o.t.Context()); err == nil {
			return nil
		}
	}
	if err != nil {
		o.t.Errorf("order %d: %v", n, err)
	}
	p.steps = p.steps[:first]
	return withdrawn
}
