package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// SaveStep stores a step of a job; see store.Steps.
func (s *Store) SaveStep(ctx context.Context, req store.SaveStepRequest) (out store.SaveStepResult, err error) {
	const what = "save a step"
	tx := req.Tx
	own, err := s.within(ctx, &req.Tx, what)
	if err != nil {
		return out, err
	}
	out, err = own.saveStep(ctx, what, req)
	if err == nil && req.Commit {
		err = s.endAfterStep(tx.(*Tx), out.Changed) // within accepts no other type
	}
	return out, err
}

// endAfterStep commits a transaction whose step was stored, and rolls back any other.
func (s *Store) endAfterStep(tx *Tx, stored bool) error {
	if stored {
		return tx.Commit()
	}
	return tx.Rollback()
}

func (s *Store) saveStep(ctx context.Context, what string, req store.SaveStepRequest) (out store.SaveStepResult, err error) {
	now, err := s.beginWrite(ctx, what, req.Now)
	if err != nil {
		return out, err
	}
	defer s.mu.Unlock()
	if err := s.awaitRivals(ctx, nil, req.Children); err != nil { // the insert of the children does not wait then
		return out, fmt.Errorf("%s: %w", what, err)
	}
	j := cmp.Or(s.live[req.Step.Job], s.finished[req.Step.Job])
	if j == nil {
		why := store.ErrNotFound
		if req.Token != 0 {
			why = store.ErrNotHeld
		}
		return out, fmt.Errorf("%s: job %d: %w", what, req.Step.Job, why)
	}
	if err := req.Admit(j.State, j.Token); err != nil {
		return out, fmt.Errorf("%s: job %d: %w", what, j.ID, err)
	}
	asked := req.Asked(now)
	asked.Value = copyOf(asked.Value)
	before := s.step(j.ID, asked.Name)
	after, changed := asked.Over(before, now)
	if before == nil && changed && len(req.Children) > 0 {
		if after, err = s.born(ctx, req, after, now); err != nil {
			return out, fmt.Errorf("%s: job %d: %w", what, j.ID, err)
		}
	}
	if !changed {
		after.Value = copyOf(after.Value)
		return store.SaveStepResult{Step: after, Now: now}, nil
	}
	if wakes := req.Wakes(j.State, before, changed); before == nil {
		s.steps[j.ID] = append(s.steps[j.ID], after)
	} else {
		*before = after
		if wakes {
			s.retryJob(j, nil, now)
		}
	}
	s.record(req.Entry(changed), 0, now)
	after.Value = copyOf(after.Value)
	return store.SaveStepResult{Step: after, Changed: changed, Now: now}, nil
}

// born inserts the children of a step.
func (s *Store) born(ctx context.Context, req store.SaveStepRequest, step store.Step, now time.Time) (store.Step, error) {
	insert := req.Births(now)
	links, err := store.CheckLinks(insert)
	if err != nil {
		return step, err
	}
	inserted, err := s.insert(ctx, insert, links, now)
	return step.Born(inserted.Batch), err
}

// step returns a step of a job, or nil.
func (s *Store) step(job int64, name string) *store.Step {
	for i := range s.steps[job] {
		if s.steps[job][i].Name == name {
			return &s.steps[job][i]
		}
	}
	return nil
}

// stepsToForget returns the steps that a request to retry jobs forgets; see store.ChangeJobsRequest.Forgets.
func (s *Store) stepsToForget(req store.ChangeJobsRequest, matching map[int64]bool) ([]store.Step, error) {
	if req.FromStep == "" {
		return nil, nil
	}
	states := map[int64]store.State{}
	for id := range matching {
		states[id] = cmp.Or(s.live[id], s.finished[id]).State
	}
	plan := req.Action.Plan(req.IDs, states)
	ids := slices.Concat(plan.Pull, plan.Revive)
	return req.Forgets(ids, s.listSteps(ids))
}

// forgetSteps deletes steps.
func (s *Store) forgetSteps(steps []store.Step) {
	for _, step := range steps {
		s.steps[step.Job] = slices.DeleteFunc(s.steps[step.Job], func(has store.Step) bool { return has.Name == step.Name })
	}
}

// listSteps lists the steps of jobs.
func (s *Store) listSteps(jobs []int64) (out []store.Step) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(jobs))) {
		steps := slices.Clone(s.steps[id])
		slices.SortFunc(steps, func(a, b store.Step) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Name, b.Name)) })
		for _, step := range steps {
			step.Value = copyOf(step.Value)
			out = append(out, step)
		}
	}
	return out
}

// parked reports whether a job is ready, and waits for a step.
func (s *Store) parked(j *job) bool {
	return j.State == store.StateReady && j.Snoozes > 0 && slices.ContainsFunc(s.steps[j.ID], func(step store.Step) bool { return step.Open })
}
