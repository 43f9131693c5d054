package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FindLanes implements rowwise.LanesTx.
func (s *Session) FindLanes(ctx context.Context, limit, after int64, most int) ([]int64, error) {
	return s.Numbers(ctx, FindLanes, Args{"limit_id": limit, "after_id": after, "limit": most})
}

// FindDueLanes implements rowwise.LanesTx.
func (s *Session) FindDueLanes(ctx context.Context, now time.Time, most int) ([]int64, error) {
	return s.Numbers(ctx, FindDueLanes, Args{"now": Micros(now), "limit": most})
}

// FindOccupied implements rowwise.LanesTx.
func (s *Session) FindOccupied(ctx context.Context, lanes []int64) ([]int64, error) {
	return s.Numbers(ctx, FindOccupiedLanes, Args{"ids": lanes})
}

// savedLane is a lane on its way to update_lanes.sql.
type savedLane struct {
	ID        int64  `json:"id"`
	Used      int    `json:"used"`
	Starts    int    `json:"starts"`
	Waiting   bool   `json:"waiting"`
	TAT       *int64 `json:"tat"`
	NotBefore *int64 `json:"not_before"`
	LookAt    *int64 `json:"look_at"`
}

// SaveLanes implements rowwise.LanesTx.
func (s *Session) SaveLanes(ctx context.Context, lanes []store.Lane) error {
	rows := make([]savedLane, len(lanes))
	for i, l := range lanes {
		rows[i] = savedLane{l.ID, l.Used, l.Starts, l.Waiting, Micros(l.TAT), Micros(l.NotBefore), Micros(l.LookAt)}
	}
	return s.Exec(ctx, UpdateLanes, Args{"lanes": JSON(rows)})
}

// CapRate implements rowwise.LanesTx.
func (s *Session) CapRate(ctx context.Context, limit int64, greatest time.Time) error {
	return s.Exec(ctx, CapRate, Args{"limit_id": limit, "greatest": Micros(greatest)})
}

// AddPermits implements rowwise.LanesTx.
func (s *Session) AddPermits(ctx context.Context, jobs []store.LaneJob) error {
	type permit struct {
		ID   int64 `json:"id"`
		Lane int64 `json:"lane"`
	}
	rows := make([]permit, len(jobs))
	for i := range jobs {
		rows[i] = permit{jobs[i].ID, jobs[i].Lane}
	}
	return s.Exec(ctx, AddPermits, Args{"jobs": JSON(rows)})
}

// LockIdleLanes implements rowwise.LanesTx.
func (s *Session) LockIdleLanes(ctx context.Context, most int) ([]int64, error) {
	return s.Numbers(ctx, LockIdleLanes, Args{"limit": most})
}
