package hourbell

import "context"

// QueueService reads queues: Client.Queues. Concurrent calls are allowed.
type QueueService struct{ client *Client }

// List counts the live jobs of each queue.
func (s *QueueService) List(ctx context.Context) ([]QueueInfo, error) {
	return s.client.backend.ListQueues(ctx)
}
