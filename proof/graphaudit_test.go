package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// graphAccount is what a run of graphs left: the plan, what workers recorded with the store's time,
// and the jobs.
type graphAccount struct {
	steps   []step // predecessors first
	jobs    map[int64]graphJob
	calls   []graphCall      // of workers
	effects []graphCall      // in the transactions of the jobs
	nodes   map[int64]string // by token, as the workers wrote it into a file
	harmed  map[string]string
	// before is what was there when all jobs had ended, before the mended jobs were retried by hand;
	// nil: none were.
	before *graphAccount
	mended map[int64]bool
}

type graphJob struct {
	state    string
	reason   string
	token    int64 // of its last claim
	finished int64 // µs
	// ended are the attempts that did not end the job, by their tokens.
	ended map[int64]auditedAttempt
}

// graphCall is a call of a worker, or its effect.
type graphCall struct {
	job, token int64
	at         int64 // µs
}

// The kinds of findings about graphs, besides the kinds of orders.
const (
	tooEarly     = "started too early"
	delayNotKept = "delay not kept"
	startedTwice = "started twice"
	notReleased  = "never released"
	wrongOutcome = "wrong outcome"
	ranAgain     = "changed by the retry of another job"
)

// auditGraph returns what contradicts the rule of edges, sorted; nothing if all is well. It has the
// rule in words of its own, and knows the plan only.
func auditGraph(a graphAccount) (found []finding) {
	g := newGraphAudit(a)
	for _, s := range a.steps {
		g.audit(s, func(kind, format string, args ...any) {
			found = append(found, finding{kind, fmt.Sprintf(format, args...)})
		})
	}
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.text, b.text))
	})
	return found
}

type graphAudit struct {
	graphAccount
	callsOf, effectsOf map[int64][]graphCall
	first              *graphAudit // of graphAccount.before
}

func newGraphAudit(a graphAccount) *graphAudit {
	g := &graphAudit{graphAccount: a, callsOf: map[int64][]graphCall{}, effectsOf: map[int64][]graphCall{}}
	for _, c := range a.calls {
		g.callsOf[c.job] = append(g.callsOf[c.job], c)
	}
	for _, e := range a.effects {
		g.effectsOf[e.job] = append(g.effectsOf[e.job], e)
	}
	if a.before != nil {
		g.first = newGraphAudit(*a.before)
	}
	return g
}

type reporter func(kind, format string, args ...any)

func ended(state string) bool {
	return slices.Contains([]string{"completed", "failed", "cancelled", "not_started"}, state)
}

func matches(on store.On, state string) bool {
	switch state {
	case "completed":
		return on == store.OnSuccess || on == store.OnEither
	case "failed", "cancelled":
		return on == store.OnFailure || on == store.OnEither
	}
	return false
}

// end returns when a job ended: an effect of its last claim cannot be later.
func (g *graphAudit) end(id int64) int64 {
	end := g.jobs[id].finished
	for _, e := range g.effectsOf[id] {
		end = max(end, e.at)
	}
	return end
}

func (g *graphAudit) audit(s step, report reporter) {
	job, is := g.jobs[s.id]
	if !is {
		report(lostWork, "job %d does not exist", s.id)
		return
	}
	if g.mended[s.id] { // it runs at once, whatever it follows
		s.end = "completed"
		if job.state != s.end {
			report(wrongOutcome, "job %d is %s after its retry by hand", s.id, job.state)
		}
		g.auditCalls(s, job, 0, 0, report)
		g.auditEffects(s, job, report)
		return
	}
	if g.first != nil && g.first.jobs[s.id].state != "not_started" {
		g.auditUnchanged(s.id, report)
		return
	}
	open, matched := 0, 0
	var ends, due []int64 // of predecessors: the end, and the end and the delay
	for _, l := range s.after {
		p := g.steps[l.place].id
		switch state := g.jobs[p].state; {
		case !ended(state):
			open++
		case matches(l.on, state):
			matched++
			ends, due = append(ends, g.end(p)), append(due, g.end(p)+l.delay.Microseconds())
		}
	}
	runs := matched == len(s.after)
	from, dueFrom := int64(0), int64(0) // not before; all edges
	if len(ends) > 0 {
		from, dueFrom = slices.Max(ends), slices.Max(due)
	}
	if s.anyOf {
		runs = matched > 0
		if runs {
			from, dueFrom = slices.Min(ends), slices.Min(due)
		}
	}
	switch {
	case job.state == "waiting" && open == 0:
		report(notReleased, "job %d waits, and all jobs before it have ended", s.id)
	case !ended(job.state):
		report(stuck, "job %d is %s", s.id, job.state)
	case open > 0: // reported for the open jobs
	case runs && job.state != s.end:
		report(wrongOutcome, "job %d is %s (%s), want %s", s.id, job.state, job.reason, s.end)
	case !runs && job.state != "not_started":
		report(wrongOutcome, "job %d is %s, want not_started", s.id, job.state)
	case !runs && !slices.Contains(g.reasons(s), job.reason):
		report(wrongOutcome, "job %d is not started because %q, want one of %q; before it: %s", s.id, job.reason, g.reasons(s), g.before(s))
	}
	g.auditCalls(s, job, from, dueFrom, report)
	g.auditEffects(s, job, report)
}

// auditUnchanged audits a job that had run before other jobs were retried by hand.
func (g *graphAudit) auditUnchanged(id int64, report reporter) {
	was, is := g.first.jobs[id], g.jobs[id]
	calls, effects := len(g.callsOf[id])-len(g.first.callsOf[id]), len(g.effectsOf[id])-len(g.first.effectsOf[id])
	if is.state != was.state || is.token != was.token || is.finished != was.finished || calls != 0 || effects != 0 {
		report(ranAgain, "job %d was %s by claim %d, and is %s by claim %d, with %d further calls and %d further effects", id, was.state, was.token, is.state, is.token, calls, effects)
	}
}

func (g *graphAudit) auditCalls(s step, job graphJob, from, dueFrom int64, report reporter) {
	seen := map[int64]bool{}
	for _, c := range g.callsOf[s.id] {
		switch {
		case seen[c.token]:
			report(startedTwice, "job %d was called twice with claim %d", s.id, c.token)
		case c.at < from:
			report(tooEarly, "job %d was called %d µs before the end of a job before it", s.id, from-c.at)
		case c.at < dueFrom:
			report(delayNotKept, "job %d was called %d µs too early", s.id, dueFrom-c.at)
		}
		seen[c.token] = true
		if ended(job.state) && c.at > g.end(s.id) {
			report(startedTwice, "job %d was called %d µs after its end", s.id, c.at-g.end(s.id))
		}
		attempt, is := job.ended[c.token]
		switch {
		case c.token == job.token && ended(job.state):
		case !is:
			report(startedTwice, "job %d was called with claim %d, and no record says how that attempt ended", s.id, c.token)
		case attempt.outcome == "lost" && g.harmed[g.nodes[c.token]] == "":
			report(unexplained, "job %d was taken from node %s (claim %d), and nothing had happened to that node", s.id, g.nodes[c.token], c.token)
		}
	}
	if job.state == s.end && !seen[job.token] {
		report(lostWork, "job %d is %s, and no worker was called with its last claim", s.id, job.state)
	}
}

func (g *graphAudit) auditEffects(s step, job graphJob, report reporter) {
	of := g.effectsOf[s.id]
	switch {
	case len(of) > 1:
		report(doubled, "job %d has %d effects", s.id, len(of))
	case len(of) == 0 && s.effect && job.state == "completed":
		report(lostWork, "job %d is completed and has no effect", s.id)
	case len(of) == 1 && (job.state != "completed" || of[0].token != job.token):
		report(foreign, "job %d is %s by claim %d, and has an effect of claim %d", s.id, job.state, job.token, of[0].token)
	}
}

// reasons returns the reasons that a job which is not started may have: each names a job that
// it goes back to. A job that did not wait again keeps its reason.
func (g *graphAudit) reasons(s step) (all []string) {
	if g.first != nil {
		all = g.first.reasons(s)
	}
	for _, l := range s.after {
		p := g.steps[l.place]
		switch state := g.jobs[p.id].state; {
		case state == "not_started":
			all = append(all, g.jobs[p.id].reason)
		case matches(l.on, state):
		case state == "cancelled":
			all = append(all, fmt.Sprintf("job %d was cancelled", p.id))
		default:
			all = append(all, fmt.Sprintf("job %d %s", p.id, state))
		}
	}
	return all
}

// before describes the jobs before a job, at the end and before jobs were retried by hand.
func (g *graphAudit) before(s step) string {
	var text []string
	for _, l := range s.after {
		p := g.jobs[g.steps[l.place].id]
		one := fmt.Sprintf("job %d (edge on %v) %s %s", g.steps[l.place].id, l.on, p.state, p.reason)
		if g.first != nil {
			was := g.first.jobs[g.steps[l.place].id]
			one += fmt.Sprintf(", was %s %s", was.state, was.reason)
		}
		text = append(text, one)
	}
	return strings.Join(text, "; ")
}

// goodGraphs returns an account in which all is well.
func goodGraphs() graphAccount {
	const ms = int64(1000)
	return graphAccount{
		steps: []step{
			{id: 1, end: "completed", effect: true},
			{id: 2, end: "completed", effect: true, after: []link{{place: 0, delay: 100 * time.Millisecond}}},
			{id: 3, end: "failed", effect: true, after: []link{{place: 0, on: store.OnEither}}},
			{id: 4, end: "completed", effect: true, after: []link{{place: 2, on: store.OnFailure}, {place: 1}}},
			{id: 5, end: "completed", effect: true, after: []link{{place: 2}, {place: 1}}},
			{id: 6, end: "completed", effect: true, after: []link{{place: 4, on: store.OnEither}}},
			{id: 7, end: "completed", effect: true, anyOf: true, after: []link{{place: 4}, {place: 2, on: store.OnFailure}, {place: 3}}},
		},
		jobs: map[int64]graphJob{
			1: {state: "completed", token: 11, finished: 1000 * ms},
			2: {state: "completed", token: 14, finished: 1200 * ms, ended: map[int64]auditedAttempt{12: {"lost", "killed"}, 13: {"retried", "well"}}},
			3: {state: "failed", token: 15, finished: 1100 * ms},
			4: {state: "completed", token: 16, finished: 1300 * ms},
			5: {state: "not_started", reason: "job 3 failed", finished: 1100 * ms},
			6: {state: "not_started", reason: "job 3 failed", finished: 1100 * ms},
			7: {state: "completed", token: 17, finished: 1150 * ms},
		},
		calls: []graphCall{
			{1, 11, 900 * ms},
			{2, 12, 1100 * ms},
			{2, 13, 1110 * ms},
			{2, 14, 1120 * ms},
			{3, 15, 1010 * ms},
			{4, 16, 1210 * ms},
			{7, 17, 1110 * ms},
		},
		effects: []graphCall{{1, 11, 990 * ms}, {2, 14, 1190 * ms}, {4, 16, 1290 * ms}, {7, 17, 1140 * ms}},
		nodes:   map[int64]string{11: "well", 12: "killed", 13: "well", 14: "well", 15: "well", 16: "well", 17: "well"},
		harmed:  map[string]string{"killed": "was killed"},
	}
}

// changed changes the job of an account.
func changed(id int64, do func(*graphJob)) func(*graphAccount) {
	return func(a *graphAccount) {
		job := a.jobs[id]
		do(&job)
		a.jobs[id] = job
	}
}

// gone removes the calls and effects of a job.
func gone(a *graphAccount, id int64) {
	of := func(c graphCall) bool { return c.job == id }
	a.calls, a.effects = slices.DeleteFunc(a.calls, of), slices.DeleteFunc(a.effects, of)
}

// TestTheAuditOfGraphsFindsFaults changes a good account in one way at a time.
func TestTheAuditOfGraphsFindsFaults(t *testing.T) {
	const ms = int64(1000)
	for name, test := range map[string]struct {
		change func(a *graphAccount)
		want   []string
	}{
		"all is well":                        {func(*graphAccount) {}, nil},
		"called before the end of the other": {func(a *graphAccount) { a.calls[4].at = 999 * ms }, []string{tooEarly}},
		"called before the last of two ends": {func(a *graphAccount) { a.calls[5].at = 1199 * ms }, []string{tooEarly}},
		"called before any of the ends":      {func(a *graphAccount) { a.calls[6].at = 1099 * ms }, []string{tooEarly}},
		"called before the delay has passed": {func(a *graphAccount) { a.calls[1].at = 1099 * ms }, []string{delayNotKept}},
		"a lost attempt came too early":      {func(a *graphAccount) { a.calls[1].at = 999 * ms }, []string{tooEarly}},
		"called twice with one claim":        {func(a *graphAccount) { a.calls = append(a.calls, a.calls[5]) }, []string{startedTwice}},
		"called by two claims":               {func(a *graphAccount) { a.calls = append(a.calls, graphCall{4, 18, 1220 * ms}) }, []string{startedTwice}},
		"called again after the end":         {func(a *graphAccount) { a.calls = append(a.calls, graphCall{4, 18, 1400 * ms}) }, []string{startedTwice}},
		"a node that lived lost a job":       {func(a *graphAccount) { delete(a.harmed, "killed") }, []string{unexplained}},
		"never released": {func(a *graphAccount) {
			changed(7, func(j *graphJob) { *j = graphJob{state: "waiting"} })(a)
			gone(a, 7)
		}, []string{notReleased}},
		"the cascade stops": {changed(6, func(j *graphJob) { *j = graphJob{state: "waiting"} }), []string{notReleased}},
		"ready for ever":    {func(a *graphAccount) { changed(7, func(j *graphJob) { *j = graphJob{state: "ready"} })(a); gone(a, 7) }, []string{stuck}},
		"a job is gone":     {func(a *graphAccount) { delete(a.jobs, 7); gone(a, 7) }, []string{lostWork}},
		"started after an outcome of no match": {func(a *graphAccount) {
			changed(6, func(j *graphJob) { *j = graphJob{state: "completed", token: 18, finished: 1400 * ms} })(a)
			a.calls = append(a.calls, graphCall{6, 18, 1300 * ms})
			a.effects = append(a.effects, graphCall{6, 18, 1300 * ms})
		}, []string{wrongOutcome}},
		"not started after a match": {func(a *graphAccount) {
			changed(4, func(j *graphJob) { *j = graphJob{state: "not_started", reason: "job 3 failed"} })(a)
			gone(a, 4)
		}, []string{wrongOutcome}},
		"not started because of another job":  {changed(6, func(j *graphJob) { j.reason = "job 1 completed" }), []string{wrongOutcome}},
		"ended in another state than planned": {changed(3, func(j *graphJob) { j.state = "cancelled" }), []string{wrongOutcome}},
		"two effects":                         {func(a *graphAccount) { a.effects = append(a.effects, graphCall{2, 13, 1115 * ms}) }, []string{doubled}},
		"an effect of a former claim":         {func(a *graphAccount) { a.effects[1].token = 13 }, []string{foreign}},
		"an effect of a job that failed":      {func(a *graphAccount) { a.effects = append(a.effects, graphCall{3, 15, 1020 * ms}) }, []string{foreign}},
		"completed without an effect":         {func(a *graphAccount) { a.effects = a.effects[:3] }, []string{lostWork}},
		"completed without a call":            {func(a *graphAccount) { a.calls = a.calls[:6] }, []string{lostWork}},
	} {
		a := goodGraphs()
		test.change(&a)
		var got []string
		for _, f := range auditGraph(a) {
			got = append(got, f.kind)
		}
		if got = slices.Compact(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: the audit found %v, want %v", name, auditGraph(a), test.want)
		}
	}
}

// TestTheAuditOfRetriesFindsFaults changes an account of a graph in which a failed job was retried by
// hand.
func TestTheAuditOfRetriesFindsFaults(t *testing.T) {
	const ms = int64(1000)
	retried := func() graphAccount {
		before, a := goodGraphs(), goodGraphs()
		a.before, a.mended = &before, map[int64]bool{3: true}
		a.jobs[3] = graphJob{state: "completed", token: 21, finished: 2000 * ms, ended: map[int64]auditedAttempt{15: {"failed", "well"}}}
		a.jobs[5] = graphJob{state: "completed", token: 22, finished: 2100 * ms}
		a.jobs[6] = graphJob{state: "completed", token: 23, finished: 2200 * ms}
		a.calls = append(a.calls, graphCall{3, 21, 1900 * ms}, graphCall{5, 22, 2010 * ms}, graphCall{6, 23, 2110 * ms})
		a.effects = append(a.effects, graphCall{3, 21, 1990 * ms}, graphCall{5, 22, 2090 * ms}, graphCall{6, 23, 2190 * ms})
		return a
	}
	for name, test := range map[string]struct {
		change func(a *graphAccount)
		want   []string
	}{
		"all is well":                {func(*graphAccount) {}, nil},
		"the retried job fails":      {changed(3, func(j *graphJob) { j.state = "failed" }), []string{foreign, wrongOutcome}},
		"the retried job is not run": {func(a *graphAccount) { a.calls = slices.Delete(a.calls, 7, 8) }, []string{lostWork}},
		"a job that ran runs again": {func(a *graphAccount) {
			changed(4, func(j *graphJob) { j.token, j.finished = 24, 2100*ms })(a)
			a.calls = append(a.calls, graphCall{4, 24, 2010 * ms})
		}, []string{ranAgain}},
		"a job that ran is not started": {changed(4, func(j *graphJob) { j.state, j.reason = "not_started", "job 3 completed" }), []string{ranAgain}},
		"a job does not wait again": {func(a *graphAccount) {
			for _, id := range []int64{5, 6} {
				changed(id, func(j *graphJob) { *j = graphJob{state: "not_started", reason: "job 3 failed", finished: 1100 * ms} })(a)
				gone(a, id)
			}
		}, []string{wrongOutcome}},
		"a job waits for ever": {func(a *graphAccount) {
			changed(6, func(j *graphJob) { *j = graphJob{state: "waiting"} })(a)
			gone(a, 6)
		}, []string{notReleased}},
		"a job runs before the retry":   {func(a *graphAccount) { a.calls[8].at = 1500 * ms }, []string{tooEarly}},
		"a job runs in spite of a miss": {func(a *graphAccount) { a.steps[4].after[0].on = store.OnFailure }, []string{wrongOutcome}},
	} {
		a := retried()
		test.change(&a)
		var got []string
		for _, f := range auditGraph(a) {
			got = append(got, f.kind)
		}
		if got = slices.Compact(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: the audit found %v, want %v", name, auditGraph(a), test.want)
		}
	}
}
