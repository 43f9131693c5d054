package sqlite

import (
	"context"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

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
			PausedAt: sqlrows.Micros(r.PausedAt), PausedUntil: sqlrows.Micros(r.PausedUntil),
			GroupAt: sqlrows.Micros(r.GroupPausedAt), GroupUntil: sqlrows.Micros(r.GroupPausedUntil),
			Declared: r.PausedDeclared, CreatedAt: sqlrows.Micros(r.CreatedAt), UpdatedAt: sqlrows.Micros(r.UpdatedAt), DeletedAt: sqlrows.Micros(r.DeletedAt),
		}
	}
	return s.Exec(ctx, sqlrows.UpsertSchedules, args{"schedules": sqlrows.JSON(saved), "bytes": pack.Parameter()})
}
