// Package engine is Hourbell's motion: what a node does while it runs. Each
// running part has a file, and each decision is a pure function that the part
// calls:
//
//	engine.go     the node's life: start, run, drain, leave
//	session.go    the lease as this process may trust it, and what hangs on it
//	heartbeat.go  tells the store that the node lives   lease.go     (pure) whom to trust, and until when
//	rescue.go     takes jobs from dead nodes
//	fetch.go      claims jobs, one loop a queue         pace.go      (pure) how many to ask for
//	execute.go    runs one attempt                      verdict.go   (pure) what it came to
//	outcomes.go   writes outcomes in batches
//	cancels.go    carries cancel requests to runs
//	fire.go       fires slots                           decide.go    (pure) which, and why not the others
//	prune.go      deletes what is old
//	wake.go       pushes and polls
//	outage.go     says once what failed
//
// No wall clock of this process takes part in a decision: due times come from
// the store, and waiting is done on the monotonic clock.
package engine
