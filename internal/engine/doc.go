// Package engine is the part of Hourbell that runs in a node. Each running part has
// a file of its own, and calls pure functions for its decisions. The words are
// defined in docs/glossary.md.
//
// A node, its lease and the store:
//
//	engine.go             starts the node, runs it, drains it, leaves the cluster
//	session.go            the node's number, the trust in its lease, the context of its runs
//	lease.go              (pure) until when to trust the lease, and when to declare others dead
//	heartbeat.go          extends the lease; registers again after the node was declared dead
//	rescue.go             takes the jobs of dead nodes
//	history.go            suspends the node if the store went back in time
//	state_file.go         keeps the store's position in a file across starts
//	wake.go               signals between loops, wake-ups from the store, polling intervals
//	store_errors.go       logs each failing operation of the store once
//	prune.go              deletes old rows
//	instant.go            instants of the monotonic clock
//	backoff.go            (pure) delays of retries
//
// Jobs, from the claim to the outcome:
//
//	fetch.go              claims the jobs of a queue and passes them to its workers
//	pace.go               (pure) how many jobs to claim
//	suspects.go           runs jobs that may end their process alone on the node
//	allow_list.go         the jobs of restricted kinds that the node runs
//	execute.go            runs one attempt
//	run.go                the data of one attempt
//	attempt_context.go    the context of one attempt
//	attempt_outcome.go    (pure) the outcome of an attempt
//	outcomes.go           writes outcomes in batches
//	in_flight.go          the claims that the node holds
//	reconcile.go          releases claims that the store holds for the node, but the node does not know
//	cancels.go            passes cancel requests to runs
//
// Schedules (package plan decides on their slots):
//
//	calendars.go          reads the calendars that schedules name
//	fire.go               the firing loop: reads due schedules and writes decisions
//	prefetch.go           decides on slots before they are due, and writes some decisions early
//
// Decisions do not depend on the wall clock of the process: due times come from the
// store, and waiting uses the monotonic clock.
package engine
