// Package work runs the jobs of a node, from the claim to the outcome. Its inputs are claims of
// jobs, four methods of the store (BeginJobs, Finish, FindClaim, Claims), the node, its wake-ups, and the code
// of the kinds. The words are defined in docs/glossary.md.
//
//	runner.go            starts the loops and ends them
//	fetch.go             claims the jobs of a queue
//	fetch_pace.go        how many jobs are claimed, and when
//	fetch_gate.go        whether claimed jobs may begin
//	fetch_crew.go        who runs them: the workers of the queue
//	pace.go              (pure) how many jobs to claim
//	suspects.go          runs jobs that may end their process alone on the node
//	allow_list.go        the jobs of restricted kinds that the node runs
//	starts.go            lets jobs begin whose starts make jobs, when workers have them
//	execute.go           runs one attempt
//	hand_over.go         passes the runs to the next program of the process
//	run.go               the data of one attempt
//	transaction.go       runs an attempt in a transaction that also completes the job
//	completion.go        what becomes of a job whose completion was sent in such a transaction
//	attempt_context.go   the context of one attempt
//	attempt_outcome.go   (pure) the outcome of an attempt
//	outcomes.go          writes outcomes in batches
//	save.go              stores what runs report while they run, in batches
//	progress.go          the progress of runs
//	output.go            what runs print
//	in_flight.go         the claims that the node holds
//	reconcile.go         releases claims that the store holds for the node, but the node does not know
//	cancels.go           passes cancel requests to runs
package work
