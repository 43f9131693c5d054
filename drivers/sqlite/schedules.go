package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// PutSchedules creates or changes schedules; see store.Schedules.
func (b *Backend) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (out store.PutSchedulesResult, err error) {
	if err := store.CheckAfter(req); err != nil {
		return out, fmt.Errorf("put schedules: %w", err)
	}
	return rowwise.InTxAt(b.withinAt(ctx, "put schedules", req.Tx, req.Now), func(s *session, now time.Time) (store.PutSchedulesResult, error) {
		return rowwise.PutSchedules(ctx, s, req, now)
	})
}

// ChangeSchedules pauses, resumes, deletes or resets; see store.Schedules.
func (b *Backend) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	return b.withinAt(ctx, "change schedules", req.Tx, req.Now)(func(s *session, now time.Time) error {
		return rowwise.ChangeSchedules(ctx, s, req, now)
	})
}

// LockRevision implements rowwise.Schedules.
func (s *session) LockRevision(ctx context.Context) (last int64, err error) {
	err = s.One(ctx, readCounter, args{"name": "revision"}, &last)
	return last, err
}

// savedSchedule is a row on its way to upsert_schedules.sql.
type savedSchedule struct {
	Name          string `json:"name"`
	Owner         string `json:"owner"`
	Revision      int64  `json:"revision"`
	DefinitionAt  int    `json:"definition_at"`
	DefinitionLen int    `json:"definition_len"`
	Group         string `json:"group_name,omitempty"`
	Anchor        *int64 `json:"anchor"`
	Mark          *int64 `json:"mark"`
	NextAt        *int64 `json:"next_at"`
	Fired         int64  `json:"fired"`
	PausedAt      *int64 `json:"paused_at"`
	PausedUntil   *int64 `json:"paused_until"`
	GroupAt       *int64 `json:"group_paused_at"`
	GroupUntil    *int64 `json:"group_paused_until"`
	Declared      bool   `json:"paused_declared"`
	CreatedAt     *int64 `json:"created_at"`
	UpdatedAt     *int64 `json:"updated_at"`
	DeletedAt     *int64 `json:"deleted_at"`
}

// SaveSchedules implements rowwise.Schedules. It finds rows by their names.
func (s *session) SaveSchedules(ctx context.Context, rows []*store.Schedule) error {
	var pack sqlrows.Packer
	saved := make([]savedSchedule, len(rows))
	for i, r := range rows {
		at, length := pack.Add(r.Definition)
		saved[i] = savedSchedule{
			Name: r.Name, Owner: r.Owner, Revision: r.Revision, DefinitionAt: at, DefinitionLen: length, Group: r.Group,
			Anchor: sqlrows.Micros(r.Anchor), Mark: sqlrows.Micros(r.Mark), NextAt: sqlrows.Micros(r.NextAt), Fired: r.Fired,
			PausedAt: sqlrows.Micros(r.PausedAt), PausedUntil: sqlrows.Micros(r.PausedUntil), GroupAt: sqlrows.Micros(r.GroupPausedAt), GroupUntil: sqlrows.Micros(r.GroupPausedUntil),
			Declared: r.PausedDeclared, CreatedAt: sqlrows.Micros(r.CreatedAt), UpdatedAt: sqlrows.Micros(r.UpdatedAt), DeletedAt: sqlrows.Micros(r.DeletedAt),
		}
	}
	return s.Exec(ctx, upsertSchedules, args{"schedules": sqlrows.JSON(saved), "bytes": pack.Parameter()})
}

// ListSchedules reads schedules in pages; see store.Schedules.
func (b *Backend) ListSchedules(ctx context.Context, req store.ListSchedulesRequest) ([]store.Schedule, error) {
	return rowwise.InTx(b.readIn(ctx, "list schedules", req.Tx), func(s *session) ([]store.Schedule, error) {
		return s.ListSchedules(ctx, req)
	})
}
