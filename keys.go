package hourbell

import (
	"context"
	"fmt"
	"slices"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// KeyService pauses and resumes the jobs that have a key (the option Key): Client.Keys. Concurrent
// calls are allowed.
type KeyService struct{ client *Client }

// List returns the pauses of keys, by key in byte order.
func (s *KeyService) List(ctx context.Context) ([]store.Pause, error) {
	pauses, err := store.List[store.Pause](ctx, s.client.backend, store.ListRequest{})
	return slices.DeleteFunc(pauses, func(p store.Pause) bool { return p.Subject != store.SubjectKey }), err
}

// Get returns the pause of a key; its At is zero if the key is not paused. ErrNotFound: the key is
// not paused, and no job that is kept has it.
func (s *KeyService) Get(ctx context.Context, key string) (store.Pause, error) {
	if err := check.StoredName("key", key); err != nil {
		return store.Pause{}, err
	}
	pauses, err := s.pausing().list(ctx)
	if err != nil {
		return store.Pause{}, fmt.Errorf("read key %q: %w", key, err)
	}
	if pause, found := pauses[key]; found {
		return pause, nil
	}
	if err := s.pausing().exists(ctx, key, func(store.NodeInfo) []string { return nil }); err != nil {
		return store.Pause{}, fmt.Errorf("key %q: %w", key, err)
	}
	return store.Pause{Subject: store.SubjectKey, Name: key}, nil
}

// Pause pauses the jobs with a key in all queues, as QueueService.Pause pauses a queue.
func (s *KeyService) Pause(ctx context.Context, key string, pause Pause) error {
	return s.pausing().pause(ctx, key, pause, atOnce)
}

// Resume ends the pause of a key, as QueueService.Resume ends the pause of a queue.
func (s *KeyService) Resume(ctx context.Context, key string) (bool, error) {
	return s.pausing().resume(ctx, key, atOnce)
}

func (s *KeyService) pausing() pausing { return pausing{s.client, store.SubjectKey} }
