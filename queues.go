package hourbell

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// QueueService reads, pauses and resumes queues: Client.Queues. Concurrent calls are allowed.
type QueueService struct{ client *Client }

// QueueInfo is a queue with its jobs that have not finished counted.
type QueueInfo struct {
	store.QueueInfo
	Pause store.Pause // its At is zero if the queue is not paused
}

// List counts the live jobs of each queue, by name in byte order; also of queues that are paused and
// have no jobs. It reads all live jobs: a second or so for a million.
func (s *QueueService) List(ctx context.Context) ([]QueueInfo, error) {
	rows, err := store.List[store.QueueInfo](ctx, s.client.backend, store.ListRequest{})
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows)
}

// Estimate counts as List does, but not for longer than PageTime. A store with very many live jobs
// then answers with estimates (QueueInfo.Estimated), which are rough for queues with few jobs.
// SQLite counts always.
func (s *QueueService) Estimate(ctx context.Context) ([]QueueInfo, error) {
	rows, err := store.List[store.QueueInfo](ctx, s.client.backend, store.ListRequest{Estimate: true, Within: PageTime / 2})
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows)
}

// withPauses adds the pauses to queues, and the queues that are only paused.
func (s *QueueService) withPauses(ctx context.Context, rows []store.QueueInfo) ([]QueueInfo, error) {
	pauses, err := s.pausing().list(ctx)
	if err != nil {
		return nil, err
	}
	return withPauses(rows, pauses, func(q store.QueueInfo) string { return q.Name }, func(q store.QueueInfo, name string, pause store.Pause) QueueInfo {
		q.Name = name
		return QueueInfo{q, pause}
	}), nil
}

// Get returns the queue with that name, counted as Estimate does, or ErrNotFound. A queue exists
// while it is paused, while a job that is kept has it, and while a node serves it.
func (s *QueueService) Get(ctx context.Context, name string) (QueueInfo, error) {
	if err := check.StoredName("queue", name); err != nil {
		return QueueInfo{}, err
	}
	all, err := s.Estimate(ctx)
	if err != nil {
		return QueueInfo{}, fmt.Errorf("read queue %q: %w", name, err)
	}
	for _, q := range all {
		if q.Name == name {
			return q, nil
		}
	}
	if err := s.pausing().exists(ctx, name, func(n store.NodeInfo) []string { return n.Queues }); err != nil {
		return QueueInfo{}, fmt.Errorf("queue %q: %w", name, err)
	}
	return QueueInfo{QueueInfo: store.QueueInfo{Name: name}}, nil
}

// Pause pauses a queue, or changes the pause of a queue that is paused already. The queue need not
// exist yet.
//
// When Pause has returned without an error, no node takes a job of the queue any more, also no job
// that is enqueued, retried or made ready later, and also no node that starts later. Within a second,
// nodes hand back jobs of the queue that they have claimed and not begun. Jobs that run go on, unless
// Pause.CancelRunning is set. Slots fire, and their jobs wait, by the overlap policies of their
// schedules.
func (s *QueueService) Pause(ctx context.Context, name string, pause Pause) error {
	return s.pausing().pause(ctx, name, pause, atOnce)
}

// Resume ends the pause of a queue, and reports whether the queue was paused. The jobs that have
// waited may run at once, in the order in which they were due.
func (s *QueueService) Resume(ctx context.Context, name string) (bool, error) {
	return s.pausing().resume(ctx, name, atOnce)
}

func (s *QueueService) pausing() pausing { return pausing{s.client, store.SubjectQueue} }
