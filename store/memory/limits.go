package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// putLimitsOf creates or changes limits. It first checks everything and then writes, so that a refused request changes nothing.
func (s *Store) putLimitsOf(req store.PutRequest, now time.Time) (out store.PutResult, err error) {
	if err := s.checkLimits(req.Limits, nil); err != nil {
		return out, fmt.Errorf("put limits: %w", err)
	}
	change := s.putLimits(req.Limits, nil, now)
	out.Changed = len(change.Write)
	for _, put := range req.Limits {
		out.Revisions = append(out.Revisions, s.limits[put.Limit.Name].Revision)
	}
	s.record(req.LimitsEntry(change), 0, now)
	return out, nil
}

// checkLimits returns why puts of limits must be refused, or nil. gone are the limits that end in the same
// call.
func (s *Store) checkLimits(puts []store.PutLimit, gone []string) error {
	added := 0
	for _, put := range puts {
		row, known := s.limits[put.Limit.Name]
		switch {
		case put.IfRevision == store.OnlyNew && known:
			return fmt.Errorf("limit %q: %w", put.Limit.Name, store.ErrExists)
		case revisionDiffers(put.IfRevision, row.Revision, known):
			return &store.LimitConflictError{Name: put.Limit.Name, Missing: !known, Owner: row.Owner, PutOwner: row.Owner}
		case known && row.Owner != put.Limit.Owner:
			return &store.LimitConflictError{Name: put.Limit.Name, Owner: row.Owner, PutOwner: put.Limit.Owner}
		case !known:
			added++
		}
	}
	if n := len(s.limits) + added - len(gone); added > len(gone) && n > store.MaxLimits {
		return &check.FieldError{Field: "limits", Problem: fmt.Sprintf("would be %d; a store has at most %d", n, store.MaxLimits)}
	}
	return nil
}

// revisionDiffers reports whether a put asks for a revision that is not the stored revision; known: there is a stored revision.
func revisionDiffers(asked, stored int64, known bool) bool {
	return asked != 0 && asked != store.OnlyNew && (!known || stored != asked)
}

// putLimits writes puts that have been checked, and deletes limits.
func (s *Store) putLimits(puts []store.PutLimit, gone []string, now time.Time) (change store.LimitChange) {
	isNew := map[int64]bool{}
	for _, put := range puts {
		l := put.Limit
		row, known := s.limits[l.Name]
		l.ID, l.Revision, l.CreatedAt, l.UpdatedAt = row.ID, row.Revision, row.CreatedAt, row.UpdatedAt
		if known && sameLimit(row, l) {
			continue
		}
		if !known {
			l.CreatedAt = now
		}
		if !known || !sameLanes(row, l) {
			if known {
				s.endLimit(row)
			}
			s.lastLimit++
			l.ID = s.lastLimit
			isNew[l.ID] = true
		}
		s.lastRevision++
		l.Revision, l.UpdatedAt, l.Weights = s.lastRevision, now, maps.Clone(l.Weights)
		s.limits[l.Name] = l
		change.Write = append(change.Write, l)
	}
	for _, name := range gone {
		change.End = append(change.End, s.limits[name])
		s.endLimit(s.limits[name])
		delete(s.limits, name)
	}
	s.capRates(change.Write, now)
	s.startLimits(change.Write, isNew)
	if len(change.Write)+len(change.End) > 0 {
		s.adjustPermits()
		s.wake(store.Wake{Kind: store.WakeJobs})
	}
	return change
}

// sameLanes reports whether two limits concern the same jobs in the same lanes.
func sameLanes(a, b store.Limit) bool {
	return a.Queue == b.Queue && a.Kind == b.Kind && a.ByKey == b.ByKey
}

func sameLimit(a, b store.Limit) bool {
	return a.Owner == b.Owner && a.Queue == b.Queue && a.Kind == b.Kind && a.ByKey == b.ByKey && a.Concurrency == b.Concurrency &&
		a.Rate == b.Rate && a.Per == b.Per && a.Burst == b.Burst && maps.Equal(a.Weights, b.Weights) && a.Strict == b.Strict
}

// limitsNotIn returns the limits of the owner that a Sync deletes, by name.
func (s *Store) limitsNotIn(req store.PutSchedulesRequest) (gone []string) {
	for name, row := range s.limits {
		if req.Sync && (req.Limits != nil || req.Gone) && req.Owner != "" && row.Owner == req.Owner &&
			!slices.ContainsFunc(req.Limits, func(l store.Limit) bool { return l.Name == name }) {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

func (s *Store) deleteLimits(names []string, ifRevision int64, now time.Time) error {
	for _, name := range names {
		row, known := s.limits[name]
		if !known {
			return fmt.Errorf("delete limit %q: %w", name, store.ErrNotFound)
		}
		if err := store.CheckRevision(ifRevision, row.Revision); err != nil {
			return fmt.Errorf("delete limit %q: %w", name, err)
		}
	}
	s.putLimits(nil, names, now)
	return nil
}

// CloseLanes lets nothing start in lanes for a while; see store.Permits.
func (s *Store) CloseLanes(ctx context.Context, req store.CloseLanesRequest) error {
	now, err := s.beginWrite(ctx, "close lanes", req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	closed := map[store.LaneKey]bool{}
	for i := range req.Jobs {
		for _, l := range s.limits {
			if l.Matches(&req.Jobs[i].JobSpec) {
				key := store.LaneKey{Limit: l.ID, Key: l.Lane(&req.Jobs[i].JobSpec)}
				lane := s.lanes[key]
				lane.notBefore = laterOf(lane.notBefore, instant(now.Add(req.Jobs[i].For)))
				s.lanes[key], closed[key] = lane, true
			}
		}
	}
	for _, j := range s.live {
		if i := slices.IndexFunc(j.held, func(key store.LaneKey) bool { return closed[key] }); i >= 0 && j.State == store.StateReady {
			j.permits = permits{waits: true, first: true, lane: j.held[i]} // it may start, and was not claimed
		}
	}
	return nil
}

// RecountPermits lets jobs that no living node runs give their permits back and leave the heads of lanes; see store.Permits. What
// jobs hold is counted each time it is needed, so that no count can be wrong, and nodes that are gone hold nothing.
func (s *Store) RecountPermits(ctx context.Context, req store.RecountRequest) (out store.RecountResult, err error) {
	if _, err := s.beginWrite(ctx, "recount permits", req.Now); err != nil {
		return out, err
	}
	defer s.mu.Unlock()
	if req.Node != 0 && req.Node != s.oldestNode() {
		return store.RecountResult{Left: true}, nil
	}
	out.Jobs = s.leaveIdle(req.Limit)
	out.More = out.Jobs >= req.Limit
	return out, nil
}

func (s *Store) listLimits(req store.ListRequest, now time.Time) (out []store.LimitInfo) {
	for name, row := range s.limits {
		if len(req.Names) == 0 || slices.Contains(req.Names, name) {
			row.Weights = maps.Clone(row.Weights)
			out = append(out, s.limitInfo(row, now, req.Lanes))
		}
	}
	slices.SortFunc(out, func(a, b store.LimitInfo) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
