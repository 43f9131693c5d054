package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestNoWorkIsLost (P3, P4, P5): four processes enqueue in transactions. Half of the transactions are
// rolled back, or their process dies before the commit. Nodes run the jobs, and each worker writes its
// effect in the transaction of its job. Nodes and enqueuers are killed, nodes are stopped for longer
// than their lease, a proxy delays messages, drops connections and lets them become half-open, and the
// database is restarted (with SQLite all processes are killed at once). Then the audit must find
// nothing.
//
// HOURBELL_PROOF_JOBS is how many transactions each enqueuer begins (500); 5000 takes some minutes.
func TestNoWorkIsLost(t *testing.T) {
	t.Run(inSQLite, func(t *testing.T) {
		t.Parallel()
		needs(t, inSQLite)
		o := newOrdeal(t, freshStore(t, inSQLite))
		o.run([]harm{o.kill, o.stop, o.killAll, o.stop})
	})
	onServers(t, allStores, func(t *testing.T, kind string) {
		t.Parallel()
		s := newServer(t, kind)
		s.start()
		o := newOrdeal(t, s.store(t))
		o.weather = newWeather(t, hostOf(t, o.at))
		restart := func() {
			s.stop()
			s.start()
		}
		crash := func() {
			s.crash()
			s.start()
		}
		harms := []harm{o.kill, o.stop, o.weather.drop, crash, o.weather.hush, o.kill, o.stop, restart}
		if kind == inMySQL && namedStores() == nil { // CI has no time for more
			harms = harms[:5]
		}
		o.run(harms)
	})
}

// enqueuers is how many processes enqueue.
const enqueuers = 4

// ordersPerEnqueuer returns how many transactions each enqueuer begins.
func ordersPerEnqueuer(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HOURBELL_PROOF_JOBS")
	if text == "" {
		return 500
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("HOURBELL_PROOF_JOBS: %v", err)
	}
	return n
}

// harm is one thing that happens.
type harm func()

// ordeal is a site, and the processes that use it while harm comes to them.
type ordeal struct {
	*site
	weather *weather // between the database and all processes except the steady node; nil for SQLite
	orders  witness  // what enqueuers write
	starts  witness  // what workers write
	// unfinished, if not empty, is a query that counts what is left to do; otherwise live jobs are.
	unfinished string

	mu       sync.Mutex
	steady   *process // nothing happens to this node, except that the database restarts
	nodes    map[string]*process
	numbered int
	harmed   map[string]string
	buyers   map[int]*process
	counts   map[string]int
}

// ordealNodes is how many nodes harm comes to.
const ordealNodes = 3

func newOrdeal(t *testing.T, at string) *ordeal {
	t.Helper()
	s := newSite(t, at)
	s.exec(makeOrders, makeErrands, makeCalls, makeMended)
	return &ordeal{
		site: s, orders: newWitness(t), starts: s.witness,
		nodes: map[string]*process{}, harmed: map[string]string{}, buyers: map[int]*process{}, counts: map[string]int{},
	}
}

// start starts a process of this binary; direct: not through the proxy.
func (o *ordeal) start(role string, direct bool, w witness, env ...string) *process {
	at := o.at
	if o.weather != nil && !direct {
		at = through(o.t, at, o.weather.Addr().String())
	}
	return act(o.t, role, at, w, env...)
}

// tend starts nodes until there are as many as there should be.
func (o *ordeal) tend() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.steady == nil || o.steady.exited() {
		o.numbered++
		o.steady = o.start("errands", true, o.starts, fmt.Sprintf("HOURBELL_PROOF_NAME=steady%d", o.numbered), "HOURBELL_PROOF_LONG=yes")
	}
	for name, node := range o.nodes {
		if node.exited() { // it could not begin without the database, or was killed
			o.harmed[name] = "ended"
			delete(o.nodes, name)
		}
	}
	for len(o.nodes) < ordealNodes {
		o.numbered++
		name := fmt.Sprintf("node%d", o.numbered)
		if o.weather != nil {
			o.harmed[name] = "its connections failed"
		}
		o.nodes[name] = o.start("errands", false, o.starts, "HOURBELL_PROOF_NAME="+name)
	}
}

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// victim returns a node on which a slow job has just begun its first attempt, or any node if no
// such job begins in time. (A job that is lost often rests for long.)
func (o *ordeal) victim() (name string, node *process) {
	for range 100 {
		rows := o.starts.lines()
		for _, row := range rows[max(0, len(rows)-20):] {
			if ms, _ := strconv.Atoi(row[3]); ms > 500 && row[4] == "1" {
				name = row[2]
			}
		}
		o.mu.Lock()
		node = o.nodes[name]
		o.mu.Unlock()
		if node != nil && !node.exited() {
			return name, node
		}
		time.Sleep(30 * time.Millisecond)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, node = range o.nodes {
		break
	}
	return name, node
}

func (o *ordeal) note(name, what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.harmed[name] = what
	o.counts[what]++
}

// kill kills a node and an enqueuer.
func (o *ordeal) kill() {
	name, node := o.victim()
	o.note(name, "killed")
	node.kill()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, buyer := range o.buyers {
		buyer.signal(syscall.SIGKILL)
		break
	}
}

// stop stops a node for longer than its lease.
func (o *ordeal) stop() {
	name, node := o.victim()
	o.note(name, "stopped")
	node.signal(syscall.SIGSTOP)
	for range 3 { // a node that was killed before is replaced
		time.Sleep(lease(o.t) / 2)
		o.tend()
	}
	node.signal(syscall.SIGCONT)
}

// killAll kills every process that uses the store, at once.
func (o *ordeal) killAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, node := range o.nodes {
		o.harmed[name] = "killed"
		node.signal(syscall.SIGKILL)
	}
	for _, buyer := range o.buyers {
		buyer.signal(syscall.SIGKILL)
	}
	o.counts["all killed"]++
}

// enqueue runs one enqueuer after the other until all orders of its number have been begun.
func (o *ordeal) enqueue(number, orders int) {
	name := "buyer" + strconv.Itoa(number)
	w := witness{t: o.t, path: o.orders.path + strconv.Itoa(number)}
	pause := 3 * duration(o.t) / 2 / time.Duration(orders)
	for {
		next := 0
		if rows := w.lines(); len(rows) > 0 {
			next, _ = strconv.Atoi(rows[len(rows)-1][1])
			next++
		}
		if next >= orders {
			return
		}
		p := o.start("enqueuer", false, w, "HOURBELL_PROOF_NAME="+name, fmt.Sprintf("HOURBELL_PROOF_ORDERS=%d-%d", next, orders), "HOURBELL_PROOF_PAUSE="+pause.String())
		o.mu.Lock()
		o.buyers[number] = p
		o.counts["enqueuers"]++
		o.mu.Unlock()
		<-p.done
		time.Sleep(20 * time.Millisecond)
	}
}

// run lets harm come while orders are made, and audits the store.
func (o *ordeal) run(harms []harm) {
	t, began := o.t, time.Now()
	quiet := o.endure(harms, enqueuers*ordersPerEnqueuer(t), func() {
		var buying sync.WaitGroup
		for number := range enqueuers {
			buying.Go(func() { o.enqueue(number, ordersPerEnqueuer(t)) })
		}
		buying.Wait()
	})
	a := o.account()
	o.judge(a)
	t.Logf("%v: %d orders committed, %d withdrawn, %d calls of workers, %d of %d nodes harmed, %v; nothing was left %v after the last order",
		time.Since(began).Round(time.Second), len(a.orders), len(a.withdrawn), len(a.starts), len(a.harmed), o.numbered, o.counts, quiet.Round(100*time.Millisecond))
}

// endure starts the nodes and lets harm come until work has returned and each harm has come once.
// Then it waits until nothing is left to do, and stops the nodes. It returns how long it waited.
func (o *ordeal) endure(harms []harm, jobs int, work func()) time.Duration {
	t := o.t
	o.tend()
	if o.weather != nil {
		o.weather.bad.Store(true)
	}
	worked := make(chan struct{})
	go func() { defer close(worked); work() }()
	time.Sleep(lease(t)) // longer than a node must have lived to declare others dead
	for n, done := 0, false; !done || n < len(harms); n++ {
		harms[n%len(harms)]()
		o.tend()
		time.Sleep(lease(t) / 4)
		o.tend()
		select {
		case <-worked:
			done = true
		default:
		}
	}
	<-worked
	if o.weather != nil {
		o.weather.bad.Store(false)
		o.weather.drop() // so that none stays half-open
		t.Logf("messages delayed: %d; connections dropped: %d, half-open: %d", o.weather.delayed.Load(), o.weather.dropped.Load(), o.weather.silenced.Load())
		if o.weather.delayed.Load() == 0 || o.weather.dropped.Load() == 0 || o.weather.silenced.Load() == 0 {
			t.Error("the proxy did nothing; this proves little")
		}
	}
	quiet := time.Now()
	limit := 2*time.Minute + time.Duration(jobs)*10*time.Millisecond
	for deadline := quiet.Add(limit); o.live() != 0; time.Sleep(100 * time.Millisecond) {
		o.tend()
		if time.Now().After(deadline) { // the audit reports what is stuck
			break
		}
	}
	for _, node := range o.nodes {
		until(t, 60*time.Second, "the last nodes to begin", func() bool { return node.exited() || node.logged("node started") > 0 })
		if !node.exited() { // otherwise it could not begin
			node.stop()
		}
	}
	o.steady.stop()
	return time.Since(quiet)
}

// live returns how much is left to do: how many jobs have not ended. If this is not known, it returns -1.
func (o *ordeal) live() int64 {
	if o.unfinished == "" {
		return o.site.live()
	}
	ctx, cancel := context.WithTimeout(o.t.Context(), 5*time.Second)
	defer cancel()
	n, err := o.ledger.count(ctx, o.unfinished)
	if err != nil {
		return -1
	}
	return n
}

// account collects what the ordeal left.
func (o *ordeal) account() account {
	t := o.t
	t.Helper()
	a := account{promised: map[string]bool{}, withdrawn: map[string]bool{}, orders: map[string]bool{}, harmed: o.harmed}
	for number := range enqueuers {
		for _, row := range (witness{t: t, path: o.orders.path + strconv.Itoa(number)}).lines() {
			switch row[2] {
			case orderPromised:
				a.promised[row[0]] = true
			case orderWithdrawn:
				a.withdrawn[row[0]] = true
			}
		}
	}
	for _, row := range o.starts.lines() {
		job, _ := strconv.ParseInt(row[0], 10, 64)
		token, _ := strconv.ParseInt(row[1], 10, 64)
		a.starts = append(a.starts, auditedStart{job, token, row[2]})
	}
	a.sortStarts()
	err := o.ledger.each(t.Context(), "SELECT name, 0, 0 FROM orders", func(order string, _, _ int64) { a.orders[order] = true })
	if err == nil {
		err = o.ledger.each(t.Context(), "SELECT name, job, token FROM errand", func(order string, job, token int64) {
			a.effects = append(a.effects, auditedEffect{order, job, token})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range list[errandRow](t, o.at, "jobs", "list") {
		var args Errand
		if err := json.Unmarshal(row.Args, &args); err != nil {
			t.Fatalf("job %d: %v", row.ID, err)
		}
		job := auditedJob{order: args.Order, id: row.ID, state: row.State, token: row.Token, ended: map[int64]auditedAttempt{}}
		for _, attempt := range row.Attempts {
			job.ended[attempt.Token] = auditedAttempt{attempt.Outcome, attempt.Node}
		}
		a.jobs = append(a.jobs, job)
	}
	return a
}

type errandRow struct {
	ID       int64           `json:"id"`
	State    string          `json:"state"`
	Token    int64           `json:"token"`
	Args     json.RawMessage `json:"args"`
	Attempts []struct {
		Token   int64  `json:"token"`
		Node    string `json:"node"`
		Outcome string `json:"outcome"`
	} `json:"attempts"`
}

// reportFindings fails the test if an audit found anything.
func reportFindings(t *testing.T, found []finding) {
	t.Helper()
	kinds := map[string]int{}
	for _, f := range found {
		if kinds[f.kind]++; kinds[f.kind] <= 5 {
			t.Error(f)
		}
	}
	if len(found) > 0 {
		t.Errorf("the audit found %d faults: %v", len(found), kinds)
	}
}

// judge reports what the audit finds, and whether enough happened.
func (o *ordeal) judge(a account) {
	t := o.t
	t.Helper()
	reportFindings(t, audit(a))
	seen := map[auditedStart]bool{}
	for _, s := range a.starts {
		s.node = ""
		seen[s] = true
	}
	jobs := map[int64]bool{}
	for s := range seen {
		jobs[s.job] = true
	}
	again := len(seen) - len(jobs)
	t.Logf("%d runs were repeated", again)
	if all := enqueuers * ordersPerEnqueuer(t); len(a.orders) < all/4 || len(a.withdrawn) < all/3 || again < 3 {
		t.Errorf("of %d orders %d were committed and %d withdrawn, %d runs were repeated; this proves little", all, len(a.orders), len(a.withdrawn), again)
	}
}
