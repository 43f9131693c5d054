package memory

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// Put creates or changes calendars, limits, handlers or pauses; see store.Definitions.
func (s *Store) Put(ctx context.Context, req store.PutRequest) (out store.PutResult, err error) {
	now, err := s.beginWrite(ctx, req.String(), req.Now)
	if err != nil {
		return out, err
	}
	defer s.mu.Unlock()
	switch req.Of() {
	case store.OfCalendars:
		return s.putCalendars(req, now)
	case store.OfHandlers:
		return s.putHandlers(req, now)
	case store.OfPauses:
		return s.putPauses(req, now)
	case store.OfFeed:
		s.putFeed(req, now)
		return out, nil
	}
	return s.putLimitsOf(req, now)
}

// Delete deletes calendars, limits, handlers or pauses, or what is known of hosts; see store.Definitions.
func (s *Store) Delete(ctx context.Context, req store.DeleteRequest) error {
	now, err := s.beginWrite(ctx, req.String(), req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	switch req.Of {
	case store.OfCalendars:
		err = s.deleteCalendars(req.Names, req.IfRevision)
	case store.OfHandlers:
		err = s.deleteHandlers(req.Names)
	case store.OfNodes:
		err = s.forgetHosts(req.Names)
	case store.OfPauses:
		err = s.deletePauses(req.Subject, req.Names, now)
	default:
		err = s.deleteLimits(req.Names, req.IfRevision, now)
	}
	if err == nil && len(req.Names) > 0 {
		s.record(req.Entry(), 0, now)
	}
	return err
}
