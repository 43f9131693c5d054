package sqlrows

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// claimRefs is claims as a parameter, in the order of their jobs, in which transactions lock jobs.
func claimRefs(claims []store.ClaimRef) string {
	type ref struct {
		Place int   `json:"place"`
		ID    int64 `json:"id"`
		Token int64 `json:"token"`
	}
	rows := make([]ref, len(claims))
	for i, c := range claims {
		rows[i] = ref{i, c.ID, c.Token}
	}
	slices.SortFunc(rows, func(a, b ref) int { return cmp.Compare(a.ID, b.ID) })
	return JSONList(rows)
}

// HeldClaimColumns are the columns that ReadHeld scans.
const HeldClaimColumns = "place state reason schedule_id origin handled concerns"

// ReadHeld runs a statement that locks the jobs of claims; see rowwise.Claims. more scans the columns after HeldClaimColumns, and got
// is called after each job; it may be nil.
func (s *Session) ReadHeld(ctx context.Context, name Statement, claims []store.ClaimRef, got func(id int64), more ...any) ([]rowwise.Held, error) {
	held := make([]rowwise.Held, len(claims))
	s.apart = map[int64]bool{}
	err := s.Each(ctx, name, Args{"claims": claimRefs(claims)}, func(r Row) error {
		var i int
		var state store.State
		var reason *string
		var schedule int64
		var origin store.Origin
		var handled, concerns bool
		if err := r.Scan(append([]any{&i, &state, &reason, &schedule, &origin, &handled, &concerns}, more...)...); err != nil {
			return err
		}
		h := &held[i]
		s.apart[claims[i].ID] = !concerns
		h.Found, h.Handled, h.Running, h.Group = true, handled, state == store.StateRunning, store.SerialGroupOf(schedule, origin)
		if reason != nil {
			h.Asked, h.Why = true, *reason
		}
		if got != nil {
			got(claims[i].ID)
		}
		return nil
	})
	return held, err
}

// EndStates implements rowwise.Claims.
func (s *Session) EndStates(ctx context.Context, claims []store.ClaimRef) ([]store.State, error) {
	states := make([]store.State, len(claims))
	err := s.Each(ctx, CheckRecorded, Args{"claims": claimRefs(claims)}, func(r Row) error {
		var i int
		var state store.State
		err := r.Scan(&i, &state)
		states[i] = state
		return err
	})
	return states, err
}

// InsertAttempts implements rowwise.Claims.
func (s *Session) InsertAttempts(ctx context.Context, records []store.AttemptRecord, now time.Time) error {
	ids := NumbersOf(records, func(r *store.AttemptRecord) int64 { return r.ID })
	if err := s.Exec(ctx, PruneAttempts, Args{"ids": ids, "most": store.MostAttempts}); err != nil {
		return err
	}
	return s.StoreAttempts(ctx, records, nil, math.MaxInt, now)
}

// StoreAttempts stores records of attempts, by statements with about most bytes each. names are the names of the nodes of jobs, for a
// driver whose statement does not read them.
func (s *Session) StoreAttempts(ctx context.Context, records []store.AttemptRecord, names map[int64]string, most int, now time.Time) error {
	type attempt struct {
		ID        int64                `json:"id"`
		Outcome   store.AttemptOutcome `json:"outcome"`
		Error     string               `json:"error"`
		Trace     string               `json:"trace"`
		OutputAt  int                  `json:"output_at"`
		OutputLen int                  `json:"output_len"`
		Printed   int64                `json:"printed"`
		NodeName  string               `json:"node_name,omitempty"`
	}
	for len(records) > 0 {
		var pack Packer
		var rows []attempt
		for size := 0; len(records) > 0 && (size == 0 || size < most); records = records[1:] {
			r := &records[0]
			at, length := pack.Add(r.Output)
			rows = append(rows, attempt{r.ID, r.Outcome, r.Error, r.Trace, at, length, r.Printed, names[r.ID]})
			size += 2 * (len(r.Output) + len(r.Error) + len(r.Trace)) // texts may be written in hexadecimal
		}
		if err := s.Exec(ctx, InsertAttempts, Args{"attempts": JSON(rows), "bytes": pack.Parameter(), "now": Micros(now)}); err != nil {
			return err
		}
	}
	return nil
}

// Ended is a job that ends, on its way to end_jobs.sql.
type Ended struct {
	rowwise.End
	KeepUntil *int64 `json:"keep_until,omitempty"`
	NodeName  string `json:"node_name,omitempty"` // for a driver whose statement does not read it
}

// ResultOrKeep reports whether the history of a job has a result, or an end of its own.
func (e Ended) ResultOrKeep() bool { return e.Result != "" || e.KeepUntil != nil }

// KeepEnded implements Dialect.
func (s *Session) KeepEnded(ctx context.Context, jobs []Ended, now time.Time) error {
	name := EndJobs
	if slices.ContainsFunc(jobs, Ended.ResultOrKeep) {
		name = EndJobsWithResults
	}
	return s.Exec(ctx, name, Args{"ends": JSON(jobs), "now": Micros(now)})
}

// RemoveEnded implements Dialect.
func (s *Session) RemoveEnded(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, DeleteEndedJobs)
}

// EndJobs implements rowwise.Claims.
func (s *Session) EndJobs(ctx context.Context, ends []rowwise.End, now time.Time) error {
	staying, err := s.keptEnds(ctx, ends, now)
	if err != nil {
		return err
	}
	kept := make([]Ended, 0, len(ends))
	ids := make([]int64, len(ends))
	var asked, forgotten []int64
	var events store.EventRows
	for i, end := range ends {
		ids[i] = end.ID
		events.Add(store.EventType(end.State), end.ID, end.Reason)
		if end.Asked {
			asked = append(asked, end.ID)
		}
		row := Ended{End: end}
		switch until, stays := staying[end.ID]; {
		case end.Keep == store.Forget && !stays:
			forgotten = append(forgotten, end.ID)
			continue
		case end.Keep == store.Forget:
			row.KeepUntil, row.Result = &until, ""
		case end.Keep > 0:
			row.KeepUntil = Micros(now.Add(end.Keep))
		}
		kept = append(kept, row)
	}
	if len(kept) > 0 {
		if err := s.Dialect.KeepEnded(ctx, kept, now); err != nil {
			return err
		}
	}
	if err := s.InsertEvents(ctx, events, now); err != nil {
		return err
	}
	if slices.ContainsFunc(ids, func(id int64) bool { return !s.apart[id] }) {
		if err := s.NoteEnds(ctx, InsertReleases, Args{"ends": JSON(ends), "now": Micros(now)}); err != nil {
			return err
		}
		if err := s.Dialect.LeaveLanes(ctx, ids, false); err != nil {
			return err
		}
	}
	if err := s.Dialect.RemoveEnded(ctx, ids); err != nil {
		return err
	}
	if _, err := s.DeleteOfJobs(ctx, forgotten); err != nil {
		return err
	}
	return s.OnIDs(ctx, asked, DeleteCancels)
}

// RequeueJobs implements rowwise.Claims. No job has a cancel request, with which it would have ended.
func (s *Session) RequeueJobs(ctx context.Context, jobs []rowwise.Requeue, now time.Time) error {
	var again, snoozed []int64
	for _, job := range jobs {
		if job.Snoozed {
			snoozed = append(snoozed, job.ID)
		} else {
			again = append(again, job.ID)
		}
	}
	if err := s.Dialect.LeaveLanes(ctx, again, true); err != nil {
		return err
	}
	if err := s.Dialect.LeaveLanes(ctx, snoozed, false); err != nil {
		return err
	}
	return s.Exec(ctx, RequeueJobs, Args{"jobs": JSON(jobs), "now": Micros(now)})
}
