package store

import (
	"slices"
	"time"
)

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
	Group                SerialGroup
	// Waits means that a job of Group waits. It matters only if the node died.
	Waits bool
}

// SetJob sets the fields of the loss that follow from the job.
func (l *Loss) SetJob(job *LostJob) {
	l.OnLoss, l.Attempt, l.MaxAttempts, l.Group = job.OnLoss, job.Attempt, job.MaxAttempts, SerialGroupOf(job.Schedule, job.Origin)
}

// Effect is the rule of Nodes.Rescue and Nodes.Leave for one job.
func (l Loss) Effect() Effect {
	counts := l.Died && l.Begun
	switch {
	case l.Asked:
		return Effect{State: StateCancelled, Reason: l.Why, LossCounts: counts}
	case !l.Begun:
		return Effect{State: StateReady, Refund: 1}
	case l.OnLoss == OnLossFail || l.Attempt >= l.MaxAttempts:
		return Effect{State: StateFailed, Reason: LostReason, LossCounts: counts}
	case !l.Died:
		return Effect{State: StateReady, Refund: 1}
	case l.Waits && l.Group.GivesWay():
		return Effect{State: StateCancelled, Reason: SupersededReason, LossCounts: true}
	}
	return Effect{State: StateReady, LossCounts: true, Delay: LossDelay(oneMore(l.Losses))}
}

// Expired returns the nodes that Nodes.Rescue declares dead: the nodes, except
// the node that asks, whose lease has expired; none if MayRescue does not allow it.
func Expired(living []NodeInfo, req RescueRequest, now time.Time) (expired []NodeInfo) {
	if !MayRescue(living, req, now) {
		return nil
	}
	for _, n := range living {
		if n.ID != req.Node && !n.SeenAt.Add(n.Lease).After(now) {
			expired = append(expired, n)
		}
	}
	return expired
}

// MayRescue reports whether Nodes.Rescue does anything for the node that asks: only if the node is alive, it has sent no
// heartbeat after the one whose answer it knows, and its last heartbeat is at most half its lease away from now. A
// heartbeat may be later than now, because the store's clock may be set back.
func MayRescue(living []NodeInfo, req RescueRequest, now time.Time) bool {
	return slices.ContainsFunc(living, func(n NodeInfo) bool {
		return n.ID == req.Node && n.Beats == req.Beat && now.Sub(n.SeenAt).Abs()*2 <= n.Lease
	})
}
