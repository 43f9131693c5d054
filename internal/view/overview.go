package view

import (
	"fmt"
	"time"

	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/store"
)

// Overview is what is known of a cluster at one instant.
type Overview struct {
	Now       time.Time // of the store's clock
	Suspended bool      // the store went back in time, and this is not accepted yet
	Nodes     []store.NodeInfo
	Queues    []store.QueueInfo
	// Untaken is a due job that no living node takes, and Why the reason; zero: none
	// was found.
	Untaken store.JobInfo
	Why     string
	Missed  []store.SlotInfo // records of missed slots of the last day, newest first
	Failed  []store.JobInfo  // jobs that failed in the last day, newest first
}

// Attention is what an operator should look at first. About is the listing that shows
// it: nodes, queues, jobs or slots. The zero value: nothing needs attention.
type Attention struct {
	Text, About string
	Job         int64  // the job that it is about, or 0
	Schedule    string // the schedule that it is about, or empty
}

const (
	behindAfter = time.Minute // a queue whose oldest due job waits longer is behind
	lately      = time.Hour   // deaths and failures before that are left to the listings
)

// First returns what an operator should look at first: what stops all work, then what
// stops some of it, then what has gone wrong.
func (o Overview) First() Attention {
	for _, find := range []func() Attention{o.stopped, o.unmanned, o.silent, o.untaken, o.behind, o.missed, o.died, o.failed} {
		if found := find(); found.Text != "" {
			return found
		}
	}
	return Attention{}
}

// Living returns how many nodes are alive as far as the store knows.
func (o Overview) Living() (n int) {
	for _, node := range o.Nodes {
		if node.EndedAt.IsZero() && NodeState(node, o.Now, false) == "alive" {
			n++
		}
	}
	return n
}

// Sum returns the counts of all queues together, with the oldest due job of any queue.
func (o Overview) Sum() (sum store.QueueInfo) {
	for _, q := range o.Queues {
		sum.Ready, sum.Scheduled, sum.Running, sum.Waiting = sum.Ready+q.Ready, sum.Scheduled+q.Scheduled, sum.Running+q.Running, sum.Waiting+q.Waiting
		if !q.Oldest.IsZero() && (sum.Oldest.IsZero() || q.Oldest.Before(sum.Oldest)) {
			sum.Oldest, sum.Name = q.Oldest, q.Name
		}
	}
	return sum
}

func (o Overview) stopped() (a Attention) {
	if o.Suspended {
		a = Attention{Text: "The store went back in time, so no node claims or fires: see `hourbell nodes accept-history --help`", About: "nodes"}
	}
	return a
}

func (o Overview) unmanned() (a Attention) {
	if sum := o.Sum(); o.Living() == 0 && sum.Ready > 0 {
		a = Attention{Text: "No node is alive, and " + plain.Plural(int(sum.Ready), "due job") + " wait: start `hourbell serve`", About: "nodes"}
	}
	return a
}

func (o Overview) silent() (a Attention) {
	for _, node := range o.Nodes {
		if NodeState(node, o.Now, false) == "silent" {
			return Attention{Text: fmt.Sprintf("Node %s was last heard %s", node.Name, ago(o.Now, node.SeenAt)), About: "nodes"}
		}
	}
	return a
}

func (o Overview) untaken() (a Attention) {
	if o.Why != "" {
		a = Attention{Text: fmt.Sprintf("Job %d waits although it is due: %s", o.Untaken.ID, o.Why), About: "jobs", Job: o.Untaken.ID}
	}
	return a
}

func (o Overview) behind() (a Attention) {
	if sum := o.Sum(); !sum.Oldest.IsZero() && o.Now.Sub(sum.Oldest) > behindAfter {
		a = Attention{Text: fmt.Sprintf("Queue %s is behind: its oldest due job has waited for %s", sum.Name, plain.Brief(o.Now.Sub(sum.Oldest).Round(time.Second))), About: "queues"}
	}
	return a
}

func (o Overview) missed() (a Attention) {
	if len(o.Missed) > 0 {
		slot := o.Missed[0]
		a = Attention{Text: fmt.Sprintf("Schedule %s missed %s: %s", slot.ScheduleName, plain.Plural(int(slot.Count), "slot"), slot.Reason), About: "slots", Schedule: slot.ScheduleName}
	}
	return a
}

func (o Overview) died() (a Attention) {
	for _, node := range o.Nodes {
		if node.Died && o.Now.Sub(node.EndedAt) < lately {
			return Attention{Text: fmt.Sprintf("Node %s died %s", node.Name, ago(o.Now, node.EndedAt)), About: "nodes"}
		}
	}
	return a
}

func (o Overview) failed() (a Attention) {
	n := 0
	for _, job := range o.Failed {
		if o.Now.Sub(job.FinishedAt) < lately {
			n++
		}
	}
	if n > 0 {
		job := o.Failed[0]
		a = Attention{Text: fmt.Sprintf("%s failed in the last hour; the newest is job %d of kind %s: %s", plain.Plural(n, "job"), job.ID, job.Kind, ShortError(job.Reason)), About: "jobs", Job: job.ID}
	}
	return a
}

// ago returns how long before now an instant was.
func ago(now, at time.Time) string { return plain.Brief(now.Sub(at).Round(time.Second)) + " ago" }
