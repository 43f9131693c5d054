package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// auditTx is a transaction in which package rowwise records changes.
type auditTx struct {
	b  *Backend
	tx querier
}

// InsertAudit implements rowwise.AuditTx.
func (t auditTx) InsertAudit(ctx context.Context, e store.AuditEntry, now time.Time) (id int64, err error) {
	kinds, names := auditSubjects(e)
	err = t.tx.QueryRow(ctx, t.b.q(insertAudit), when(now), e.Name, e.Source, e.Action, e.Count, e.Detail, kinds, names).Scan(&id)
	return id, err
}

// ExtendAudit implements rowwise.AuditTx.
func (t auditTx) ExtendAudit(ctx context.Context, e store.AuditEntry) (bool, error) {
	kinds, names := auditSubjects(e)
	var found int64
	err := t.tx.QueryRow(ctx, t.b.q(updateAudit), e.ID, e.Count, kinds, names, store.MostAuditSubjects).Scan(&found)
	return found > 0, err
}

func auditSubjects(e store.AuditEntry) (kinds, names []string) {
	kinds, names = make([]string, len(e.Subjects)), make([]string, len(e.Subjects))
	for i, subject := range e.Subjects {
		kinds[i], names[i] = subject.Kind, subject.Name
	}
	return kinds, names
}

// record stores an entry of the audit, unless it is nil. at is the instant of the change; zero:
// the database's clock.
func (b *Backend) record(ctx context.Context, tx querier, e *store.AuditEntry, at time.Time) error {
	return rowwise.Record(ctx, auditTx{b, tx}, e, at)
}

func (b *Backend) listAudit(ctx context.Context, tx querier, req store.ListRequest) ([]store.AuditEntry, error) {
	var kind, name *string
	if req.Subject != nil {
		kind, name = &req.Subject.Kind, &req.Subject.Name
	}
	return collect(ctx, tx, scanAudit, b.q(listAudit), orNull(req.Actor), orNull(req.Action), kind, name, when(req.From),
		when(req.Before.At), req.Before.ID, req.Limit)
}

func scanAudit(r pgx.CollectableRow) (e store.AuditEntry, err error) {
	var kinds, names []string
	err = r.Scan(&e.ID, into(&e.At), &e.Name, &e.Source, &e.Action, &e.Count, &e.Detail, &kinds, &names)
	for i := range kinds {
		e.Subjects = append(e.Subjects, store.AuditSubject{Kind: kinds[i], Name: names[i]})
	}
	return e, err
}

// RecordAudit stores an entry; see store.Audit.
func (b *Backend) RecordAudit(ctx context.Context, req store.RecordAuditRequest) error {
	return b.work(ctx, programConns, "record in the audit")(func(tx pgx.Tx) error {
		e := req.Bounded()
		return b.record(ctx, tx, &e, req.Now)
	})
}
