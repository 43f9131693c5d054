// Package event is what happened, as facts. The running parts emit them; Log
// is the one place that turns them into log lines, and metrics and traces can
// subscribe in the same way.
package event

import "time"

// Kind says what happened.
type Kind string

// The kinds of event. The comment names the fields that are set besides Time
// and Node.
const (
	NodeStarted   Kind = "node_started"   // Name
	NodeStopping  Kind = "node_stopping"  // Count: jobs still running
	NodeStopped   Kind = "node_stopped"   // Count: jobs that still ran when the wait for them was over
	NodeDied      Kind = "node_died"      // Name and Detail: the other node; Count: its jobs
	LeaseLost     Kind = "lease_lost"     // Count: jobs whose contexts were cancelled
	LeaseRegained Kind = "lease_regained" // Detail
	StoreFailed   Kind = "store_failed"   // Detail: what was being done; Err. Once per outage
	StoreRetried  Kind = "store_retried"  // as StoreFailed, while the outage lasts
	StoreBack     Kind = "store_back"     // Took: how long it was away
	PushLost      Kind = "push_lost"      // Err: polling from now on
	PushBack      Kind = "push_back"

	JobsClaimed   Kind = "jobs_claimed"   // Queue, Count, Took
	JobStarted    Kind = "job_started"    // the job's fields
	JobCompleted  Kind = "job_completed"  // the job's fields, Took
	JobRetried    Kind = "job_retried"    // the attempt failed; Err, Took, Delay
	JobFailed     Kind = "job_failed"     // over without success; Err, Took
	JobCancelled  Kind = "job_cancelled"  // on request; Took
	JobReleased   Kind = "job_released"   // handed back with the attempt refunded; Detail: why
	JobRescued    Kind = "job_rescued"    // taken from a dead node and ready again; Detail: whose
	JobLost       Kind = "job_lost"       // its node died and it may not start again; Detail: whose
	ClaimLost     Kind = "claim_lost"     // a late outcome was refused: somebody took the job
	JobSuperseded Kind = "job_superseded" // ended by its schedule's next slot; Job

	SlotFired     Kind = "slot_fired"     // Schedule, Slot, Job; up to a second before the slot
	SlotMissed    Kind = "slot_missed"    // Schedule, Slot, Count, Detail: why
	SlotSkipped   Kind = "slot_skipped"   // Schedule, Slot, Count, Detail: why
	FiringLost    Kind = "firing_lost"    // Schedule: another node was first
	ScheduleBad   Kind = "schedule_bad"   // Schedule, Err: cannot be used by this release
	ScheduleAhead Kind = "schedule_ahead" // Schedule; Slot: its mark lies ahead of the store's clock

	Pruned Kind = "pruned" // Count; Detail
	Step   Kind = "step"   // a loop went round; Detail says which, Count how much it saw
)

// Event is one fact. Fields that do not belong to its kind are zero.
type Event struct {
	Kind Kind
	Time time.Time // this process's clock: for people, never for decisions
	Node int64

	Job      int64
	Token    int64
	JobKind  string
	Queue    string
	Attempt  int
	Schedule string
	Slot     time.Time

	Count  int64
	Took   time.Duration
	Delay  time.Duration
	Name   string // of a node
	Detail string
	Err    error
	Trace  string // of a panic
	Output string // the last line of what the attempt printed, shortened
}

// Sink takes events. It is called from many goroutines and must return at
// once.
type Sink func(Event)
