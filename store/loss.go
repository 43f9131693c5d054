package store

import "time"

// SuspectLosses is how many losses in a row make a job a suspect: a job that may end
// the process that runs it. Only a claim with ClaimRequest.Suspects takes it, and
// whoever claims it lets it begin while nothing else of its node has begun.
const SuspectLosses = 2

// LostReason is kept with a job that failed because its node died. It says no more
// than is known: the node may have died between the statement that let the job begin
// and its first instruction.
const LostReason = "lost: its node died while it ran, or when it was about to begin"

// mostLossDelay bounds LossDelay.
const mostLossDelay = time.Hour

// LossDelay is how long a job rests after its nth loss in a row, before it is ready
// again: a quarter of a second, then 5 s, 25 s, 125 s and so on, an hour at most.
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

// Loss is a job in the hands of a node that has ended.
type Loss struct {
	// Died says that the node was declared dead; otherwise it left.
	Died bool
	// Begun says that the job may have begun: its claim, or a BeginJobs, let it.
	Begun bool
	// Asked says that a cancel request waits, and Why is its reason.
	Asked bool
	Why   string

	OnLoss               OnLoss
	Attempt, MaxAttempts int16
	Losses               int16 // without this one
	// Waits says that another job of its schedule waits for this one, which would
	// give way to it.
	Waits bool
}

// Fate is what becomes of such a job.
type Fate struct {
	State  State // ready, failed or cancelled
	Reason string
	// Counts says that one is added to its losses.
	Counts bool
	// Refund is how many attempts it gets back, and Delay how long it rests, if it
	// is ready.
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
