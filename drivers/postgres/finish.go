package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// Finish records outcomes; see store.Jobs.
func (b *Backend) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	var out store.FinishResult
	if len(req.Outcomes) == 0 {
		return out, nil
	}
	if req.Tx != nil {
		return b.finishIn(ctx, req)
	}
	outcomes := req.Outcomes
	if byID := func(a, b store.Outcome) int { return cmp.Compare(a.ID, b.ID) }; !slices.IsSortedFunc(outcomes, byID) {
		outcomes = slices.Clone(outcomes)
		slices.SortFunc(outcomes, byID)
	}
	if b.nothingFollows(outcomes) {
		ended, err := b.finishPlain(ctx, when(req.Now), outcomes)
		if err != nil || len(ended) == len(outcomes) {
			if err == nil {
				b.passOnSoon(ctx, when(req.Now))
			}
			return out, err
		}
		done := setOf(ended) // the others were not accepted, or there are handlers
		outcomes = slices.DeleteFunc(slices.Clone(outcomes), func(o store.Outcome) bool { return done[o.ID] })
		req.Outcomes = outcomes
	}
	did, err := rowwise.InTx(b.work(ctx, nodeConns, "finish jobs"), func(tx pgx.Tx) (finished, error) {
		return b.finish(ctx, tx, req, outcomes)
	})
	if err != nil {
		return store.FinishResult{}, err
	}
	if did.releases {
		b.releaseSoon(ctx, when(req.Now))
	}
	b.passOnSoon(ctx, when(req.Now))
	return did.out, nil
}

// nothingFollows reports whether outcomes only end their jobs, as far as is known: no other job waits for them, and no handler concerns them.
func (b *Backend) nothingFollows(outcomes []store.Outcome) bool {
	return !b.handled.Load() && !slices.ContainsFunc(outcomes, func(o store.Outcome) bool { return !plain(o) || !o.Alone || o.After != nil })
}

// finished is what a transaction of Finish has done.
type finished struct {
	out      store.FinishResult
	releases bool // dependents of the jobs are to be released after the commit
}

// finish is Finish in a transaction. outcomes are the request's in the order of their jobs.
func (b *Backend) finish(ctx context.Context, tx querier, req store.FinishRequest, outcomes []store.Outcome) (did finished, err error) {
	f := finishing{b: b, tx: tx, now: when(req.Now), accepted: map[int64]bool{}, retried: map[int64]bool{}, freed: serialGroups{}}
	if b.handled.Load() {
		if err := f.readHandlers(ctx); err != nil {
			return did, err
		}
	}
	if did.out.Refused, err = f.run(ctx, outcomes); err != nil {
		return did, err
	}
	if err := b.release(ctx, tx, f.freed); err != nil {
		return did, err
	}
	did.releases = f.releases
	return did, b.follow(ctx, tx, req.Now, f.followUps(req))
}

// finishPlain ends in one message jobs without an error or output for which no other job
// waits, and returns those that it ended: none if there are handlers.
func (b *Backend) finishPlain(ctx context.Context, now *time.Time, outcomes []store.Outcome) ([]int64, error) {
	var over endings
	over.aged.grow(len(outcomes))
	for _, o := range outcomes {
		over.add(o.ID, o.Token, o.Result.EndState(), "", o.Keep).addResult(o.Value)
	}
	type moved struct {
		ended    []int64
		releases bool
	}
	did, err := rowwise.InTx(b.pipeline(ctx, nodeConns, "finish jobs"), func(s sender) (did moved, err error) {
		did.ended, did.releases, err = b.toHistory(ctx, s, now, over, false, serialGroups{})
		return did, err
	})
	if err == nil && did.releases {
		b.releaseSoon(ctx, now)
	}
	return did.ended, err
}

// finishing is one run of Finish.
type finishing struct {
	b        *Backend
	tx       querier
	now      *time.Time
	ends     endings
	accepted map[int64]bool // by job that was looked at
	ended    []int64        // jobs moved to history by this run
	retried  map[int64]bool // jobs whose attempts are tried again and have follow-ups
	freed    serialGroups   // of what ended
	releases bool           // a job with dependents ended
	handlers store.Handlers
	handled  bool // handlers were read
}

// readHandlers reads the handlers, once.
func (f *finishing) readHandlers(ctx context.Context) (err error) {
	if !f.handled {
		f.handled = true
		f.handlers, err = f.b.readHandlers(ctx, f.tx)
	}
	return err
}

// ends are jobs to be moved to history, as columns.
type ends struct {
	ids     []int64
	tokens  []int64
	states  []int16
	reasons []string
	results []string // nil: no job has a result; otherwise empty for a job without a result
}

func (e *ends) add(id, token int64, state store.State, reason string) {
	e.ids = append(e.ids, id)
	e.tokens = append(e.tokens, token)
	e.states = append(e.states, int16(state))
	e.reasons = append(e.reasons, reason)
	if e.results != nil {
		e.results = append(e.results, "")
	}
}

// addResult gives the job that was added last a result.
func (e *ends) addResult(value []byte) {
	if len(value) == 0 {
		return
	}
	if e.results == nil {
		e.results = make([]string, len(e.ids), cap(e.ids))
	}
	e.results[len(e.results)-1] = string(value)
}

func (e *ends) grow(n int) {
	e.ids, e.tokens = slices.Grow(e.ids, n), slices.Grow(e.tokens, n)
	e.states, e.reasons = slices.Grow(e.states, n), slices.Grow(e.reasons, n)
}

// endings are jobs that end by outcomes, by how long they are kept.
type endings struct {
	aged      ends // as Prune says
	kept      ends
	keeps     []int64 // of the jobs in kept: microseconds
	forgotten ends    // not at all
}

// add adds a job, and returns the list that has the job now. keep is as in
// store.Outcome.
func (e *endings) add(id, token int64, state store.State, reason string, keep time.Duration) (in *ends) {
	switch {
	case keep == store.Forget:
		in = &e.forgotten
	case keep > 0:
		in = &e.kept
		e.keeps = append(e.keeps, keep.Microseconds())
	default:
		in = &e.aged
	}
	in.add(id, token, state, reason)
	return in
}

// ids returns the numbers of all jobs.
func (e *endings) ids() []int64 {
	if len(e.kept.ids)+len(e.forgotten.ids) == 0 {
		return e.aged.ids
	}
	return slices.Concat(e.aged.ids, e.kept.ids, e.forgotten.ids)
}

// tokens returns the tokens of all jobs, in the order of ids.
func (e *endings) tokens() []int64 {
	return slices.Concat(e.aged.tokens, e.kept.tokens, e.forgotten.tokens)
}

// severalStatements reports whether not all jobs are kept equally long.
func (e *endings) severalStatements() bool {
	all := len(e.ids())
	return len(e.aged.ids) < all && len(e.kept.ids) < all && len(e.forgotten.ids) < all
}

// unaccepted are outcomes whose jobs did not have their tokens, as columns.
type unaccepted struct {
	ids, tokens []int64
	states      []int16
	forgets     []bool
}

// missingOf returns the outcomes of jobs that are in no set.
func missingOf(outcomes []store.Outcome, sets ...map[int64]bool) (missing unaccepted) {
	for i := range outcomes {
		o := &outcomes[i]
		if !slices.ContainsFunc(sets, func(set map[int64]bool) bool { return set[o.ID] }) {
			missing.ids, missing.tokens = append(missing.ids, o.ID), append(missing.tokens, o.Token)
			missing.states, missing.forgets = append(missing.states, int16(o.Result.EndState())), append(missing.forgets, o.Forgets())
		}
	}
	return missing
}

// args are the parameters of checkRecorded.
func (m unaccepted) args() []any { return []any{m.ids, m.tokens, m.states, m.forgets} }

// leastNoted is how many jobs have to end together for a row that notes them to
// be cheaper than an index entry for each.
const leastNoted = 16

// queueNote records when jobs ended, for Prune.
func (b *Backend) queueNote(batch *pgx.Batch, now *time.Time, over ends) {
	done, failed := over.ids, []int64{}
	if slices.Contains(over.states, int16(store.StateFailed)) {
		done = []int64{}
		for i, id := range over.ids {
			if over.states[i] == int16(store.StateFailed) {
				failed = append(failed, id)
			} else {
				done = append(done, id)
			}
		}
	}
	batch.Queue(b.q(insertHistoryBatches), now, done, failed)
}

// run sends plain ends straight to history; the effects of all other outcomes depend on the rows of their jobs.
func (f *finishing) run(ctx context.Context, outcomes []store.Outcome) ([]store.ClaimRef, error) {
	var careful []store.Outcome
	f.ends.aged.grow(len(outcomes))
	for _, o := range outcomes {
		if plain(o) {
			f.ends.add(o.ID, o.Token, o.Result.EndState(), "", o.Keep).addResult(o.Value)
		} else {
			careful = append(careful, o)
		}
	}
	if len(careful) > 0 {
		if err := f.finishByRow(ctx, careful); err != nil {
			return nil, err
		}
	}
	if err := f.end(ctx); err != nil {
		return nil, err
	}
	if len(careful) == 0 && len(f.ended) == len(outcomes) {
		return nil, nil
	}
	return f.refused(ctx, outcomes)
}

// plain reports whether an outcome ends its job as completed or failed without an
// error or output, also without output that was stored. Its effect does not depend on the job's row.
func plain(o store.Outcome) bool {
	return (o.Result == store.Completed || o.Result == store.Failed) && !o.HasRecord() && !o.OutputSaved
}

// finishByRow locks the jobs of outcomes, keeps what the attempts had to say, makes
// jobs ready again and notes which of the others end.
func (f *finishing) finishByRow(ctx context.Context, outcomes []store.Outcome) error {
	held, err := f.hold(ctx, outcomes)
	if err != nil {
		return err
	}
	outcomes = slices.DeleteFunc(outcomes, func(o store.Outcome) bool { return !f.accepted[o.ID] })
	if err := f.readHeld(ctx, outcomes, held); err != nil {
		return err
	}
	var again frees
	var records []store.AttemptRecord
	var printed []int64 // jobs whose attempts have stored output
	for _, o := range outcomes {
		effect := o.Effect(*held[o.ID])
		if o.OutputSaved {
			printed = append(printed, o.ID)
		}
		if record, ok := o.Record(effect); ok {
			records = append(records, record)
		}
		switch {
		case effect.Unchanged:
		case effect.State == store.StateReady:
			again.add(o.ID, effect)
			f.retried[o.ID] = o.Follows(effect)
		default:
			f.ends.add(o.ID, o.Token, effect.State, effect.Reason, effect.Keep).addResult(o.Value)
		}
	}
	if err := f.b.keepAttempts(ctx, f.tx, f.now, records); err != nil {
		return err
	}
	if err := f.b.deleteOutput(ctx, f.tx, printed); err != nil {
		return err
	}
	return f.b.free(ctx, f.tx, f.now, again)
}

// hold locks the jobs that have the outcomes' tokens and returns them by number.
func (f *finishing) hold(ctx context.Context, outcomes []store.Outcome) (map[int64]*store.HeldJob, error) {
	var ids, tokens []int64
	for _, o := range outcomes {
		ids, tokens = append(ids, o.ID), append(tokens, o.Token)
	}
	held := map[int64]*store.HeldJob{}
	var id int64
	var runs, handled bool
	var in groupScanner
	err := each(ctx, f.tx, append(append([]any{&id, &runs}, in.targets()...), &handled), func() {
		f.accepted[id], held[id] = true, &store.HeldJob{Running: runs, Group: in.group()}
	}, f.b.q(lockClaims), ids, tokens)
	if err == nil && handled {
		err = f.readHandlers(ctx)
	}
	return held, err
}

// readHeld completes what is known of held jobs: their cancel requests, whether jobs wait for them, and whether the signals have come
// for which they wait.
func (f *finishing) readHeld(ctx context.Context, outcomes []store.Outcome, held map[int64]*store.HeldJob) error {
	if err := f.readCancels(ctx, outcomes, held); err != nil {
		return err
	}
	if err := f.findWaiting(ctx, outcomes, held); err != nil {
		return err
	}
	return f.findAnswered(ctx, outcomes, held)
}

// readCancels adds the cancel requests to the jobs of outcomes.
func (f *finishing) readCancels(ctx context.Context, outcomes []store.Outcome, held map[int64]*store.HeldJob) error {
	cancels, err := f.b.cancelsOf(ctx, f.tx, idsOf(outcomes))
	for id, why := range cancels {
		held[id].Asked, held[id].Why = true, why
	}
	return err
}

// findWaiting adds to the jobs that are to run again whether a job of their serial
// group waits.
func (f *finishing) findWaiting(ctx context.Context, outcomes []store.Outcome, held map[int64]*store.HeldJob) error {
	retried := serialGroups{}
	for _, o := range outcomes {
		if group := held[o.ID].Group; o.Result.GivesWay() && group.GivesWay() {
			retried.add(group)
		}
	}
	waiting, err := f.b.heads(ctx, f.tx, retried)
	for _, o := range outcomes {
		held[o.ID].Waits = waiting[held[o.ID].Group] != 0
	}
	return err
}

func idsOf(outcomes []store.Outcome) []int64 {
	ids := make([]int64, len(outcomes))
	for i, o := range outcomes {
		ids[i] = o.ID
	}
	return ids
}

// cancelsOf reads the cancel requests for jobs: the reasons by job.
func (b *Backend) cancelsOf(ctx context.Context, tx querier, ids []int64) (map[int64]string, error) {
	reasons := map[int64]string{}
	var id int64
	var reason string
	err := each(ctx, tx, []any{&id, &reason}, func() { reasons[id] = reason }, b.q(readCancels), ids)
	return reasons, err
}

// keepAttempts writes records of attempts, and their events. The jobs are locked, and as they were
// while they ran.
func (b *Backend) keepAttempts(ctx context.Context, tx querier, now *time.Time, records []store.AttemptRecord) error {
	if len(records) == 0 {
		return nil
	}
	var ids []int64
	var outcomes []int16
	var errs, traces []string
	var outputs [][]byte
	var printed []int64
	for _, r := range records {
		ids, outcomes = append(ids, r.ID), append(outcomes, int16(r.Outcome))
		errs, traces = append(errs, r.Error), append(traces, r.Trace)
		outputs = append(outputs, append([]byte{}, r.Output...)) // never null
		printed = append(printed, r.Printed)
	}
	var batch pgx.Batch
	batch.Queue(b.q(insertAttempts), now, ids, outcomes, errs, traces, outputs, printed, store.MostAttempts)
	var events store.EventRows
	events.AddAttempts(records)
	b.queueEvents(&batch, now, events)
	return send(ctx, tx, &batch)
}

// end moves to history what ends.
func (f *finishing) end(ctx context.Context) (err error) {
	if len(f.ends.ids()) == 0 {
		return nil
	}
	f.ended, f.releases, err = f.b.toHistory(ctx, f.tx, f.now, f.ends, f.handled, f.freed)
	if err != nil || f.handled || len(f.ended) == len(f.ends.ids()) {
		return err
	}
	if err = f.readHandlers(ctx); err == nil && len(f.handlers) > 0 {
		err = errMoved // the transaction begins again, and reads handlers first
	}
	return err
}

// toHistory moves jobs to history, or deletes them, in one message. It returns which of
// them bore their tokens, and whether any of them has dependents, and adds their serial
// groups to freed. handled is a parameter of the statements; see handlers.go.
func (b *Backend) toHistory(ctx context.Context, s sender, now *time.Time, over endings, handled bool,
	freed serialGroups,
) (ended []int64, releases bool, err error) {
	noted := len(over.aged.ids) >= leastNoted
	var batch pgx.Batch
	if over.severalStatements() {
		// All statements together would lock the jobs in another order than ChangeJobs.
		batch.Queue(b.q(lockClaims), over.ids(), over.tokens())
	}
	locking := batch.Len()
	b.queueEndings(&batch, now, over, handled, noted)
	returning := batch.Len() - locking
	if noted {
		b.queueNote(&batch, now, over.aged)
	}
	ids := over.ids()
	batch.Queue(b.q(deleteCancels), ids)
	answers := s.SendBatch(ctx, &batch)
	for range locking {
		_, err = answers.Exec()
	}
	ended = make([]int64, 0, len(ids))
	for range returning {
		if err == nil {
			ended, releases, err = readEnded(answers, ended, releases, freed)
		}
	}
	return ended, releases, cmp.Or(err, answers.Close())
}

// queueEndings queues the statements that move jobs to history, or delete them. noted: a batch will note the jobs that are kept as long as others.
func (b *Backend) queueEndings(batch *pgx.Batch, now *time.Time, over endings, handled, noted bool) {
	aged, kept, forgotten := over.aged, over.kept, over.forgotten
	if len(aged.ids) > 0 {
		args := []any{now, aged.ids, aged.tokens, aged.states, aged.reasons, handled, noted}
		if aged.results == nil {
			batch.Queue(b.q(finishJobs), args...)
		} else {
			batch.Queue(b.q(finishJobsWithResults), append(args, aged.results)...)
		}
	}
	if len(kept.ids) > 0 {
		if kept.results == nil {
			kept.results = make([]string, len(kept.ids))
		}
		batch.Queue(b.q(finishKeptJobs), now, kept.ids, kept.tokens, kept.states, kept.reasons, handled, true, kept.results, over.keeps)
	}
	if len(forgotten.ids) > 0 {
		batch.Queue(b.q(forgetJobs), now, forgotten.ids, forgotten.tokens, forgotten.states, forgotten.reasons, handled)
	}
}

// readEnded reads the next answer of toHistory, adds its jobs to ended and its serial groups to freed, and reports whether any job of the
// answers up to here has dependents.
func readEnded(answers pgx.BatchResults, ended []int64, releases bool, freed serialGroups) ([]int64, bool, error) {
	rows, err := answers.Query()
	if err != nil {
		return ended, releases, err
	}
	var id int64
	var in groupScanner
	var one bool
	_, err = pgx.ForEachRow(rows, append(append([]any{&id}, in.targets()...), &one), func() error {
		ended = append(ended, id)
		freed.add(in.group())
		releases = releases || one
		return nil
	})
	return ended, releases, err
}

// followUps returns the follow-ups of accepted outcomes, in the order of the request.
func (f *finishing) followUps(req store.FinishRequest) []*store.FollowUp {
	if len(f.handlers) == 0 && !slices.ContainsFunc(req.Outcomes, func(o store.Outcome) bool { return o.After != nil }) {
		return nil
	}
	ended := setOf(f.ended)
	var out []*store.FollowUp
	for i := range req.Outcomes {
		if o := &req.Outcomes[i]; ended[o.ID] && o.Result.FollowsUp() || f.retried[o.ID] {
			out = append(out, f.handlers.AfterOutcome(o, req.Node))
		}
	}
	return out
}

func setOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// refused returns the outcomes that were not accepted and are not recorded
// already.
func (f *finishing) refused(ctx context.Context, outcomes []store.Outcome) ([]store.ClaimRef, error) {
	missing := missingOf(outcomes, f.accepted, setOf(f.ended))
	if len(missing.ids) == 0 {
		return nil, nil
	}
	return collect(ctx, f.tx, scanClaimRef, f.b.q(checkRecorded), missing.args()...)
}

func scanClaimRef(r pgx.CollectableRow) (ref store.ClaimRef, err error) {
	err = r.Scan(&ref.ID, &ref.Token)
	return ref, err
}

// frees are running jobs that become ready again, as columns.
type frees struct {
	ids     []int64
	delays  []int64 // in microseconds
	refunds []int16 // attempts
	counted []bool  // the refund counts
	well    []bool  // the attempt ended by itself: no loss in a row any more
	lost    []bool  // one loss more
	snoozed []bool  // one snooze more
}

func (f *frees) add(id int64, e store.Effect) {
	f.ids = append(f.ids, id)
	f.delays = append(f.delays, e.Delay.Microseconds())
	f.refunds = append(f.refunds, e.Refund)
	f.counted, f.well, f.lost = append(f.counted, e.RefundCounts), append(f.well, e.LossesEnd), append(f.lost, e.LossCounts)
	f.snoozed = append(f.snoozed, e.Snoozed)
}

// free makes locked jobs ready again and wakes who may claim them.
func (b *Backend) free(ctx context.Context, tx querier, now *time.Time, jobs frees) error {
	if len(jobs.ids) == 0 {
		return nil
	}
	queues, err := collect(ctx, tx, pgx.RowTo[string], b.q(requeueJobs), now, jobs.ids, jobs.delays, jobs.refunds,
		jobs.counted, jobs.well, jobs.lost, jobs.snoozed)
	if err != nil {
		return err
	}
	return b.wakeQueues(ctx, tx, queues)
}
