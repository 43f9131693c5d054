package hourbell

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// Estimate counts as List does, but not for longer than EstimateTime. A store with very many live jobs
// then answers with estimates (QueueInfo.Estimated), which are rough for queues with few jobs.
// SQLite counts always.
func (s *QueueService) Estimate(ctx context.Context) ([]QueueInfo, error) {
	rows, err := estimated(ctx, s.client, func(q store.QueueInfo) bool { return q.Estimated })
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

// KindService reads, pauses and resumes kinds of jobs: Client.Kinds. Concurrent calls are allowed.
type KindService struct{ client *Client }

// KindInfo is a kind with its jobs that have not finished counted.
type KindInfo struct {
	store.KindInfo
	Pause store.Pause // its At is zero if the kind is not paused
}

// List counts the live jobs of each kind, by name in byte order; also of kinds that are paused and
// have no jobs. It reads all live jobs: a second or so for a million.
func (s *KindService) List(ctx context.Context) ([]KindInfo, error) {
	rows, err := store.List[store.KindInfo](ctx, s.client.backend, store.ListRequest{})
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows)
}

// Estimate counts as List does, but not for longer than EstimateTime. A store with very many live jobs
// then answers with estimates (KindInfo.Estimated), which are rough for kinds with few jobs, and may
// lack such kinds. SQLite counts always.
func (s *KindService) Estimate(ctx context.Context) ([]KindInfo, error) {
	rows, err := estimated(ctx, s.client, func(k store.KindInfo) bool { return k.Estimated })
	if err != nil {
		return nil, err
	}
	return s.withPauses(ctx, rows)
}

// withPauses adds the pauses to kinds, and the kinds that are only paused.
func (s *KindService) withPauses(ctx context.Context, rows []store.KindInfo) ([]KindInfo, error) {
	pauses, err := s.pausing().list(ctx)
	if err != nil {
		return nil, err
	}
	return withPauses(rows, pauses, func(k store.KindInfo) string { return k.Name }, func(k store.KindInfo, name string, pause store.Pause) KindInfo {
		k.Name = name
		return KindInfo{k, pause}
	}), nil
}

// Get returns the kind with that name, counted as Estimate does, or ErrNotFound. A kind exists while
// it is paused, while a job that is kept has it, and while a node has code for it.
func (s *KindService) Get(ctx context.Context, name string) (KindInfo, error) {
	if err := check.StoredName("kind", name); err != nil {
		return KindInfo{}, err
	}
	all, err := s.Estimate(ctx)
	if err != nil {
		return KindInfo{}, fmt.Errorf("read kind %q: %w", name, err)
	}
	for _, k := range all {
		if k.Name == name {
			return k, nil
		}
	}
	if err := s.pausing().exists(ctx, name, func(n store.NodeInfo) []string { return n.Kinds }); err != nil {
		return KindInfo{}, fmt.Errorf("kind %q: %w", name, err)
	}
	return KindInfo{KindInfo: store.KindInfo{Name: name}}, nil
}

// Pause pauses a kind in all queues, as QueueService.Pause pauses a queue.
func (s *KindService) Pause(ctx context.Context, name string, pause Pause) error {
	return s.pausing().pause(ctx, name, pause, atOnce)
}

// Resume ends the pause of a kind, as QueueService.Resume ends the pause of a queue.
func (s *KindService) Resume(ctx context.Context, name string) (bool, error) {
	return s.pausing().resume(ctx, name, atOnce)
}

func (s *KindService) pausing() pausing { return pausing{s.client, store.SubjectKind} }

// estimateAgain is how long estimates do not try to count after a count has taken too long.
const estimateAgain = 10 * time.Second

// estimated lists what Estimate returns. isEstimate reports whether a row is not counted.
func estimated[T store.Listed](ctx context.Context, c *Client, isEstimate func(T) bool) ([]T, error) {
	req := store.ListRequest{Estimate: true}
	if time.Now().UnixNano() >= c.countAgain.Load() {
		req.Within = EstimateTime / 2
	}
	rows, err := store.List[T](ctx, c.backend, req)
	if err == nil && req.Within > 0 && slices.ContainsFunc(rows, isEstimate) {
		c.countAgain.Store(time.Now().Add(estimateAgain).UnixNano())
	}
	return rows, err
}
