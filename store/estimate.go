package store

import (
	"context"
	"time"
)

// Estimator is implemented by backends that can estimate from samples how many jobs are in each
// queue and in each group, and of each kind, because counting very many jobs takes long. Callers find it by
// assertion, or use Estimates.
type Estimator interface {
	// EstimateQueues counts as ListQueues does, if that takes no longer than Within. Otherwise
	// the counts are estimates, and Estimated is set; Oldest is exact, but leaves out jobs of
	// paused groups. A queue may be missing if all its jobs wait, and they are few.
	EstimateQueues(ctx context.Context, req EstimateRequest) ([]QueueInfo, error)
	// EstimateKinds counts as ListKinds does, in the same way, but Oldest is an estimate, too. A
	// kind may be missing if it has few jobs.
	EstimateKinds(ctx context.Context, req EstimateRequest) ([]KindInfo, error)
	// EstimateGroups counts all groups as ListGroups does, in the same way. No group is missing.
	EstimateGroups(ctx context.Context, req EstimateRequest) ([]GroupInfo, error)
}

// EstimateRequest asks for the counts of all queues, all kinds, or all groups.
type EstimateRequest struct {
	// Within is how long the jobs are counted; 0: they are not counted, but estimated. An
	// estimate reads a few thousand jobs, and is exact if there are no more.
	Within time.Duration
}

// Estimates returns the ability of a backend to estimate counts. If the backend does not have
// it, the result counts by ListQueues, ListKinds and ListGroups.
func Estimates(b Backend) Estimator {
	if e, ok := Able[Estimator](b); ok {
		return e
	}
	return counts{b}
}

// counts counts all jobs.
type counts struct{ of Backend }

func (c counts) EstimateQueues(ctx context.Context, _ EstimateRequest) ([]QueueInfo, error) {
	return c.of.ListQueues(ctx, ListQueuesRequest{})
}

func (c counts) EstimateKinds(ctx context.Context, _ EstimateRequest) ([]KindInfo, error) {
	return c.of.ListKinds(ctx, ListKindsRequest{})
}

func (c counts) EstimateGroups(ctx context.Context, _ EstimateRequest) ([]GroupInfo, error) {
	return c.of.ListGroups(ctx, ListGroupsRequest{})
}
