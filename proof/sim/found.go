package sim

import "time"

// found are plans that once failed: they always run.
var found = []struct {
	seed   uint64
	length time.Duration
	what   string
}{
	{7, 10 * time.Minute, "a node of a queue with a limit claims without a pause when it is idle"},
	{18, 10 * time.Minute, "the same, for the queue of a place"},
	{1092, 10 * time.Minute, "a user resumes a schedule after the end of the plan, so that there is always another job"},
	{25, 10 * time.Minute, "the pause of a group returns before slots of hosts that had fired ahead of it"},
	{1023723550708, 10 * time.Minute, "the attempt of a worker that was abandoned is taken for lost when its process dies"},
	{155, 10 * time.Minute, "an edit returns before slots of hosts that had fired early, because a node has spread it first"},
	{5001, 10 * time.Minute, "the model of claims takes a registration that goes on for a new one"},
	{265328163850, 10 * time.Minute, "the checker takes a pause to be in force whose answer came while a resume had begun and had no answer yet"},
	{153080910558, 10 * time.Minute, "the checker expects a suspect under a rate to begin when it is claimed"},
	{222166707181, 10 * time.Minute, "the simulator ends while a worker outlasts the forced stop of a node that another node has replaced"},
	{615484225916, 10 * time.Minute, "a worker begins after the process of its node has died at the end of the run before"},
	{7000223, 10 * time.Minute, "a node on which a kind has as many runs as it may have, and a rate concerns its queue, claims without a pause"},
	{109, 10 * time.Minute, "a node claims under the number before, while it registers again after a loss of history was accepted, and runs the job"},
	{520809429599, 10 * time.Minute, "the checker expects nodes to notice the loss of two seconds in which they had seen nothing"},
	{684048935663, 10 * time.Minute, "the checker expects a node that claims in three parts to claim as seldom as a node that claims in one"},
	{126309663352, 10 * time.Minute, "the simulator ends while a process is frozen, which then runs a job with an expired lease"},
	{271524960055, 10 * time.Minute, "the simulator starts a node without end that was stopped before it was registered"},
	{960864123021, 10 * time.Minute, "the checker takes permits that an idle node holds while it polls for permits of parked jobs"},
	{780972417907, 10 * time.Minute, "the checker does not count an attempt that was lost before a worker began it"},
	{854119158511, 10 * time.Minute, "the checker counts the error of a worker that outlasted its claim, which its node had given back during an outage"},
	{186303766776, 10 * time.Minute, "the checker expects a job to keep its attempt that was cancelled while its worker asked to wait, and then retried"},
}
