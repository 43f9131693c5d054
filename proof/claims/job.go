package claims

// Job is what the row of a job says of its claim.
type Job struct {
	State      JobState
	Node       int16 // who has the claim while the job runs, from 1 on
	Token      Token // of the last claim that was committed
	Begun      bool  // the claim, or a begin, let the job begin: it may have run
	Attempt    int8  // attempts that are spent, with the present one
	Most       int8  // so many attempts the job may have
	FailOnLoss bool  // it must not start twice
	Permit     bool  // it holds a permit of the limit
	Starts     int8  // how often a worker began it, if it must not start twice: for the rules, not in the store
}

// JobState is the state of a job.
type JobState int8

// The states of a job.
const (
	Ready JobState = iota
	Running
	Completed
	Failed
	Cancelled
)

// Token numbers the claims of a job. The first is 1.
type Token int16

// Result is what an outcome says of an attempt.
type Result int8

// The results of attempts.
const (
	NoResult Result = iota
	Done            // the work is done
	Fail            // the job fails, and has no other attempt
	Cancel          // the job is not needed
	Retry           // the attempt failed; there is another
	Back            // the job is handed back, and the attempt does not count: the node stops, or lost its lease
)

// Ended reports whether the job has come to its end.
func (j Job) Ended() bool { return j.State > Running }

// Claim gives a ready job to a node. ahead: it may begin only after Begin. The token is greater than all before.
func (j Job) Claim(node int16, token Token, ahead bool) (after Job, ok bool) {
	if j.State != Ready || token <= j.Token {
		return j, false
	}
	j.State, j.Node, j.Token, j.Begun = Running, node, token, !ahead
	j.Attempt++
	return j, true
}

// Begin lets the job of a claim begin. It changes nothing if the node does not hold the claim.
func (j Job) Begin(node int16, token Token) (after Job, ok bool) {
	if !j.Held(node, token) {
		return j, false
	}
	j.Begun = true
	return j, true
}

// Held reports whether a node holds a claim of the job.
func (j Job) Held(node int16, token Token) bool {
	return j.State == Running && j.Node == node && j.Token == token
}

// Finish applies an outcome. Only the last token counts, also if the job is ready again after a rescue, because then
// no other node has taken the job. An outcome that was stored before is accepted, and changes nothing.
func (j Job) Finish(token Token, r Result) (after Job, accepted bool) {
	switch {
	case j.Token != token:
		return j, false
	case j.Ended():
		return j, j.State == r.end()
	case r == Done || r == Fail || r == Cancel:
		return j.leave(r.end(), 0), true
	case j.State == Ready: // a repetition, or late
		return j, true
	case r == Retry:
		return j.leave(Ready, 0), true
	}
	return j.leave(Ready, 1), true
}

// end returns the state in which a result ends a job.
func (r Result) end() JobState {
	switch r {
	case Done:
		return Completed
	case Fail:
		return Failed
	}
	return Cancelled
}

// Take takes the job of a node that died, or left. A job that cannot have begun has lost nothing. The token stays, so
// that a late outcome counts until the next claim.
func (j Job) Take(died bool) Job {
	switch {
	case !j.Begun:
		return j.leave(Ready, 1)
	case j.FailOnLoss || j.Attempt >= j.Most:
		return j.leave(Failed, 0)
	case died:
		return j.leave(Ready, 0)
	}
	return j.leave(Ready, 1)
}

// leave takes the job from its node, and gives some attempts back.
func (j Job) leave(to JobState, refund int8) Job {
	j.State, j.Node, j.Begun = to, 0, false
	j.Attempt -= refund
	return j
}
