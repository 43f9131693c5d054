package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// TestDependentsAreExact (P3, P5): a diamond, a chain and a random graph of jobs run while nodes
// are killed and stopped, and while connections are slow, dropped and become half-open (with SQLite
// all processes are killed at once). Some jobs fail or are cancelled as planned. When all jobs have
// ended, some of these are mended and retried by hand, while harm goes on. The audit must find
// nothing, neither before nor after the retries.
//
// HOURBELL_PROOF_GRAPH is how many jobs the random graph has (100); the diamond and the chain have a
// fifth as many. With 5000 the test takes some minutes.
func TestDependentsAreExact(t *testing.T) {
	t.Run(inSQLite, func(t *testing.T) {
		t.Parallel()
		needs(t, inSQLite)
		o := newOrdeal(t, freshStore(t, inSQLite))
		o.runGraphs([]harm{o.kill, o.stop, o.killAll, o.kill})
	})
	onServers(t, allStores, func(t *testing.T, kind string) {
		t.Parallel()
		o := newOrdeal(t, freshStore(t, kind))
		o.weather = newWeather(t, hostOf(t, o.at))
		o.runGraphs([]harm{o.kill, o.weather.hush, o.stop, o.weather.drop})
	})
}

// graphSize returns how many jobs the random graph has.
func graphSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HOURBELL_PROOF_GRAPH")
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 50 {
		t.Fatalf("HOURBELL_PROOF_GRAPH must be a number from 50: %q", text)
	}
	return n
}

// step is a planned job of a graph.
type step struct {
	id     int64
	args   hourbell.Args
	end    string // in which state the worker ends the job
	effect bool   // the worker writes an effect when it completes the job
	anyOf  bool
	after  []link
}

// link is a planned edge: place is the place of the predecessor in the plan.
type link struct {
	place int
	on    store.On
	delay time.Duration
}

// plan is the steps of graphs, predecessors first, and how they are enqueued.
type plan struct {
	t      *testing.T
	client *hourbell.Client
	rng    *rand.Rand
	lease  time.Duration
	steps  []step
}

// add adds a step, which ends in a state, and returns its place.
func (p *plan) add(end string, slow, anyOf bool, after ...link) int {
	place := len(p.steps)
	e := Errand{Order: fmt.Sprint("step ", place), Step: true, Before: rand.N(10 * time.Millisecond), After: rand.N(3 * time.Millisecond)}
	if slow {
		e.Before = p.lease * 3 / 4
	}
	if end != "completed" {
		e.End = end
	}
	s := step{end: end, anyOf: anyOf, after: after, effect: true}
	switch { // the three ways to record an outcome
	case place%3 == 0:
		s.args, s.effect = Walk(e), false
	case place%3 == 1 || slow: // the node bounds its own transactions
		s.args = Chore(e)
	default:
		s.args = e
	}
	p.steps = append(p.steps, s)
	return place
}

// enqueue enqueues the steps from a place on in one call.
func (p *plan) enqueue(from int) {
	graph := hourbell.Graph{Jobs: map[string]hourbell.GraphJob{}}
	for i, s := range p.steps[from:] {
		job := hourbell.GraphJob{Args: s.args, After: map[string]hourbell.GraphEdge{}}
		for _, l := range s.after {
			if l.place >= from {
				job.After[strconv.Itoa(l.place)] = hourbell.GraphEdge{On: l.on, Delay: l.delay}
			} else {
				job.Options = append(job.Options, hourbell.After(p.steps[l.place].id, l.on, l.delay))
			}
		}
		if s.anyOf {
			job.Options = append(job.Options, hourbell.AfterAny())
		}
		graph.Jobs[strconv.Itoa(from+i)] = job
	}
	added, err := p.client.EnqueueGraph(p.t.Context(), graph, hourbell.MaxAttempts(100), hourbell.Backoff("constant:100ms"))
	if err != nil {
		p.t.Errorf("enqueue %d jobs: %v", len(graph.Jobs), err)
		return
	}
	for place := from; place < len(p.steps); place++ {
		p.steps[place].id = added.IDs[strconv.Itoa(place)]
	}
}

// diamond adds and enqueues, in one call, one job, n-2 jobs that follow it, and one job that follows
// all of these.
func (p *plan) diamond(n int) {
	top := p.add("completed", false, false)
	var last []link
	for range n - 2 {
		last = append(last, link{place: p.add("completed", false, false, link{place: top}), on: store.OnEither})
	}
	p.add("completed", false, false, last...)
	p.enqueue(top)
}

// chain adds and enqueues n jobs, one by one. Each follows the job before: some after a delay, some
// after its failure.
func (p *plan) chain(n int) {
	for i := range n {
		end, after := "completed", []link{{place: len(p.steps) - 1}}
		if i%20 == 18 {
			end = "failed"
		}
		switch {
		case i == 0:
			after = nil
		case i%20 == 19:
			after[0].on = store.OnFailure
		case i%10 == 5:
			after[0].delay = 50 * time.Millisecond
		}
		p.enqueue(p.add(end, false, false, after...))
	}
}

// pairs adds and enqueues n pairs of jobs: the first fails, so the second, which follows its success, is
// not started, until the first is retried by hand.
func (p *plan) pairs(n int) {
	first := len(p.steps)
	for range n {
		p.add("completed", false, false, link{place: p.add("failed", false, false), on: store.OnSuccess})
	}
	p.enqueue(first)
}

// random adds and enqueues n jobs in batches. Each follows up to four jobs of its batch and of the
// batches before.
func (p *plan) random(n int) {
	const batch, window = 25, 120
	pick := func(weights ...int) int {
		sum := 0
		for _, w := range weights {
			sum += w
		}
		for i, at := 0, p.rng.IntN(sum); ; i++ {
			if at -= weights[i]; at < 0 {
				return i
			}
		}
	}
	pause := duration(p.t) / 2 * batch / time.Duration(n)
	first := len(p.steps)
	for from := first; from < first+n; from = len(p.steps) {
		for range min(batch, first+n-from) {
			var after []link
			next := len(p.steps)
			for _, back := range p.rng.Perm(min(window, next-first)) {
				if len(after) >= 4 {
					break
				}
				after = append(after, link{
					place: next - 1 - back, on: []store.On{store.OnSuccess, store.OnEither, store.OnFailure}[pick(50, 38, 12)],
					delay: time.Duration(pick(70, 10, 10, 10)) * 400 * time.Millisecond,
				})
			}
			after = after[:min(len(after), pick(20, 42, 22, 10, 6))]
			end := []string{"completed", "failed", "cancelled"}[pick(88, 8, 4)]
			p.add(end, p.rng.IntN(20) == 0, len(after) > 1 && p.rng.IntN(2) == 0, after...)
		}
		p.enqueue(from)
		time.Sleep(pause)
	}
}

// mend returns the jobs that failed or were cancelled, except jobs whose end has let an edge match of
// a job that was not started: such a job could run because of the first end or the second end.
func (p *plan) mend(a graphAccount) map[int64]bool {
	kept, mended := map[int64]bool{}, map[int64]bool{}
	for _, s := range p.steps {
		for _, l := range s.after {
			id := p.steps[l.place].id
			kept[id] = kept[id] || a.jobs[s.id].state == "not_started" && matches(l.on, a.jobs[id].state)
		}
	}
	for _, s := range p.steps {
		if state := a.jobs[s.id].state; (state == "failed" || state == "cancelled") && !kept[s.id] {
			mended[s.id] = true
		}
	}
	return mended
}

// retry mends jobs and retries them by hand, one after the other.
func (o *ordeal) retry(jobs map[int64]bool) {
	for id := range jobs {
		err := o.ledger.exec(o.t.Context(), insertMended, id)
		if err == nil {
			_, err = o.client.Jobs.Retry(o.t.Context(), hourbell.JobFilter{IDs: []int64{id}})
		}
		if err != nil {
			o.t.Errorf("retry job %d: %v", id, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runGraphs lets harm come while graphs are enqueued and run, and while jobs of them are retried by
// hand, and audits the store.
func (o *ordeal) runGraphs(harms []harm) {
	t, n, began := o.t, graphSize(o.t), time.Now()
	p := &plan{t: t, client: o.client, rng: random(t), lease: lease(t)}
	var before graphAccount
	mended := map[int64]bool{}
	quiet := o.endure(harms, n, func() {
		p.diamond(n / 5)
		p.chain(n / 5)
		p.pairs(n / 50)
		p.random(n)
		for deadline := time.Now().Add(2 * time.Minute); !t.Failed() && o.live() != 0 && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
		}
		before = o.graphAccount(p.steps)
		mended = p.mend(before)
		o.retry(mended)
		for !t.Failed() && o.live() > int64(n/50) {
			time.Sleep(50 * time.Millisecond)
		}
	})
	a := o.graphAccount(p.steps)
	a.mended, a.before = mended, &before
	reportFindings(t, slices.Concat(auditGraph(before), auditGraph(a)))
	states := map[string]int{}
	again, reopened := 0, 0
	for id, job := range before.jobs {
		states[job.state]++
		again += len(job.ended)
		if job.state == "not_started" && a.jobs[id].state != "not_started" {
			reopened++
		}
	}
	t.Logf("%v: jobs by state %v, %d calls of workers, %d attempts without an end; %d jobs were retried by hand, and then %d jobs that were not started ran; %d of %d nodes harmed, %v; nothing was left %v after the last harm",
		time.Since(began).Round(time.Second), states, len(a.calls), again, len(mended), reopened, len(o.harmed), o.numbered, o.counts, quiet.Round(100*time.Millisecond))
	unharmed := again == 0 && n >= 500 // harm may miss each of a few jobs
	if states["not_started"] < n/10 || states["completed"] < n/2 || states["failed"] < n/50 || unharmed || reopened < n/100 {
		t.Error("too little happened; this proves little")
	}
}

// graphAccount collects what the ordeal left.
func (o *ordeal) graphAccount(steps []step) graphAccount {
	t := o.t
	t.Helper()
	o.mu.Lock()
	a := graphAccount{steps: steps, jobs: map[int64]graphJob{}, nodes: map[int64]string{}, harmed: maps.Clone(o.harmed)}
	o.mu.Unlock()
	for _, row := range o.starts.lines() {
		token, _ := strconv.ParseInt(row[1], 10, 64)
		a.nodes[token] = row[2]
	}
	number := func(text string) int64 { n, _ := strconv.ParseInt(text, 10, 64); return n }
	err := o.ledger.each(t.Context(), "SELECT concat('', job), token, at FROM calls", func(job string, token, at int64) {
		a.calls = append(a.calls, graphCall{number(job), token, at})
	})
	if err == nil {
		err = o.ledger.each(t.Context(), "SELECT concat('', job), token, at FROM errand", func(job string, token, at int64) {
			a.effects = append(a.effects, graphCall{number(job), token, at})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range list[stepRow](t, o.at, "jobs", "list") {
		job := graphJob{state: row.State, reason: row.Reason, token: row.Token, ended: map[int64]auditedAttempt{}}
		if row.FinishedAt != nil {
			job.finished = row.FinishedAt.UnixMicro()
		}
		for _, attempt := range row.Attempts {
			if attempt.Token != row.Token || row.State != attempt.Outcome {
				job.ended[attempt.Token] = auditedAttempt{attempt.Outcome, attempt.Node}
			}
		}
		a.jobs[row.ID] = job
	}
	return a
}

type stepRow struct {
	errandRow
	Reason     string     `json:"reason"`
	FinishedAt *time.Time `json:"finished_at"`
}
