package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// plan is what happens in a run: data, drawn from a seed, that can be shortened. What the plan does not say, such as
// how long each call takes, is drawn for each purpose by itself (dice).
type plan struct {
	Seed    uint64
	Nodes   int
	Workers int           // of each queue on each node
	Length  time.Duration // after this the weather is calm, and all work comes to its end
	Lease   time.Duration
	Push    bool          // the store sends wake-ups
	Skew    time.Duration // the store's clock is ahead of the nodes' by this
	Roles   bool          // nodes have labels, and so a queue more for each
	Weather weather
	Events  []event
}

// event is something that a user does, or a fault, at an instant.
type event struct {
	At    time.Duration // since the start
	Verb  string
	Of    string        // the sort of what is paused
	Name  string        // of what the event concerns
	Node  int           // of a fault
	Trap  string        // the fault comes right after the node's next call of this operation has taken effect
	For   time.Duration // how long it lasts, by how much a clock is set, or how long a caller waits
	Jobs  []job         // of an enqueue
	Sched *schedule
	Limit *hourbell.Limit
	// Seconds of each minute are what a calendar excludes.
	Seconds []int
}

// job is a job as a user enqueues it.
type job struct {
	Label       string // in its args; each job of a plan has its own
	Kind        string
	Queue       string
	Key         string
	Group       string
	Unique      string
	UniqueFor   time.Duration
	Priority    int
	In          time.Duration
	MaxAttempts int
	FailOnLoss  bool
	Timeout     time.Duration
	After       []edge
	Any         bool
	Steps       []part // of kindSteps
}

// edge is a predecessor by its label.
type edge struct {
	Of    string
	On    store.On
	Delay time.Duration
}

// schedule is a schedule as a user puts it.
type schedule struct {
	Name    string
	Every   time.Duration
	Seconds []int // of each minute, instead of Every
	Overlap hourbell.Overlap
	Misfire hourbell.Misfire
	Kind    string
	Grace   time.Duration // 0: the default
	Count   int64         // of slots that fire; 0: any
	Group   string
	After   string // a schedule that it follows, instead of a rule
	Loss    bool   // its jobs fail if they are lost
	Hooks   bool   // the ends of its jobs, and failed attempts, make jobs
	On      hourbell.Place
	// Excludes means that the calendar of the plan keeps slots from firing.
	Excludes bool
}

// String returns the event as one line of a trace.
func (e event) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v %s", e.At.Round(time.Millisecond), e.Verb)
	if e.Node > 0 {
		fmt.Fprintf(&text, " node %d", e.Node)
	}
	if e.Name != "" {
		text.WriteString(mark(e.Of != "", " "+e.Of))
		fmt.Fprintf(&text, " %s", e.Name)
	}
	text.WriteString(mark(e.Trap != "", " at its next "+e.Trap))
	if e.For != 0 {
		fmt.Fprintf(&text, " for %v", e.For)
	}
	for _, j := range e.Jobs {
		fmt.Fprintf(&text, " %s", j)
	}
	if e.Sched != nil {
		fmt.Fprintf(&text, " %+v", *e.Sched)
	}
	if e.Seconds != nil {
		fmt.Fprintf(&text, " %v", e.Seconds)
	}
	if e.Limit != nil {
		fmt.Fprintf(&text, " queue=%q kind=%q by key=%v at a time=%d rate=%v",
			e.Limit.Queue, e.Limit.Kind, e.Limit.ByKey, e.Limit.Concurrency, e.Limit.Rate)
	}
	return text.String()
}

// String returns the job in short.
func (j job) String() string {
	parts := []string{j.Label, j.Kind}
	add := func(is bool, format string, value any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(j.Queue != "default", "queue=%v", j.Queue)
	add(j.Key != "", "key=%v", j.Key)
	add(j.Group != "", "group=%v", j.Group)
	add(j.Unique != "", "unique=%v", j.Unique)
	add(j.UniqueFor != 0, "unique for %v", j.UniqueFor)
	add(j.Priority != 0, "priority=%v", j.Priority)
	add(j.In != 0, "in %v", j.In)
	add(j.MaxAttempts != 0, "attempts=%v", j.MaxAttempts)
	add(j.FailOnLoss, "fails on loss%v", "")
	add(j.Timeout != 0, "timeout=%v", j.Timeout)
	add(len(j.After) > 0, "after %v", j.After)
	add(j.Any, "any%v", "")
	add(len(j.Steps) > 0, "%v", j.Steps)
	return "{" + strings.Join(parts, " ") + "}"
}

// String returns the plan as text, an event a line.
func (p *plan) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %d nodes with %d workers for each queue, a lease of %v, for %v; wake-ups %v; "+
		"the store's clock is %v ahead; weather %+v\n",
		p.Seed, p.Nodes, p.Workers, p.Lease, p.Length, p.Push, p.Skew, p.Weather)
	for _, e := range p.Events {
		fmt.Fprintf(&text, "  %v\n", e)
	}
	return text.String()
}
