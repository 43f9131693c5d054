package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// CarryOut implements store.Deferring: it carries out notes of ended jobs.
func (b *Backend) CarryOut(ctx context.Context, req store.CarryOutRequest) error {
	const doing = "release dependents"
	for after, more := int64(0), true; more; {
		run := b.writeOnly(ctx, doing)
		if req.Tx != nil {
			run = b.within(ctx, doing, req.Tx)
		}
		did, err := rowwise.InTx(run, func(s *session) (did releaseStep, err error) {
			now, err := s.Now(ctx, req.Now)
			if err != nil {
				return did, err
			}
			did.next, did.more, err = rowwise.ReleaseDependents(ctx, s, after, now)
			return did, err
		})
		if err != nil {
			return err
		}
		after, more = did.next, did.more
	}
	return nil
}

// releaseStep is the progress of a step of CarryOut.
type releaseStep struct {
	next int64 // where the next step begins
	more bool
}

// LockPredecessors implements rowwise.Edges.
func (s *session) LockPredecessors(ctx context.Context, ids []int64, _ time.Time) ([]store.Ended, error) {
	found, err := s.findEnded(ctx, ids)
	if err != nil {
		return nil, err
	}
	return found, s.Exec(ctx, sqlrows.MarkReleases, args{"ids": sqlrows.JSONList(ids)})
}

// findEnded returns which of the jobs are live, and how the others ended.
func (s *session) findEnded(ctx context.Context, ids []int64) (found []store.Ended, err error) {
	err = s.Each(ctx, findPredecessors, args{"ids": sqlrows.JSONList(ids)}, func(r row) error {
		var e store.Ended
		err := r.Scan(&e.ID, &e.State, sqlrows.IntoTime(&e.At), &e.Reason)
		found = append(found, e)
		return err
	})
	return found, err
}

// KnownJobs implements rowwise.Edges.
func (s *session) KnownJobs(ctx context.Context, ids []int64) (known []int64, err error) {
	found, err := s.findEnded(ctx, ids)
	for _, e := range found {
		known = append(known, e.ID)
	}
	return known, err
}

// InsertLinkNotes implements rowwise.Edges.
func (s *session) InsertLinkNotes(ctx context.Context, ids []int64, now time.Time) error {
	s.Noted = true
	return s.Exec(ctx, sqlrows.InsertLinkReleases, args{"ids": sqlrows.JSONList(ids), "now": sqlrows.Micros(now)})
}

// newEdge is an edge on its way to insert_edges.sql, update_edges.sql and reopen_edges.sql.
type newEdge struct {
	On    int64           `json:"on_id"`
	ID    int64           `json:"id"`
	Delay int64           `json:"delay"`
	Sort  store.On        `json:"on"`
	State store.EdgeState `json:"state"`
	Any   int             `json:"any"`
	AtEnd int             `json:"at_end"`
	Note  int64           `json:"note"`
}

func newEdges(edges []rowwise.JobEdge) string {
	rows := make([]newEdge, len(edges))
	for i, e := range edges {
		rows[i] = newEdge{On: e.Job, ID: e.ID, Delay: e.Delay.Microseconds(), Sort: e.On, State: e.State, Note: e.Note}
		if e.Any {
			rows[i].Any = 1
		}
		if e.AtEnd {
			rows[i].AtEnd = 1
		}
	}
	return sqlrows.JSON(rows)
}

// InsertEdges implements rowwise.Edges.
func (s *session) InsertEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.Exec(ctx, sqlrows.InsertEdges, args{"edges": newEdges(edges)})
}

// SaveEdges implements rowwise.Edges.
func (s *session) SaveEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.Exec(ctx, sqlrows.UpdateEdges, args{"edges": newEdges(edges)})
}

// EndWaiting implements rowwise.Edges.
func (s *session) EndWaiting(ctx context.Context, ends []rowwise.End, now time.Time) error {
	return s.EndJobs(ctx, ends, now)
}

// LockNotes implements rowwise.Edges.
func (s *session) LockNotes(ctx context.Context, after int64, limit int) (notes []rowwise.Note, more bool, err error) {
	err = s.Each(ctx, listReleases, args{"after_id": after, "limit": limit}, func(r row) error {
		n := rowwise.Note{Last: true}
		err := r.Scan(&n.ID, &n.Ended.ID, &n.DoneTo, &n.Schedule, sqlrows.IntoTime(&n.At), &n.State, &n.Reason)
		n.Number = n.ID
		notes = append(notes, n)
		return err
	})
	return notes, len(notes) == limit, err
}

// FindNotStarted implements rowwise.Edges.
func (s *session) FindNotStarted(ctx context.Context, ids []int64) (found []store.FinishedJob, err error) {
	err = s.Each(ctx, sqlrows.FindNotStarted, args{"ids": sqlrows.JSONList(ids)}, func(r row) error {
		var job store.FinishedJob
		err := r.Scan(&job.ID, &job.Kind, &job.Unique)
		found = append(found, job)
		return err
	})
	return found, err
}

// ReopenEdges implements rowwise.Edges.
func (s *session) ReopenEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.Exec(ctx, sqlrows.ReopenEdges, args{"edges": newEdges(edges)})
}

// LockWaiting implements rowwise.Edges.
func (s *session) LockWaiting(ctx context.Context, ids []int64) (waits []rowwise.JobWait, _ []int64, err error) {
	err = s.Each(ctx, findWaiting, args{"ids": sqlrows.JSONList(ids)}, func(r row) error {
		var w rowwise.JobWait
		err := r.Scan(&w.ID, &w.Open, sqlrows.IntoTime(&w.RunAt))
		waits = append(waits, w)
		return err
	})
	return waits, nil, err
}
