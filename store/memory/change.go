package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ChangeJobs cancels, retries or deletes jobs; see store.Jobs.
func (s *Store) ChangeJobs(ctx context.Context, req store.ChangeJobsRequest) (store.ChangeJobsResult, error) {
	s, err := s.within(ctx, &req.Tx, "change jobs")
	if err != nil {
		return store.ChangeJobsResult{}, err
	}
	now, err := s.beginWrite(ctx, "change jobs", req.Now)
	if err != nil {
		return store.ChangeJobsResult{}, err
	}
	defer s.mu.Unlock()
	ids := req.IDs
	if req.Action == store.CancelJobs && req.Schedule != "" {
		ids = s.liveOf(req.Schedule)
	}
	if req.Action == store.RetryJobs {
		if err := s.awaitKeys(ctx, ids); err != nil {
			return store.ChangeJobsResult{}, err
		}
	}
	matching := s.matching(ids, req.Match, now) // before any of them is changed
	var out store.ChangeJobsResult
	forgotten, err := s.stepsToForget(req, matching)
	if err != nil {
		return out, fmt.Errorf("change jobs: %w", err)
	}
	var retried []int64
	for _, id := range ids {
		change, holder := store.Missing, int64(0)
		if matching[id] {
			ended := s.finished[id] != nil
			change, holder = s.changeJob(id, req, now)
			if ended && s.live[id] != nil {
				retried = append(retried, id)
			}
		}
		out.Changes = append(out.Changes, store.JobChange{ID: id, Change: change, Holder: holder})
	}
	s.forgetSteps(store.ForgottenBy(out.Changes, forgotten))
	s.reopenDependents(retried, now)
	out.EntryID = s.record(req.Entry(out.Changes), req.EntryID, now)
	return out, nil
}

// matching returns the jobs among ids that exist and that a filter selects.
func (s *Store) matching(ids []int64, f store.JobFilter, now time.Time) map[int64]bool {
	matching := map[int64]bool{}
	for _, id := range ids {
		if j := cmp.Or(s.live[id], s.finished[id]); j != nil && s.matches(j, f, now) {
			matching[id] = true
		}
	}
	return matching
}

// liveOf returns the numbers of a schedule's live jobs, in order.
func (s *Store) liveOf(schedule string) []int64 {
	var ids []int64
	for _, j := range s.live {
		if s.scheduleName(j.Schedule) == schedule {
			ids = append(ids, j.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// awaitKeys waits, without the lock, until no transaction that has not ended has
// inserted a job with the key of one of these finished jobs.
func (s *Store) awaitKeys(ctx context.Context, ids []int64) error {
	for i := 0; i < len(ids); i++ {
		j := s.finished[ids[i]]
		if j == nil || j.Unique == "" {
			continue
		}
		if holder := s.reserved[uniqueKey{j.Kind, j.Unique}]; holder != nil {
			if err := s.await(ctx, holder, "change jobs"); err != nil {
				return err
			}
			i = -1 // others may have come
		}
	}
	return nil
}

// changeJob changes one job; holder comes with store.KeyTaken.
func (s *Store) changeJob(id int64, req store.ChangeJobsRequest, now time.Time) (change store.Change, holder int64) {
	live, finished := s.live[id], s.finished[id]
	if live == nil && finished == nil {
		return store.Missing, 0
	}
	switch req.Action {
	case store.CancelJobs:
		return s.cancelJob(live, req.Reason, now), 0
	case store.RetryJobs:
		if holder := s.keyTakenFrom(finished, now); holder != 0 {
			return store.KeyTaken, holder
		}
		return s.retryJob(live, finished, now), 0
	case store.MoveJobs, store.ReprioritiseJobs:
		return s.alterJob(live, req, now), 0
	default:
		return s.deleteJob(id, live, now), 0
	}
}

// keyTakenFrom returns the job that has or holds the key of a finished job now; 0: none, or there is no finished job.
func (s *Store) keyTakenFrom(finished *job, now time.Time) (holder int64) {
	if finished == nil || finished.Unique == "" {
		return 0
	}
	key := uniqueKey{finished.Kind, finished.Unique}
	if holder = s.holderOf(key); holder != 0 {
		return holder
	}
	if h := s.holds[key]; h.job != finished.ID && h.until.After(now) {
		return h.job
	}
	return 0
}

// cancelJob ends a job, or asks its node to end it; live is nil if the job has
// finished.
func (s *Store) cancelJob(live *job, reason string, now time.Time) store.Change {
	switch {
	case live == nil:
		return store.Unchanged
	case live.State == store.StateRunning:
		if _, asked := s.cancels[live.ID]; !asked {
			s.cancels[live.ID] = reason
		}
		s.wake(store.Wake{Kind: store.WakeCancels})
		return store.Requested
	default:
		s.end(live, store.StateCancelled, reason, now)
		return store.Changed
	}
}

// retryJob makes a job ready now; one of live and finished is nil.
func (s *Store) retryJob(live, finished *job, now time.Time) store.Change {
	switch {
	case live != nil && live.State != store.StateReady:
		return store.Unchanged
	case live != nil:
		if at := s.pulledTo(live.Slot, now); live.RunAt.After(at) {
			s.ready(live, at)
		}
		return store.Changed
	}
	delete(s.finished, finished.ID)
	s.live[finished.ID] = finished
	finished.FinishedAt = time.Time{}
	finished.Reason = ""
	finished.Result = nil
	finished.refunds, finished.keepUntil = 0, time.Time{}
	finished.MaxAttempts = max(finished.MaxAttempts, finished.Attempt+1)
	s.ready(finished, s.startAfterFired(finished.Schedule, now, now))
	return store.Changed
}

// alterJob gives a job another queue or priority; live is nil if the job has
// finished.
func (s *Store) alterJob(live *job, req store.ChangeJobsRequest, now time.Time) store.Change {
	if live == nil || live.State == store.StateRunning {
		return store.Unchanged
	}
	if req.Action == store.MoveJobs {
		live.Queue = req.Queue
	} else {
		live.Priority = req.Priority
	}
	live.permits = permits{}
	live.RunAt = laterOf(live.RunAt, now)
	s.wake(store.Wake{Kind: store.WakeJobs, Queue: live.Queue})
	return store.Changed
}

// deleteJob deletes a job and its attempts, unless it runs.
func (s *Store) deleteJob(id int64, live *job, now time.Time) store.Change {
	if live != nil && live.State == store.StateRunning {
		return store.Unchanged
	}
	delete(s.live, id)
	delete(s.finished, id)
	delete(s.attempts, id)
	delete(s.progress, id)
	delete(s.steps, id)
	maps.DeleteFunc(s.holds, func(_ uniqueKey, h hold) bool { return h.job == id })
	if live != nil {
		s.release(live)
		s.predecessorEnded(id, store.StateDeleted, "", now)
		s.jobEnded(live, store.StateDeleted, "", now)
	}
	return store.Changed
}
