package hourbell

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// QueueService reads queues: Client.Queues. Concurrent calls are allowed.
type QueueService struct{ client *Client }

// List counts the live jobs of each queue. It reads all live jobs: a second or so for a million.
func (s *QueueService) List(ctx context.Context) ([]store.QueueInfo, error) {
	return s.client.backend.ListQueues(ctx)
}

// Estimate counts as List does, but not for longer than PageTime. A store with very many live jobs
// then answers with estimates (QueueInfo.Estimated), which are rough for queues with few jobs.
// SQLite counts always.
func (s *QueueService) Estimate(ctx context.Context) ([]store.QueueInfo, error) {
	return store.Estimates(s.client.backend).EstimateQueues(ctx, store.EstimateRequest{Within: PageTime / 2})
}
