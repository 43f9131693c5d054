package intercept

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Each type here adds an ability to a backend. The calls go through the function to the ability of the
// backend below.
type (
	releaser struct {
		store.Backend
		able store.Releaser
		each Func
	}
	settler struct {
		store.Backend
		able store.CancelSettler
		each Func
	}
	claimer struct {
		store.Backend
		able store.PartialClaimer
		each Func
	}
	estimator struct {
		store.Backend
		able store.Estimator
		each Func
	}
	earlyFirer struct {
		store.Backend
		able store.EarlyFirer
		each Func
	}
)

// Unwrap returns the backend below; see store.Able.
func (b releaser) Unwrap() store.Backend { return b.Backend }

// ReleaseDependents implements store.Releaser.
func (b releaser) ReleaseDependents(ctx context.Context, req store.ReleaseRequest) error {
	_, err := call(ctx, b.each, "release_dependents", silent(b.able.ReleaseDependents), req)
	return err
}

// Unwrap returns the backend below; see store.Able.
func (b settler) Unwrap() store.Backend { return b.Backend }

// SettleCancels implements store.CancelSettler.
func (b settler) SettleCancels(ctx context.Context, req store.SettleCancelsRequest) error {
	_, err := call(ctx, b.each, "settle_cancels", silent(b.able.SettleCancels), req)
	return err
}

// Unwrap returns the backend below; see store.Able.
func (b claimer) Unwrap() store.Backend { return b.Backend }

// ClaimPart implements store.PartialClaimer.
func (b claimer) ClaimPart(ctx context.Context, req store.ClaimRequest) (store.PartialClaim, error) {
	return call(ctx, b.each, "claim", b.able.ClaimPart, req)
}

// Unwrap returns the backend below; see store.Able.
func (b estimator) Unwrap() store.Backend { return b.Backend }

// EstimateQueues implements store.Estimator.
func (b estimator) EstimateQueues(ctx context.Context, req store.EstimateRequest) ([]store.QueueInfo, error) {
	return call(ctx, b.each, "estimate_queues", b.able.EstimateQueues, req)
}

// EstimateKinds implements store.Estimator.
func (b estimator) EstimateKinds(ctx context.Context, req store.EstimateRequest) ([]store.KindInfo, error) {
	return call(ctx, b.each, "estimate_kinds", b.able.EstimateKinds, req)
}

// EstimateGroups implements store.Estimator.
func (b estimator) EstimateGroups(ctx context.Context, req store.EstimateRequest) ([]store.GroupInfo, error) {
	return call(ctx, b.each, "estimate_groups", b.able.EstimateGroups, req)
}

// Unwrap returns the backend below; see store.Able.
func (b earlyFirer) Unwrap() store.Backend { return b.Backend }

// FireEarly implements store.EarlyFirer.
func (b earlyFirer) FireEarly(ctx context.Context, req store.FireEarlyRequest) (store.FireEarlyResult, error) {
	return call(ctx, b.each, "fire_early", b.able.FireEarly, req)
}

// FiredTo implements store.EarlyFirer.
func (b earlyFirer) FiredTo(ctx context.Context, req store.FiredToRequest) (time.Time, error) {
	return call(ctx, b.each, "fired_to", b.able.FiredTo, req)
}
