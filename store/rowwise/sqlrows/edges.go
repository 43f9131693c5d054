package sqlrows

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// SetFinally implements rowwise.Edges.
func (s *Session) SetFinally(ctx context.Context, batch, job int64) error {
	return s.Exec(ctx, UpdateBatch, Args{"id": batch, "finally": job})
}

// FindBatch implements rowwise.Edges.
func (s *Session) FindBatch(ctx context.Context, id int64) (b rowwise.Batch, found bool, err error) {
	err = s.Each(ctx, FindBatch, Args{"id": id}, func(r Row) error {
		found = true
		return r.Scan(&b.Last, &b.Finally.On, &b.Finally.Any)
	})
	return b, found, err
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
	return s.edgesOn(ctx, FindOpenEdges, notes, limit)
}

// EdgesOn implements rowwise.Edges.
func (s *Session) EdgesOn(ctx context.Context, notes []rowwise.Note, limit int) ([]rowwise.JobEdge, error) {
	return s.edgesOn(ctx, FindEdges, notes, limit)
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
	err = s.Each(ctx, FindReopenings, Args{"ids": ids}, func(r Row) error {
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
	if err := s.Exec(ctx, ReopenJobs, Args{"waits": JSON(rows)}); err != nil {
		return err
	}
	if err := s.noteRetries(ctx, ids, now); err != nil {
		return err
	}
	return s.OnIDs(ctx, ids, DeleteFinishedJobs)
}

// noteRetries notes that jobs were retried which may have dependents.
func (s *Session) noteRetries(ctx context.Context, ids []int64, now time.Time) error {
	return s.NoteEnds(ctx, InsertRetries, Args{"ids": ids, "now": Micros(now)})
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

// MoveNote implements rowwise.Edges.
func (s *Session) MoveNote(ctx context.Context, note rowwise.Note) error {
	return s.Exec(ctx, UpdateRelease, Args{"id": note.ID, "done_to": note.DoneTo})
}

// DeleteNotes implements rowwise.Edges.
func (s *Session) DeleteNotes(ctx context.Context, ids []int64) error {
	return s.OnIDs(ctx, ids, DeleteReleases)
}

// KeptEnds returns until when jobs that end with store.Forget keep their rows all the same, in
// microseconds since 1970: jobs that hold their keys, and jobs whose dependents no step has linked yet. A step
// looks these up; until the dependents have ended, the jobs stay.
func (s *Session) KeptEnds(ctx context.Context, ends []rowwise.End, now time.Time) (kept map[int64]int64, err error) {
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
