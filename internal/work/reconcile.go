package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// reconcileEvery is the interval at which a node compares its claims with the store's if no claim
// has failed.
const reconcileEvery = time.Minute

// unknownClaims contains the claims that the store holds for this node and that the node does not
// know, with the instant at which each was first found. The goroutine of the heartbeat uses it
// alone.
type unknownClaims struct {
	since      map[store.ClaimRef]instant
	comparedAt instant
}

// ripe records the claims that are unknown now, and returns the claims that have been unknown for
// longer than patience. By then, every call that could have returned such a claim has ended.
func (u *unknownClaims) ripe(unknown []store.ClaimRef, now instant, patience time.Duration) (ripe []store.ClaimRef) {
	since := make(map[store.ClaimRef]instant, len(unknown))
	for _, ref := range unknown {
		first, seen := u.since[ref]
		if !seen {
			first = now
		}
		if now.sub(first) > patience {
			ripe = append(ripe, ref)
			first = now // if the release fails, the claim is released again after patience
		}
		since[ref] = first
	}
	u.since, u.comparedAt = since, now
	return ripe
}

// reconcile releases the claims that the store holds for this node and that the node does not know,
// because the answer to the claim was lost. It compares the claims after a claim has failed, while
// claims are unknown, and every reconcileEvery.
func (e *Engine) reconcile(ctx context.Context) {
	now := monotonic()
	if !e.lostAnswers.arePossible() && len(e.unknown.since) == 0 && now.sub(e.unknown.comparedAt) < reconcileEvery {
		return
	}
	claims, err := e.cfg.Backend.Claims(ctx, store.ClaimsRequest{Node: e.session.number()})
	if err != nil {
		e.storeErrors.add("read own claims", err)
		return
	}
	e.storeErrors.clear("read own claims")
	patience := e.cfg.CallTimeout + time.Second
	e.lostAnswers.compared(now, patience)
	_, unknown := e.inFlight.split(claims)
	for _, ref := range e.unknown.ripe(unknown, now, patience) {
		e.outcomes.put(result{outcome: store.Outcome{ID: ref.ID, Token: ref.Token, Result: store.Release}})
		e.emit(event.Event{Kind: event.JobReleased, Job: ref.ID, Token: ref.Token, Detail: "the answer to its claim was lost"})
	}
}
