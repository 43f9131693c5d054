package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// PutHandler creates or replaces a handler; see store.HandlerStore.
func (s *Store) PutHandler(ctx context.Context, req store.PutHandlerRequest) (store.PutHandlerResult, error) {
	now, err := s.beginWrite(ctx, "put handler", req.Now)
	if err != nil {
		return store.PutHandlerResult{}, err
	}
	defer s.mu.Unlock()
	h := req.Handler
	old, known := s.handlers[h.Name]
	others := len(s.handlers)
	if known {
		others--
	}
	if err := req.CheckPut(known, others); err != nil {
		return store.PutHandlerResult{}, fmt.Errorf("put handler: %w", err)
	}
	if known && old.Same(h) {
		return store.PutHandlerResult{}, nil
	}
	h.Job, h.UpdatedAt = h.Job.Clone(), now
	s.handlers[h.Name] = h
	s.record(req.Entry(), 0, now)
	return store.PutHandlerResult{Changed: true}, nil
}

// DeleteHandlers deletes handlers; see store.HandlerStore.
func (s *Store) DeleteHandlers(ctx context.Context, req store.DeleteHandlersRequest) error {
	now, err := s.beginWrite(ctx, "delete handlers", req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, name := range req.Names {
		if _, known := s.handlers[name]; !known {
			return fmt.Errorf("delete handler %q: %w", name, store.ErrNotFound)
		}
	}
	for _, name := range req.Names {
		delete(s.handlers, name)
	}
	if len(req.Names) > 0 {
		s.record(req.Entry(), 0, now)
	}
	return nil
}

func (s *Store) listHandlers() []store.Handler {
	out := s.allHandlers()
	for i := range out {
		out[i].Job = out[i].Job.Clone()
	}
	return out
}

// allHandlers returns all handlers by name.
func (s *Store) allHandlers() store.Handlers {
	var out store.Handlers
	for _, h := range s.handlers {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b store.Handler) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// addNew inserts the jobs that handlers make.
func (s *Store) addNew(jobs []store.NewJob, now time.Time) {
	for _, n := range jobs {
		s.add(s.newJob(n, now))
	}
}
