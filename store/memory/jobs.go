package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Insert stores jobs; see store.Jobs.
func (s *Store) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	links, err := store.CheckLinks(req)
	if err != nil {
		return store.InsertResult{}, fmt.Errorf("insert jobs: %w", err)
	}
	if changed := s.changedIn(req.Tx); changed != nil {
		req.Tx = nil
		return changed.Insert(ctx, req)
	}
	if req.Tx != nil && (slices.ContainsFunc(req.Jobs, mayChange) || req.Batch != nil || req.By.Recorded()) {
		changed, err := s.changedBy(ctx, req.Tx, "insert jobs")
		if err != nil {
			return store.InsertResult{}, err
		}
		req.Tx = nil
		return changed.Insert(ctx, req)
	}
	now, err := s.beginWrite(ctx, "insert jobs", req.Now)
	if err != nil {
		return store.InsertResult{}, err
	}
	defer s.mu.Unlock()
	out, err := s.insert(ctx, req, links, now)
	if err != nil {
		return out, fmt.Errorf("insert jobs: %w", err)
	}
	return out, nil
}

// changedIn returns the copy of the store that an open transaction changes; nil: it has none.
func (s *Store) changedIn(tx store.Tx) *Store {
	if own, ok := tx.(*Tx); ok && own != nil && own.store == s && !own.done {
		return own.changed
	}
	return nil
}

// insert inserts jobs under the lock; links are the jobs as store.CheckLinks returned them.
func (s *Store) insert(ctx context.Context, req store.InsertRequest, links []store.NewJob, now time.Time) (store.InsertResult, error) {
	tx, err := s.txOf(req.Tx)
	if err != nil {
		return store.InsertResult{}, err
	}
	if err := s.awaitRivals(ctx, tx, req.Jobs); err != nil {
		return store.InsertResult{}, err
	}
	if err := s.checkOpen(req.Batch); err != nil {
		return store.InsertResult{}, err
	}
	ins := insertion{store: s, tx: tx, now: now}
	for i := range req.Jobs {
		ins.insert(&req.Jobs[i])
	}
	if err := store.Duplicate(req.Jobs, ins.answers); err != nil {
		return store.InsertResult{}, err
	}
	if err := s.checkPredecessors(tx, req.Jobs, ins.answers); err != nil {
		return store.InsertResult{}, err
	}
	ins.write()
	out := store.InsertResult{Jobs: ins.answers, Batch: s.enter(req.Batch, ins.jobs, now)}
	s.linkAll(tx, links, ins.answers, now)
	s.record(req.Entry(out.Jobs), 0, now)
	return out, nil
}

// newJob makes a job with a number; it does not add the job to the table. Every
// job of the store is made here.
func (s *Store) newJob(n store.NewJob, now time.Time) *job {
	s.lastJob++
	runAt := n.RunAt
	if runAt.IsZero() {
		runAt = now.Add(n.Delay)
	}
	state := store.StateReady
	if n.Waiting {
		state = store.StateWaiting
	}
	return &job{JobInfo: store.JobInfo{
		JobSpec:   n.JobSpec.Clone(),
		ID:        s.lastJob,
		State:     state,
		Origin:    n.Origin,
		RunAt:     instant(runAt),
		CreatedAt: now,
		Schedule:  n.Schedule,
		Slot:      instant(n.Slot),
	}}
}

// add adds new jobs to the table and wakes the nodes that may claim them.
func (s *Store) add(jobs ...*job) {
	for _, j := range jobs {
		s.live[j.ID] = j
		s.wake(store.Wake{Kind: store.WakeJobs, Queue: j.Queue})
	}
}

// Claim takes due jobs; see store.Jobs. This store gives no batch numbers.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	now, err := s.beginWrite(ctx, "claim jobs", req.Now)
	if err != nil {
		return store.ClaimResult{}, err
	}
	defer s.mu.Unlock()
	node, err := s.livingNode(req.Node)
	if err != nil {
		return store.ClaimResult{}, fmt.Errorf("claim jobs: %w", err)
	}
	s.polled(req.Polled)
	s.deleteEndedPauses(now)
	s.givePermits(req, now)
	limits := s.queueLimits(req.Limited())
	out := store.ClaimResult{Now: now, Handled: s.allHandlers().Begin(), LimitRevision: limits.Revision()}
	asked := req.Limit
	if out.LimitRevision != req.Permits.Revision {
		req.Limit = 0
	} else if req.Permits.Rated() {
		req.Limit, req.Ahead = s.startable(limits, now, req.Limit), 0
	}
	if until := s.closedUntil(limits, now); !until.IsZero() {
		req.Limit, out.NextStart = 0, until
	}
	if out.Rated = s.rated(req.Queue); out.Rated && !req.Starts {
		req.Limit = 0
	}
	out.NoSuspects = !s.hasSuspect(req.Queue, now)
	for i, j := range s.claimable(req, now) {
		claimed := s.claim(j, node, now)
		if out.Rated {
			claimed.Slack = s.useStarts(j, now)
		}
		out.Jobs = append(out.Jobs, claimed)
		j.begun = i < req.Limit-req.Ahead
	}
	if req.Polled != "" && len(out.Jobs) >= req.Limit {
		s.wake(store.Wake{Kind: store.WakeJobs, Queue: req.Queue})
	}
	if len(out.Jobs) < req.Limit && !req.Suspects {
		out.NextDue = s.nextDue(req.Queue, now)
	}
	if len(out.Jobs) < asked && !req.Suspects {
		out.NextDue = earliest(out.NextDue, s.nextInLanes(req.Queue, now))
	}
	if next := s.started(limits, now, len(out.Jobs)); req.Permits.Rated() && len(out.Jobs) < asked && next.After(out.NextStart) {
		out.NextStart = next
	}
	return out, nil
}

// claimable returns the jobs that a request gets, in order.
func (s *Store) claimable(req store.ClaimRequest, now time.Time) []*job {
	var due []*job
	for _, j := range s.live {
		if j.State == store.StateReady && !j.waits && j.Queue == req.Queue && !j.RunAt.After(req.DueBy(now)) && allowed(req, j) &&
			!s.jobPaused(j, now) && (j.Losses >= store.SuspectLosses) == req.Suspects {
			due = append(due, j)
		}
	}
	slices.SortFunc(due, func(a, b *job) int { return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID)) })
	if req.DueFor > 0 {
		due = due[:min(len(due), req.Limit)]
	}
	slices.SortStableFunc(due, func(a, b *job) int { return cmp.Compare(a.Priority, b.Priority) })
	return due[:min(len(due), req.Limit)]
}

// hasSuspect reports whether a queue has a suspect that a claim may take.
func (s *Store) hasSuspect(queue string, now time.Time) bool {
	for _, j := range s.live {
		if j.State == store.StateReady && !j.waits && j.Queue == queue && !j.RunAt.After(now) && j.Losses >= store.SuspectLosses && !s.jobPaused(j, now) {
			return true
		}
	}
	return false
}

// allowed reports whether a job is on the allow-list of a request.
func allowed(req store.ClaimRequest, j *job) bool {
	return slices.Contains(req.Kinds, j.Kind) ||
		slices.ContainsFunc(req.Exact, func(e store.ExactJob) bool { return e.Kind == j.Kind && bytes.Equal(e.Args, j.Args) })
}

// claim gives one ready job to a node.
func (s *Store) claim(j *job, node *store.NodeInfo, now time.Time) store.Claimed {
	j.State = store.StateRunning
	j.node = node.ID
	j.Node = node.Name
	j.Attempt++
	j.Token = s.token(j.Token)
	j.StartedAt = now
	return store.Claimed{
		JobSpec:      j.JobSpec.Clone(),
		ID:           j.ID,
		Token:        j.Token,
		Attempt:      j.Attempt,
		Origin:       j.Origin,
		RunAt:        j.RunAt,
		CreatedAt:    j.CreatedAt,
		Schedule:     j.Schedule,
		ScheduleName: s.scheduleName(j.Schedule),
		Slot:         j.Slot,
		Losses:       j.Losses,
		Refunds:      j.refunds,
	}
}

// BeginJobs lets claims begin; see store.Jobs.
func (s *Store) BeginJobs(ctx context.Context, req store.BeginRequest) (out store.BeginResult, err error) {
	now, err := s.beginWrite(ctx, "begin jobs", req.Now)
	if err != nil {
		return out, err
	}
	defer s.mu.Unlock()
	if _, err := s.livingNode(req.Node); err != nil {
		return out, fmt.Errorf("begin jobs: %w", err)
	}
	held := map[store.ClaimRef]bool{}
	for _, ref := range req.Claims {
		j := s.live[ref.ID]
		if j == nil || j.State != store.StateRunning || j.node != req.Node || j.Token != ref.Token {
			continue
		}
		if s.jobPaused(j, now) {
			out.Paused = append(out.Paused, ref.ID)
			continue
		}
		j.begun, held[ref] = true, true
	}
	s.addNew(s.allHandlers().AtStart(req.Without(out.Paused), held), now)
	return out, nil
}

// nextDue returns when the queue's next ready job is due; zero: there is none.
func (s *Store) nextDue(queue string, now time.Time) time.Time {
	var next time.Time
	for _, p := range s.pauses {
		if p.Until.After(now) {
			next = earliest(next, p.Until)
		}
	}
	if s.queuePaused(queue, now) {
		return next
	}
	for _, j := range s.live {
		if j.State == store.StateReady && !j.waits && j.Queue == queue && j.RunAt.After(now) && j.Losses < store.SuspectLosses {
			next = earliest(next, j.RunAt)
		}
	}
	return next
}

// ready makes a live job claimable from runAt on and wakes the nodes that may
// claim it.
func (s *Store) ready(j *job, runAt time.Time) {
	j.State = store.StateReady
	j.node = 0
	if !s.keepsPermits(j) {
		j.permits = permits{}
	}
	j.RunAt = instant(runAt)
	delete(s.cancels, j.ID)
	s.wake(store.Wake{Kind: store.WakeJobs, Queue: j.Queue})
}

// end moves a live job to the finished jobs.
func (s *Store) end(j *job, state store.State, reason string, now time.Time) {
	j.State = state
	j.node = 0
	j.permits = permits{}
	j.Reason = reason
	j.FinishedAt = now
	delete(s.cancels, j.ID)
	delete(s.live, j.ID)
	s.finished[j.ID] = j
	s.note(store.EventType(state), j.ID, reason, now)
	s.release(j)
	s.predecessorEnded(j.ID, state, reason, now)
	s.jobEnded(j, state, reason, now)
}

// ListJobs reads jobs in pages; see store.Jobs.
func (s *Store) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	now, err := s.begin(ctx, "list jobs", req.Now)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.JobInfo
	for _, j := range s.selected(req.JobFilter, now) {
		if (req.Before == 0 || j.ID < req.Before) && j.ID > req.After {
			out = append(out, s.info(j, req.Attempts))
		}
	}
	if req.OldestFirst {
		slices.Reverse(out)
	}
	return out[:min(len(out), req.Limit)], nil
}

// CountJobs counts jobs; see store.Jobs.
func (s *Store) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	now, err := s.begin(ctx, "count jobs", req.Now)
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	var n int64
	for _, j := range s.selected(req.JobFilter, now) {
		if (req.Before == 0 || j.ID < req.Before) && j.ID > req.After {
			n++
		}
	}
	return n, nil
}

// info returns a job as it is listed.
func (s *Store) info(j *job, full bool) store.JobInfo {
	out := j.JobInfo
	out.ScheduleName = s.scheduleName(j.Schedule)
	_, out.CancelAsked = s.cancels[j.ID]
	out.Parked = s.parked(j)
	out.Args, out.Headers, out.Result, out.After = nil, nil, nil, nil
	if full {
		out.Args, out.Headers, out.Result = copyOf(j.Args), copyOf(j.Headers), copyOf(j.Result)
		if p := s.progress[j.ID]; p.token == j.Token {
			out.Progress = p.Progress
		}
		out.After = slices.Clone(j.After)
		for _, a := range s.attempts[j.ID] {
			a.Output = copyOf(a.Output)
			out.Attempts = append(out.Attempts, a)
		}
	}
	return out
}
