package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// account is what a run left: what enqueuers and workers wrote into files while they ran, and
// what is in the database afterwards. An order is the name of one transaction of an enqueuer; the
// enqueuer writes a row with this name in that transaction.
type account struct {
	promised  map[string]bool // orders whose commits were answered
	withdrawn map[string]bool // orders that were rolled back, or whose enqueuer died before the commit
	orders    map[string]bool // orders that have a row
	jobs      []auditedJob
	effects   []auditedEffect
	starts    []auditedStart
	// harmed is what the test did to nodes, by their names: nodes that were killed, stopped for
	// longer than the lease, or cut off.
	harmed map[string]string
}

type auditedJob struct {
	order string
	id    int64
	state string
	token int64 // of its last claim
	// ended are the attempts that did not complete, by their tokens.
	ended map[int64]auditedAttempt
}

type auditedAttempt struct{ outcome, node string }

type auditedEffect struct {
	order string
	job   int64
	token int64
}

// auditedStart is a call of a worker.
type auditedStart struct {
	job   int64
	token int64
	node  string
}

// The kinds of findings.
const (
	lostWork    = "lost"
	phantom     = "phantom"
	doubled     = "doubled effect"
	stuck       = "stuck"
	foreign     = "effect of another claim"
	unexplained = "unexplained run"
)

type finding struct{ kind, text string }

func (f finding) String() string { return f.kind + ": " + f.text }

// audit returns what contradicts the promises P3, P4 and P5, sorted; nothing if all is well.
func audit(a account) (found []finding) {
	report := func(kind, format string, args ...any) {
		found = append(found, finding{kind, fmt.Sprintf(format, args...)})
	}
	jobs, effects := map[string][]auditedJob{}, map[string][]auditedEffect{}
	for _, job := range a.jobs {
		jobs[job.order] = append(jobs[job.order], job)
	}
	for _, effect := range a.effects {
		effects[effect.order] = append(effects[effect.order], effect)
	}
	for order := range a.promised {
		if !a.orders[order] {
			report(lostWork, "the commit of order %s was answered, and its row does not exist", order)
		}
	}
	for order := range a.withdrawn {
		if a.orders[order] {
			report(phantom, "order %s was not committed, and its row exists", order)
		}
	}
	for order, of := range jobs {
		if !a.orders[order] {
			report(phantom, "job %d exists, and its order %s does not", of[0].id, order)
		}
	}
	for order, of := range effects {
		if !a.orders[order] {
			report(phantom, "job %d has an effect, and its order %s does not exist", of[0].job, order)
		}
		if len(of) > 1 {
			report(doubled, "order %s has %d effects, of job %d by claim %d and of job %d by claim %d", order, len(of), of[0].job, of[0].token, of[1].job, of[1].token)
		}
	}
	for order := range a.orders {
		switch of := jobs[order]; {
		case len(of) == 0:
			report(lostWork, "order %s has no job", order)
		case len(of) > 1:
			report(doubled, "order %s has the jobs %d and %d", order, of[0].id, of[1].id)
		default:
			a.auditJob(of[0], effects[order], report)
		}
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.text, b.text))
	})
	return found
}

func (a *account) auditJob(job auditedJob, effects []auditedEffect, report func(kind, format string, args ...any)) {
	switch job.state {
	case "completed":
		if len(effects) == 0 {
			report(lostWork, "job %d is completed and has no effect", job.id)
		}
	case "waiting", "scheduled", "ready", "retrying", "running":
		report(stuck, "job %d is %s", job.id, job.state)
	default:
		report(lostWork, "job %d is %s", job.id, job.state)
	}
	started := map[int64]string{} // the nodes by the tokens of this job
	greatest := int64(0)
	for _, start := range a.startsOf(job.id) {
		started[start.token] = start.node
		greatest = max(greatest, start.token)
	}
	for _, effect := range effects {
		switch {
		case started[effect.token] == "":
			report(foreign, "job %d has an effect of claim %d, and no worker was called with this claim", job.id, effect.token)
		case effect.token != job.token || effect.token != greatest:
			report(foreign, "job %d has an effect of claim %d; its last claim was %d, and the last claim with which a worker was called %d", job.id, effect.token, job.token, greatest)
		}
	}
	for token, node := range started {
		ended, ok := job.ended[token]
		switch {
		case token == job.token && job.state == "completed":
		case !ok:
			report(unexplained, "job %d ran by claim %d on node %s, and no record says how that attempt ended", job.id, token, node)
		case ended.outcome == "lost" && a.harmed[node] == "":
			report(unexplained, "job %d was taken from node %s (claim %d), and nothing had happened to that node", job.id, node, token)
		}
	}
}

func (a *account) startsOf(job int64) (of []auditedStart) {
	i, _ := slices.BinarySearchFunc(a.starts, job, func(s auditedStart, job int64) int { return cmp.Compare(s.job, job) })
	for ; i < len(a.starts) && a.starts[i].job == job; i++ {
		of = append(of, a.starts[i])
	}
	return of
}

// sortStarts puts the starts into the order that startsOf needs.
func (a *account) sortStarts() {
	slices.SortStableFunc(a.starts, func(x, y auditedStart) int { return cmp.Compare(x.job, y.job) })
}

// TestTheAuditFindsFaults changes a good account in one way at a time.
func TestTheAuditFindsFaults(t *testing.T) {
	good := func() account {
		return account{
			promised:  map[string]bool{"a": true},
			withdrawn: map[string]bool{"x": true},
			orders:    map[string]bool{"a": true, "b": true}, // the answer to the commit of b was lost
			jobs: []auditedJob{
				{order: "a", id: 1, state: "completed", token: 11},
				{order: "b", id: 2, state: "completed", token: 14, ended: map[int64]auditedAttempt{12: {"lost", "killed"}, 13: {"retried", "well"}}},
			},
			effects: []auditedEffect{{"a", 1, 11}, {"b", 2, 14}},
			starts:  []auditedStart{{1, 11, "well"}, {1, 11, "well"}, {2, 12, "killed"}, {2, 13, "well"}, {2, 14, "well"}},
			harmed:  map[string]string{"killed": "was killed"},
		}
	}
	for name, test := range map[string]struct {
		change func(a *account)
		want   []string
	}{
		"all is well":                           {func(*account) {}, nil},
		"a commit that was answered is gone":    {func(a *account) { a.promised["c"] = true }, []string{lostWork}},
		"a committed order has no job":          {func(a *account) { a.jobs = a.jobs[1:]; a.effects = a.effects[1:] }, []string{lostWork}},
		"a job is completed without an effect":  {func(a *account) { a.effects = a.effects[:1] }, []string{lostWork}},
		"a job failed":                          {func(a *account) { a.jobs[0].state = "failed"; a.effects = a.effects[1:]; a.starts = a.starts[2:] }, []string{lostWork}},
		"a withdrawn order has a row":           {func(a *account) { a.withdrawn["a"] = true }, []string{phantom}},
		"a withdrawn order has a job":           {func(a *account) { a.jobs = append(a.jobs, auditedJob{order: "x", id: 3, state: "ready"}) }, []string{phantom}},
		"a withdrawn order has an effect":       {func(a *account) { a.effects = append(a.effects, auditedEffect{"x", 3, 15}) }, []string{phantom}},
		"two attempts have an effect":           {func(a *account) { a.effects = append(a.effects, auditedEffect{"b", 2, 13}) }, []string{doubled, foreign}},
		"one attempt has two effects":           {func(a *account) { a.effects = append(a.effects, a.effects[1]) }, []string{doubled}},
		"an order has two jobs":                 {func(a *account) { a.jobs = append(a.jobs, auditedJob{order: "a", id: 3, state: "completed"}) }, []string{doubled}},
		"a job is ready for ever":               {func(a *account) { a.jobs[0].state, a.effects, a.starts = "ready", a.effects[1:], a.starts[2:] }, []string{stuck}},
		"a job is running for ever":             {func(a *account) { a.jobs[1].state, a.effects = "running", a.effects[:1] }, []string{stuck, unexplained}},
		"a former claim completed the job":      {func(a *account) { a.effects[1].token = 13 }, []string{foreign}},
		"a claim took over from the completion": {func(a *account) { a.jobs[1].token, a.effects[1].token = 13, 13 }, []string{foreign, unexplained}},
		"an effect without a start":             {func(a *account) { a.starts = a.starts[2:] }, []string{foreign}},
		"a run that nothing explains":           {func(a *account) { delete(a.jobs[1].ended, 13) }, []string{unexplained}},
		"a node that lived lost a job":          {func(a *account) { delete(a.harmed, "killed") }, []string{unexplained}},
	} {
		a := good()
		test.change(&a)
		var got []string
		for _, f := range audit(a) {
			got = append(got, f.kind)
		}
		if got = slices.Compact(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: the audit found %v, want %v", name, audit(a), test.want)
		}
	}
}
