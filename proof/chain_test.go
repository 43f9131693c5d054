package proof

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestEachEndStartsOnce (P1, P2, P5): schedules follow schedules whose jobs complete, fail, are
// cancelled and are lost, while nodes are killed and stopped, also between the end of a job and the
// slots that the end becomes, and while connections fail (with SQLite all processes are killed at
// once). Then the audit must find that each end made one job or one record of each follower.
func TestEachEndStartsOnce(t *testing.T) {
	t.Run(inSQLite, func(t *testing.T) {
		t.Parallel()
		needs(t, inSQLite)
		o := newOrdeal(t, freshStore(t, inSQLite))
		o.unfinished = unfinishedChains(o.ledger.prefix)
		o.runChains([]harm{o.kill, o.killAll, o.stop, o.killAll, o.kill})
	})
	onServers(t, usualStores, func(t *testing.T, kind string) {
		t.Parallel()
		o := newOrdeal(t, freshStore(t, kind))
		o.unfinished = unfinishedChains(o.ledger.prefix)
		o.weather = newWeather(t, hostOf(t, o.at))
		o.runChains([]harm{o.cut, o.kill, o.weather.hush, o.cut, o.stop, o.weather.drop, o.cut})
		if o.counts["ends cut off"] == 0 {
			t.Error("each end had been passed on before its node was killed; this proves little")
		}
	})
}

// unfinishedChains returns the query that counts what is left to do.
func unfinishedChains(prefix string) string {
	return fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]sjob) + (SELECT count(*) FROM %[1]srelease) + (SELECT count(*) FROM %[1]schain_end WHERE open)", prefix)
}

// cut kills a node while jobs have ended whose ends are not passed on yet: a transaction has locked
// the schedules that follow. It waits for the locks of transactions whose connections are half-open.
func (o *ordeal) cut() {
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Minute)
	defer cancel()
	tx, err := o.ledger.begin(ctx)
	if err != nil {
		o.t.Errorf("begin: %v", err)
		return
	}
	defer tx.rollback()
	if err := tx.exec(ctx, "SELECT id FROM "+o.ledger.prefix+"schedule WHERE name LIKE '"+followerPrefix+"%' FOR UPDATE"); err != nil {
		o.t.Errorf("lock schedules: %v", err)
		return
	}
	time.Sleep(300 * time.Millisecond) // jobs end, and their nodes wait for the lock
	o.mu.Lock()
	names := slices.Collect(maps.Keys(o.nodes))
	name := names[rand.IntN(len(names))]
	node := o.nodes[name]
	o.mu.Unlock()
	o.note(name, "killed")
	node.kill()
	left := "SELECT coalesce(sum(cardinality(ids)), 0) FROM release"
	if kindOf(o.at) == inMySQL {
		left = "SELECT count(*) FROM hourbell_release"
	}
	notes, err := o.ledger.count(ctx, left)
	if err != nil {
		o.t.Errorf("count ends: %v", err)
	}
	o.mu.Lock()
	o.counts["ends cut off"] += int(notes)
	o.mu.Unlock()
}

// followerPrefix begins the names of schedules that follow others.
const followerPrefix = "after "

// followers are the planned schedules that follow others, each after those that it follows.
var followers = []follower{
	{"after good", []hourbell.ScheduleEdge{{Schedule: "good"}}},
	{"after errand", []hourbell.ScheduleEdge{{Schedule: "errand", Delay: 300 * time.Millisecond}}},
	{"after failure", []hourbell.ScheduleEdge{
		{Schedule: "good", On: store.OnFailure}, {Schedule: "bad", On: store.OnFailure}, {Schedule: "fragile", On: store.OnFailure, Delay: 100 * time.Millisecond},
	}},
	{"after all", []hourbell.ScheduleEdge{
		{Schedule: "good", On: store.OnEither},
		{Schedule: "errand", On: store.OnEither},
		{Schedule: "bad", On: store.OnEither},
		{Schedule: "dropped", On: store.OnEither},
		{Schedule: "fragile", On: store.OnEither},
	}},
	{"after dropped", []hourbell.ScheduleEdge{{Schedule: "dropped", IgnoreCancelled: true}}},
	{"after after good", []hourbell.ScheduleEdge{{Schedule: "after good", Delay: 50 * time.Millisecond}}},
	{"after after failure", []hourbell.ScheduleEdge{{Schedule: "after failure"}, {Schedule: "errand", On: store.OnFailure}}},
}

// follower is a planned schedule that follows others.
type follower struct {
	name  string
	after []hourbell.ScheduleEdge
}

// putChains puts the schedules that are followed, and the followers.
func (o *ordeal) putChains() (sources []string) {
	t := o.t
	t.Helper()
	put := func(s hourbell.Schedule) {
		s.MaxAttempts, s.Backoff, s.Overlap = 100, "constant:100ms", hourbell.OverlapAllow
		if _, err := o.client.Schedules.Put(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	never := recur.Cron("0 0 1 1 *")
	for _, s := range []hourbell.Schedule{
		{Name: "good", Rule: recur.Every(time.Second), Count: 8, Job: Walk{Step: true}},
		{Name: "errand", Rule: never, Job: Errand{Order: "errand", Step: true, Before: 20 * time.Millisecond, After: 20 * time.Millisecond}},
		{Name: "bad", Rule: never, Job: Walk{Step: true, End: "failed"}},
		{Name: "dropped", Rule: never, Job: Walk{Step: true, End: "cancelled"}},
		{Name: "fragile", Rule: never, OnLoss: hourbell.FailOnLoss, Job: Walk{Step: true, Before: lease(t) * 3 / 4}},
	} {
		put(s)
		sources = append(sources, s.Name)
	}
	for i, f := range followers {
		s := hourbell.Schedule{Name: f.name, After: f.after, Job: Walk{Step: true, Before: 2 * time.Millisecond}}
		if i%2 == 0 {
			s.Job = Errand{Order: f.name, Step: true, Before: 5 * time.Millisecond, After: 5 * time.Millisecond}
		}
		put(s)
	}
	return sources
}

// runChains lets harm come while schedules fire and are triggered, and audits the store.
func (o *ordeal) runChains(harms []harm) {
	t, began := o.t, time.Now()
	client, rng, sources := o.client, random(t), o.putChains()
	triggers := 12 * int(duration(t)/time.Second)
	quiet := o.endure(harms, 10*triggers, func() {
		pause := duration(t) / time.Duration(triggers)
		for range triggers {
			if _, err := client.Schedules.Trigger(t.Context(), sources[rng.IntN(len(sources))]); err != nil {
				t.Errorf("trigger: %v", err)
			}
			time.Sleep(pause)
		}
		for !t.Failed() {
			info, err := client.Schedules.Get(t.Context(), "good")
			if err == nil && info.NextAt.IsZero() {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	a := o.chainAccount()
	reportFindings(t, auditChains(a))
	states, made, missed := map[string]int{}, 0, int64(0)
	for _, job := range a.jobs {
		if states[job.state]++; job.after != 0 {
			made++
		}
	}
	for _, n := range a.notStarted {
		missed += n
	}
	t.Logf("%v: jobs by state %v, %d of them after other jobs, %d ends that started nothing in %d records, %d of %d nodes harmed, %v; nothing was left %v after the last harm",
		time.Since(began).Round(time.Second), states, made, missed, a.records, len(o.harmed), o.numbered, o.counts, quiet.Round(100*time.Millisecond))
	if made < triggers || missed < int64(triggers)/4 || a.records >= missed || states["failed"] < triggers/10 || states["cancelled"] < triggers/10 {
		t.Error("too little happened; this proves little")
	}
}

// chainAccount collects what the ordeal left.
func (o *ordeal) chainAccount() chainAccount {
	t := o.t
	t.Helper()
	a := chainAccount{followers: followers, jobs: map[int64]chainJob{}, fired: map[string]int64{}, notStarted: map[string]int64{}, calls: map[int64]int64{}}
	err := o.ledger.each(t.Context(), "SELECT concat('', job), token, at FROM calls", func(job string, _, at int64) {
		id, _ := strconv.ParseInt(job, 10, 64)
		if first, is := a.calls[id]; !is || at < first {
			a.calls[id] = at
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range list[chainRow](t, o.at, "jobs", "list") {
		job := chainJob{schedule: row.Schedule, state: row.State, due: row.RunAt.UnixMicro(), called: row.State == "completed"}
		if row.FinishedAt != nil {
			job.finished = row.FinishedAt.UnixMicro()
		}
		if strings.HasPrefix(row.Schedule, followerPrefix) {
			if len(row.After) != 1 {
				t.Fatalf("job %d of %s follows %d jobs", row.ID, row.Schedule, len(row.After))
			}
			job.after = row.After[0].Job
		}
		a.jobs[row.ID] = job
	}
	for _, f := range followers {
		for _, slot := range list[slotRow](t, o.at, "slots", "--schedule", f.name) {
			switch slot.Outcome {
			case "fired":
				a.fired[f.name] += slot.Count
			case "not_started":
				a.notStarted[f.name] += slot.Count
				a.records++
			default:
				t.Errorf("slot %v of %s is %s: %s", slot.Slot, f.name, slot.Outcome, slot.Reason)
			}
		}
	}
	return a
}

type chainRow struct {
	ID         int64      `json:"id"`
	Schedule   string     `json:"schedule"`
	State      string     `json:"state"`
	RunAt      time.Time  `json:"run_at"`
	FinishedAt *time.Time `json:"finished_at"`
	After      []struct {
		Job int64 `json:"job"`
	} `json:"after"`
}

// chainAccount is what a run of schedules that follow schedules left: the plan, the jobs by number,
// and what the slots of the followers became.
type chainAccount struct {
	followers         []follower // each after those that it follows
	jobs              map[int64]chainJob
	fired, notStarted map[string]int64 // slots by follower
	records           int64            // of ends that did not start a follower; equal ones in a row are one
	calls             map[int64]int64  // the first call of each job's worker, µs
}

type chainJob struct {
	schedule      string
	state         string
	due, finished int64 // µs
	after         int64 // the job that it follows; 0: none
	called        bool  // a worker must have been called
}

// The kinds of findings about schedules that follow schedules, besides the findings about graphs.
const (
	noJob       = "an end without a job"
	twoJobs     = "several jobs for an end"
	noReason    = "a job without an end"
	wrongRecord = "wrong records"
)

// auditChains returns what contradicts the rule of edges between schedules, sorted; nothing if all is
// well. It has the rule in words of its own, and knows the plan only.
func auditChains(a chainAccount) (found []finding) {
	report := func(kind, format string, args ...any) {
		found = append(found, finding{kind, fmt.Sprintf(format, args...)})
	}
	jobsOf := map[string][]int64{}
	for _, id := range slices.Sorted(maps.Keys(a.jobs)) {
		job := a.jobs[id]
		jobsOf[job.schedule] = append(jobsOf[job.schedule], id)
		switch _, called := a.calls[id]; {
		case !ended(job.state):
			report(stuck, "job %d of %s is %s", id, job.schedule, job.state)
		case job.called && !called:
			report(lostWork, "job %d of %s is %s, and no worker was called", id, job.schedule, job.state)
		}
	}
	missed := map[string]int64{} // ends by which a follower was not started
	for _, f := range a.followers {
		made := map[int64][]int64{} // jobs of the follower, by the job that they follow
		for _, id := range jobsOf[f.name] {
			made[a.jobs[id].after] = append(made[a.jobs[id].after], id)
		}
		if fired := int64(len(jobsOf[f.name])); a.fired[f.name] != fired {
			report(wrongRecord, "%s has %d slots that fired, and %d jobs", f.name, a.fired[f.name], fired)
		}
		for _, edge := range f.after {
			missed[f.name] += missed[edge.Schedule]
			for _, id := range jobsOf[edge.Schedule] {
				own := made[id]
				delete(made, id)
				p := a.jobs[id]
				switch {
				case edge.IgnoreCancelled && p.state == "cancelled" || !ended(p.state):
				case !matches(edge.On, p.state):
					missed[f.name]++
				case len(own) == 0:
					report(noJob, "job %d of %s ended, and %s has no job for this", id, edge.Schedule, f.name)
				case len(own) > 1:
					report(twoJobs, "job %d of %s ended, and %s has the jobs %v for this", id, edge.Schedule, f.name, own)
				default:
					auditDelay(a, own[0], p.finished+edge.Delay.Microseconds(), report)
					continue
				}
				if !matches(edge.On, p.state) && len(own) > 0 {
					report(noReason, "jobs %v of %s follow job %d of %s, which is %s", own, f.name, id, edge.Schedule, p.state)
				}
			}
		}
		for id, own := range made {
			report(noReason, "jobs %v of %s follow job %d, which is of no schedule that it follows", own, f.name, id)
		}
		if a.notStarted[f.name] != missed[f.name] {
			report(wrongRecord, "%s has records of %d ends that did not start it, and there were %d", f.name, a.notStarted[f.name], missed[f.name])
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.kind+a.text, b.kind+b.text) })
	return found
}

// auditDelay checks that a job neither was due nor began before an instant.
func auditDelay(a chainAccount, id, from int64, report reporter) {
	job := a.jobs[id]
	if job.due < from {
		report(delayNotKept, "job %d of %s is due %d µs too early", id, job.schedule, from-job.due)
	}
	if called, is := a.calls[id]; is && called < from {
		report(tooEarly, "job %d of %s was called %d µs too early", id, job.schedule, from-called)
	}
}

// TestTheAuditOfChainsFindsFaults changes a good account in one way at a time.
func TestTheAuditOfChainsFindsFaults(t *testing.T) {
	const ms = int64(1000)
	good := func() chainAccount {
		return chainAccount{
			followers: []follower{
				{"b", []hourbell.ScheduleEdge{{Schedule: "a", Delay: 100 * time.Millisecond}}},
				{"c", []hourbell.ScheduleEdge{{Schedule: "b"}, {Schedule: "a", On: store.OnFailure}}},
				{"d", []hourbell.ScheduleEdge{{Schedule: "a", IgnoreCancelled: true}}},
			},
			jobs: map[int64]chainJob{
				1: {schedule: "a", state: "completed", finished: 1000 * ms, called: true},
				2: {schedule: "a", state: "failed", finished: 2000 * ms},
				3: {schedule: "a", state: "cancelled", finished: 3000 * ms},
				4: {schedule: "b", state: "completed", due: 1100 * ms, finished: 1200 * ms, after: 1, called: true},
				5: {schedule: "c", state: "completed", due: 1200 * ms, finished: 1300 * ms, after: 4, called: true},
				6: {schedule: "c", state: "completed", due: 2000 * ms, finished: 2100 * ms, after: 2, called: true},
				7: {schedule: "c", state: "completed", due: 3000 * ms, finished: 3100 * ms, after: 3, called: true},
				8: {schedule: "d", state: "completed", due: 1000 * ms, finished: 1100 * ms, after: 1, called: true},
			},
			fired: map[string]int64{"b": 1, "c": 3, "d": 1},
			// b after 2 and 3; c after these two and after 1, which did not fail; d after 2.
			notStarted: map[string]int64{"b": 2, "c": 3, "d": 1},
			calls:      map[int64]int64{1: 900 * ms, 4: 1100 * ms, 5: 1250 * ms, 6: 2050 * ms, 7: 3050 * ms, 8: 1050 * ms},
		}
	}
	change := func(id int64, do func(*chainJob)) func(*chainAccount) {
		return func(a *chainAccount) {
			job := a.jobs[id]
			do(&job)
			a.jobs[id] = job
		}
	}
	for name, test := range map[string]struct {
		change func(a *chainAccount)
		want   []string
	}{
		"all is well":              {func(*chainAccount) {}, nil},
		"an end is forgotten":      {func(a *chainAccount) { delete(a.jobs, 7); a.fired["c"] = 2 }, []string{noJob}},
		"an end makes two jobs":    {func(a *chainAccount) { a.jobs[9] = a.jobs[8]; a.calls[9] = a.calls[8]; a.fired["d"] = 2 }, []string{twoJobs}},
		"a job has no slot":        {func(a *chainAccount) { a.fired["c"] = 2 }, []string{wrongRecord}},
		"a record is missing":      {func(a *chainAccount) { a.notStarted["b"] = 1 }, []string{wrongRecord}},
		"a record counts twice":    {func(a *chainAccount) { a.notStarted["c"] = 4 }, []string{wrongRecord}},
		"the delay is ignored":     {func(a *chainAccount) { change(4, func(j *chainJob) { j.due = 1050 * ms })(a) }, []string{delayNotKept}},
		"called before it is due":  {func(a *chainAccount) { a.calls[4] = 1050 * ms }, []string{tooEarly}},
		"live for ever":            {change(8, func(j *chainJob) { j.state = "ready" }), []string{stuck}},
		"completed without a call": {func(a *chainAccount) { delete(a.calls, 5) }, []string{lostWork}},
		"started without a match":  {func(a *chainAccount) { change(8, func(j *chainJob) { j.after = 2 })(a) }, []string{noReason, noJob}},
		"started after a stranger": {func(a *chainAccount) { change(8, func(j *chainJob) { j.after = 5 })(a) }, []string{noReason, noJob}},
		"started by a cancellation": {func(a *chainAccount) {
			a.jobs[9] = chainJob{schedule: "d", state: "failed", after: 3}
			a.fired["d"] = 2
		}, []string{noReason}},
	} {
		a := good()
		test.change(&a)
		var got []string
		for _, f := range auditChains(a) {
			got = append(got, f.kind)
		}
		if got = slices.Compact(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: the audit found %v, want %v", name, auditChains(a), test.want)
		}
	}
}
