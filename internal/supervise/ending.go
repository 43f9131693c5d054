//go:build unix

package supervise

import (
	"time"
)

// Why says what ended a command.
type Why string

// What ends a command.
const (
	Itself    Why = ""         // it ended by itself
	Stopped   Why = "stopped"  // Stop was called
	ClaimOver Why = "claim"    // the claim could no longer be trusted
	NodeGone  Why = "node"     // the node had died; nobody reads this
	Signalled Why = "signal"   // the supervisor got SIGTERM
	leftovers Why = "leftover" // it had ended by itself; now what it left behind goes
)

// Claim says until when the claim on the work may be trusted: instants on the
// clock of package uptime. The zero value stands for ever.
type Claim struct {
	Term time.Duration // when SIGTERM goes out, so that there is a grace before Kill
	Kill time.Duration // when everything is killed at the latest
}

// ClaimFor returns a claim that may be trusted until an instant, by a lease of
// a length, for a command that needs grace after SIGTERM: that goes out by
// grace earlier, but by a tenth of the lease at most.
func ClaimFor(until, lease, grace time.Duration) Claim {
	return Claim{Term: until - min(grace, lease/10), Kill: until}
}

// ending decides when SIGTERM and SIGKILL are due. It is a value that knows no
// clock.
type ending struct {
	claim Claim
	begun bool
	why   Why
	kill  time.Duration // when grace is over, once it has begun
}

// begin ends the command from now on, with a grace, and says whether SIGTERM is
// due: it goes out once. A second reason can only shorten the first one's
// grace, and does not replace it, but for what a command that had ended by
// itself has left behind.
func (e *ending) begin(why Why, now, grace time.Duration) (term bool) {
	if e.begun {
		e.kill = min(e.kill, now+grace)
		return false
	}
	e.begun, e.why, e.kill = true, why, now+grace
	return true
}

// termDue says whether the claim is about to pass.
func (e *ending) termDue(now time.Duration) bool {
	return !e.begun && e.claim != Claim{} && now >= e.claim.Term
}

// killDue says whether everything has to go.
func (e *ending) killDue(now time.Duration) bool {
	return e.begun && now >= e.kill || e.claimOver(now)
}

// claimOver says whether the claim cannot be trusted any more.
func (e *ending) claimOver(now time.Duration) bool {
	return e.claim != Claim{} && now >= e.claim.Kill
}

// next is how long from now nothing is due; at most most.
func (e *ending) next(now, most time.Duration) time.Duration {
	wait := most
	if e.claim != (Claim{}) {
		wait = min(wait, e.claim.Kill-now)
		if !e.begun {
			wait = min(wait, e.claim.Term-now)
		}
	}
	if e.begun {
		wait = min(wait, e.kill-now)
	}
	return max(wait, 0)
}
