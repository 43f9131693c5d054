package work

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/store"
)

// holding is a store in which the node holds some claims.
type holding struct {
	Store
	claims []store.ClaimRef
}

func (h *holding) Claims(context.Context, store.ClaimsRequest) ([]store.ClaimRef, error) {
	return h.claims, nil
}

// TestAnUndecidedRunEndsWithItsResult: of two claims that the node does not know, one was never answered, and is handed back. The other
// belongs to a run whose transaction was still open when the lease ended; it has begun, so that its attempt ends.
func TestAnUndecidedRunEndsWithItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &holding{}
		r := newRunner(t, nil, Config{Store: s, CallTimeout: time.Second})
		run := &Run{Claimed: store.Claimed{ID: 1, Token: 7, Attempt: 1, JobSpec: store.JobSpec{MaxAttempts: 3}}, node: r.node, runner: r}
		committed := &Run{Claimed: store.Claimed{ID: 3, Token: 9}, node: r.node, runner: r}
		for _, run := range []*Run{run, committed} {
			res := result{outcome: r.outcomeOf(run, nil, nil)}
			r.undecided.add(run, r.uncommitted(run, res, nil))
		}
		s.claims = []store.ClaimRef{run.ref(), {ID: 2, Token: 8}}
		for range 3 {
			r.lostAnswers.note()
			r.reconcile(t.Context())
			time.Sleep(1500 * time.Millisecond)
		}
		got := map[int64]result{}
		for _, res := range r.outcomes.waiting {
			got[res.outcome.ID] = res
		}
		if res := got[1]; res.outcome.Result != store.Retry || res.outcome.Token != 7 || !errors.Is(res.err, ErrNotCommitted) || res.run != run {
			t.Errorf("the undecided run ends with %+v, %v; want a retry", res.outcome, res.err)
		}
		if res, ok := got[2]; !ok || res.outcome.Result != store.Release {
			t.Errorf("the claim without an answer ends with %+v; want a release", res.outcome)
		}
		if len(got) != 2 {
			t.Errorf("%d jobs have outcomes, want 2", len(got))
		}
		if _, found := r.undecided.of(committed.ref()); found {
			t.Error("a run whose claim is not held is kept")
		}
	})
}
