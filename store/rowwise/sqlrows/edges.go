package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// SetFinally implements rowwise.Edges.
func (s *Session) SetFinally(ctx context.Context, batch, job int64) error {
	return s.Exec(ctx, updateBatch, Args{"id": batch, "finally": job})
}

// FindBatch implements rowwise.Edges.
func (s *Session) FindBatch(ctx context.Context, id int64) (b rowwise.Batch, found bool, err error) {
	err = s.Each(ctx, findBatch, Args{"id": id}, func(r Row) error {
		found = true
		return r.Scan(&b.Last, &b.Finally.On, &b.Finally.Any)
	})
	return b, found, err
}

// InsertLinkNotes implements rowwise.Edges.
func (s *Session) InsertLinkNotes(ctx context.Context, ids []int64, now time.Time) error {
	s.Noted = true
	rows := make([]Args, len(ids))
	for i, id := range ids {
		rows[i] = Args{"on_id": id, "now": Micros(now)}
	}
	return s.InsertRows(ctx, InsertLinkReleases, rows)
}

// InsertEdges implements rowwise.Edges.
func (s *Session) InsertEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	rows := make([]Args, len(edges))
	for i, e := range edges {
		rows[i] = Args{
			"on_id": e.Job, "id": e.ID, "delay": e.Delay.Microseconds(), "on": int16(e.On), "state": int16(e.State), "any": e.Any, "at_end": e.AtEnd,
		}
	}
	return s.InsertRows(ctx, insertEdges, rows)
}

// changedEdges has edges for update_edges.sql and reopen_edges.sql.
func changedEdges(edges []rowwise.JobEdge) Args {
	type changed struct {
		On    int64           `json:"on_id"`
		ID    int64           `json:"id"`
		State store.EdgeState `json:"state"`
		Note  int64           `json:"note"`
	}
	rows := make([]changed, len(edges))
	for i, e := range edges {
		rows[i] = changed{e.Job, e.ID, e.State, e.Note}
	}
	return Args{"edges": JSON(rows)}
}

// UpdateEdges decides edges, and returns how many.
func (s *Session) UpdateEdges(ctx context.Context, edges []rowwise.JobEdge) (int, error) {
	return s.Count(ctx, updateEdges, changedEdges(edges))
}

// ReopenEdges implements rowwise.Edges.
func (s *Session) ReopenEdges(ctx context.Context, edges []rowwise.JobEdge) error {
	return s.Exec(ctx, reopenEdges, changedEdges(edges))
}

// EndWaiting implements rowwise.Edges.
func (s *Session) EndWaiting(ctx context.Context, ends []rowwise.End, now time.Time) error {
	return s.EndJobs(ctx, ends, now)
}

// FindNotStarted implements rowwise.Edges.
func (s *Session) FindNotStarted(ctx context.Context, ids []int64) (found []store.FinishedJob, err error) {
	err = s.Each(ctx, findNotStarted, Args{"ids": ids}, func(r Row) error {
		var job store.FinishedJob
		err := r.Scan(&job.ID, &job.Kind, &job.Unique)
		found = append(found, job)
		return err
	})
	return found, err
}

// NoteEnds runs a statement that notes the ends of jobs that have dependents, before they are deleted.
func (s *Session) NoteEnds(ctx context.Context, name Statement, a Args) error {
	n, err := s.Count(ctx, name, a)
	s.Noted = s.Noted || n > 0
	return err
}

// SaveWaits implements rowwise.Edges.
func (s *Session) SaveWaits(ctx context.Context, waits []rowwise.JobWait) error {
	type wait struct {
		ID    int64 `json:"id"`
		Open  int   `json:"open"`
		RunAt int64 `json:"run_at"`
	}
	rows := make([]wait, len(waits))
	for i, w := range waits {
		rows[i] = wait{w.ID, w.Open, w.RunAt.UnixMicro()}
	}
	return s.Exec(ctx, UpdateWaits, Args{"waits": JSON(rows)})
}

// OpenEdges implements rowwise.Edges.
func (s *Session) OpenEdges(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return s.edgesOn(ctx, findOpenEdges, notes, limit)
}

// EdgesOn implements rowwise.Edges.
func (s *Session) EdgesOn(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return s.edgesOn(ctx, findEdges, notes, limit)
}

func (s *Session) edgesOn(ctx context.Context, find Statement, notes []rowwise.Note, limit int) (edges []rowwise.JobEdge, err error) {
	type note struct {
		On     int64 `json:"on_id"`
		DoneTo int64 `json:"done_to"`
		Number int64 `json:"number"`
	}
	rows := make([]note, len(notes))
	for i, n := range notes {
		rows[i] = note{n.Ended.ID, n.DoneTo, n.Number}
	}
	err = s.Each(ctx, find, Args{"notes": JSON(rows), "limit": limit}, func(r Row) error {
		var e rowwise.JobEdge
		err := r.Scan(&e.Job, &e.ID, IntoDuration(&e.Delay), &e.On, &e.Any, &e.AtEnd)
		edges = append(edges, e)
		return err
	})
	return edges, err
}

// FindReopenings implements rowwise.Edges.
func (s *Session) FindReopenings(ctx context.Context, ids []int64) (jobs []rowwise.Reopening, err error) {
	err = s.Each(ctx, findReopenings, Args{"ids": ids}, func(r Row) error {
		var job rowwise.Reopening
		err := r.Scan(&job.ID, &job.Open, &job.Any, &job.AtEnd, &job.Matched, &job.Missed, IntoTime(&job.Latest))
		jobs = append(jobs, job)
		return err
	})
	return jobs, err
}

// ReopenJobs implements rowwise.Edges.
func (s *Session) ReopenJobs(ctx context.Context, jobs []rowwise.JobWait, now time.Time) error {
	type wait struct {
		ID    int64  `json:"id"`
		Open  int    `json:"open"`
		RunAt *int64 `json:"run_at"`
	}
	rows, ids := make([]wait, len(jobs)), make([]int64, len(jobs))
	for i, job := range jobs {
		rows[i], ids[i] = wait{job.ID, job.Open, Micros(job.RunAt)}, job.ID
	}
	if err := s.Exec(ctx, reopenJobs, Args{"waits": JSON(rows)}); err != nil {
		return err
	}
	if err := s.noteRetries(ctx, ids, now); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, deleteFinishedJobs)
}

// noteRetries notes that jobs were retried which may have dependents.
func (s *Session) noteRetries(ctx context.Context, ids []int64, now time.Time) error {
	return s.NoteEnds(ctx, insertRetries, Args{"ids": ids, "now": Micros(now)})
}

// DecidedEdges implements rowwise.Edges.
func (s *Session) DecidedEdges(ctx context.Context, ids []int64) (decided []rowwise.Decided, err error) {
	err = s.Each(ctx, FindDecidedEdges, Args{"ids": ids}, func(r Row) error {
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

// LockNotes implements rowwise.Edges.
func (s *Session) LockNotes(ctx context.Context, after int64, limit int) (notes []rowwise.Note, more bool, err error) {
	err = s.Each(ctx, lockReleases, Args{"after_id": after, "limit": limit}, func(r Row) error {
		n := rowwise.Note{Last: true}
		err := r.Scan(&n.ID, &n.Number, &n.Ended.ID, &n.DoneTo, &n.Schedule, IntoTime(&n.At), &n.State, &n.Reason, &n.Held)
		notes = append(notes, n)
		return err
	})
	return notes, len(notes) == limit, err
}

// MoveNote implements rowwise.Edges.
func (s *Session) MoveNote(ctx context.Context, note rowwise.Note) error {
	return s.Exec(ctx, updateRelease, Args{"id": note.ID, "done_to": note.DoneTo})
}

// DeleteNotes implements rowwise.Edges.
func (s *Session) DeleteNotes(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, deleteReleases)
}

// ReadWaits runs a statement that returns jobs that wait.
func (s *Session) ReadWaits(ctx context.Context, name Statement, ids []int64) (waits []rowwise.JobWait, err error) {
	err = s.Each(ctx, name, Args{"ids": ids}, func(r Row) error {
		var w rowwise.JobWait
		err := r.Scan(&w.ID, &w.Open, IntoTime(&w.RunAt))
		waits = append(waits, w)
		return err
	})
	return waits, err
}

// ReadEnds runs a statement that returns how jobs ended.
func (s *Session) ReadEnds(ctx context.Context, name Statement, ids []int64) (ends []store.Ended, err error) {
	err = s.Each(ctx, name, Args{"ids": ids}, func(r Row) error {
		var e store.Ended
		err := r.Scan(&e.ID, &e.State, IntoTime(&e.At), &e.Reason)
		ends = append(ends, e)
		return err
	})
	return ends, err
}

// keptEnds returns until when jobs that end with store.Forget keep their rows all the same, in
// microseconds since 1970: jobs that hold their keys, and jobs whose dependents no step has linked yet. A step
// looks these up; until the dependents have ended, the jobs stay.
func (s *Session) keptEnds(ctx context.Context, ends []rowwise.End, now time.Time) (kept map[int64]int64, err error) {
	var ids, unlinked []int64
	for _, end := range ends {
		if end.Keep == store.Forget {
			ids = append(ids, end.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	kept = map[int64]int64{}
	err = s.Each(ctx, FindKept, Args{"ids": JSONList(ids), "now": Micros(now)}, func(r Row) error {
		var id, until int64
		var isUnlinked bool
		err := r.Scan(&id, &until, &isUnlinked)
		kept[id] = max(kept[id], until)
		if isUnlinked {
			unlinked = append(unlinked, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return kept, s.OnIDs(ctx, unlinked, MarkReleases)
}
