package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// insertLinked inserts jobs, some of them with predecessors, or into a batch.
func (b *Backend) insertLinked(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	const doing = "insert jobs"
	links, err := store.CheckLinks(req)
	if err != nil {
		return out, fmt.Errorf("%s: %w", doing, err)
	}
	err = b.withinAt(ctx, doing, req.Tx, req.Now, func(s *session, now time.Time) (err error) {
		out, err = rowwise.InsertLinked(ctx, s, req, links, now, func(jobs []store.NewJob) ([]store.Inserted, error) {
			linked := req
			linked.Jobs = jobs
			inserted, err := rowwise.Insert(ctx, s, linked, now)
			return inserted.Jobs, err
		})
		return err
	})
	if err != nil {
		return store.InsertResult{}, err
	}
	return out, nil
}

// ReleaseDependents carries out notes of ended jobs; see store.Releaser.
func (b *Backend) ReleaseDependents(ctx context.Context, req store.ReleaseRequest) error {
	const doing = "release dependents"
	for after, more := int64(0), true; more; {
		step := func(s *session) error {
			now, err := s.now(ctx, req.Now)
			if err != nil {
				return err
			}
			after, more, err = rowwise.ReleaseDependents(ctx, s, after, now)
			return err
		}
		var err error
		if req.Tx != nil {
			err = b.within(ctx, doing, req.Tx, step)
		} else {
			err = b.writeOnly(ctx, doing, step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteEnds notes the ends of jobs that have dependents, before they are deleted.
func (s *session) noteEnds(ctx context.Context, name statement, a args) error {
	n, err := s.count(ctx, name, a)
	s.noted = s.noted || n > 0
	return err
}

// LockPredecessors implements rowwise.Edges.
func (s *session) LockPredecessors(ctx context.Context, ids []int64, _ time.Time) ([]store.Ended, error) {
	found, err := s.findEnded(ctx, ids)
	if err != nil {
		return nil, err
	}
	return found, s.exec(ctx, markReleases, args{"ids": jsonList(ids)})
}

// findEnded returns which of the jobs are live, and how the others ended.
func (s *session) findEnded(ctx context.Context, ids []int64) (found []store.Ended, err error) {
	err = s.each(ctx, findPredecessors, args{"ids": jsonList(ids)}, func(r row) error {
		var e store.Ended
		err := r.Scan(&e.ID, &e.State, into(&e.At), &e.Reason)
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
	s.noted = true
	return s.exec(ctx, insertLinkReleases, args{"ids": jsonList(ids), "now": micros(now)})
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
	return jsonOf(rows)
}

// InsertEdges implements rowwise.Edges.
func (s *session) InsertEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.exec(ctx, insertEdges, args{"edges": newEdges(edges)})
}

// SaveEdges implements rowwise.Edges.
func (s *session) SaveEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.exec(ctx, updateEdges, args{"edges": newEdges(edges)})
}

// SaveWaits implements rowwise.Edges.
func (s *session) SaveWaits(ctx context.Context, waits []rowwise.JobWait) error {
	type wait struct {
		ID    int64 `json:"id"`
		Open  int   `json:"open"`
		RunAt int64 `json:"run_at"`
	}
	rows := make([]wait, len(waits))
	for i, w := range waits {
		rows[i] = wait{w.ID, w.Open, w.RunAt.UnixMicro()}
	}
	return s.exec(ctx, updateWaits, args{"waits": jsonOf(rows)})
}

// EndWaiting implements rowwise.Edges.
func (s *session) EndWaiting(ctx context.Context, ends []rowwise.End, now time.Time) error {
	return s.EndJobs(ctx, ends, now)
}

// LockNotes implements rowwise.Edges.
func (s *session) LockNotes(ctx context.Context, after int64, limit int) (notes []rowwise.Note, more bool, err error) {
	err = s.each(ctx, listReleases, args{"after_id": after, "limit": limit}, func(r row) error {
		n := rowwise.Note{Last: true}
		err := r.Scan(&n.ID, &n.Ended.ID, &n.DoneTo, &n.Schedule, into(&n.At), &n.State, &n.Reason)
		n.Number = n.ID
		notes = append(notes, n)
		return err
	})
	return notes, len(notes) == limit, err
}

// OpenEdges implements rowwise.Edges.
func (s *session) OpenEdges(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return s.edgesOn(ctx, findOpenEdges, notes, limit)
}

// EdgesOn implements rowwise.Edges.
func (s *session) EdgesOn(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return s.edgesOn(ctx, findEdges, notes, limit)
}

func (s *session) edgesOn(ctx context.Context, find statement, notes []rowwise.Note, limit int) (edges []rowwise.JobEdge, err error) {
	type note struct {
		On     int64 `json:"on_id"`
		DoneTo int64 `json:"done_to"`
		Number int64 `json:"number"`
	}
	rows := make([]note, len(notes))
	for i, n := range notes {
		rows[i] = note{n.Ended.ID, n.DoneTo, n.Number}
	}
	err = s.each(ctx, find, args{"notes": jsonOf(rows), "limit": limit}, func(r row) error {
		var e rowwise.JobEdge
		err := r.Scan(&e.Job, &e.ID, durationScanner{&e.Delay}, &e.On, &e.Any, &e.AtEnd)
		edges = append(edges, e)
		return err
	})
	return edges, err
}

// FindNotStarted implements rowwise.Edges.
func (s *session) FindNotStarted(ctx context.Context, ids []int64) (found []int64, err error) {
	err = s.each(ctx, findNotStarted, args{"ids": jsonList(ids)}, func(r row) error {
		var id int64
		err := r.Scan(&id)
		found = append(found, id)
		return err
	})
	return found, err
}

// ReopenEdges implements rowwise.Edges.
func (s *session) ReopenEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.exec(ctx, reopenEdges, args{"edges": newEdges(edges)})
}

// FindReopenings implements rowwise.Edges.
func (s *session) FindReopenings(ctx context.Context, ids []int64) (jobs []rowwise.Reopening, err error) {
	err = s.each(ctx, findReopenings, args{"ids": jsonList(ids)}, func(r row) error {
		var job rowwise.Reopening
		err := r.Scan(&job.ID, &job.Open, &job.Any, &job.AtEnd, &job.Matched, &job.Missed, into(&job.Latest))
		jobs = append(jobs, job)
		return err
	})
	return jobs, err
}

// ReopenJobs implements rowwise.Edges.
func (s *session) ReopenJobs(ctx context.Context, jobs []rowwise.JobWait, now time.Time) error {
	type wait struct {
		ID    int64  `json:"id"`
		Open  int    `json:"open"`
		RunAt *int64 `json:"run_at"`
	}
	rows, ids := make([]wait, len(jobs)), make([]int64, len(jobs))
	for i, job := range jobs {
		rows[i], ids[i] = wait{job.ID, job.Open, micros(job.RunAt)}, job.ID
	}
	if err := s.exec(ctx, reopenJobs, args{"waits": jsonOf(rows)}); err != nil {
		return err
	}
	if err := s.noteRetries(ctx, ids, now); err != nil {
		return err
	}
	return s.onIDs(ctx, ids, nil, deleteFinishedJobs)
}

// noteRetries notes that jobs were retried which may have dependents.
func (s *session) noteRetries(ctx context.Context, ids []int64, now time.Time) error {
	return s.noteEnds(ctx, insertRetries, args{"ids": jsonList(ids), "now": micros(now)})
}

// LockWaiting implements rowwise.Edges.
func (s *session) LockWaiting(ctx context.Context, ids []int64) (waits []rowwise.JobWait, _ []int64, err error) {
	err = s.each(ctx, findWaiting, args{"ids": jsonList(ids)}, func(r row) error {
		var w rowwise.JobWait
		err := r.Scan(&w.ID, &w.Open, into(&w.RunAt))
		waits = append(waits, w)
		return err
	})
	return waits, nil, err
}

// DecidedEdges implements rowwise.Edges.
func (s *session) DecidedEdges(ctx context.Context, ids []int64) (decided []rowwise.Decided, err error) {
	err = s.each(ctx, findDecidedEdges, args{"ids": jsonList(ids)}, func(r row) error {
		var d rowwise.Decided
		var missed store.Ended
		err := r.Scan(&d.ID, &d.Matched, &missed.ID, &missed.State, &missed.Reason)
		if missed.ID != 0 {
			d.Missed = &missed
		}
		decided = append(decided, d)
		return err
	})
	return decided, err
}

// MoveNote implements rowwise.Edges.
func (s *session) MoveNote(ctx context.Context, note rowwise.Note) error {
	return s.exec(ctx, updateRelease, args{"id": note.ID, "done_to": note.DoneTo})
}

// DeleteNotes implements rowwise.Edges.
func (s *session) DeleteNotes(ctx context.Context, ids []int64) error {
	return s.onIDs(ctx, ids, nil, deleteReleases)
}

// addEdges reads what listed jobs wait for into them.
func (s *session) addEdges(ctx context.Context, jobs []store.JobInfo) error {
	ids, byID := rowwise.ByID(jobs)
	return s.each(ctx, listEdges, args{"ids": jsonList(ids)}, func(r row) error {
		var id int64
		var e store.JobEdge
		err := r.Scan(&id, &e.Job, durationScanner{&e.Delay}, &e.On, &e.State)
		if job := byID[id]; err == nil && job != nil {
			job.After = append(job.After, e)
		}
		return err
	})
}
