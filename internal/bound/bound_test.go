package bound_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
	"github.com/hourbell/hourbell/store/storetest"
)

// able is a store with every ability.
type able struct{ *memory.Store }

func (able) ClaimPart(ctx context.Context, _ store.ClaimRequest) (store.PartialClaim, error) {
	return store.PartialClaim{Again: time.Second}, ctx.Err()
}

func (able) EstimateGroups(context.Context, store.EstimateRequest) ([]store.GroupInfo, error) {
	return nil, nil
}

func (able) EstimateKinds(context.Context, store.EstimateRequest) ([]store.KindInfo, error) {
	return nil, nil
}

func (able) EstimateQueues(context.Context, store.EstimateRequest) ([]store.QueueInfo, error) {
	return nil, nil
}
func (able) RoundTrip() time.Duration                                        { return time.Second }
func (able) SettleCancels(context.Context, store.SettleCancelsRequest) error { return nil }
func (able) PoolSize() int                                                   { return 1 }
func (able) ReleaseDependents(context.Context, store.ReleaseRequest) error   { return nil }
func (able) Migrations() []store.Migration                                   { return []store.Migration{{Version: 1}} }
func (able) MigrateStatus(context.Context) ([]store.MigrationStatus, error)  { return nil, nil }
func (able) MigrateUp(context.Context) ([]store.Migration, error)            { return nil, nil }

// TestAbilitiesPassThrough checks that a bounded backend has the abilities of the
// backend below, except those that have no calls to bound, and that it does not
// claim to fire early if the backend below does not.
func TestAbilitiesPassThrough(t *testing.T) {
	full := able{memory.New()}
	bounded, plain := bound.New(full, time.Second), bound.New(storetest.Plain(full), time.Second)
	for _, ability := range storetest.Abilities() {
		if !ability.Of(full) {
			t.Fatalf("the test's store lacks the ability %s", ability.Name)
		}
		unbounded := slices.Contains([]string{"CancelSettler", "Flusher", "Listener", "PollSharer", "Pooled", "Releaser"}, ability.Name)
		if ability.Of(bounded) == unbounded {
			t.Errorf("a bounded backend has the ability %s: %v", ability.Name, !unbounded)
		}
	}
	if _, early := plain.(store.EarlyFirer); early {
		t.Error("a bounded backend fires early, and the backend below cannot")
	}
	if res, err := bounded.ClaimPart(t.Context(), store.ClaimRequest{}); err != nil || res.Again != time.Second {
		t.Errorf("a partial claim does not reach the backend below: %+v, %v", res, err)
	}
	if _, err := plain.ClaimPart(t.Context(), store.ClaimRequest{}); !errors.Is(err, store.ErrNodeGone) {
		t.Errorf("a partial claim does not reach Claim of the backend below: %v", err)
	}
	if bounded.RoundTrip() != time.Second || plain.RoundTrip() != 0 {
		t.Errorf("round trips of %v and %v", bounded.RoundTrip(), plain.RoundTrip())
	}
	if len(bounded.Migrations()) != 1 || len(plain.Migrations()) != 0 {
		t.Errorf("%d and %d steps", len(bounded.Migrations()), len(plain.Migrations()))
	}
}

// stuck is a store that does not answer calls about early firing.
type stuck struct{ *memory.Store }

func (stuck) FiredTo(ctx context.Context, _ store.FiredToRequest) (time.Time, error) {
	<-ctx.Done()
	return time.Time{}, ctx.Err()
}

func (stuck) FireEarly(ctx context.Context, _ store.FireEarlyRequest) (store.FireEarlyResult, error) {
	<-ctx.Done()
	return store.FireEarlyResult{}, ctx.Err()
}

// TestEarlyFiringIsBounded checks that calls of the ability end by themselves.
func TestEarlyFiringIsBounded(t *testing.T) {
	early := bound.New(stuck{memory.New()}, 10*time.Millisecond).(store.EarlyFirer)
	if _, err := early.FiredTo(t.Context(), store.FiredToRequest{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("FiredTo: %v", err)
	}
	if _, err := early.FireEarly(t.Context(), store.FireEarlyRequest{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("FireEarly: %v", err)
	}
}
