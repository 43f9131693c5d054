package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Finish records outcomes; see store.Jobs.
func (s *Store) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	begin := s.beginWrite
	if req.Tx != nil {
		begin = s.begin // the writing comes with the commit
	}
	now, err := begin(ctx, "finish jobs", req.Now)
	if err != nil {
		return store.FinishResult{}, err
	}
	defer s.mu.Unlock()
	tx, err := s.txOf(req.Tx)
	if err != nil {
		return store.FinishResult{}, fmt.Errorf("finish jobs: %w", err)
	}
	var out store.FinishResult
	for _, o := range req.Outcomes {
		switch {
		case tx != nil && s.accepts(o):
			o.Output, o.Value = copyOf(o.Output), copyOf(o.Value)
			tx.outcomes = append(tx.outcomes, datedOutcome{o, req.Node, now})
			s.locked[o.ID] = tx
		case tx == nil && s.finishAndFollow(o, req.Node, now):
		default:
			out.Refused = append(out.Refused, store.ClaimRef{ID: o.ID, Token: o.Token})
		}
	}
	switch {
	case tx != nil && len(out.Refused) > 0:
		tx.end()
	case tx != nil && req.Commit:
		err = tx.commit()
	}
	return out, err
}

// accepts reports whether an outcome would count.
func (s *Store) accepts(o store.Outcome) bool {
	if j := s.live[o.ID]; j != nil {
		return j.Token == o.Token
	}
	return s.recorded(o)
}

// finishAndFollow applies one outcome of a node with its follow-up and reports whether it
// counts.
func (s *Store) finishAndFollow(o store.Outcome, node string, now time.Time) bool {
	j := s.live[o.ID] // nil if the job has ended before
	ran := j != nil && j.State == store.StateRunning
	if !s.finish(o, now) {
		return false
	}
	if j != nil && (j.State == store.StateCompleted || j.State == store.StateFailed || ran && o.Result == store.Retry && j.State == store.StateReady) {
		s.follow(s.allHandlers().AfterOutcome(&o, node), now)
	}
	return true
}

// FindClaim reports what became of a claim; see store.Jobs.
func (s *Store) FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error) {
	if _, err := s.begin(ctx, "look for a claim", time.Time{}); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	live, finished := s.live[ref.ID], s.finished[ref.ID]
	switch {
	case live == nil && finished == nil:
		return store.ClaimCompleted, nil
	case finished != nil && finished.Token == ref.Token && finished.State == store.StateCompleted:
		return store.ClaimCompleted, nil
	case live == nil || live.Token != ref.Token:
		return store.ClaimLost, nil
	case s.locked[ref.ID] != nil:
		return store.ClaimLocked, nil
	}
	return store.ClaimHeld, nil
}

// finish applies one outcome and reports whether it counts.
func (s *Store) finish(o store.Outcome, now time.Time) bool {
	j := s.live[o.ID]
	if j == nil {
		return s.recorded(o)
	}
	if j.Token != o.Token {
		return false
	}
	asked, cancel := s.cancels[j.ID]
	s.recordAttempt(j, o, cancel, now)
	if o.OutputSaved {
		delete(s.output, j.ID)
	}
	s.apply(j, o, cancel, asked, now)
	if j.State.Finished() && !forgets(o) {
		j.Result = copyOf(o.Value)
	}
	return true
}

// apply changes a job by an outcome. cancel: there is a cancel request, and asked is its reason.
func (s *Store) apply(j *job, o store.Outcome, cancel bool, asked string, now time.Time) {
	switch {
	case o.Result == store.Completed:
		s.end(j, store.StateCompleted, "", now)
		s.keep(j, o.Keep, now)
	case o.Result == store.Failed:
		s.end(j, store.StateFailed, o.Error, now)
		s.keep(j, o.Keep, now)
	case o.Result == store.Cancelled && o.Error != "" && !cancel:
		s.end(j, store.StateCancelled, o.Error, now)
	case o.Result == store.Cancelled || cancel:
		s.end(j, store.StateCancelled, asked, now)
	case j.State == store.StateRunning: // otherwise it is a repeated outcome, or a late one after a rescue that made the job ready
		s.runAgain(j, o, now)
	}
}

// runAgain applies an outcome that lets a running job run again, unless the job gives way to a newer job.
func (s *Store) runAgain(j *job, o store.Outcome, now time.Time) {
	if (o.Result == store.Retry || o.Result == store.Snooze) && s.gives(j) {
		s.end(j, store.StateCancelled, store.SupersededReason, now)
		return
	}
	switch o.Result {
	case store.Retry:
		j.Losses = 0
		s.ready(j, now.Add(o.Delay))
	case store.Snooze:
		j.Attempt--
		j.Snoozes++
		j.Losses = 0
		j.permits = permits{}
		if step := s.step(j.ID, o.Wait); step != nil && !step.Open {
			o.Delay = 0
		}
		s.ready(j, now.Add(o.Delay))
	case store.Release:
		j.Attempt--
		if o.LeaseLost {
			j.refunds++
		}
		s.ready(j, now)
	}
}

// forgets reports whether an outcome leaves no row of its job.
func forgets(o store.Outcome) bool {
	return o.Keep == store.Forget && (o.Result == store.Completed || o.Result == store.Failed)
}

// keep sets how long a job is kept that has just ended.
func (s *Store) keep(j *job, keep time.Duration, now time.Time) {
	switch {
	case keep == store.Forget && s.heldBy(j, now):
		j.keepUntil = s.holds[uniqueKey{j.Kind, j.Unique}].until
	case keep == store.Forget:
		delete(s.finished, j.ID)
		delete(s.attempts, j.ID)
		delete(s.progress, j.ID)
		delete(s.steps, j.ID)
	case keep > 0:
		j.keepUntil = instant(now.Add(keep))
	}
}

// recorded reports whether a finished job ended by this same outcome.
func (s *Store) recorded(o store.Outcome) bool {
	j := s.finished[o.ID]
	if j == nil {
		return forgets(o)
	}
	if j.Token != o.Token {
		return false
	}
	switch o.Result {
	case store.Completed:
		return j.State == store.StateCompleted
	case store.Failed:
		return j.State == store.StateFailed
	default: // also a retry, release or snooze of a job with a cancel request
		return j.State == store.StateCancelled
	}
}

// recordAttempt stores the record of an attempt, unless the outcome changes
// nothing because the job does not run any more.
func (s *Store) recordAttempt(j *job, o store.Outcome, cancel bool, now time.Time) {
	if o.Error == "" && len(o.Output) == 0 && o.Result != store.Snooze || forgets(o) {
		return
	}
	a := store.Attempt{Error: o.Error, Trace: o.Trace, Output: copyOf(o.Output), Printed: max(o.Printed, int64(len(o.Output)))}
	switch {
	case o.Result == store.Completed:
		a.Outcome = store.AttemptCompleted
	case o.Result == store.Failed:
		a.Outcome = store.AttemptFailed
	case o.Result == store.Cancelled || cancel:
		a.Outcome = store.AttemptCancelled
	case j.State != store.StateRunning:
		return
	default:
		a.Outcome = s.unfinished(j, o)
	}
	s.addAttempt(j, a, now)
}

// unfinished returns how an attempt of a running job is recorded whose outcome lets the job run again.
func (s *Store) unfinished(j *job, o store.Outcome) store.AttemptOutcome {
	switch {
	case (o.Result == store.Retry || o.Result == store.Snooze) && s.gives(j):
		return store.AttemptSuperseded
	case o.Result == store.Retry:
		return store.AttemptRetried
	case o.Result == store.Snooze:
		return store.AttemptSnoozed
	case o.LeaseLost:
		return store.AttemptLeaseLost
	}
	return store.AttemptReleased
}

// addAttempt stores the record of the last claim of a live job. The first record
// of a claim stays, unless it is the record that the attempt was lost. The newest records
// are kept.
func (s *Store) addAttempt(j *job, a store.Attempt, now time.Time) {
	a.Attempt, a.Token, a.Node, a.StartedAt, a.FinishedAt = j.Attempt, j.Token, j.Node, j.StartedAt, now
	switch a.Outcome {
	case store.AttemptRetried:
		s.note(store.EventRetried, j.ID, a.Error, now)
	case store.AttemptLost:
		s.note(store.EventLost, j.ID, a.Error, now)
	}
	records := s.attempts[j.ID]
	if n := len(records); n > 0 && records[n-1].Token == j.Token {
		if records[n-1].Outcome == store.AttemptLost {
			records[n-1] = a
		}
		return
	}
	records = append(records, a)
	s.attempts[j.ID] = records[max(0, len(records)-store.MostAttempts):]
}
