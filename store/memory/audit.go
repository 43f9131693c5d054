package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// record stores an entry of the audit, unless it is nil, or adds it to the entry with a number.
// It returns the number of the entry.
func (s *Store) record(e *store.AuditEntry, to int64, now time.Time) int64 {
	if e == nil {
		return to
	}
	for _, row := range s.audit {
		if row.ID == to {
			row.Count += e.Count
			row.Subjects = append(slices.Clip(row.Subjects), e.Subjects...)
			row.Subjects = row.Subjects[:min(len(row.Subjects), store.MostAuditSubjects)]
			return to
		}
	}
	s.lastAudit++
	e.ID, e.At = s.lastAudit, now
	s.audit = append(s.audit, e)
	return e.ID
}

func (s *Store) listAudit(req store.ListRequest) (out []store.AuditEntry) {
	for _, row := range s.audit {
		if asked(req.Actor, row.Name) && (req.Action == "" || req.Action == row.Action) &&
			(req.Subject == nil || slices.Contains(row.Subjects, *req.Subject)) && !row.At.Before(instant(req.From)) &&
			(req.Before == store.Cursor{} || later(row.Cursor(), req.Before) > 0) {
			e := *row
			e.Subjects = slices.Clone(row.Subjects)
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b store.AuditEntry) int { return later(a.Cursor(), b.Cursor()) })
	return out[:min(len(out), req.Limit)]
}

// later compares entries in the order of listings.
func later(a, b store.Cursor) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
}

// RecordAudit stores an entry; see store.Audit.
func (s *Store) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	now, err := s.beginWrite(ctx, "record in the audit", req.Now)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	e := req.Bounded()
	e.Subjects = slices.Clone(e.Subjects)
	s.record(&e, 0, now)
	return nil
}

// pruneAudit deletes the oldest entries.
func (s *Store) pruneAudit(keep time.Duration, limit int, now time.Time) int {
	gone := 0
	s.audit = slices.DeleteFunc(s.audit, func(row *store.AuditEntry) bool {
		if gone == limit || !old(row.At, keep, now) {
			return false
		}
		gone++
		return true
	})
	return gone
}
