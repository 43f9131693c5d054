package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// auditSubject is a subject of an entry in insert_audit_subjects.sql and list_audit.sql.
type auditSubject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// InsertAudit implements rowwise.AuditTx.
func (s *session) InsertAudit(ctx context.Context, e store.AuditEntry, now time.Time) (int64, error) {
	result, err := s.run(ctx, insertAudit, args{
		"now": micros(now), "actor": e.Name, "source": e.Source, "action": e.Action, "count": e.Count, "detail": e.Detail,
	})
	if err != nil {
		return 0, err
	}
	if e.ID, err = result.LastInsertId(); err != nil {
		return 0, err
	}
	return e.ID, s.insertAuditSubjects(ctx, e)
}

// ExtendAudit implements rowwise.AuditTx.
func (s *session) ExtendAudit(ctx context.Context, e store.AuditEntry) (bool, error) {
	n, err := s.count(ctx, updateAudit, args{"id": e.ID, "count": e.Count})
	if err != nil || n == 0 {
		return false, err
	}
	return true, s.insertAuditSubjects(ctx, e)
}

func (s *session) insertAuditSubjects(ctx context.Context, e store.AuditEntry) error {
	if len(e.Subjects) == 0 {
		return nil
	}
	subjects := make([]auditSubject, len(e.Subjects))
	for i, subject := range e.Subjects {
		subjects[i] = auditSubject(subject)
	}
	return s.exec(ctx, insertAuditSubjects, args{"id": e.ID, "subjects": jsonOf(subjects), "most": store.MostAuditSubjects})
}

// ListAudit reads the audit; see store.Audit.
func (b *Backend) ListAudit(ctx context.Context, req store.ListAuditRequest) ([]store.AuditEntry, error) {
	var out []store.AuditEntry
	err := b.read(ctx, "list the audit", func(s *session) error {
		given, a := auditConditions(req)
		return s.list(ctx, listAudit, given, a, func(r row) error {
			var e store.AuditEntry
			var subjects []auditSubject
			err := r.Scan(&e.ID, into(&e.At), &e.Name, &e.Source, &e.Action, &e.Count, &e.Detail, listScanner{&subjects})
			for _, subject := range subjects {
				e.Subjects = append(e.Subjects, store.AuditSubject(subject))
			}
			out = append(out, e)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// auditConditions are the conditions of list_audit.sql that a request gives.
func auditConditions(req store.ListAuditRequest) (given []string, a args) {
	a = args{"limit": req.Limit}
	if req.Actor != "" {
		given, a["actor"] = append(given, "actor"), req.Actor
	}
	if req.Action != "" {
		given, a["action"] = append(given, "action"), req.Action
	}
	if req.Subject != nil {
		given, a["kind"], a["name"] = append(given, "subject"), req.Subject.Kind, req.Subject.Name
	}
	if !req.Since.IsZero() {
		given, a["since"] = append(given, "since"), instant(req.Since).UnixMicro()
	}
	if req.Before != (store.AuditCursor{}) {
		given = append(given, "before")
		a["before_at"], a["before_id"] = req.Before.At.UnixMicro(), req.Before.ID
	}
	return given, a
}

// RecordAudit stores an entry; see store.Audit.
func (b *Backend) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	return b.writeAt(ctx, "record in the audit", req.Now, func(s *session, now time.Time) error {
		e := req.Bounded()
		return rowwise.Record(ctx, s, &e, now)
	})
}

// pruneAudit deletes entries that are older than keep, which 0 switches off, with their
// subjects.
func (s *session) pruneAudit(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	var ids []int64
	err := s.each(ctx, pruneAudit, args{"before": micros(now.Add(-keep)), "limit": limit}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(ids), s.onIDs(ctx, ids, nil, deleteAuditSubjects)
}
