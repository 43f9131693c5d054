// Package claims is the contract of claims as a small model: how a job gets an owner, and loses it. It is the page to
// read first: what a job's row goes through (job.go), what nodes and the store do (steps.go), and what has to hold
// whatever happens (rules.go). The package uses the words of docs/glossary.md.
//
// A state is a small value, and each step is a pure function from a state to another. A search visits every state that
// any order of steps reaches (search.go), so the rules hold in all of them. If a rule is broken, the search prints the
// shortest way there. The tests break the contract on purpose, one mistake at a time, and name the rule that notices.
//
//	go test ./proof/claims -v     # counts the states, and prints the way to each mistake
//
// Two nodes, two jobs and one limit are enough for every meeting of two owners. Time passes in ticks: a lease lasts two.
// Tokens are numbered again after each step, because only their order matters. So there is no bound on how often a job
// is claimed, and there are finitely many states.
//
// The model leaves out what concerns no owner: queues, priorities, delays, keys, schedules and edges. Package sim
// compares it with real clients: each call of the store that changes a job's row has to be a step of the model, with
// the same answer.
package claims
