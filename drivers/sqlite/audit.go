package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// auditSubject is a subject of an entry in insert_audit_subjects.sql and list_audit.sql.
type auditSubject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// InsertAudit implements rowwise.AuditTx.
func (s *session) InsertAudit(ctx context.Context, e store.AuditEntry, now time.Time) (int64, error) {
	result, err := s.Run(ctx, sqlrows.InsertAudit, args{
		"now": sqlrows.Micros(now), "actor": e.Name, "source": e.Source, "action": e.Action, "count": e.Count, "detail": e.Detail,
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
	n, err := s.Count(ctx, sqlrows.UpdateAudit, args{"id": e.ID, "count": e.Count})
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
	return s.Exec(ctx, sqlrows.InsertAuditSubjects, args{"id": e.ID, "subjects": sqlrows.JSON(subjects), "most": store.MostAuditSubjects})
}

// ListAudit implements sqlrows.Tx.
func (s *session) ListAudit(ctx context.Context, req store.ListRequest) (out []store.AuditEntry, err error) {
	given, a := sqlrows.AuditConditions(req)
	err = s.List(ctx, listAudit, given, a, func(r row) error {
		var e store.AuditEntry
		var subjects []auditSubject
		err := r.Scan(&e.ID, sqlrows.IntoTime(&e.At), &e.Name, &e.Source, &e.Action, &e.Count, &e.Detail, sqlrows.IntoList(&subjects))
		for _, subject := range subjects {
			e.Subjects = append(e.Subjects, store.AuditSubject(subject))
		}
		out = append(out, e)
		return err
	})
	return out, err
}

// pruneAudit deletes entries that are older than keep, which 0 switches off, with their
// subjects.
func (s *session) pruneAudit(ctx context.Context, keep time.Duration, limit int, now time.Time) (int, error) {
	if keep == 0 {
		return 0, nil
	}
	var ids []int64
	err := s.Each(ctx, pruneAudit, args{"before": sqlrows.Micros(now.Add(-keep)), "limit": limit}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.DeleteAuditSubjects)
}
