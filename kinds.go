package hourbell

import (
	"context"
	"fmt"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

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

// Estimate counts as List does, but not for longer than PageTime. A store with very many live jobs
// then answers with estimates (KindInfo.Estimated), which are rough for kinds with few jobs, and may
// lack such kinds. SQLite counts always.
func (s *KindService) Estimate(ctx context.Context) ([]KindInfo, error) {
	rows, err := store.List[store.KindInfo](ctx, s.client.backend, store.ListRequest{Estimate: true, Within: PageTime / 2})
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
