package sqlite

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// finishRows is how many outcomes go into one set of statements.
const finishRows = 1_000

// Finish records outcomes; see store.Jobs.
func (b *Backend) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	var out store.FinishResult
	if len(req.Outcomes) == 0 {
		return out, nil
	}
	err := b.write(ctx, "finish jobs", func(s *session) error {
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		var after []*store.FollowUp
		for rest := req.Outcomes; len(rest) > 0; {
			n := min(len(rest), finishRows)
			refused, some, err := s.finish(ctx, rest[:n], now)
			if err != nil {
				return err
			}
			out.Refused, after = append(out.Refused, refused...), append(after, some...)
			rest = rest[n:]
		}
		return s.follow(ctx, after, now)
	})
	if err != nil {
		return store.FinishResult{}, err
	}
	return out, nil
}

// finish records some outcomes and returns the claims it refused, and what else
// is to happen.
func (s *session) finish(ctx context.Context, outcomes []store.Outcome, now time.Time) (refused []store.ClaimRef, after []*store.FollowUp, err error) {
	claims := make([]claimRef, len(outcomes))
	for i, o := range outcomes {
		claims[i] = claimRef{o.ID, o.Token}
	}
	held, err := s.heldClaims(ctx, claims)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := s.waitingFor(ctx, outcomes, held)
	if err != nil {
		return nil, nil, err
	}
	var plan finishPlan
	var unknown []int
	for i := range outcomes {
		if held[i].found {
			held[i].Waits = waiting[held[i].Group].Waits()
			plan.add(&outcomes[i], held[i].HeldJob)
		} else {
			unknown = append(unknown, i)
		}
	}
	if err := s.applyOutcomes(ctx, plan, now); err != nil {
		return nil, nil, err
	}
	refused, err = s.refused(ctx, outcomes, unknown)
	return refused, plan.after, err
}

// claimRef names a claim in the JSON of a parameter.
type claimRef struct {
	ID    int64 `json:"id"`
	Token int64 `json:"token"`
}

// heldClaim is a live job with the token of a claim, if there is one.
type heldClaim struct {
	found bool
	store.HeldJob
}

// heldClaims looks claims up, each in its place.
func (s *session) heldClaims(ctx context.Context, claims []claimRef) ([]heldClaim, error) {
	held := make([]heldClaim, len(claims))
	err := s.each(ctx, lockClaims, args{"claims": jsonList(claims)}, func(r row) error {
		var i int
		var reason *string
		var state store.State
		var schedule int64
		var origin store.Origin
		if err := r.Scan(&i, &state, &reason, &schedule, &origin); err != nil {
			return err
		}
		h := heldClaim{true, store.HeldJob{Running: state == store.StateRunning, Group: store.SerialGroupOf(schedule, origin)}}
		if reason != nil {
			h.Asked, h.Why = true, *reason
		}
		held[i] = h
		return nil
	})
	return held, err
}

// refused returns those outcomes among the unknown that are not repetitions of
// what ended their job.
func (s *session) refused(ctx context.Context, outcomes []store.Outcome, unknown []int) ([]store.ClaimRef, error) {
	if len(unknown) == 0 {
		return nil, nil
	}
	claims := make([]claimRef, len(unknown))
	for k, i := range unknown {
		claims[k] = claimRef{outcomes[i].ID, outcomes[i].Token}
	}
	recorded := make([]bool, len(unknown))
	err := s.each(ctx, checkRecorded, args{"claims": jsonList(claims)}, func(r row) error {
		var k int
		var state store.State
		err := r.Scan(&k, &state)
		recorded[k] = state == outcomes[unknown[k]].Result.EndState()
		return err
	})
	var refused []store.ClaimRef
	for k, i := range unknown {
		if !recorded[k] {
			refused = append(refused, store.ClaimRef{ID: outcomes[i].ID, Token: outcomes[i].Token})
		}
	}
	return refused, err
}

// ending moves a live job to history.
type ending struct {
	ID     int64       `json:"id"`
	State  store.State `json:"state"`
	Reason string      `json:"reason"`
	asked  bool        // a cancel request waits
}

// again makes a live job ready.
type again struct {
	ID     int64 `json:"id"`
	Delay  int64 `json:"delay"`  // microseconds from now
	Refund int16 `json:"refund"` // attempts given back
	// Counted means that the refund counts, and Well that the attempt ended by
	// itself.
	Counted bool `json:"counted"`
	Well    bool `json:"well"`
	Lost    bool `json:"lost"` // one loss more
}

// readyAgain returns the change of a job that an effect makes ready.
func readyAgain(id int64, e store.Effect) again {
	return again{ID: id, Delay: e.Delay.Microseconds(), Refund: e.Refund, Counted: e.RefundCounts, Well: e.LossesEnd, Lost: e.LossCounts}
}

// finishPlan is what a batch of outcomes has to write.
type finishPlan struct {
	records []*store.Outcome // that leave a record of the attempt
	end     []ending
	ready   []again
	after   []*store.FollowUp
	freed   []store.SerialGroup // of jobs that end
}

// waitingFor returns the states of the serial groups in which a retry may meet a
// waiting job.
func (s *session) waitingFor(ctx context.Context, outcomes []store.Outcome, held []heldClaim) (map[store.SerialGroup]store.GroupState, error) {
	var retried []store.SerialGroup
	for i := range outcomes {
		if outcomes[i].Result == store.Retry && held[i].Group.GivesWay() {
			retried = append(retried, held[i].Group)
		}
	}
	return s.groups(ctx, retried)
}

// add decides about one outcome that counts.
func (p *finishPlan) add(o *store.Outcome, held store.HeldJob) {
	if o.HasRecord() {
		p.records = append(p.records, o)
	}
	effect := o.Effect(held)
	switch {
	case effect.Unchanged:
		return
	case effect.State == store.StateReady:
		p.ready = append(p.ready, readyAgain(o.ID, effect))
		return
	}
	p.end = append(p.end, ending{ID: o.ID, State: effect.State, Reason: effect.Reason, asked: held.Asked})
	p.freed = append(p.freed, held.Group)
	if o.Result.FollowsUp() {
		p.after = append(p.after, o.After)
	}
}

// applyOutcomes writes a plan. Attempts come first: they tell of the job as it
// was while it ran.
func (s *session) applyOutcomes(ctx context.Context, p finishPlan, now time.Time) error {
	if err := s.insertAttempts(ctx, p.records, now); err != nil {
		return err
	}
	if err := s.endJobs(ctx, p.end, now); err != nil {
		return err
	}
	if err := s.readyJobs(ctx, p.ready, now); err != nil {
		return err
	}
	return s.release(ctx, p.freed)
}

// newAttempt is a record on its way to insert_attempts.sql.
type newAttempt struct {
	ID        int64  `json:"id"`
	Error     string `json:"error"`
	Trace     string `json:"trace"`
	OutputAt  int    `json:"output_at"`
	OutputLen int    `json:"output_len"`
}

func (s *session) insertAttempts(ctx context.Context, outcomes []*store.Outcome, now time.Time) error {
	if len(outcomes) == 0 {
		return nil
	}
	var pack packer
	rows := make([]newAttempt, len(outcomes))
	for i, o := range outcomes {
		at, length := pack.add(o.Output)
		rows[i] = newAttempt{o.ID, o.Error, o.Trace, at, length}
	}
	return s.exec(ctx, insertAttempts, args{"attempts": jsonOf(rows), "bytes": pack.parameter(), "now": micros(now)})
}

// endJobs moves live jobs to history, and forgets the cancel requests that they
// are known to have.
func (s *session) endJobs(ctx context.Context, ends []ending, now time.Time) error {
	if len(ends) == 0 {
		return nil
	}
	list := jsonOf(ends)
	if err := s.exec(ctx, endJobs, args{"ends": list, "now": micros(now)}); err != nil {
		return err
	}
	if err := s.exec(ctx, deleteEndedJobs, args{"ends": list}); err != nil {
		return err
	}
	var asked []int64
	for _, end := range ends {
		if end.asked {
			asked = append(asked, end.ID)
		}
	}
	return s.onIDs(ctx, asked, nil, deleteCancels)
}

// readyJobs makes live jobs claimable again. None has a cancel request: with
// one it would have ended.
func (s *session) readyJobs(ctx context.Context, jobs []again, now time.Time) error {
	if len(jobs) == 0 {
		return nil
	}
	return s.exec(ctx, requeueJobs, args{"jobs": jsonOf(jobs), "now": micros(now)})
}
