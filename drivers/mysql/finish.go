package mysql

import (
	"cmp"
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
	Place int   `json:"place"`
	ID    int64 `json:"id"`
	Token int64 `json:"token"`
}

// claimRefs has claims in the order of their jobs, in which transactions lock jobs.
func claimRefs(claims []store.ClaimRef) string {
	rows := make([]claimRef, len(claims))
	for i, ref := range claims {
		rows[i] = claimRef{i, ref.ID, ref.Token}
	}
	slices.SortFunc(rows, func(a, b claimRef) int { return cmp.Compare(a.ID, b.ID) })
	return sqlrows.JSONList(rows)
}

// LockClaims implements rowwise.Claims.
func (s *session) LockClaims(ctx context.Context, claims []store.ClaimRef) ([]rowwise.Held, error) {
	held := make([]rowwise.Held, len(claims))
	s.apart, s.plain = map[int64]bool{}, map[int64]bool{}
	err := s.Each(ctx, lockClaims, args{"claims": claimRefs(claims)}, func(r row) error {
		var i int
		var state store.State
		var reason *string
		var schedule int64
		var origin store.Origin
		var handled, concerns, rare bool
		if err := r.Scan(&i, &state, &reason, &schedule, &origin, &handled, &concerns, &rare); err != nil {
			return err
		}
		h := &held[i]
		s.apart[claims[i].ID], s.plain[claims[i].ID] = !concerns, !rare
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
	NodeName  string               `json:"node_name,omitempty"`
}

// InsertAttempts implements rowwise.Claims.
func (s *session) InsertAttempts(ctx context.Context, records []store.AttemptRecord, now time.Time) error {
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	var old []args
	err := s.Each(ctx, findOldAttempts, args{"ids": sqlrows.JSONList(ids), "skip": store.MostAttempts - 1}, func(r row) error {
		var id, token int64
		err := r.Scan(&id, &token)
		old = append(old, args{"id": id, "token": token})
		return err
	})
	if err != nil {
		return err
	}
	if err := s.onEach(ctx, sqlrows.PruneAttempts, old); err != nil {
		return err
	}
	names, err := s.nodeNames(ctx, ids)
	if err != nil {
		return err
	}
	for len(records) > 0 {
		var pack sqlrows.Packer
		var rows []newAttempt
		for size := 0; len(records) > 0 && (size == 0 || size < s.rowBytes); records = records[1:] {
			r := &records[0]
			at, length := pack.Add(r.Output)
			rows = append(rows, newAttempt{r.ID, r.Outcome, r.Error, r.Trace, at, length, r.Printed, names[r.ID]})
			size += 2 * (len(r.Output) + len(r.Error) + len(r.Trace)) // texts are written in hexadecimal
		}
		if err := s.Exec(ctx, sqlrows.InsertAttempts, args{"attempts": sqlrows.JSON(rows), "bytes": pack.Parameter(), "now": sqlrows.Micros(now)}); err != nil {
			return err
		}
	}
	return nil
}

// newHistory is a finished job on its way to end_jobs.sql.
type newHistory struct {
	rowwise.End
	KeepUntil *int64 `json:"keep_until,omitempty"`
	NodeName  string `json:"node_name,omitempty"`
}

// nodeNames returns the names of the nodes of live jobs, which are locked, for statements with {node_name}. A
// transaction of the program must not lock nodes, whose heartbeats would wait for its end.
func (s *session) nodeNames(ctx context.Context, jobs []int64) (map[int64]string, error) {
	if !s.callers {
		return nil, nil
	}
	var nodes []int64
	nodeOf, nameOf := map[int64]int64{}, map[int64]string{}
	err := s.Each(ctx, findJobNodes, args{"ids": sqlrows.JSONList(jobs)}, func(r row) error {
		var id, node int64
		err := r.Scan(&id, &node)
		nodeOf[id], nodes = node, append(nodes, node)
		return err
	})
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	err = s.Each(ctx, findNodeNames, args{"nodes": nodes}, func(r row) error {
		var node int64
		var name string
		err := r.Scan(&node, &name)
		nameOf[node] = name
		return err
	})
	names := map[int64]string{}
	for id, node := range nodeOf {
		names[id] = nameOf[node]
	}
	return names, err
}

// EndJobs implements rowwise.Claims.
func (s *session) EndJobs(ctx context.Context, ends []rowwise.End, now time.Time) error {
	staying, err := s.KeptEnds(ctx, ends, now)
	if err != nil {
		return err
	}
	ids := make([]int64, len(ends))
	for i, end := range ends {
		ids[i] = end.ID
	}
	names, err := s.nodeNames(ctx, ids)
	if err != nil {
		return err
	}
	kept := make([]newHistory, 0, len(ends))
	var asked, forgotten []int64
	for _, end := range ends {
		if end.Asked {
			asked = append(asked, end.ID)
		}
		row := newHistory{End: end, NodeName: names[end.ID]}
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
	if err := s.keepEnded(ctx, kept, now); err != nil {
		return err
	}
	var events store.EventRows
	for _, end := range ends {
		events.Add(store.EventType(end.State), end.ID, end.Reason)
	}
	if err := s.InsertEvents(ctx, events, now); err != nil {
		return err
	}
	if slices.ContainsFunc(ids, func(id int64) bool { return !s.apart[id] }) {
		if err := s.NoteEnds(ctx, sqlrows.InsertReleases, args{"ends": sqlrows.JSON(ends), "now": sqlrows.Micros(now)}); err != nil {
			return err
		}
		if err := s.leaveLanes(ctx, ids, false); err != nil {
			return err
		}
	}
	rares := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return s.plain[id] })
	if err := s.OnIDs(ctx, rares, deleteRare); err != nil {
		return err
	}
	if err := s.inChunks(ctx, sqlrows.DeleteEndedJobs, ids, args{}); err != nil {
		return err
	}
	if err := s.OnIDs(ctx, forgotten, sqlrows.DeleteAttempts, sqlrows.DeleteProgress, sqlrows.DeleteSteps, sqlrows.DeleteEdges); err != nil {
		return err
	}
	return s.OnIDs(ctx, asked, sqlrows.DeleteCancels)
}

// longList is how many numbers a list in a statement has at most. MariaDB makes a table of a list of 1,000, which takes longer
// than to search for its rows.
const longList = 500

// inChunks runs a statement with parts of a list, whose parameter is ids.
func (s *session) inChunks(ctx context.Context, name statement, ids []int64, a args) error {
	for part := range slices.Chunk(ids, longList) {
		a["ids"] = part
		if err := s.Exec(ctx, name, a); err != nil {
			return err
		}
	}
	return nil
}

// keepEnded copies jobs that end to history.
func (s *session) keepEnded(ctx context.Context, jobs []newHistory, now time.Time) error {
	if len(jobs) == 0 {
		return nil
	}
	name, a := endJobsWithResults, args{"now": sqlrows.Micros(now)}
	switch first := jobs[0].State; {
	case slices.ContainsFunc(jobs, func(end newHistory) bool { return end.Result != "" || end.KeepUntil != nil }):
	case s.callers || slices.ContainsFunc(jobs, func(end newHistory) bool { return end.State != first || end.Reason != "" }):
		name = endJobs
	default:
		ids := make([]int64, len(jobs))
		for i := range jobs {
			ids[i] = jobs[i].ID
		}
		a["state"] = first
		return s.inChunks(ctx, endJobsAlike, ids, a)
	}
	a["ends"] = sqlrows.JSON(jobs)
	return s.Exec(ctx, name, a)
}

// RequeueJobs implements rowwise.Claims. No job has a cancel request, with which
// it would have ended.
func (s *session) RequeueJobs(ctx context.Context, jobs []rowwise.Requeue, now time.Time) error {
	var again, snoozed, lost []int64
	for _, job := range jobs {
		if job.LossCounts {
			lost = append(lost, job.ID)
		}
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
	if err := s.OnIDs(ctx, lost, insertMissingRare); err != nil {
		return err
	}
	return s.updateAfter(ctx, append(again, snoozed...), s.Exec(ctx, sqlrows.RequeueJobs, args{"jobs": sqlrows.JSON(jobs), "now": sqlrows.Micros(now)}))
}
