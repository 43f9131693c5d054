package work

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

// reconcileEvery is the interval at which a node compares its claims with the store's if no claim
// has failed, and reconcileIdle the interval while it has no jobs in flight either.
const (
	reconcileEvery = time.Minute
	reconcileIdle  = 4 * time.Minute
)

// unknownClaims contains the claims that the store holds for this node and that the node does not
// know, with the instant at which each was first found. The goroutine of the heartbeat uses it
// alone.
type unknownClaims struct {
	since      map[store.ClaimRef]loop.Instant
	comparedAt loop.Instant
}

// undecided contains the runs that completed their jobs in transactions, if it was not known whether these were committed when the lease
// of the node ended. If the node still holds such a claim later, the transaction was not committed. It is safe for concurrent use.
type undecided struct {
	mu   sync.Mutex
	runs map[store.ClaimRef]result
}

// add adds a run, with its result if its transaction was not committed.
func (u *undecided) add(run *Run, res result) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.runs == nil {
		u.runs = map[store.ClaimRef]result{}
	}
	res.run = run
	u.runs[run.ref()] = res
}

// of returns the result of a claim that the node still holds, and whether there is one.
func (u *undecided) of(ref store.ClaimRef) (res result, found bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	res, found = u.runs[ref]
	return res, found
}

// keep forgets all runs except the runs whose claims the node still holds.
func (u *undecided) keep(held []store.ClaimRef) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.runs, func(ref store.ClaimRef, _ result) bool { return !slices.Contains(held, ref) })
}

// ripe records the claims that are unknown now, and returns the claims that have been unknown for
// longer than patience. By then, every call that could have returned such a claim has ended.
func (u *unknownClaims) ripe(unknown []store.ClaimRef, now loop.Instant, patience time.Duration) (ripe []store.ClaimRef) {
	since := make(map[store.ClaimRef]loop.Instant, len(unknown))
	for _, ref := range unknown {
		first, seen := u.since[ref]
		if !seen {
			first = now
		}
		if now.Sub(first) > patience {
			ripe = append(ripe, ref)
			first = now // if the release fails, the claim is released again after patience
		}
		since[ref] = first
	}
	u.since, u.comparedAt = since, now
	return ripe
}

// reconcile releases the claims that the store holds for this node and that the node does not know,
// because the answer to the claim was lost. A run that is undecided has begun, and ends with its result. It compares the claims after a claim has failed, while
// claims are unknown, and every reconcileEvery or, on a node without jobs in flight, reconcileIdle.
func (r *Runner) reconcile(ctx context.Context) {
	now := loop.Now()
	every := reconcileEvery
	if r.inFlight.Len() == 0 {
		every = reconcileIdle
	}
	if !r.lostAnswers.arePossible() && len(r.unknown.since) == 0 && now.Sub(r.unknown.comparedAt) < every {
		return
	}
	claims, err := r.cfg.Store.Claims(ctx, store.ClaimsRequest{Node: r.node.Number()})
	if err != nil {
		r.report.StoreFailed("read own claims", err)
		return
	}
	r.report.StoreWorks("read own claims")
	patience := r.cfg.CallTimeout + time.Second
	r.lostAnswers.compared(now, patience)
	_, unknown := r.inFlight.split(claims)
	r.undecided.keep(claims)
	for _, ref := range r.unknown.ripe(unknown, now, patience) {
		if res, found := r.undecided.of(ref); found {
			r.addConsequences(res.run, &res.outcome)
			r.outcomes.put(res)
			continue
		}
		r.outcomes.put(result{outcome: store.Outcome{ID: ref.ID, Token: ref.Token, Result: store.Release}})
		r.report.Emit(event.Event{Kind: event.JobReleased, Job: ref.ID, Token: ref.Token, Detail: "the answer to its claim was lost"})
	}
}
