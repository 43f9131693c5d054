//go:build unix

package supervise

import (
	"time"

	"github.com/hourbell/hourbell/internal/uptime"
)

// Why is the reason why a command ended.
type Why string

// The reasons why a command ends.
const (
	Itself    Why = ""         // the command ended by itself
	Stopped   Why = "stopped"  // Stop was called
	ClaimOver Why = "claim"    // the claim could no longer be trusted
	NodeGone  Why = "node"     // the node died; this value is never read
	Signalled Why = "signal"   // the supervisor got SIGTERM
	leftovers Why = "leftover" // the command ended by itself; now the daemons that it left are ended
)

// Claim is the time until which the claim on the work may be trusted, as
// instants on the clock of package uptime. The zero value is a claim without
// end.
type Claim struct {
	Term uptime.Instant // when SIGTERM is sent, so that there is a grace before Kill
	Kill uptime.Instant // the latest instant at which everything is killed
}

// ClaimFor returns a claim that may be trusted until an instant, by a lease of
// the given length, for a command that needs a grace after SIGTERM. SIGTERM is
// sent earlier than until by grace, but by at most a tenth of the lease.
func ClaimFor(until uptime.Instant, lease, grace time.Duration) Claim {
	return Claim{Term: until.Add(-min(grace, lease/10)), Kill: until}
}

// ending decides when SIGTERM and SIGKILL are due. It is a value that reads no
// clock. The package comment has its states.
type ending struct {
	claim Claim
	begun bool
	why   Why
	kill  uptime.Instant // when the grace is over, if begun
}

// begin starts the end of the command, with a grace, and reports whether
// SIGTERM is due; SIGTERM is sent once. A second reason can only shorten the
// grace of the first reason, and does not replace the first reason.
func (e *ending) begin(why Why, now uptime.Instant, grace time.Duration) (term bool) {
	if e.begun {
		e.kill = min(e.kill, now.Add(grace))
		return false
	}
	e.begun, e.why, e.kill = true, why, now.Add(grace)
	return true
}

// termDue reports whether the claim is about to pass, so that SIGTERM is due.
func (e *ending) termDue(now uptime.Instant) bool {
	return !e.begun && e.claim != Claim{} && now >= e.claim.Term
}

// killDue reports whether everything must be killed.
func (e *ending) killDue(now uptime.Instant) bool {
	return e.begun && now >= e.kill || e.claimOver(now)
}

// claimOver reports whether the claim can no longer be trusted.
func (e *ending) claimOver(now uptime.Instant) bool {
	return e.claim != Claim{} && now >= e.claim.Kill
}

// next returns how long from now nothing is due; at most most.
func (e *ending) next(now uptime.Instant, most time.Duration) time.Duration {
	wait := most
	if e.claim != (Claim{}) {
		wait = min(wait, e.claim.Kill.Sub(now))
		if !e.begun {
			wait = min(wait, e.claim.Term.Sub(now))
		}
	}
	if e.begun {
		wait = min(wait, e.kill.Sub(now))
	}
	return max(wait, 0)
}
