package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// load is how large a cluster is, where that is not drawn.
type load struct {
	nodes       int // 0: drawn
	jobsPerHour int // that users enqueue, besides transactions, batches and graphs
}

// newPlan draws a plan from a seed.
func newPlan(seed uint64, length time.Duration) *plan {
	return loadedPlan(seed, length, load{jobsPerHour: jobsPerHour})
}

// loadedPlan draws a plan with a load from a seed.
func loadedPlan(seed uint64, length time.Duration, l load) *plan {
	rng := dice{seed}.rng("plan")
	p := &plan{
		Seed: seed, Nodes: 2 + rng.IntN(4), Workers: 1 + rng.IntN(6), Length: length, Lease: 15 * time.Second,
		Push: rng.IntN(4) > 0,
		Skew: time.Duration(rng.Int64N(int64(48*time.Hour))) - 24*time.Hour,
	}
	p.Weather = weather{
		Latency: time.Duration(1+rng.IntN(3000)) * time.Microsecond,
		Slow:    0.01 * rng.Float64(), Before: 0.02 * rng.Float64(), After: 0.02 * rng.Float64(), Twice: 0.05 * rng.Float64(),
	}
	if rng.IntN(5) == 0 {
		p.Weather = weather{Latency: p.Weather.Latency} // fair weather, so that faults of nodes stand alone
	}
	p.Nodes = cmp.Or(l.nodes, p.Nodes)
	w := &workload{rng: rng, plan: p}
	w.enqueues(l.jobsPerHour)
	w.edges()
	w.schedules()
	w.limits()
	w.pauses()
	w.changes()
	w.faults()
	(&workload{rng: dice{seed}.rng("links"), plan: p}).links()
	(&workload{rng: dice{seed}.rng("habits"), plan: p}).habits()
	if seed%5 == 0 || seed%10 == 4 {
		(&workload{rng: dice{seed}.rng("places"), plan: p}).places(seed%10 == 4)
		(&workload{rng: dice{seed}.rng("meetings"), plan: p}).meetings()
	}
	if seed%5 == 2 {
		(&workload{rng: dice{seed}.rng("killers"), plan: p}).killers()
	}
	if seed%10 == 3 {
		(&workload{rng: dice{seed}.rng("hands"), plan: p}).hands()
	}
	if drawsSteps(seed) {
		(&workload{rng: dice{seed}.rng("steps"), plan: p}).steps()
	}
	if seed%10 == 9 {
		(&workload{rng: dice{seed}.rng("restores"), plan: p}).restores()
	}
	p.Events = slices.DeleteFunc(p.Events, func(e event) bool { return e.At >= length }) // nothing happens in calm weather
	slices.SortStableFunc(p.Events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	return p
}

// workload draws the events of a plan.
type workload struct {
	rng  *rand.Rand
	plan *plan
}

// at returns an instant within the plan.
func (w *workload) at() time.Duration { return w.below(w.plan.Length) }

// below returns a duration below a bound.
func (w *workload) below(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

func (w *workload) add(e event) { w.plan.Events = append(w.plan.Events, e) }

// jobsPerHour is how many jobs users enqueue in an hour in an ordinary plan. Schedules, hooks, transactions, batches and graphs make as
// many again.
const jobsPerHour = 2700

// burstJobs is of how many jobs half come within seconds, so that all workers are busy then, and limits are reached.
const burstJobs = 60

// enqueues draws the jobs that users enqueue.
func (w *workload) enqueues(perHour int) {
	n := int(float64(perHour) * w.plan.Length.Hours())
	burst := time.Duration(0)
	for i := range n {
		e := event{At: w.at(), Verb: "enqueue"}
		if i%burstJobs == 0 {
			burst = e.At
		}
		if w.rng.IntN(2) == 0 {
			e.At = min(burst+w.below(2*time.Second), w.plan.Length-1)
		}
		many := 1
		if w.rng.IntN(20) == 0 {
			many = 2 + w.rng.IntN(8)
		}
		for k := range many {
			e.Jobs = append(e.Jobs, w.job(fmt.Sprintf("e%d.%d", i, k)))
		}
		w.add(e)
	}
}

// job draws a job.
func (w *workload) job(label string) job {
	rng := w.rng
	j := job{Label: label, Kind: kindPlain, Queue: "default", MaxAttempts: 1 + rng.IntN(6)}
	one := func(in int) bool { return rng.IntN(in) == 0 }
	switch {
	case one(6):
		j.Kind = kindTx
	case one(12):
		j.Kind, j.Timeout = kindSlow, time.Duration(1+rng.IntN(10))*time.Second
	}
	if one(4) {
		j.Queue = "bound"
	}
	if one(3) {
		j.Key = fmt.Sprintf("k%d", rng.IntN(5))
	}
	if one(5) {
		j.Group = fmt.Sprintf("g%d", rng.IntN(3))
	}
	if one(10) {
		j.Unique = fmt.Sprintf("u%d", rng.IntN(8))
		if one(3) {
			j.UniqueFor = time.Duration(1+rng.IntN(60)) * time.Second
		}
	}
	if one(4) {
		j.Priority = 1 + rng.IntN(9)
	}
	if one(5) {
		j.In = w.below(30 * time.Second)
	}
	j.FailOnLoss = one(8)
	return j
}

// edges makes some jobs follow jobs that were enqueued some time before. before are the labels by instant.
func (w *workload) edges() {
	slices.SortStableFunc(w.plan.Events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	var before []event
	for i := range w.plan.Events {
		e := &w.plan.Events[i]
		for len(before) > 0 && before[0].At < e.At-3*time.Minute {
			before = before[1:]
		}
		if len(e.Jobs) == 1 && e.Verb == "enqueue" && e.Jobs[0].Unique == "" && len(before) > 0 && w.rng.IntN(8) == 0 {
			for range 1 + w.rng.IntN(3) {
				of := before[w.rng.IntN(len(before))]
				next := edge{Of: of.Jobs[0].Label, On: store.On(w.rng.IntN(4))}
				if w.rng.IntN(2) == 0 {
					next.Delay = w.below(5 * time.Second).Truncate(time.Microsecond)
				}
				if !slices.ContainsFunc(e.Jobs[0].After, func(other edge) bool { return other.Of == next.Of }) {
					e.Jobs[0].After = append(e.Jobs[0].After, next)
				}
			}
			e.Jobs[0].In, e.Jobs[0].Any = 0, w.rng.IntN(4) == 0
		}
		if e.Verb == "enqueue" && len(e.Jobs) == 1 && e.Jobs[0].Unique == "" {
			before = append(before, *e)
		}
	}
}

// limits draws limits that come and go.
func (w *workload) limits() {
	rng := w.rng
	if rng.IntN(3) == 0 {
		return
	}
	all := []hourbell.Limit{
		{Name: "queue", Queue: "bound", Concurrency: 1 + rng.IntN(3)},
		{Name: "keys", ByKey: true, Concurrency: 1 + rng.IntN(2)},
		{Name: "kind", Kind: kindTx, Concurrency: 1 + rng.IntN(3)},
		{Name: "keys of a queue", Queue: "default", ByKey: true, Concurrency: 1, Strict: rng.IntN(2) == 0},
		{Name: "rate", Queue: "bound", Rate: hourbell.Rate{Jobs: 1 + rng.IntN(5), Per: time.Second}, Burst: 1 + rng.IntN(4)},
		{Name: "rate of a kind", Kind: kindSlow, Rate: hourbell.Rate{Jobs: 1 + rng.IntN(3), Per: time.Second}},
	}
	for range 2 + rng.IntN(4) {
		l := all[rng.IntN(len(all))]
		at := w.at()
		w.add(event{At: at, Verb: "limit", Limit: &l, Name: l.Name})
		switch rng.IntN(3) {
		case 0:
			w.add(event{At: at + w.at(), Verb: "end limit", Name: l.Name})
		case 1:
			more := l
			if more.Concurrency > 0 {
				more.Concurrency = 1 + rng.IntN(4)
			}
			w.add(event{At: at + w.at(), Verb: "limit", Limit: &more, Name: l.Name})
		}
	}
}

// pauses draws pauses of queues, kinds, keys and groups.
func (w *workload) pauses() {
	for range w.rng.IntN(5) {
		s := []subject{{"queue", "bound"}, {"kind", kindSlow}, {"key", "k1"}, {"group", pausedGroup}}[w.rng.IntN(4)]
		at := w.at()
		w.add(event{At: at, Verb: "pause", Of: s.Of, Name: s.Name})
		w.add(event{At: at + w.below(2*time.Minute), Verb: "resume", Of: s.Of, Name: s.Name})
	}
}

// changes draws what users do by hand to jobs and schedules, and their mistakes.
func (w *workload) changes() {
	hours := w.plan.Length.Hours()
	n := int(jobsPerHour * hours)
	for range int(60 * hours) {
		verb := []string{"cancel", "retry", "delete", "reprioritise"}[w.rng.IntN(4)]
		w.add(event{At: w.at(), Verb: verb, Name: fmt.Sprintf("e%d.0", w.rng.IntN(max(n, 1)))})
	}
	for range int(30 * hours) {
		verb := []string{"pause schedule", "resume schedule", "trigger", "delete schedule"}[w.rng.IntN(4)]
		e := event{At: w.at(), Verb: verb, Name: fmt.Sprintf("s%d", w.rng.IntN(10))}
		if e.Verb == "pause schedule" {
			w.add(event{At: e.At + w.below(time.Minute), Verb: "resume schedule", Name: e.Name})
		}
		w.add(e)
	}
	for i := range int(12 * hours) {
		w.add(event{At: w.at(), Verb: "bad", Jobs: []job{w.job(fmt.Sprintf("bad%d", i))}})
	}
	for i := range int(20 * hours) {
		e := event{At: w.at(), Verb: "batch"}
		for k := range 1 + w.rng.IntN(6) {
			j := w.job(fmt.Sprintf("b%d.%d", i, k))
			j.Unique, j.UniqueFor = "", 0
			e.Jobs = append(e.Jobs, j)
		}
		last := w.job(fmt.Sprintf("b%d.last", i))
		last.Unique, last.UniqueFor = "", 0
		e.Jobs = append(e.Jobs, last)
		w.add(e)
	}
}

// The policies that schedules may have.
var (
	overlaps = []hourbell.Overlap{
		hourbell.OverlapSkip, hourbell.OverlapAllow, hourbell.OverlapQueue, hourbell.OverlapReplace,
	}
	misfires = []hourbell.Misfire{hourbell.MisfireSkip, hourbell.MisfireOnce, hourbell.MisfireAll}
)

// schedules draws ten schedules.
func (w *workload) schedules() {
	rng := w.rng
	for i := range 10 {
		s := w.schedule(i)
		w.add(event{At: w.below(time.Minute), Verb: "put", Sched: s})
		for s.After == "" && rng.IntN(3) == 0 { // an edit of the rule
			edited := *s
			edited.Seconds = w.seconds()
			w.add(event{At: time.Minute + w.at(), Verb: "put", Sched: &edited})
		}
	}
}

// schedule draws a schedule.
func (w *workload) schedule(i int) *schedule {
	rng := w.rng
	s := &schedule{
		Name: fmt.Sprintf("s%d", i), Every: time.Duration(5+rng.IntN(120)) * time.Second, Kind: kindPlain,
		Overlap: overlaps[rng.IntN(len(overlaps))], Misfire: misfires[rng.IntN(len(misfires))],
		Loss: rng.IntN(4) == 0,
	}
	switch {
	case i >= 8 && rng.IntN(2) == 0:
		s.After = fmt.Sprintf("s%d", rng.IntN(i))
	case rng.IntN(3) == 0:
		s.Seconds = w.seconds()
	}
	return s
}

// seconds draws some seconds of a minute.
func (w *workload) seconds() []int {
	list := w.rng.Perm(60)[:1+w.rng.IntN(5)]
	slices.Sort(list)
	return list
}

// traps are the calls at which faults come.
var traps = []string{
	"claim", "claim", "begin_jobs", "finish", "fire", "fire", "exchange_permits", "heartbeat", atRun, atRun, atRun, atEnd,
}

// faults draws the faults of nodes and of the store.
func (w *workload) faults() {
	perHour := []float64{0, 20, 60, 120}[w.rng.IntN(4)]
	for range int(perHour * w.plan.Length.Hours()) {
		e := event{At: w.at(), Node: 1 + w.rng.IntN(w.plan.Nodes), For: w.below(40 * time.Second)}
		if w.rng.IntN(2) == 0 {
			e.Trap = traps[w.rng.IntN(len(traps))]
		}
		switch w.rng.IntN(9) {
		case 0, 1, 2:
			e.Verb = "kill"
			w.add(event{At: e.At + e.For, Verb: "start", Node: e.Node})
			e.For = 0
		case 3, 4:
			e.Verb = "freeze"
		case 5:
			e.Verb = "cut"
		case 6:
			e.Verb, e.Node, e.Trap = "away", 0, ""
		case 8:
			e.Verb, e.Trap = "stop", ""
			w.add(event{At: e.At + 10*time.Second + e.For, Verb: "start", Node: e.Node})
			e.For = 0
		case 7:
			e.Verb, e.Node, e.Trap, e.For = "clock", 0, "", w.below(2*time.Minute)-time.Minute
		}
		w.add(e)
	}
}
