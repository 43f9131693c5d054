package mysql

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

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
	return e.ID, s.insertAuditSubjects(ctx, e, 0)
}

// ExtendAudit implements rowwise.AuditTx.
func (s *session) ExtendAudit(ctx context.Context, e store.AuditEntry) (bool, error) {
	found, known := false, 0
	err := s.Each(ctx, lockAudit, args{"id": e.ID}, func(r row) error {
		found = true
		return r.Scan(&known)
	})
	if err != nil || !found {
		return false, err
	}
	if err := s.Exec(ctx, sqlrows.UpdateAudit, args{"id": e.ID, "count": e.Count}); err != nil {
		return false, err
	}
	return true, s.insertAuditSubjects(ctx, e, known)
}

// sqlrows.InsertAuditSubjects adds the subjects of e to an entry that has some already.
func (s *session) insertAuditSubjects(ctx context.Context, e store.AuditEntry, known int) error {
	var rows []args
	for i, subject := range e.Subjects[:min(len(e.Subjects), max(store.MostAuditSubjects-known, 0))] {
		rows = append(rows, args{"id": e.ID, "place": known + i, "kind": subject.Kind, "name": subject.Name})
	}
	err := s.insertRows(ctx, sqlrows.InsertAuditSubjects, rows)
	return err
}

// ListAudit implements sqlrows.Tx.
func (s *session) ListAudit(ctx context.Context, req store.ListRequest) (out []store.AuditEntry, err error) {
	place := map[int64]int{}
	var ids []int64
	given, a := sqlrows.AuditConditions(req)
	err = s.List(ctx, listAudit, given, a, func(r row) error {
		var e store.AuditEntry
		err := r.Scan(&e.ID, sqlrows.IntoTime(&e.At), &e.Name, &e.Source, &e.Action, &e.Count, &e.Detail)
		place[e.ID] = len(out)
		out, ids = append(out, e), append(ids, e.ID)
		return err
	})
	if err != nil {
		return out, err
	}
	err = s.Each(ctx, listAuditSubjects, args{"ids": ids}, func(r row) error {
		var id int64
		var subject store.AuditSubject
		err := r.Scan(&id, &subject.Kind, &subject.Name)
		e := &out[place[id]]
		e.Subjects = append(e.Subjects, subject)
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
	ids, err := s.Numbers(ctx, lockOldAudit, args{"before": sqlrows.Micros(now.Add(-keep)), "limit": limit})
	if err != nil {
		return 0, err
	}
	return len(ids), s.OnIDs(ctx, ids, sqlrows.DeleteAuditSubjects, pruneAudit)
}
