package memory

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

func (s *Store) putHandlers(req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	changed, err := s.allHandlers().Plan(req.Handlers)
	if err != nil {
		return out, fmt.Errorf("put handlers: %w", err)
	}
	for _, h := range changed {
		h.Job, h.UpdatedAt = h.Job.Clone(), now
		s.handlers[h.Name] = h
		s.record(req.HandlerEntry(h), 0, now)
	}
	return store.PutResult{Changed: len(changed)}, nil
}

func (s *Store) deleteHandlers(names []string) error {
	for _, name := range names {
		if _, known := s.handlers[name]; !known {
			return fmt.Errorf("delete handler %q: %w", name, store.ErrNotFound)
		}
	}
	for _, name := range names {
		delete(s.handlers, name)
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
