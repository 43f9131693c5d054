// Package event defines what happens in a node as events. The running parts
// emit events; Log is the only code that turns events into log lines, and
// metrics and traces can subscribe in the same way.
package event

import "time"

// Kind is the type of an event.
type Kind string

// The kinds of event. Each comment names the fields that are set besides Time
// and Node.
const (
	NodeStarted   Kind = "node_started"   // Name
	NodeStopping  Kind = "node_stopping"  // Count: jobs still running
	NodeStopped   Kind = "node_stopped"   // Count: jobs that were still running when the wait for them ended
	StopUnwritten Kind = "stop_unwritten" // the node stopped, and the store did not take all that was to be written; Err: what, and what follows
	WorkersRemain Kind = "workers_remain" // Count: jobs whose workers have not returned in time when the node stops; it keeps them until then
	NodeDied      Kind = "node_died"      // Name and Detail: the other node; Count: its jobs
	LeaseLost     Kind = "lease_lost"     // Count: jobs whose contexts were cancelled
	LeaseRegained Kind = "lease_regained" // Detail
	StoreFailed   Kind = "store_failed"   // Detail: the operation; Err. Once until the operation works again
	StoreRetried  Kind = "store_retried"  // as StoreFailed, for each further failure before StoreBack
	StoreBack     Kind = "store_back"     // Took: how long the operation failed
	PoolSmall     Kind = "pool_small"     // Count: connections of the pool that handlers use too; Detail
	PushLost      Kind = "push_lost"      // Err; the node polls from now on
	PushBack      Kind = "push_back"
	ClaimsHeld    Kind = "claims_held" // the node claims no jobs, because the program's admission refuses
	ClaimsFree    Kind = "claims_free" // the admission accepts again; Took: how long it refused

	HistoryLost     Kind = "history_lost"     // Detail: how the store went back in time; Count: jobs whose contexts were cancelled
	HistoryAccepted Kind = "history_accepted" // an operator has accepted the loss; Detail
	StateFailed     Kind = "state_failed"     // the node's state file cannot be used; Err

	// QueueUnserved: a job was enqueued for a queue that neither a living node serves nor the program's own, which has workers.
	// Queue, Job, JobKind; Detail: the remedy. Once for each queue.
	QueueUnserved Kind = "queue_unserved"

	JobsClaimed  Kind = "jobs_claimed"  // Queue, Count, Took
	JobStarted   Kind = "job_started"   // the fields of the job, Late
	JobCompleted Kind = "job_completed" // the fields of the job, Took
	JobRetried   Kind = "job_retried"   // the attempt failed; Err, Took, Delay
	JobSnoozed   Kind = "job_snoozed"   // the attempt asked to run again later, and does not count; Took, Delay
	JobFailed    Kind = "job_failed"    // ended without success; Err, Took
	JobCancelled Kind = "job_cancelled" // on request; Took
	JobReleased  Kind = "job_released"  // handed back, the attempt does not count; Detail: why
	JobRescued   Kind = "job_rescued"   // taken from a dead node and ready again; Detail: the node
	JobLost      Kind = "job_lost"      // its node died and the job may not start again; Detail: the node
	ClaimLost    Kind = "claim_lost"    // a late outcome was refused because the job was claimed again, or the attempt was abandoned
	// JobStuck: a worker has not returned although its context has ended. Took: since then; Err: why it ended; Trace: the
	// stack of the worker's goroutine.
	JobStuck      Kind = "job_stuck"
	JobUnstuck    Kind = "job_unstuck"    // the worker has returned after JobStuck; Took: since its context ended
	JobSuperseded Kind = "job_superseded" // ended in favour of its schedule's next slot; Job

	SlotFired   Kind = "slot_fired"   // Schedule, Slot, Job; up to a second before the slot
	SlotMissed  Kind = "slot_missed"  // Schedule, Slot, Count, Detail: why
	SlotSkipped Kind = "slot_skipped" // Schedule, Slot, Count, Detail: why
	// SlotNotStarted: a predecessor ended in another way than the schedule needs, or while either was
	// paused. Schedule, Slot, Count, Detail: why.
	SlotNotStarted Kind = "not_started"
	FiringLost     Kind = "firing_lost"   // Schedule: another node was first
	ScheduleBad    Kind = "schedule_bad"  // Schedule, Err: cannot be used by this release
	ScheduleLeft   Kind = "schedule_left" // Schedule: no living node fires its slots; Detail: why
	// ScheduleDoubtful: a schedule was put whose rule is valid but probably a mistake, as recur.Spec.Warnings finds. Schedule;
	// Detail: what, and the remedy.
	ScheduleDoubtful Kind = "schedule_doubtful"
	ScheduleMoved    Kind = "schedule_moved" // Schedule; Slot: its next slot by other data of its time zone; zero: none
	ZonesChanged     Kind = "zones_changed"  // Detail: the time zones whose data on this machine have changed
	ScheduleAhead    Kind = "schedule_ahead" // Schedule; Slot: its mark is ahead of the store's clock

	PermitsRepaired Kind = "permits_repaired" // a limit counted its permits wrong; Name: of the limit, Detail: its key and the numbers

	Pruned Kind = "pruned" // Count; Detail
	Step   Kind = "step"   // a loop iteration; Detail: which loop, Count: how many items it saw

	ObserverPanicked Kind = "observer_panicked" // the first panic of an observer; Err, Trace
	Dropped          Kind = "dropped"           // only to an observer that was too slow; Count: events that it did not get
)

// Event is one event. Fields that do not belong to its kind are zero.
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
	Late   time.Duration // how long after the instant at which it was due, by the store's clock
	Name   string        // the name of a node or a limit
	Detail string
	Err    error
	Trace  string // the stack trace of a panic, or of a worker that is stuck
	Output string // the last line of the attempt's output, shortened
}

// Sink receives events. It is called from many goroutines and must not block.
type Sink func(Event)

// Observe calls s, which makes a Sink an Observer.
func (s Sink) Observe(e Event) { s(e) }

// Observer receives the events of a client. Calls of one observer are made one
// after the other, in the order of the events, on a goroutine of its own, so an
// observer may take its time: a burst waits in memory. When 10,000 events wait,
// further events are dropped; after the events that waited the observer gets the
// event Dropped with the number of the others. A panic ends only the call with
// its event; the first panic of an observer becomes the event ObserverPanicked.
type Observer interface {
	Observe(e Event)
}
