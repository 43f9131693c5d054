// Package engine is Hourbell's motion: what a node does while it runs. Each
// running part has a file, and each decision is a pure function that the part
// calls:
//
//	engine.go      the node's life: start, run, drain, leave
//	session.go     the lease as this process may trust it, and what hangs on it
//	heartbeat.go   tells the store that the node lives    lease.go    (pure) whom to trust, and until when
//	rescue.go      takes jobs from dead nodes             uptime.go   the clock that nobody can set
//	fetch.go       claims jobs, one loop a queue          pace.go     (pure) how many to ask for
//	solo.go        lets a job that may end its process begin alone
//	execute.go     runs one attempt; run.go is what it knows, attempt.go the context it works in
//	outcomes.go    writes outcomes in batches             verdict.go  (pure) what an attempt came to
//	held.go        what this node has in its hands        reconcile.go  … compared with the store's books
//	cancels.go     carries cancel requests to runs        backoff.go  (pure) how long to wait
//	fire.go        fires slots                            decide.go   (pure) which, and why not the others
//	foresee.go     decides on slots before their instant, and fires them ahead where it can
//	definition.go  what a schedule's row keeps for decide.go    fate.go   (pure) what becomes of one slot
//	calendars.go   the calendars that schedules share
//	simulate.go    (pure) plays a time through, without a store
//	foreign.go     which slots are for other nodes to fire
//	hooks.go       (pure) the jobs that failures, missed slots and recoveries make
//	admit.go       which jobs of restricted kinds this node runs
//	history.go     notices a store that went back in time    remember.go  keeps what was seen in a file
//	prune.go       deletes what is old
//	wake.go        pushes and polls
//	outage.go      says once what failed
//
// No wall clock of this process takes part in a decision: due times come from
// the store, and waiting is done on the monotonic clock.
package engine
