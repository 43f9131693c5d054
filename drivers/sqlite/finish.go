package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Finish records outcomes; see store.Jobs.
func (b *Backend) Finish(ctx context.Context, req store.FinishRequest) (out store.FinishResult, err error) {
	if len(req.Outcomes) == 0 {
		return out, nil
	}
	if req.Tx != nil {
		return b.finishIn(ctx, req)
	}
	return rowwise.InTxAt(b.withinAt(ctx, "finish jobs", nil, req.Now), func(s *session, now time.Time) (store.FinishResult, error) {
		return rowwise.Finish(ctx, s, req, now)
	})
}

// claimRef names a claim in the JSON of a parameter.
type claimRef struct {
	ID    int64 `json:"id"`
	Token int64 `json:"token"`
}

func claimRefs(claims []store.ClaimRef) string {
	rows := make([]claimRef, len(claims))
	for i, ref := range claims {
		rows[i] = claimRef(ref)
	}
	return sqlrows.JSONList(rows)
}

// LockClaims implements rowwise.Claims.
func (s *session) LockClaims(ctx context.Context, claims []store.ClaimRef) ([]rowwise.Held, error) {
	held := make([]rowwise.Held, len(claims))
	err := s.Each(ctx, lockClaims, args{"claims": claimRefs(claims)}, func(r row) error {
		var i int
		var state store.State
		var reason *string
		var schedule int64
		var origin store.Origin
		var handled bool
		if err := r.Scan(&i, &state, &reason, &schedule, &origin, &handled); err != nil {
			return err
		}
		h := &held[i]
		h.Found, h.Handled, h.Running, h.Group = true, handled, state == store.StateRunning, store.SerialGroupOf(schedule, origin)
		if reason != nil {
			h.Asked, h.Why = true, *reason
		}
		return nil
	})
	return held, err
}

// EndStates implements rowwise.Claims.
func (s *session) EndStates(ctx context.Context, claims []store.ClaimRef) ([]store.State, error) {
	states := make([]store.State, len(claims))
	err := s.Each(ctx, sqlrows.CheckRecorded, args{"claims": claimRefs(claims)}, func(r row) error {
		var i int
		var state store.State
		err := r.Scan(&i, &state)
		states[i] = state
		return err
	})
	return states, err
}

// newAttempt is a record on its way to insert_attempts.sql.
type newAttempt struct {
	ID        int64                `json:"id"`
	Outcome   store.AttemptOutcome `json:"outcome"`
	Error     string               `json:"error"`
	Trace     string               `json:"trace"`
	OutputAt  int                  `json:"output_at"`
	OutputLen int                  `json:"output_len"`
	Printed   int64                `json:"printed"`
}

// InsertAttempts implements rowwise.Claims.
func (s *session) InsertAttempts(ctx context.Context, records []store.AttemptRecord, now time.Time) error {
	var pack sqlrows.Packer
	rows := make([]newAttempt, len(records))
	ids := make([]int64, len(records))
	for i, r := range records {
		at, length := pack.Add(r.Output)
		rows[i], ids[i] = newAttempt{r.ID, r.Outcome, r.Error, r.Trace, at, length, r.Printed}, r.ID
	}
	if err := s.Exec(ctx, sqlrows.PruneAttempts, args{"ids": sqlrows.JSONList(ids), "most": store.MostAttempts}); err != nil {
		return err
	}
	return s.Exec(ctx, sqlrows.InsertAttempts, args{"attempts": sqlrows.JSON(rows), "bytes": pack.Parameter(), "now": sqlrows.Micros(now)})
}

// newHistory is a finished job on its way to end_jobs.sql.
type newHistory struct {
	rowwise.End
	KeepUntil *int64 `json:"keep_until,omitempty"`
}

// EndJobs implements rowwise.Claims.
func (s *session) EndJobs(ctx context.Context, ends []rowwise.End, now time.Time) error {
	staying, err := s.KeptEnds(ctx, ends, now)
	if err != nil {
		return err
	}
	kept := make([]newHistory, 0, len(ends))
	var asked, forgotten []int64
	for _, end := range ends {
		if end.Asked {
			asked = append(asked, end.ID)
		}
		row := newHistory{End: end}
		switch until, stays := staying[end.ID]; {
		case end.Keep == store.Forget && !stays:
			forgotten = append(forgotten, end.ID)
			continue
		case end.Keep == store.Forget:
			row.KeepUntil, row.Result = &until, ""
		case end.Keep > 0:
			row.KeepUntil = sqlrows.Micros(now.Add(end.Keep))
		}
		kept = append(kept, row)
	}
	if len(kept) > 0 {
		statement := endJobs
		if slices.ContainsFunc(kept, func(end newHistory) bool { return end.Result != "" || end.KeepUntil != nil }) {
			statement = endJobsWithResults
		}
		if err := s.Exec(ctx, statement, args{"ends": sqlrows.JSON(kept), "now": sqlrows.Micros(now)}); err != nil {
			return err
		}
	}
	list := sqlrows.JSON(ends)
	var events store.EventRows
	for _, end := range ends {
		events.Add(store.EventType(end.State), end.ID, end.Reason)
	}
	if err := s.InsertEvents(ctx, events, now); err != nil {
		return err
	}
	if err := s.NoteEnds(ctx, sqlrows.InsertReleases, args{"ends": list, "now": sqlrows.Micros(now)}); err != nil {
		return err
	}
	ids := make([]int64, len(ends))
	for i, end := range ends {
		ids[i] = end.ID
	}
	if err := s.leaveLanes(ctx, ids, false); err != nil {
		return err
	}
	if err := s.Exec(ctx, sqlrows.DeleteEndedJobs, args{"ends": list}); err != nil {
		return err
	}
	if err := s.OnIDs(ctx, forgotten, sqlrows.DeleteAttempts, sqlrows.DeleteProgress, sqlrows.DeleteSteps, sqlrows.DeleteEdges); err != nil {
		return err
	}
	return s.OnIDs(ctx, asked, sqlrows.DeleteCancels)
}

// RequeueJobs implements rowwise.Claims. No job has a cancel request, with which
// it would have ended.
func (s *session) RequeueJobs(ctx context.Context, jobs []rowwise.Requeue, now time.Time) error {
	var again, snoozed []int64
	for _, job := range jobs {
		if job.Snoozed {
			snoozed = append(snoozed, job.ID)
		} else {
			again = append(again, job.ID)
		}
	}
	if err := s.leaveLanes(ctx, again, true); err != nil {
		return err
	}
	if err := s.leaveLanes(ctx, snoozed, false); err != nil {
		return err
	}
	return s.Exec(ctx, sqlrows.RequeueJobs, args{"jobs": sqlrows.JSON(jobs), "now": sqlrows.Micros(now)})
}
