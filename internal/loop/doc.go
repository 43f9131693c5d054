// Package loop contains what the loops of a node share. Its inputs are durations, the sink of the
// node's events, and the names of the node's queues.
//
//	instant.go   instants of the monotonic clock
//	wait.go      signals between loops, sleeping, the delays of repeated calls of the store
//	wake.go      passes wake-ups from the store to the loops that wait for them; polling intervals
//	ambient.go   chance and the clock of leases, which a simulation replaces
//	report.go    sends events; logs each failing operation of the store once
package loop
