package mysql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// DueSchedules reads what is due; see store.Schedules. Without a transaction of the caller it is one statement if nothing is due.
func (b *Backend) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	const doing = "read due schedules"
	run := b.look(ctx, doing)
	if req.Tx != nil || len(req.Names) > 0 {
		run = b.Read(ctx, doing, req.Tx)
	}
	return rowwise.InTx(run, func(s *session) (out store.DueSchedulesResult, err error) {
		err = s.readDueSchedules(ctx, req, &out)
		return out, err
	})
}

// readDueSchedules reads what is due. Outside of a transaction each statement sees what was committed before it: the next instant is read
// after the schedules that are due, so that a schedule which another node fires in between is in one of the answers at least.
func (s *session) readDueSchedules(ctx context.Context, req store.DueSchedulesRequest, out *store.DueSchedulesResult) error {
	var first time.Time
	if err := s.One(ctx, findFirstSchedule, args{"now": instantOf(req.Now)}, sqlrows.IntoTime(&out.Now), sqlrows.IntoTime(&first)); err != nil {
		return err
	}
	if len(req.Names) == 0 && (first.IsZero() || first.After(out.Now.Add(req.Ahead))) {
		out.Next = first
		return nil
	}
	return s.ReadDueSchedules(ctx, req, out)
}

// Fire accounts for slots; see store.Schedules. In a transaction of its own, schedules that other transactions have
// locked, or whose live jobs they have locked, count as lost.
func (b *Backend) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	if req.Tx != nil {
		return b.calls.Fire(ctx, req)
	}
	var lost []int64
	for len(req.Firings) > 0 {
		out, err := rowwise.InTxAt(b.WriteAt(ctx, "fire schedules", nil, req.Now), func(s *session, now time.Time) (store.FireResult, error) {
			return rowwise.Fire(ctx, firing{s}, req, now)
		})
		var held heldSchedulesError
		if !errors.As(err, &held) {
			out.Lost = append(out.Lost, lost...)
			return out, err
		}
		lost = append(lost, held...)
		req.Firings = slices.DeleteFunc(slices.Clone(req.Firings), func(f store.Firing) bool { return slices.Contains(held, f.Schedule) })
	}
	return store.FireResult{Lost: lost}, nil
}

// heldSchedulesError is the error of a firing: other transactions have locked live jobs of these schedules.
type heldSchedulesError []int64

// Error implements error.
func (h heldSchedulesError) Error() string {
	return fmt.Sprintf("jobs of the schedules %v are locked", []int64(h))
}

// firing is a transaction that fires, and does not wait for programs' transactions.
type firing struct{ *session }

// LockDueSchedules implements rowwise.Slots. Schedules that stay locked are missing.
func (f firing) LockDueSchedules(ctx context.Context, ids []int64, until time.Time) (map[int64]rowwise.Due, error) {
	rows := map[int64]rowwise.Due{}
	_, err := lookFor(ctx, ids, func(ids []int64) ([]int64, error) {
		some, err := f.ReadDue(ctx, lockFreeDueSchedules, ids, until)
		maps.Copy(rows, some)
		if err != nil || len(some) == len(ids) {
			return nil, err
		}
		due, err := f.ReadDue(ctx, findDueOnes, ids, until)
		return without(slices.Collect(maps.Keys(due)), slices.Collect(maps.Keys(some))), err
	})
	return rows, err
}

// LockLiveJobs implements rowwise.Slots.
func (f firing) LockLiveJobs(ctx context.Context, schedules []int64, now time.Time) (map[int64][]store.LiveJob, error) {
	live := map[int64][]store.LiveJob{}
	held, err := lookFor(ctx, schedules, func(ids []int64) ([]int64, error) {
		free, err := f.ReadLive(ctx, lockFreeLiveJobs, ids, now)
		if err != nil {
			return nil, err
		}
		all, err := f.ReadLive(ctx, findLiveJobs, ids, now)
		if err != nil {
			return nil, err
		}
		var held []int64
		for _, id := range ids {
			if len(free[id]) < len(all[id]) {
				held = append(held, id)
			} else if len(free[id]) > 0 {
				live[id] = free[id]
			}
		}
		return held, nil
	})
	if err == nil && len(held) > 0 {
		err = heldSchedulesError(held)
	}
	return live, err
}

// LockMarks implements rowwise.Schedules.
func (s *session) LockMarks(ctx context.Context, ids []int64) (map[int64]time.Time, error) {
	if s.callers {
		return s.ReadMarks(ctx, findTriggeredMarks, ids)
	}
	return s.Session.LockMarks(ctx, ids)
}
