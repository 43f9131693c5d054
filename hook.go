package hourbell

// Hooks are jobs that a schedule makes of what becomes of it: to tell people,
// to feed a monitor, to clean up. A hook is itself a job: it is made in the
// same transaction as what it tells of, it is retried, and it can be looked at.
type Hooks struct {
	// OnFailure runs when a job of the schedule has ended as failed, also as
	// lost with its node: once for each such job, after its last attempt.
	OnFailure *Hook
	// OnMissed runs when slots were missed: once for all that one node found
	// missed at a time.
	OnMissed *Hook
	// OnRecovery runs when a job of the schedule completes and the last thing
	// before it was a failure or a missed slot.
	OnRecovery *Hook
}

// Hook is the job that a hook makes. What it is about reaches its worker in
// JobRow.Headers under HookHeader; a command reads it from its standard input,
// an HTTP call sends it as its body.
type Hook struct {
	Kind string
	Args []byte // JSON, kept byte for byte; empty: null
}
