package hourbell

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// QueueService reads queues: Client.Queues. Concurrent calls are allowed.
type QueueService struct{ client *Client }

// List counts the live jobs of each queue.
func (s *QueueService) List(ctx context.Context) ([]store.QueueInfo, error) {
	return s.client.backend.ListQueues(ctx)
}
