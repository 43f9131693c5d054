package engine

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/store"
)

// reconcileEvery is how often a node compares its books with the store's
// without a reason.
const reconcileEvery = time.Minute

// unknownClaims are claims that the store believes this node holds and the node
// knows nothing of, with when they were first seen so. The goroutine of the
// heartbeat owns them.
type unknownClaims struct {
	since      map[store.ClaimRef]instant
	comparedAt instant
}

// ripe notes what is unknown now and returns what has been so for longer than
// patience. By then every call that could have brought it has ended.
func (u *unknownClaims) ripe(unknown []store.ClaimRef, now instant, patience time.Duration) (ripe []store.ClaimRef) {
	since := make(map[store.ClaimRef]instant, len(unknown))
	for _, ref := range unknown {
		first, seen := u.since[ref]
		if !seen {
			first = now
		}
		if now.sub(first) > patience {
			ripe = append(ripe, ref)
			first = now // if this release fails, another is due after the same time
		}
		since[ref] = first
	}
	u.since, u.comparedAt = since, now
	return ripe
}

// reconcile hands back what the store believes this node holds and the node
// knows nothing of: a claim whose answer was lost. It looks after a claim that
// failed, while there is something unknown, and once in a while.
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
