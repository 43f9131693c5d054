package memory

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// checkPredecessors returns an error if a predecessor of a new job is unknown.
func (s *Store) checkPredecessors(tx *Tx, jobs []store.NewJob, answers []store.Inserted) error {
	return store.CheckKnown(jobs, answers, func(id int64) bool {
		own := tx != nil && slices.ContainsFunc(tx.jobs, func(j *job) bool { return j.ID == id })
		return own || s.live[id] != nil || s.finished[id] != nil
	})
}

// link is a new job, and what it waits for.
type link struct {
	id    int64
	waits store.NewJob
	at    time.Time
}

// linkAll lets new jobs, which are in the table or in a transaction, wait for their predecessors; with a
// transaction, when it commits.
func (s *Store) linkAll(tx *Tx, requested []store.NewJob, answers []store.Inserted, now time.Time) {
	for i, n := range requested {
		if answers[i].Existed || len(n.After) == 0 && !n.AtEnd {
			continue
		}
		n.After = slices.Clone(n.After)
		for k := range n.After {
			if e := &n.After[k]; e.Place > 0 {
				e.Job, e.Place = answers[e.Place-1].ID, 0
			}
		}
		if tx != nil {
			tx.links = append(tx.links, link{answers[i].ID, n, now})
		} else {
			s.link(s.live[answers[i].ID], n, now)
		}
	}
}

// link lets a new job wait for its predecessors. A predecessor that has left no record, since it was found, counts as
// store.Unknown.
func (s *Store) link(j *job, n store.NewJob, now time.Time) {
	j.State, j.any, j.atEnd = store.StateWaiting, n.Any, n.AtEnd
	for _, e := range n.After {
		j.After = append(j.After, store.JobEdge{Edge: e})
		s.dependents[e.Job] = append(slices.Clip(s.dependents[e.Job]), j.ID)
	}
	slices.SortFunc(j.After, func(a, b store.JobEdge) int { return cmp.Compare(a.Job, b.Job) })
	ended := func(id int64) (p store.Ended, is bool) {
		if job := s.finished[id]; job != nil {
			return store.Ended{ID: id, State: job.State, At: job.FinishedAt, Reason: job.Reason}, true
		}
		return store.Unknown(id, now), s.live[id] == nil
	}
	for i := range j.After {
		if p, is := ended(j.After[i].Job); is {
			s.decide(j, &j.After[i], p.State, p.At)
		}
	}
	for _, e := range n.After {
		if p, is := ended(e.Job); is && j.why == "" && !e.On.Matches(p.State) {
			j.why = whyNot(p.ID, p.State, p.Reason)
		}
	}
	own := j.RunAt
	s.settle(j, now)
	if j.State == store.StateReady {
		j.RunAt = own
	}
}

// predecessorEnded decides the edges on a job that has ended in a state.
func (s *Store) predecessorEnded(id int64, state store.State, reason string, now time.Time) {
	for _, j := range s.waitingOn(id) {
		j.After = slices.Clone(j.After)
		for i := range j.After {
			if e := &j.After[i]; e.Job == id {
				s.decide(j, e, state, now)
				if e.State == store.EdgeMissed && (j.why == "" || j.any) {
					j.why = whyNot(id, state, reason)
				}
			}
		}
		if s.live[j.ID] == j && j.State == store.StateWaiting {
			s.settle(j, now)
		}
	}
}

// waitingOn returns the jobs with open edges on a job, in order.
func (s *Store) waitingOn(id int64) (dependents []*job) {
	for _, dependent := range s.dependents[id] {
		j := cmp.Or(s.live[dependent], s.finished[dependent])
		if j != nil && slices.ContainsFunc(j.After, func(e store.JobEdge) bool { return e.Job == id && e.State == store.EdgeOpen }) {
			dependents = append(dependents, j)
		}
	}
	slices.SortFunc(dependents, func(a, b *job) int { return cmp.Compare(a.ID, b.ID) })
	return dependents
}

// decide decides an edge.
func (s *Store) decide(j *job, e *store.JobEdge, state store.State, at time.Time) {
	if !matched(j, e.On, state) {
		e.State = store.EdgeMissed
		return
	}
	e.State = store.EdgeMatched
	if e.Delay > 0 && s.finished[j.ID] == nil && j.State == store.StateWaiting {
		j.RunAt = laterOf(j.RunAt, instant(at.Add(e.Delay)))
	}
}

// matched reports whether an edge of a job matches a predecessor that ended in a state.
func matched(j *job, on store.On, state store.State) bool {
	switch state {
	case store.StateCompleted:
		return on != store.OnFailure
	case store.StateFailed, store.StateCancelled:
		return on != store.OnSuccess
	case store.StateDeleted: // before its end; the last job of a batch does not count it
		return !j.atEnd && on != store.OnSuccess
	case store.StateNotStarted:
		return on == store.OnEnd || j.atEnd && on == store.OnSuccess
	}
	return on == store.OnEnd
}

// settle decides what becomes of a waiting job by the states of its edges.
func (s *Store) settle(j *job, now time.Time) {
	count := map[store.EdgeState]int{}
	for _, e := range j.After {
		count[e.State]++
	}
	open, matched, missed := count[store.EdgeOpen], count[store.EdgeMatched], count[store.EdgeMissed]
	if j.atEnd && open == 0 {
		missed = s.missedLast(j)
	}
	switch {
	case j.atEnd && open > 0:
	case j.any && matched > 0, !j.any && open+missed == 0:
		s.ready(j, laterOf(j.RunAt, now))
	case j.any && open == 0, !j.any && missed > 0:
		waiting := store.WaitingJob{ID: j.ID, Kind: j.Kind, Group: j.Group, Origin: j.Origin, Reason: j.why}
		s.addNew(s.allHandlers().AtNotStarted(waiting), now)
		s.end(j, store.StateNotStarted, j.why, now)
	}
}

// missedLast returns how many edges of the last job of a batch have missed, without those on
// jobs that were deleted, and sets the reason by the first of them.
func (s *Store) missedLast(j *job) (missed int) {
	if j.any {
		j.why = store.NoneFailedReason
	}
	for _, e := range j.After {
		p := cmp.Or(s.live[e.Job], s.finished[e.Job])
		if e.State != store.EdgeMissed || p == nil {
			continue
		}
		if missed++; missed == 1 {
			j.why = whyNot(p.ID, p.State, p.Reason)
		}
	}
	return missed
}

// whyNot is the reason of a job that is not started.
func whyNot(id int64, state store.State, reason string) string {
	switch state {
	case store.StateNotStarted:
		return reason
	case store.StateCancelled:
		return fmt.Sprintf("job %d was cancelled", id)
	case store.StateDeleted:
		return fmt.Sprintf("job %d was deleted", id)
	}
	return fmt.Sprintf("job %d %v", id, state)
}

// reopenDependents lets the dependents of jobs that were retried by hand wait for the next
// ends of these jobs.
func (s *Store) reopenDependents(retried []int64, now time.Time) {
	for len(retried) > 0 {
		var edges [][2]int64 // the dependents, and the jobs that they follow
		for _, id := range retried {
			for _, dependent := range s.dependents[id] {
				edges = append(edges, [2]int64{dependent, id})
			}
		}
		slices.SortFunc(edges, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		retried = nil
		for _, edge := range edges {
			if s.reopen(edge[1], edge[0], now) {
				retried = append(retried, edge[0])
			}
		}
	}
}

// keyIsTaken reports whether another job has the key of a finished job.
func (s *Store) keyIsTaken(j *job, now time.Time) bool {
	key := uniqueKey{j.Kind, j.Unique}
	h := s.holds[key]
	return j.Unique != "" && (s.holderOf(key) != 0 || h.job != j.ID && h.until.After(now))
}

// reopen opens the edge of a dependent on a job. It reports whether the dependent, which was
// not started, waits again.
func (s *Store) reopen(id, dependent int64, now time.Time) bool {
	j := cmp.Or(s.live[dependent], s.finished[dependent])
	if j == nil || j.State != store.StateWaiting && j.State != store.StateNotStarted {
		return false
	}
	missed := openEdges(j, id)
	if j.State == store.StateWaiting || missed && !j.any && !j.atEnd || s.keyIsTaken(j, now) {
		return false
	}
	s.recallEdges(j)
	delete(s.finished, j.ID)
	s.live[j.ID] = j
	j.State, j.Reason, j.FinishedAt, j.keepUntil = store.StateWaiting, "", time.Time{}, time.Time{}
	return true
}

// openEdges opens the edges of a job on a predecessor, and reports whether another edge is missed.
func openEdges(j *job, id int64) (missed bool) {
	j.After = slices.Clone(j.After)
	for i := range j.After {
		if e := &j.After[i]; e.Job == id {
			e.State = store.EdgeOpen
		}
		missed = missed || j.After[i].State == store.EdgeMissed
	}
	return missed
}

// recallEdges sets what the decided edges of a job have said: when it may run, and why it may not be started.
func (s *Store) recallEdges(j *job) {
	j.why = ""
	for _, e := range j.After {
		p := s.finished[e.Job]
		switch {
		case e.State == store.EdgeMatched && e.Delay > 0 && p != nil:
			j.RunAt = laterOf(j.RunAt, instant(p.FinishedAt.Add(e.Delay)))
		case e.State == store.EdgeMissed && j.why == "" && p != nil:
			j.why = whyNot(p.ID, p.State, p.Reason)
		case e.State == store.EdgeMissed && j.why == "":
			j.why = whyNot(e.Job, store.StateCancelled, "")
		}
	}
}
