package rowwise

import (
	"context"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// FinishRows is how many outcomes Finish reads and writes at a time.
const FinishRows = 1_000

// Finish records outcomes; see store.Jobs.
func Finish(ctx context.Context, tx Tx, req store.FinishRequest, now time.Time) (out store.FinishResult, err error) {
	var after []*store.FollowUp
	for rest := req.Outcomes; len(rest) > 0; {
		n := min(len(rest), FinishRows)
		refused, some, err := finish(ctx, tx, req.Node, rest[:n], now)
		if err != nil {
			return out, err
		}
		out.Refused, after = append(out.Refused, refused...), append(after, some...)
		rest = rest[n:]
	}
	return out, Follow(ctx, tx, after, now)
}

// finish records outcomes of a node and returns the claims that it refused, and the
// follow-ups.
func finish(ctx context.Context, tx Tx, node string, outcomes []store.Outcome, now time.Time) (refused []store.ClaimRef, after []*store.FollowUp, err error) {
	claims := make([]store.ClaimRef, len(outcomes))
	for i := range outcomes {
		claims[i] = store.ClaimRef{ID: outcomes[i].ID, Token: outcomes[i].Token}
	}
	held, err := tx.LockClaims(ctx, claims)
	if err != nil {
		return nil, nil, err
	}
	groups, err := lockGroups(ctx, tx, retriedGroups(outcomes, held))
	if err != nil {
		return nil, nil, err
	}
	answered, err := answeredWaits(ctx, tx, outcomes)
	if err != nil {
		return nil, nil, err
	}
	plan := finishPlan{node: node}
	if slices.ContainsFunc(held, func(h Held) bool { return h.Handled }) {
		if plan.handlers, err = tx.ReadHandlers(ctx); err != nil {
			return nil, nil, err
		}
	}
	var unknown []*store.Outcome
	for i := range outcomes {
		if held[i].Found {
			held[i].Waits, held[i].Answered = groups[held[i].Group].Waits(), slices.Contains(answered, outcomes[i].ID)
			plan.add(&outcomes[i], held[i].HeldJob)
		} else {
			unknown = append(unknown, &outcomes[i])
		}
	}
	if err := plan.write(ctx, tx, now); err != nil {
		return nil, nil, err
	}
	refused, err = unrecorded(ctx, tx, unknown)
	return refused, plan.after, err
}

// retriedGroups returns the serial groups in which a job that is to run again may
// meet a waiting job.
func retriedGroups(outcomes []store.Outcome, held []Held) (groups []store.SerialGroup) {
	for i := range outcomes {
		if outcomes[i].Result.GivesWay() && held[i].Group.GivesWay() {
			groups = append(groups, held[i].Group)
		}
	}
	return groups
}

// answeredWaits returns the jobs of outcomes that wait for a step that is not open any more.
func answeredWaits(ctx context.Context, tx Claims, outcomes []store.Outcome) ([]int64, error) {
	waits := store.WaitsOf(outcomes)
	if len(waits) == 0 {
		return nil, nil
	}
	return tx.FindAnswered(ctx, waits)
}

// unrecorded returns the claims of outcomes that did not end their jobs before.
func unrecorded(ctx context.Context, tx Tx, outcomes []*store.Outcome) (refused []store.ClaimRef, err error) {
	if len(outcomes) == 0 {
		return nil, nil
	}
	claims := make([]store.ClaimRef, len(outcomes))
	for i, o := range outcomes {
		claims[i] = store.ClaimRef{ID: o.ID, Token: o.Token}
	}
	states, err := tx.EndStates(ctx, claims)
	if err != nil {
		return nil, err
	}
	exists, err := forgettable(ctx, tx, outcomes)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		if states[i] != o.Result.EndState() && (!o.Forgets() || exists[o.ID]) {
			refused = append(refused, claims[i])
		}
	}
	return refused, nil
}

// forgettable returns which jobs of outcomes with store.Forget exist.
func forgettable(ctx context.Context, tx Tx, outcomes []*store.Outcome) (exists map[int64]bool, err error) {
	var ids []int64
	for _, o := range outcomes {
		if o.Forgets() {
			ids = append(ids, o.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	jobs, err := tx.LockJobs(ctx, ids)
	exists = map[int64]bool{}
	for i := range jobs {
		exists[jobs[i].ID] = true
	}
	return exists, err
}

// finishPlan is what a part of the outcomes writes.
type finishPlan struct {
	records []store.AttemptRecord
	printed []int64 // jobs whose attempts have stored output
	ends    []End
	requeue []Requeue
	freed   []store.SerialGroup // of the jobs that end
	after   []*store.FollowUp

	node     string
	handlers store.Handlers
}

// add adds the changes that one outcome causes to the plan. The outcome has the
// token of the job's present claim; held is the row of the job.
func (p *finishPlan) add(o *store.Outcome, held store.HeldJob) {
	effect := o.Effect(held)
	if record, ok := o.Record(effect); ok {
		p.records = append(p.records, record)
	}
	if o.OutputSaved {
		p.printed = append(p.printed, o.ID)
	}
	if o.Follows(effect) {
		p.after = append(p.after, p.handlers.AfterOutcome(o, p.node))
	}
	switch {
	case effect.Unchanged:
		return
	case effect.State == store.StateReady:
		p.requeue = append(p.requeue, requeue(o.ID, effect))
		return
	}
	p.ends = append(p.ends, End{ID: o.ID, State: effect.State, Reason: effect.Reason, Result: string(o.Value), Asked: held.Asked, Keep: effect.Keep})
	p.freed = append(p.freed, held.Group)
}

// write writes the plan. The records come first, because they describe the jobs
// as they were while they ran.
func (p *finishPlan) write(ctx context.Context, tx Tx, now time.Time) error {
	if err := insertAttempts(ctx, tx, p.records, now); err != nil {
		return err
	}
	if len(p.printed) > 0 {
		if err := tx.DeleteOutput(ctx, p.printed); err != nil {
			return err
		}
	}
	return endAndRequeue(ctx, tx, p.ends, p.requeue, p.freed, now)
}

// takeOutput gives the records of lost attempts the output that is stored of them,
// and deletes what is stored.
func takeOutput(ctx context.Context, tx Tx, records []store.AttemptRecord) error {
	ids := store.TakingSaved(records)
	if len(ids) == 0 {
		return nil
	}
	found, err := tx.StoredOutput(ctx, ids, 0)
	if err != nil || len(found) == 0 {
		return err
	}
	store.TakeSaved(records, found)
	return tx.DeleteOutput(ctx, ids)
}

// insertAttempts stores records of attempts, if there are any, and their events.
func insertAttempts(ctx context.Context, tx Tx, records []store.AttemptRecord, now time.Time) error {
	if len(records) == 0 {
		return nil
	}
	if err := tx.InsertAttempts(ctx, records, now); err != nil {
		return err
	}
	var events store.EventRows
	events.AddAttempts(records)
	return insertEvents(ctx, tx, events, now)
}

// insertEvents stores rows of the feed, if there are any.
func insertEvents(ctx context.Context, tx Tx, rows store.EventRows, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	return tx.InsertEvents(ctx, rows, now)
}

// endAndRequeue ends jobs, makes jobs ready, and releases the jobs that waited for
// the ended jobs.
func endAndRequeue(ctx context.Context, tx Tx, ends []End, jobs []Requeue, freed []store.SerialGroup, now time.Time) error {
	if len(ends) > 0 {
		if err := tx.EndJobs(ctx, ends, now); err != nil {
			return err
		}
	}
	if len(jobs) > 0 {
		if err := tx.RequeueJobs(ctx, jobs, now); err != nil {
			return err
		}
	}
	return Release(ctx, tx, freed)
}

// requeue returns the change of a job that an effect makes ready.
func requeue(id int64, e store.Effect) Requeue {
	return Requeue{
		ID: id, Delay: e.Delay.Microseconds(), Refund: e.Refund,
		RefundCounts: e.RefundCounts, LossCounts: e.LossCounts, LossesEnd: e.LossesEnd, Snoozed: e.Snoozed,
	}
}
