package store

// A job that is retried by hand ends again. The jobs that wait for it then wait for this
// end, and the jobs that were not started wait again: the retry opens their edges on the
// job. Jobs that have been released, or that have ended in another way, stay as they are.

// Reopening is a job whose edge on a predecessor is open again.
type Reopening struct {
	State           State // of the job: StateWaiting or StateNotStarted
	Any, AtEnd      bool  // NewJob.Any and NewJob.AtEnd
	Open            int   // open edges, also edges that are open again
	Matched, Missed bool  // among the decided edges is one that has matched, and one that has missed
}

// Next is the rule of a retry by hand for the dependents of the job: the state that the
// dependent has from now on. A job that was not started waits again if the edges that are
// open can still let it start; it stays not started because of other edges that have missed.
func (r Reopening) Next() State {
	w := Wait{Open: r.Open, Any: r.Any, AtEnd: r.AtEnd, matched: r.Matched, missed: r.Missed}
	if r.State == StateNotStarted && w.State() == StateWaiting {
		return StateWaiting
	}
	return r.State
}
