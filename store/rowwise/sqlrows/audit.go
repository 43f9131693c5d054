package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// InsertAudit implements rowwise.AuditTx.
func (s *Session) InsertAudit(ctx context.Context, e store.AuditEntry, now time.Time) (int64, error) {
	id, err := s.Insert(ctx, insertAudit, Args{
		"now": Micros(now), "actor": e.Name, "source": e.Source, "action": e.Action, "count": e.Count, "detail": e.Detail,
	})
	if err != nil {
		return 0, err
	}
	e.ID = id
	return id, s.insertAuditSubjects(ctx, e, 0)
}

// ExtendAudit implements rowwise.AuditTx.
func (s *Session) ExtendAudit(ctx context.Context, e store.AuditEntry) (bool, error) {
	found, known := false, 0
	err := s.Each(ctx, lockAudit, Args{"id": e.ID}, func(r Row) error {
		found = true
		return r.Scan(&known)
	})
	if err != nil || !found {
		return false, err
	}
	if err := s.Exec(ctx, UpdateAudit, Args{"id": e.ID, "count": e.Count}); err != nil {
		return false, err
	}
	return true, s.insertAuditSubjects(ctx, e, known)
}

// insertAuditSubjects adds the subjects of e to an entry that has some already.
func (s *Session) insertAuditSubjects(ctx context.Context, e store.AuditEntry, known int) error {
	var rows []Args
	for i, subject := range e.Subjects[:min(len(e.Subjects), max(store.MostAuditSubjects-known, 0))] {
		rows = append(rows, Args{"id": e.ID, "place": known + i, "kind": subject.Kind, "name": subject.Name})
	}
	return s.InsertRows(ctx, insertAuditSubjects, rows)
}

// pruneAudit deletes entries that are older than keep, which 0 switches off, with their subjects.
func (s *Session) pruneAudit(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	ids, err := s.Numbers(ctx, LockOldAudit, Args{"before": Micros(now.Add(-keep)), "limit": limit})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, DeleteAuditSubjects, pruneAudit)
}

func (s *Session) listAudit(ctx context.Context, req store.ListRequest) (out []store.AuditEntry, err error) {
	place := map[int64]int{}
	var ids []int64
	given, a := auditConditions(req)
	err = s.List(ctx, ListAudit, given, a, func(r Row) error {
		var e store.AuditEntry
		err := r.Scan(&e.ID, IntoTime(&e.At), &e.Name, &e.Source, &e.Action, &e.Count, &e.Detail)
		place[e.ID] = len(out)
		out, ids = append(out, e), append(ids, e.ID)
		return err
	})
	if err != nil || len(ids) == 0 {
		return out, err
	}
	err = s.Each(ctx, ListAuditSubjects, Args{"ids": ids}, func(r Row) error {
		var id int64
		var subject store.AuditSubject
		err := r.Scan(&id, &subject.Kind, &subject.Name)
		e := &out[place[id]]
		e.Subjects = append(e.Subjects, subject)
		return err
	})
	return out, err
}

// auditConditions are the conditions of list_audit.sql that a request gives.
func auditConditions(req store.ListRequest) (given []string, a Args) {
	a = Args{"limit": req.Limit}
	if req.Actor != "" {
		given, a["actor"] = append(given, "actor"), req.Actor
	}
	if req.Action != "" {
		given, a["action"] = append(given, "action"), req.Action
	}
	if req.Subject != nil {
		given, a["kind"], a["name"] = append(given, "subject"), req.Subject.Kind, req.Subject.Name
	}
	if !req.From.IsZero() {
		given, a["since"] = append(given, "since"), Instant(req.From).UnixMicro()
	}
	if req.Before != (store.Cursor{}) {
		given = append(given, "before")
		a["before_at"], a["before_id"] = req.Before.At.UnixMicro(), req.Before.ID
	}
	return given, a
}
