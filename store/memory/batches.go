package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// batch is a batch of jobs.
type batch struct {
	id      int64
	created time.Time
	last    int64 // the number of its last job, or 0
	finally store.Finally
}

// checkOpen returns an error if nothing can be added to the batch of an insert.
func (s *Store) checkOpen(b *store.BatchInsert) error {
	if b == nil || b.ID == 0 {
		return nil
	}
	row := s.batches[b.ID]
	switch {
	case row == nil:
		return store.NoBatch(b.ID)
	case row.last != 0:
		if last := s.live[row.last]; last == nil || last.State != store.StateWaiting {
			return store.BatchEnded(b.ID)
		}
	case !s.hasLive(b.ID):
		return store.BatchEnded(b.ID)
	}
	return nil
}

// hasLive reports whether a job of a batch is live.
func (s *Store) hasLive(batch int64) bool {
	for _, j := range s.live {
		if j.Batch == batch {
			return true
		}
	}
	return false
}

// enter puts new jobs into the batch of an insert and returns its number. The last job of an
// older batch waits for the new jobs, too.
func (s *Store) enter(b *store.BatchInsert, jobs []*job, now time.Time) int64 {
	if b == nil {
		return 0
	}
	row := s.batches[b.ID]
	if row == nil {
		s.lastBatch++
		row = &batch{id: s.lastBatch, created: now}
		if b.Finally != nil {
			row.last, row.finally = jobs[len(jobs)-1].ID, *b.Finally
		}
		s.batches[row.id] = row
	} else if last := s.live[row.last]; last != nil {
		last.After = slices.Clone(last.After)
		for _, j := range jobs {
			last.After = append(last.After, store.JobEdge{Edge: store.Edge{Job: j.ID, On: row.finally.On}})
			s.dependents[j.ID] = append(slices.Clip(s.dependents[j.ID]), last.ID)
		}
	}
	for _, j := range jobs {
		j.Batch = row.id
	}
	return row.id
}

// needed reports whether a finished job is kept for live jobs: of its batch, or that follow
// it.
func (s *Store) needed(j *job) bool {
	return j.Batch != 0 && s.hasLive(j.Batch) ||
		slices.ContainsFunc(s.dependents[j.ID], func(id int64) bool { return s.live[id] != nil })
}

func (s *Store) listBatches(req store.ListRequest) (out []store.Batch) {
	for _, row := range s.batches {
		if (len(req.IDs) == 0 || slices.Contains(req.IDs, row.id)) && (req.Before.ID == 0 || row.id < req.Before.ID) {
			out = append(out, s.counted(row))
		}
	}
	slices.SortFunc(out, func(a, b store.Batch) int { return cmp.Compare(b.ID, a.ID) })
	return out[:min(len(out), req.Limit)]
}

// counted returns a batch with the counts of its jobs.
func (s *Store) counted(row *batch) store.Batch {
	out := store.Batch{ID: row.id, CreatedAt: row.created}
	for _, table := range []map[int64]*job{s.live, s.finished} {
		for _, j := range table {
			switch {
			case j.ID == row.last:
				out.Finally, out.FinallyState = j.ID, j.State
			case j.Batch == row.id:
				out.Counts[j.State]++
			}
		}
	}
	return out
}

// pruneBatches deletes batches without jobs that are older than age.
func (s *Store) pruneBatches(age time.Duration, limit int, now time.Time) int {
	var gone []int64
	for _, row := range s.batches {
		if b := s.counted(row); old(row.created, age, now) && b.Total() == 0 && b.Finally == 0 {
			gone = append(gone, row.id)
		}
	}
	slices.Sort(gone)
	gone = gone[:min(len(gone), limit)]
	for _, id := range gone {
		delete(s.batches, id)
	}
	return len(gone)
}

func (s *Store) listLinks(req store.ListRequest) []store.Link {
	byDependent := func(a, b store.Link) int {
		return cmp.Or(cmp.Compare(a.Dependent, b.Dependent), cmp.Compare(a.Job, b.Job))
	}
	byPredecessor := func(a, b store.Link) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Dependent, b.Dependent))
	}
	var of, on []store.Link
	for _, table := range []map[int64]*job{s.live, s.finished} {
		for _, j := range table {
			for _, e := range j.After {
				if slices.Contains(req.IDs, j.ID) {
					of = append(of, store.Link{Dependent: j.ID, JobEdge: e})
				}
				if slices.Contains(req.IDs, e.Job) {
					on = append(on, store.Link{Dependent: j.ID, JobEdge: e})
				}
			}
		}
	}
	slices.SortFunc(of, byDependent)
	slices.SortFunc(on, byPredecessor)
	out := slices.Concat(of[:min(len(of), req.Limit)], on[:min(len(on), req.Limit)])
	slices.SortFunc(out, byDependent)
	return slices.Compact(out)
}
