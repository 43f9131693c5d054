package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// HasNewLaneJobs implements rowwise.ClaimTx.
func (s *session) HasNewLaneJobs(ctx context.Context, req store.ClaimRequest, now time.Time) (bool, error) {
	fresh, err := s.freshJobs(ctx, req, now)
	return len(fresh) > 0, err
}

// LockNewLaneJobs implements rowwise.ClaimTx.
func (s *session) LockNewLaneJobs(ctx context.Context, req store.ClaimRequest, _ store.LaneWork, way store.ClaimWay,
	now time.Time,
) (fresh rowwise.FreshJobs, err error) {
	fresh.Jobs, err = s.freshJobs(ctx, req, now)
	fresh.Left = len(fresh.Jobs) == rowwise.FreshRows
	if err != nil || !fresh.Left || !way.Last || req.Suspects {
		return fresh, err
	}
	overtaking, err := s.overtakingJobs(ctx, req, now)
	for i := range overtaking {
		if id := overtaking[i].ID; !slices.ContainsFunc(fresh.Jobs, func(j store.LaneJob) bool { return j.ID == id }) {
			fresh.Jobs = append(fresh.Jobs, overtaking[i])
		}
	}
	return fresh, err
}

// freshJobs returns due jobs that limits concern, that hold no permits, and that a claim may take, at most rowwise.FreshRows.
func (s *session) freshJobs(ctx context.Context, req store.ClaimRequest, now time.Time) ([]store.LaneJob, error) {
	a := args{"queue": req.Queue, "limit": rowwise.FreshRows, "now": sqlrows.Micros(now)}
	if req.Suspects {
		a["kinds"] = sqlrows.JSONList(req.Kinds)
		addExact(a, req.Exact)
		return s.LaneJobs(ctx, lockNewLaneSuspects, a)
	}
	due, err := s.FindDue(ctx, req, now)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	a["streams"], a["scan"] = sqlrows.JSON(due), req.Limit+rowwise.FreshRows
	return s.LaneJobs(ctx, lockNewLaneJobs, a)
}

// overtakingJobs returns the first of these jobs in whose lanes no job waits, at most as many as the claim takes.
func (s *session) overtakingJobs(ctx context.Context, req store.ClaimRequest, now time.Time) ([]store.LaneJob, error) {
	due, err := s.FindDue(ctx, req, now)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	return s.LaneJobs(ctx, findOvertakingJobs, args{"queue": req.Queue, "limit": req.Limit, "now": sqlrows.Micros(now), "streams": sqlrows.JSON(due)})
}

// LeaveLanes implements sqlrows.Dialect.
func (s *session) LeaveLanes(ctx context.Context, ids []int64, again bool) error {
	if len(ids) == 0 {
		return nil
	}
	return s.Exec(ctx, insertJobVacancies, args{"ids": ids, "strict": again})
}

// FindLaneJobs implements rowwise.LanesTx.
func (s *session) FindLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	byMost := map[int][]int64{}
	for i, lane := range lanes {
		byMost[most[i]] = append(byMost[most[i]], lane)
	}
	var jobs []store.LaneJob
	for n, lanes := range byMost {
		some, err := s.LaneJobs(ctx, lockLaneJobs, args{"lanes": sqlrows.JSONList(lanes), "limit": n, "now": sqlrows.Micros(now)})
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	return jobs, nil
}

// LockRunning implements rowwise.LanesTx.
func (s *session) LockRunning(ctx context.Context, limit *store.Limit) ([]store.LaneJob, error) {
	return s.LaneJobs(ctx, lockRunningLaneJobs, sqlrows.Scope(limit))
}

// LockLaneJobs implements rowwise.LanesTx.
func (s *session) LockLaneJobs(ctx context.Context, lanes []int64, most []int, now time.Time) ([]store.LaneJob, error) {
	return s.FindLaneJobs(ctx, lanes, most, now)
}
