// Package findings lists what is wrong with a cluster, since when, and what to do. The rules are in this package only.
// The program (doctor, top), the pages, the API, the metrics and /readyz show its list, and have no rules of their own
// (docs/adr/0085-what-is-wrong-is-one-list.md).
//
//	findings.go  (pure) the rules, the most urgent first
//	zones.go     (pure) compares the data of time zones
//	ready.go     (pure) whether a node is ready
//	facts.go     reads what the rules decide on
package findings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/store"
)

// Rule finds one sort of what may be wrong.
type Rule struct {
	Name   string // of its findings (store.Finding.Check), and the label of the metric
	Level  store.FindingLevel
	About  string // the listing that shows more: nodes, queues, jobs, schedules or slots
	remedy string // what to do, unless the finding has its own remedy
	find   func(Facts) []store.Finding
}

// startServe is what to do if no node lives.
const startServe = "start `hourbell serve`"

// rules are all rules, the most urgent first: what stops all work, then what stops some of it, then what has gone wrong.
var rules = []Rule{
	{"store-went-back", store.FindingError, "nodes", "see `hourbell nodes accept-history --help`", wentBack},
	{"no-node", store.FindingError, "nodes", startServe, noNode},
	{"schedule-overdue", store.FindingError, "schedules", "", overdue},
	{
		"schedule-ahead", store.FindingError, "schedules",
		"`hourbell schedules reset --all --dry-run` shows them, and without --dry-run resets them, if the clock was wrong; " +
			"after a change of time-zone data wait an hour", ahead,
	},
	{"schedule-broken", store.FindingError, "schedules", "`hourbell jobs show JOB` has the error; `hourbell schedules pause` stops it", broken},
	{"node-silent", store.FindingWarning, "nodes", "see that its process runs and reaches the store; another node takes its jobs", silent},
	{
		FileRefused, store.FindingError, "nodes",
		"mend the file, which is read again at once; `hourbell check FILE` has all mistakes", func(f Facts) []store.Finding { return f.problems(FileRefused) },
	},
	{
		work.WorkerStuck, store.FindingWarning, "jobs",
		"its stack is in the log of the node (job stuck); only an end of the process ends it", func(f Facts) []store.Finding { return f.problems(work.WorkerStuck) },
	},
	{
		CallsEnded, store.FindingError, "nodes",
		"set the limit to 0 or to a longer time, for the role, the database or the server, wherever it is set; `hourbell doctor` with the " +
			"node's URL has the statement", func(f Facts) []store.Finding { return f.problems(CallsEnded) },
	},
	{
		FewConnections, store.FindingWarning, "nodes",
		"raise the limit of the role or of the server, whichever is named, or lower pool_max_conns in the URLs of programs; `hourbell doctor` " +
			"with the node's URL has the statement", func(f Facts) []store.Finding { return f.problems(FewConnections) },
	},
	{
		ShortTimeouts, store.FindingWarning, "nodes",
		"set it to 0, or to a longer time; `hourbell doctor` with the node's URL has the statement",
		func(f Facts) []store.Finding { return f.problems(ShortTimeouts) },
	},
	{"schedule-fails", store.FindingWarning, "schedules", "`hourbell jobs show JOB` has the error", fails},
	{"job-untaken", store.FindingError, "jobs", "start a node that takes it", untaken},
	{"job-held-up", store.FindingWarning, "jobs", "`hourbell jobs show JOB` has the reason", heldUp},
	{"pause-holds-jobs", store.FindingWarning, "jobs", "resume it: `hourbell queues resume`, `groups`, `kinds` or `keys resume`", paused},
	{"queue-behind", store.FindingWarning, "queues", "give its nodes more workers, or start another node", behind},
	{"slots-missed", store.FindingWarning, "slots", "`hourbell slots` has the reason of each", missed},
	{"node-died", store.FindingWarning, "nodes", "see the log of its host; other nodes have its jobs", died},
	{"jobs-failed", store.FindingWarning, "jobs", "`hourbell jobs list --state failed` lists them", failed},
	{
		"time-zones-differ", store.FindingWarning, "nodes",
		"install the same version of the package tzdata there; nodes read it within a minute, and need no restart", zonesDiffer,
	},
	{"not-read", store.FindingWarning, "nodes", "`hourbell doctor` examines the store", notRead},
}

// Rules returns all rules, the most urgent first.
func Rules() []Rule { return slices.Clone(rules) }

// About returns the listing that shows more about a finding: nodes, queues, jobs, schedules or slots; empty: the finding is of no
// rule.
func About(f store.Finding) string {
	for _, r := range rules {
		if r.Name == f.Check {
			return r.About
		}
	}
	return ""
}

// Find returns what is wrong, the most urgent first.
func Find(f Facts) (found []store.Finding) {
	for _, r := range rules {
		for _, one := range r.find(f) {
			one.Check, one.Level = r.Name, r.Level
			if one.Remedy == "" {
				one.Remedy = r.remedy
			}
			found = append(found, one)
		}
	}
	return found
}

const (
	behindAfter  = time.Minute      // a queue whose oldest due job waits longer is behind
	lately       = time.Hour        // deaths and failures before that are left to the listings
	brokenAfter  = 10               // so many failures in a row break a schedule
	failureSorts = 3                // of jobs that failed alike are findings
	dueFirst     = 10 * time.Second // a job that is due longer is looked at: does any node take it?
)

func wentBack(f Facts) []store.Finding {
	if !f.Suspended() {
		return nil
	}
	return []store.Finding{{Found: "the store went back in time, so no node claims or fires", Since: f.LostAt}}
}

// noNode leaves schedules whose slots have passed to overdue.
func noNode(f Facts) []store.Finding {
	ready, since, estimated := int64(0), time.Time{}, false
	for _, q := range f.Queues {
		ready, estimated = ready+q.Ready, estimated || q.Estimated
		since = store.Earlier(since, q.Oldest)
	}
	switch {
	case f.Living() > 0:
		return nil
	case ready > 0:
		due := plain.Plural(int(ready), "due job")
		if estimated {
			due = "about " + due
		}
		return []store.Finding{{Found: f.nodeless() + ", and " + due + waitOf(ready), Since: since}}
	case f.NextSlot.IsZero() || len(f.Overdue) > 0:
		return nil
	}
	last, _ := f.lastNode()
	return []store.Finding{{
		Found: fmt.Sprintf("%s, so that schedule %s will not fire at %s", f.nodeless(), f.NextName, plain.Stamp(f.NextSlot)),
		Since: last.EndedAt, Schedule: f.NextName,
	}}
}

// nodeless is a text: no node is alive, and what became of the last node.
func (f Facts) nodeless() string {
	last, found := f.lastNode()
	switch {
	case !found:
		return "no node is alive"
	case last.Died:
		return fmt.Sprintf("no node is alive (the last, %s, died %s)", last.Name, ago(f.Now, last.EndedAt))
	}
	return fmt.Sprintf("no node is alive (the last, %s, was stopped %s)", last.Name, ago(f.Now, last.EndedAt))
}

// lastNode returns the node that has ended last.
func (f Facts) lastNode() (last store.NodeInfo, found bool) {
	for _, n := range f.Nodes {
		if n.EndedAt.After(last.EndedAt) {
			last, found = n, true
		}
	}
	return last, found
}

func waitOf(n int64) string {
	if n == 1 {
		return " waits"
	}
	return " wait"
}

// overdue has one finding for each reason. While the store has gone back in time, that is the reason, and has its finding.
func overdue(f Facts) (found []store.Finding) {
	if f.Suspended() {
		return nil
	}
	by := map[string][]hourbell.ScheduleInfo{}
	var reasons []string
	for _, s := range f.Overdue {
		if by[s.Waits] == nil {
			reasons = append(reasons, s.Waits)
		}
		by[s.Waits] = append(by[s.Waits], s)
	}
	for _, why := range reasons {
		first, slots := by[why][0], 0
		for _, s := range by[why] {
			if slots += s.Overdue.Slots; s.Overdue.Since.Before(first.Overdue.Since) {
				first = s
			}
		}
		one := store.Finding{Since: first.Overdue.Since, Schedule: first.Name}
		one.Found = fmt.Sprintf("schedule %s has not fired %s", first.Name, plain.Plural(slots, "slot"))
		if n := len(by[why]); n > 1 {
			one.Found = fmt.Sprintf("%s, such as %s, have not fired %s", plain.Plural(n, "schedule"), first.Name, plain.Plural(slots, "slot"))
		}
		one.Found += ", the first at " + plain.Stamp(first.Overdue.Since) + ": "
		switch {
		case f.Living() == 0:
			one.Found, one.Remedy = one.Found+f.nodeless(), startServe
		case why != "":
			one.Found, one.Remedy = one.Found+why, "start a node that takes its jobs; `hourbell nodes` lists what each node takes"
		default:
			one.Found, one.Remedy = one.Found+"no node has accounted for them", "see the logs of the nodes, and `hourbell doctor` for the store"
		}
		found = append(found, one)
	}
	return found
}

func ahead(f Facts) []store.Finding {
	if len(f.Ahead) == 0 {
		return nil
	}
	first := f.Ahead[0]
	text := fmt.Sprintf("schedule %s is ahead of the store's clock and stands still: it is accounted for up to %s", first.Name, plain.Stamp(first.Mark))
	if n := len(f.Ahead); n > 1 {
		text = fmt.Sprintf("%s are ahead of the store's clock and stand still, such as %s, which is accounted for up to %s",
			plain.Plural(n, "schedule"), first.Name, plain.Stamp(first.Mark))
	}
	return []store.Finding{{Found: text, Schedule: first.Name}}
}

// broken finds schedules whose jobs all fail, fails schedules whose newest jobs did.
func broken(f Facts) []store.Finding {
	return f.failing(func(h hourbell.ScheduleHealth) bool { return h.Failures >= brokenAfter })
}

func fails(f Facts) []store.Finding {
	return f.failing(func(h hourbell.ScheduleHealth) bool { return h.Failures < brokenAfter })
}

// failing has one finding for all schedules that fail for the same reason.
func (f Facts) failing(holds func(hourbell.ScheduleHealth) bool) (found []store.Finding) {
	alike := map[string]int{} // by the reason: the place of the finding
	more := map[int]int{}
	for _, one := range f.Failing {
		if !holds(one.Health) {
			continue
		}
		reason := plain.FirstLine(one.Reason)
		if place, known := alike[reason]; known && reason != "" {
			if more[place]++; one.Health.FailedFirst.Before(found[place].Since) {
				found[place].Since = one.Health.FailedFirst
			}
			continue
		}
		alike[reason] = len(found)
		text := fmt.Sprintf("the last %d jobs of schedule %s failed", one.Health.Failures, one.Schedule.Name)
		if one.Health.Failures == hourbell.HealthSlots {
			text = fmt.Sprintf("the last %d jobs of schedule %s, or more, failed", one.Health.Failures, one.Schedule.Name)
		}
		if reason != "" {
			text += ", job " + fmt.Sprint(one.Health.FailedLast) + " with: " + reason
		}
		found = append(found, store.Finding{Found: text, Since: one.Health.FailedFirst, Schedule: one.Schedule.Name})
	}
	for place, n := range more {
		found[place].Found += fmt.Sprintf("; so do the jobs of %s", plain.Plural(n, "other schedule"))
	}
	return found
}

func silent(f Facts) []store.Finding {
	return firstOf(f.Nodes, func(n store.NodeInfo) bool { return n.EndedAt.IsZero() && !n.Alive(f.Now) }, func(n store.NodeInfo) store.Finding {
		return store.Finding{Found: fmt.Sprintf("node %s was last heard %s, and its lease is over", n.Name, ago(f.Now, n.SeenAt)), Since: n.SeenAt, Node: n.Name}
	})
}

// FileRefused is the name of the problem of a node that cannot use one of its files.
const FileRefused = "file-refused"

// CallsEnded is the name of the problem of a node whose calls the server of the store has ended because of a time limit.
const CallsEnded = "calls-ended"

// The names of problems of a node that the store gives too few connections, or statements too little time. Examine of a driver has
// findings with the same names about its own user.
const (
	FewConnections = "connections"
	ShortTimeouts  = "timeouts"
)

// problems returns what living nodes report.
func (f Facts) problems(name string) (found []store.Finding) {
	for _, n := range f.Nodes {
		if !n.Alive(f.Now) {
			continue
		}
		for _, p := range n.Problems {
			if p.Name == name {
				found = append(found, store.Finding{Found: p.Text + " (node " + n.Name + ")", Since: p.Since, Node: n.Name})
			}
		}
	}
	return found
}

func died(f Facts) []store.Finding {
	return firstOf(f.Nodes, func(n store.NodeInfo) bool { return n.Died && f.Now.Sub(n.EndedAt) < lately }, func(n store.NodeInfo) store.Finding {
		return store.Finding{Found: fmt.Sprintf("node %s died %s", n.Name, ago(f.Now, n.EndedAt)), Since: n.EndedAt, Node: n.Name}
	})
}

// firstOf returns one finding about the first item that a condition holds for, with the number of others.
func firstOf[T any](items []T, holds func(T) bool, finding func(T) store.Finding) []store.Finding {
	items = slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !holds(item) })
	if len(items) == 0 {
		return nil
	}
	one := finding(items[0])
	if more := len(items) - 1; more > 0 {
		one.Found += fmt.Sprintf(", and %d more", more)
	}
	return []store.Finding{one}
}

// untaken leaves the case that no node lives to noNode.
func untaken(f Facts) []store.Finding {
	if f.Living() == 0 {
		return nil
	}
	return f.waiting(func(w Waiting) bool { return len(w.Pauses) == 0 && !f.taken(w.Job) })
}

func paused(f Facts) []store.Finding {
	return f.waiting(func(w Waiting) bool { return len(w.Pauses) > 0 })
}

func heldUp(f Facts) []store.Finding {
	found := f.waiting(func(w Waiting) bool { return len(w.Pauses) == 0 && f.taken(w.Job) })
	return found[:min(len(found), 1)] // each job has a reason of its own
}

// waiting has a finding for each reason for which due jobs wait and that holds.
func (f Facts) waiting(holds func(Waiting) bool) (found []store.Finding) {
	for _, w := range f.Waiting {
		if !holds(w) {
			continue
		}
		one := store.Finding{Found: fmt.Sprintf("job %d waits although it is due: %s", w.Job.ID, w.Why), Since: w.Job.RunAt, Job: w.Job.ID}
		if len(w.Pauses) > 0 {
			one.Since = w.Pauses[0].At
		}
		found = append(found, one)
	}
	return found
}

// taken reports whether a living node takes the jobs of the queue and the kind of a job.
func (f Facts) taken(job store.JobInfo) bool {
	return slices.ContainsFunc(f.Nodes, func(n store.NodeInfo) bool {
		return n.Alive(f.Now) && n.Serves(job.Queue) && slices.Contains(n.Kinds, job.Kind)
	})
}

// behind leaves out paused queues, because an operator has stopped them, and the case that no node lives.
func behind(f Facts) []store.Finding {
	if f.Living() == 0 {
		return nil
	}
	var worst hourbell.QueueInfo
	for _, q := range f.Queues {
		if q.Pause.At.IsZero() && !q.Oldest.IsZero() && f.Now.Sub(q.Oldest) > behindAfter && (worst.Name == "" || q.Oldest.Before(worst.Oldest)) {
			worst = q
		}
	}
	if worst.Name == "" {
		return nil
	}
	return []store.Finding{{
		Found: fmt.Sprintf("queue %s is behind: its oldest due job has waited for %s", worst.Name, plain.Brief(f.Now.Sub(worst.Oldest).Round(time.Second))),
		Since: worst.Oldest,
	}}
}

func missed(f Facts) []store.Finding {
	if len(f.Missed) == 0 {
		return nil
	}
	slot := f.Missed[0]
	return []store.Finding{{
		Found:    fmt.Sprintf("schedule %s missed %s: %s", slot.ScheduleName, plain.Plural(int(slot.Count), "slot"), slot.Reason),
		Since:    slot.Slot,
		Schedule: slot.ScheduleName,
	}}
}

func failed(f Facts) (found []store.Finding) {
	known := map[int64]bool{} // schedules that have findings of their own
	for _, one := range f.Failing {
		known[one.Schedule.ID] = true
	}
	type sort struct{ kind, reason string }
	alike := map[sort][]store.JobInfo{}
	var sorts []sort // the sort of the newest job first
	for _, job := range f.Failed {
		if f.Now.Sub(job.FinishedAt) >= lately || known[job.Schedule] {
			continue
		}
		s := sort{job.Kind, plain.FirstLine(job.Reason)}
		if alike[s] == nil {
			sorts = append(sorts, s)
		}
		alike[s] = append(alike[s], job)
	}
	slices.SortStableFunc(sorts, func(a, b sort) int { return len(alike[b]) - len(alike[a]) })
	for _, s := range sorts[:min(len(sorts), failureSorts)] {
		newest, oldest := alike[s][0], alike[s][len(alike[s])-1]
		found = append(found, store.Finding{
			Found: fmt.Sprintf("%s failed in the last hour; the newest is job %d of kind %s: %s", plain.Plural(len(alike[s]), "job"), newest.ID, s.kind, s.reason),
			Since: oldest.FinishedAt, Job: newest.ID,
		})
	}
	if more := len(sorts) - len(found); more > 0 {
		found[len(found)-1].Found += fmt.Sprintf("; and jobs failed in %s", plain.Plural(more, "other way"))
	}
	return found
}

func zonesDiffer(f Facts) []store.Finding {
	_, differing := compareZones(f.Nodes, f.Now)
	if len(differing) == 0 {
		return nil
	}
	return []store.Finding{{Found: strings.Join(differing, "; ")}}
}

func notRead(f Facts) []store.Finding {
	if len(f.Unread) == 0 {
		return nil
	}
	return []store.Finding{{Found: "the store did not answer in time, so that this is not known: " + strings.Join(f.Unread, ", ")}}
}

// ago returns how long before now an instant was.
func ago(now, at time.Time) string { return plain.Brief(now.Sub(at).Round(time.Second)) + " ago" }
