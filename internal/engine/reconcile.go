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
	since  map[store.ClaimRef]time.Duration
	looked time.Duration
}

// ripe notes what is unknown now and returns what has been so for longer than
// patience. By then every call that could have brought it has ended.
func (u *unknownClaims) ripe(unknown []store.ClaimRef, now, patience time.Duration) (ripe []store.ClaimRef) {
	since := make(map[store.ClaimRef]time.Duration, len(unknown))
	for _, ref := range unknown {
		first, seen := u.since[ref]
		if !seen {
			first = now
		}
		if now-first > patience {
			ripe = append(ripe, ref)
			first = now // if this release fails, another is due after the same time
		}
		since[ref] = first
	}
	u.since, u.looked = since, now
	return ripe
}

// reconcile hands back what the store believes this node holds and the node
// knows nothing of: a claim whose answer was lost. It looks after a claim that
// failed, while there is something unknown, and once in a while.
func (e *Engine) reconcile(ctx context.Context) {
	now := monotonic()
	if !e.suspect.holds() && len(e.unknown.since) == 0 && now-e.unknown.looked < reconcileEvery {
		return
	}
	claims, err := e.cfg.Backend.Claims(ctx, store.ClaimsRequest{Node: e.session.number()})
	if err != nil {
		e.outage.fail("read own claims", err)
		return
	}
	e.outage.over("read own claims")
	patience := e.cfg.CallTimeout + time.Second
	e.suspect.looked(now, patience)
	_, unknown := e.held.split(claims)
	for _, ref := range e.unknown.ripe(unknown, now, patience) {
		e.outcomes.put(result{outcome: store.Outcome{ID: ref.ID, Token: ref.Token, Result: store.Release}})
		e.emit(event.Event{Kind: event.JobReleased, Job: ref.ID, Token: ref.Token, Detail: "the answer to its claim was lost"})
	}
}
