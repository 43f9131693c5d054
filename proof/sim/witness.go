package sim

import (
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// witness is what was seen from outside: by workers, by callers, and in the store at the end. The checks know
// nothing else. Each instant is both by the store's clock, which steps, and by the clock of the simulation, which
// does not.
type witness struct {
	mu      sync.Mutex
	runs    []*run
	begun   map[int64]int // runs by job
	asked   []*asked
	faults  []fault
	limits  []*inForce[hourbell.Limit]
	pauses  []*inForce[subject]
	rules   []*inForce[schedule]
	halts   []*inForce[string] // pauses of schedules
	cancels []*inForce[int64]  // of jobs by number
	// handlers are kinds with a handler, and calendars the seconds that the calendar excludes.
	handlers  []*inForce[string]
	calendars []*inForce[[]int]
	changing  map[string]int // calls without an answer, by what they change: see event.about

	sent   []*sent // signals
	forgot []*forgot
	parked map[string]bool // waits for signals that have begun

	// What was stored when nothing was left to do but to wait: jobs, and the permits in use.
	atRest  []store.JobInfo
	permits []store.LimitInfo

	jobs  []store.JobInfo  // at the end, by number
	steps []store.Step     // at the end, by job and place
	slots []store.SlotInfo // at the end, newest first
	nodes []store.NodeInfo // at the end, newest first
	taken []takenRun
	stuck []store.JobInfo // had not ended when there was nothing more to wait for
	crash []string        // what no weather explains
	at    moment          // the end

	back    *wentBack                // nil: the store did not go back to a backup
	took    time.Duration            // simulated
	claims  map[string]int           // calls by node and queue
	bounds  map[string][]string      // by node: the kinds that users gave a number of runs
	changed map[int64]bool           // jobs that a user may have changed by hand
	deleted map[int64]bool           // jobs that a user may have deleted
	gone    map[string]bool          // nodes that left
	dead    map[string]bool          // nodes whose processes died; guarded by mu
	groups  map[string]bool          // whose jobs users changed all at once
	bad     map[string]bool          // labels of jobs whose input is wrong
	follows map[string]bool          // schedules that follow others
	every   map[string]time.Duration // the interval of schedules that no user edits
	skips   map[string]time.Duration // the grace of schedules that make up for no slot, and that no user edits; 0: the default
	alone   map[string]bool          // schedules whose jobs never run at once
	hooked  map[string]bool          // schedules with hooks
	halted  map[string]bool          // schedules that users pause, resume or delete
}

func newWitness() *witness {
	return &witness{
		begun: map[int64]int{}, changing: map[string]int{}, claims: map[string]int{}, bounds: map[string][]string{},
		changed: map[int64]bool{}, deleted: map[int64]bool{}, bad: map[string]bool{}, gone: map[string]bool{}, groups: map[string]bool{}, dead: map[string]bool{},
		follows: map[string]bool{}, every: map[string]time.Duration{}, alone: map[string]bool{}, skips: map[string]time.Duration{},
		halted: map[string]bool{}, hooked: map[string]bool{}, parked: map[string]bool{},
	}
}

// bound notes that users give a kind a number of runs on a node.
func (w *witness) bound(node, kind string) {
	if !slices.Contains(w.bounds[node], kind) {
		w.bounds[node] = append(w.bounds[node], kind)
	}
}

// moment is an instant by both clocks.
type moment struct{ Store, Real time.Time }

// run is an attempt as its worker saw it.
type run struct {
	Label, Kind, Queue, Key, Group string
	ID, Token                      int64
	Attempt, MaxAttempts           int
	Node                           string
	Schedule                       string
	Slot                           time.Time
	FailOnLoss                     bool
	Heeds                          bool   // the worker returns when its context ends
	Start, End                     moment // End is zero while it runs
	Died                           bool   // its process was killed
	Cut                            bool   // its context ended
	Answer                         string
	Left                           time.Duration // how long the lease could be trusted when it began
	Lease                          time.Time     // when this lease ends in the store, by the clock of the nodes
	Taken                          []*taken      // steps
}

// asked is a job that a caller asked for, and what the caller was answered.
type asked struct {
	Job     job
	Batch   string // the label of its batch, or empty
	Last    bool   // it is the last job of its batch
	ID      int64  // 0: it is unknown whether it was stored
	Err     error
	At, To  moment // when it was asked, and when it was answered
	Existed bool   // the answer is another job with its unique key
	Leaves  bool   // the caller may not have waited for the answer
	Never   bool   // the caller was answered that it was not stored
}

// fault is a fault of a node, or of the store, that began and ended at these instants.
type fault struct {
	Kind     string
	Node     string // empty: it concerns all nodes
	From, To time.Time
	By       time.Duration // of a clock
}

// inForce is something that a user put in force: from the answer of the call to the next call that changes it.
type inForce[T any] struct {
	What     T
	From, To moment // To is zero: until the end
}

// subject is what can be paused.
type subject struct{ Of, Name string }

// start records that a run has begun, and reports whether the process of its node lives: a process can die between two runs.
func (w *witness) start(r *run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead[r.Node] {
		return false
	}
	w.runs = append(w.runs, r)
	w.begun[r.ID]++
	return true
}

// runsOf returns how many runs of a job have begun.
func (w *witness) runsOf(id int64) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[id]
}

// end records that a run has ended.
func (w *witness) end(r *run, at moment, answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.End.Real.IsZero() {
		r.End, r.Answer = at, answer
	}
}

// died records that the process of a node has died, with all its runs.
func (w *witness) died(node string, at moment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead[node] = true
	for _, r := range w.runs {
		if r.Node == node && r.End.Real.IsZero() {
			r.End, r.Died, r.Answer = at, true, "its process died"
		}
	}
}

// faulty reports whether a node, or the store, had a fault between two instants.
func (w *witness) faulty(node string, from, to time.Time) bool {
	for _, f := range w.faults {
		if (f.Node == node || f.Node == "") && !f.From.After(to) && !f.To.Before(from) {
			return true
		}
	}
	return false
}

// had reports whether a node had a kind of fault between two instants.
func (w *witness) had(kind, node string, from, to time.Time) bool {
	for _, f := range w.faults {
		if f.Kind == kind && f.Node == node && !f.From.After(to) && !f.To.Before(from) {
			return true
		}
	}
	return false
}

// stepped reports whether the store's clock was set between two instants.
func (w *witness) stepped(from, to time.Time) bool {
	return w.had("clock", "", from, to)
}
