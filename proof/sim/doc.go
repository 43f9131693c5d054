// Package sim simulates a whole cluster in one process: real clients over one store in memory, on simulated time,
// while calls of the store fail, nodes die and freeze, and clocks are set. Everything that is random comes from one
// seed, so that a run can be repeated, event by event.
//
//	go test ./proof/sim                       # the seeds that once failed, and fresh seeds for some seconds
//	go test ./proof/sim -minutes 60           # fresh seeds for an hour; also: make sim MINUTES=60
//	go test ./proof/sim -seed 17 -show       # one seed, with its trace
//
// A run is deterministic although its goroutines are not: each call of the store, each step of a worker and each
// fault stops at the gate (gate.go) under a stable name. When all goroutines are blocked, the driver sorts what has
// stopped, and the seed decides what goes on. docs/adr/0083-a-simulated-cluster-stops-at-one-gate.md has the reasons.
//
//	plan.go, workload*.go  what happens in a run, drawn from its seed: data that can be shortened
//	gate.go, dice.go       the order of everything, and chance without order
//	weather.go, port.go    what becomes of each call between a node and the store
//	cluster.go, worker*.go the nodes and their workers
//	user*.go               what users do
//	witness.go             what was seen: by workers, by callers, and in the store at the end
//	check*.go              the promises, one check each, from what was seen only
//	claims.go              the claims of all jobs, followed by the model of package claims
//	sql_test.go            the same weather and the same checks over real databases, on real time
//	shrink.go              the shortest plan that still fails
package sim
