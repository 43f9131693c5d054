package memory

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// List reads rows; see store.Listings. The counts are always exact.
func (s *Store) List(ctx context.Context, req store.ListRequest) (out store.Listing, err error) {
	if own, ok := req.Tx.(*Tx); ok && own.changed != nil {
		req.Tx = nil
		return own.changed.List(ctx, req)
	}
	now, err := s.begin(ctx, req.String(), req.Now)
	if err != nil {
		return out, err
	}
	defer s.mu.Unlock()
	switch req.Of {
	case store.OfAudit:
		out.Audit = s.listAudit(req)
	case store.OfBatches:
		out.Batches = s.listBatches(req)
	case store.OfCalendars:
		out.Calendars = s.listCalendars(req)
	case store.OfEnds:
		out.Ends = s.listEnds(req)
	case store.OfGroups:
		out.Groups = s.listGroups(req.Name(), now)
	case store.OfHandlers:
		out.Handlers = s.listHandlers()
	case store.OfKinds:
		out.Kinds = s.listKinds(now)
	case store.OfLimits:
		out.Limits = s.listLimits(req, now)
	case store.OfLimitWaits:
		out.LimitWaits = s.listLimitWaits(req.IDs, now)
	case store.OfLinks:
		out.Links = s.listLinks(req)
	case store.OfNodes:
		out.Nodes = s.listNodes()
	case store.OfOwners:
		out.Owners = s.listOwners(req)
	case store.OfPauses:
		out.Pauses = s.activePauses(now)
	case store.OfPosition:
		out.Position = []store.Position{s.position()}
	case store.OfQueues:
		out.Queues = s.listQueues(now)
	case store.OfSchedules:
		out.Schedules = s.listSchedules(req)
	case store.OfSlots:
		out.Slots = s.listSlots(req)
	case store.OfStats:
		out.Stats = s.listStats(req)
	case store.OfSteps:
		out.Steps = s.listSteps(req.IDs)
	}
	return out, nil
}
