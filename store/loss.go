package store

import "time"

// SuspectLosses is how many losses in a row make a job a suspect: a job that may
// end the process that runs it. Only a claim with ClaimRequest.Suspects takes
// it, and the claiming node starts it only while no other job of that node has
// begun.
const SuspectLosses = 2

// LostReason is stored with a job that failed because its node died. The text
// covers both cases, because the node may have died between the statement that
// permitted the job to begin and the job's first instruction.
const LostReason = "lost: its node died while it ran, or when it was about to begin"

// mostLossDelay bounds LossDelay.
const mostLossDelay = time.Hour

// LossDelay is the delay after a job's nth loss in a row, before it is ready
// again: a quarter of a second, then 5 s, 25 s, 125 s and so on, at most an
// hour.
func LossDelay(losses int16) time.Duration {
	if losses <= 1 {
		return 250 * time.Millisecond
	}
	delay := time.Second
	for range min(losses, 10) - 1 {
		delay *= 5
	}
	return min(delay, mostLossDelay)
}

// Loss is a job that was claimed by a node that has ended.
type Loss struct {
	// Died means that the node was declared dead; otherwise it left.
	Died bool
	// Begun means that the job may have begun: its claim, or a BeginJobs,
	// permitted it.
	Begun bool
	// Asked means that there is a cancel request, and Why is its reason.
	Asked bool
	Why   string

	OnLoss               OnLoss
	Attempt, MaxAttempts int16
	Losses               int16 // without this one
	// Waits means that another job of its schedule waits for this job, which
	// gives way to the waiting job.
	Waits bool
}

// Fate is what happens to a lost job.
type Fate struct {
	State  State // ready, failed or cancelled
	Reason string
	// Counts means that one is added to its losses.
	Counts bool
	// Refund is how many attempts the job gets back, and Delay the time until it
	// is due, if it is ready.
	Refund int16
	Delay  time.Duration
}

// Fate is the rule of Nodes.Rescue and Nodes.Leave for one job.
func (l Loss) Fate() Fate {
	counts := l.Died && l.Begun
	switch {
	case l.Asked:
		return Fate{State: StateCancelled, Reason: l.Why, Counts: counts}
	case !l.Begun:
		return Fate{State: StateReady, Refund: 1}
	case l.OnLoss == OnLossFail || l.Attempt >= l.MaxAttempts:
		return Fate{State: StateFailed, Reason: LostReason, Counts: counts}
	case !l.Died:
		return Fate{State: StateReady, Refund: 1}
	case l.Waits:
		return Fate{State: StateCancelled, Reason: SupersededReason, Counts: true}
	}
	return Fate{State: StateReady, Counts: true, Delay: LossDelay(l.Losses + 1)}
}
