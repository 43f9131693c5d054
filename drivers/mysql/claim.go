package mysql

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Claim takes due jobs; see store.Jobs. It looks first without locks, and where there is
// nothing to take it writes nothing. Batches have no number here.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	for steps := 1; ; steps++ {
		step, err := b.claim(ctx, req, claimWay{last: steps >= mostLaneSteps})
		if errors.Is(err, errBusyLanes) {
			return b.claimPermitted(ctx, req)
		}
		if err != nil || !step.again {
			return step.out, err
		}
	}
}

// busyLanes is when a claim comes back that met lanes which another transaction had locked.
const busyLanes = 100 * time.Millisecond

// claimPermitted claims jobs that need no permits, or hold them, because another transaction has locked lanes.
func (b *Backend) claimPermitted(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	step, err := b.claim(ctx, req, claimWay{last: true, busy: true})
	out := step.out
	if err == nil && len(out.Jobs) < req.Limit && !req.Suspects {
		again := out.Now
		if req.Now.IsZero() { // the clock of a test may stand still
			again = out.Now.Add(busyLanes)
		}
		out.NextDue = earliest(out.NextDue, again)
	}
	return out, err
}

// claimWay is how a claim is made.
type claimWay struct {
	last bool // it takes what it can, although more jobs need permits
	busy bool // it passes on no permits, because another transaction has locked lanes
}

// claimStep is what one transaction of a claim has done. again means that it has claimed none, because jobs were parked, or more permits
// have to be passed on before.
type claimStep struct {
	out   store.ClaimResult
	again bool
}

// claim claims jobs.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, way claimWay) (claimStep, error) {
	const doing = "claim jobs"
	looked, err := b.lookForJobs(ctx, doing, req)
	if err != nil || !looked.found {
		return claimStep{out: looked.out}, err
	}
	var tokens int64
	if !b.server.galera { // where each claim writes the row of the tokens; see touchJobs
		if tokens, err = b.takeTokens(ctx, doing, req.Limit); err != nil {
			return claimStep{}, err
		}
	}
	return rowwise.InTx(b.write(ctx, doing), func(s *session) (step claimStep, err error) {
		s.claims, s.tokens = !way.busy, tokens
		step.out.NoSuspects = looked.out.NoSuspects
		step.again, err = s.makeClaim(ctx, req, looked.due, way, &step.out)
		return step, err
	})
}

// makeClaim makes a claim in a transaction; due are priorities that have due jobs.
func (s *session) makeClaim(ctx context.Context, req store.ClaimRequest, due []int16, way claimWay, out *store.ClaimResult) (again bool, err error) {
	there, err := s.checkNode(ctx, req.Node)
	if err != nil {
		return false, err
	}
	out.Handled = there.handled
	now, err := s.Now(ctx, req.Now)
	if err != nil {
		return false, err
	}
	out.Now = now
	asked := req.Limit
	req, rates, err := s.limitClaim(ctx, req, there, true, now, out)
	if err != nil {
		return false, err
	}
	if there.pauses {
		if again, err := s.tendPauses(ctx, way.last, now); err != nil || again {
			return again, err
		}
		var paused bool
		if req, paused, err = s.withoutPaused(ctx, req, now); err != nil {
			return false, err
		}
		if due = nil; paused {
			return false, s.answerPaused(ctx, req.Queue, there, now, out)
		}
	}
	var work laneWork
	if there.permits {
		if work, again, err = s.tendLanes(ctx, req, way, now); err != nil || again {
			return again, err
		}
		if out.Rated = work.rated; work.refuses(req) {
			return false, nil
		}
	}
	if req.Limit == 0 {
		return false, nil
	}
	if there.pauses || work.limited {
		if due, err = s.due(ctx, req, req.DueBy(now)); err != nil {
			return false, err
		}
	}
	if out.Jobs, err = s.claim(ctx, req, due, work.limited, now); err != nil {
		return false, err
	}
	clock := func() (time.Time, error) { return s.StartsFrom(ctx, req.Now, out) }
	if work.rated {
		next, err := rowwise.StartJobs(ctx, s, out.Jobs, clock)
		if err != nil {
			return false, err
		}
		work.next = earliest(work.next, next)
	}
	err = rates.Record(len(out.Jobs), clock, func(limit int64, tat time.Time) error {
		return s.Exec(ctx, updateRateLanes, args{"limit": limit, "tat": sqlrows.Micros(tat)})
	})
	if err != nil {
		return false, err
	}
	if len(out.Jobs) < asked && req.Permits.Rated() {
		out.NextStart = rates.Next(now)
	}
	if len(out.Jobs) == req.Limit || req.Suspects {
		return false, nil
	}
	out.NextDue, err = s.NextDue(ctx, req.Queue, now)
	out.NextDue = earliest(out.NextDue, work.next)
	return false, err
}

// lookedForJobs is what a look for a claim has found.
type lookedForJobs struct {
	found bool              // the claim would find something
	out   store.ClaimResult // the answer to the claim, if it would find nothing
	due   []int16           // the priorities of the due jobs, unless the claim asks for suspects
}

// lookForJobs reports whether a claim would find anything, or tend to pauses or lanes, and, unless it
// asks for suspects, the priorities of the due jobs. If the claim would find nothing, out is the answer to the claim. Without pauses
// and limits it is one statement.
func (b *Backend) lookForJobs(ctx context.Context, doing string, req store.ClaimRequest) (lookedForJobs, error) {
	return rowwise.InTx(b.look(ctx, doing), func(s *session) (did lookedForJobs, err error) {
		req := req
		there, err := s.findWork(ctx, req)
		if err != nil {
			return did, err
		}
		now := there.now
		did.out.Now, did.out.Handled = now, there.handled
		did.out.NoSuspects = !there.suspects && !there.pauses && !there.limited && !there.permits
		part, _, err := s.limitClaim(ctx, req, there.found, false, now, &did.out)
		if err != nil {
			return did, err
		}
		if there.pauses {
			if err := s.One(ctx, findPauseWork, args{"now": sqlrows.Micros(now)}, &did.found); err != nil || did.found {
				return did, err
			}
			var paused bool
			if req, paused, err = s.withoutPaused(ctx, req, now); err != nil {
				return did, err
			}
			if paused {
				err = s.answerPaused(ctx, req.Queue, there.found, now, &did.out)
				return did, err
			}
		}
		var work laneWork
		if there.permits {
			if work, did.found, err = s.lookForLanes(ctx, req, now); err != nil || did.found {
				return did, err
			}
			if did.out.Rated = work.rated; work.refuses(req) {
				return did, nil
			}
		}
		if part.Limit == 0 {
			return did, nil
		}
		if req.Suspects {
			did.found = there.suspects
			return did, nil
		}
		if did.due = there.due; there.pauses || req.DueFor > 0 {
			if did.due, err = s.due(ctx, req, req.DueBy(now)); err != nil {
				return did, err
			}
		}
		if did.found = len(did.due) > 0; did.found {
			return did, nil
		}
		if did.out.NextDue = there.nextDue; len(there.due) > 0 {
			if did.out.NextDue, err = s.NextDue(ctx, req.Queue, now); err != nil {
				return did, err
			}
		}
		did.out.NextDue = earliest(did.out.NextDue, work.next)
		return did, nil
	})
}

// work is what findWork finds.
type work struct {
	found
	now      time.Time
	due      []int16   // priorities that have due jobs which the claim may take
	suspects bool      // there may be a suspect
	nextDue  time.Time // as in the answer to the claim; if due is empty
}

// findWork looks for what a claim may take, as if there were no pauses, and if DueFor were 0.
func (s *session) findWork(ctx context.Context, req store.ClaimRequest) (w work, err error) {
	a := args{"node": req.Node, "queue": req.Queue, "now": instantOf(req.Now), "kinds": req.Kinds}
	addExact(a, req.Exact)
	var alive bool
	var due int64
	err = s.One(ctx, findWork, a, &alive, &w.pauses, &w.handled, &w.limited, &w.permits, sqlrows.IntoTime(&w.now), &due, &w.suspects, sqlrows.IntoTime(&w.nextDue))
	if err == nil && !alive {
		err = nodeGone(req.Node)
	}
	for priority := range int16(10) {
		if due&(1<<priority) != 0 {
			w.due = append(w.due, priority)
		}
	}
	return w, err
}

// answerPaused completes the answer to a claim from a paused queue.
func (s *session) answerPaused(ctx context.Context, queue string, there found, now time.Time, out *store.ClaimResult) (err error) {
	if there.permits {
		work, err := s.findLaneWork(ctx, queue, now)
		if err != nil {
			return err
		}
		out.Rated = work.rated
	}
	out.NextDue, err = s.NextDue(ctx, queue, now)
	return err
}

// addExact adds the parameters that name exact jobs, which a claim takes besides its kinds.
func addExact(a args, jobs []store.ExactJob) {
	var kinds, exact []string
	for i := range jobs {
		if !slices.Contains(kinds, jobs[i].Kind) {
			kinds = append(kinds, jobs[i].Kind)
		}
		exact = append(exact, hex.EncodeToString(jobs[i].SHA256[:])+jobs[i].Kind)
	}
	a["exact_kinds"], a["exact"] = kinds, exact
}

// due returns each priority that has a job which is due by an instant, and which the claim may take.
func (s *session) due(ctx context.Context, req store.ClaimRequest, by time.Time) (due []int16, err error) {
	a := args{"queue": req.Queue, "now": sqlrows.Micros(by), "kinds": req.Kinds}
	addExact(a, req.Exact)
	err = s.Each(ctx, findDuePriorities, a, func(r row) error {
		var priority int16
		err := r.Scan(&priority)
		due = append(due, priority)
		return err
	})
	return due, err
}

// found is what a claim has to look at.
type found struct {
	pauses  bool // there are pauses, also pauses that have ended
	handled bool // there are handlers of starts
	limited bool // there are limits
	permits bool // there are limits whose permits jobs hold, also limits that have ended
}

// checkNode answers store.ErrNodeGone for a node that is not alive by the books, and reports what a
// claim has to look at. The node does not end before the transaction.
func (s *session) checkNode(ctx context.Context, node int64) (there found, err error) {
	var alive bool
	if err := s.One(ctx, holdNode, args{"node": node}, &alive, &there.pauses, &there.handled, &there.limited, &there.permits); err != nil {
		return found{}, err
	}
	if !alive {
		return found{}, nodeGone(node)
	}
	return there, nil
}

// nodeGone is the error for a node that is not alive by the books.
func nodeGone(node int64) error { return fmt.Errorf("node %d: %w", node, store.ErrNodeGone) }

// limitClaim returns the claim, reduced to the jobs that the limits of the whole queue allow, which may be none. It writes the newest
// limit to the answer and, if nothing may start now, when the next job may start. With lock, claims from a queue with a rate
// happen one after the other.
func (s *session) limitClaim(ctx context.Context, req store.ClaimRequest, there found, lock bool, now time.Time, out *store.ClaimResult) (store.ClaimRequest, rowwise.QueueRates, error) {
	var rates rowwise.QueueRates
	if there.limited {
		var err error
		if rates, err = s.queueRates(ctx, req.Limited(), lock); err != nil {
			return req, rates, err
		}
	}
	return rates.Bound(req, now, out), rates, nil
}

// claim takes up to req.Limit jobs of the priorities in which lookForJobs has just found
// jobs, or suspects, and returns them in the order of their start.
func (s *session) claim(ctx context.Context, req store.ClaimRequest, due []int16, limited bool, now time.Time) ([]store.Claimed, error) {
	jobs, rares, err := s.lockClaimable(ctx, req, due, limited, now)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b store.Claimed) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
	})
	first, err := s.tokensFor(ctx, jobs)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i], jobs[i].Token, jobs[i].Attempt = jobs[i].ID, first+int64(i), min(jobs[i].Attempt, math.MaxInt16-1)+1
	}
	if err := s.giveJobs(ctx, ids, args{"before": first - 1, "begin": req.Limit - req.Ahead, "node": req.Node, "now": sqlrows.Micros(now)}); err != nil {
		return nil, err
	}
	return jobs, s.OnIDs(ctx, rares, updateRare)
}

// giveJobs writes a claim of locked jobs, whose numbers are in the order of their start.
func (s *session) giveJobs(ctx context.Context, ids []int64, a args) error {
	if a["ids"] = ids; slices.IsSorted(ids) {
		return s.Exec(ctx, claimJobs, a)
	}
	places := make([]int, len(ids))
	for i := range places {
		places[i] = i + 1
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Compare(ids[a-1], ids[b-1]) })
	a["ids"], a["places"] = slices.Sorted(slices.Values(ids)), places
	return s.Exec(ctx, claimJobsMixed, a)
}

// lockClaimable locks jobs that a claim takes, and leaves out jobs that other transactions have locked. limited: a limit concerns
// the queue whose permits jobs hold. rares are the numbers of all locked jobs that have rows in hourbell_job_rare.
func (s *session) lockClaimable(ctx context.Context, req store.ClaimRequest, due []int16, limited bool, now time.Time) (jobs []store.Claimed, rares []int64, err error) {
	a := args{"queue": req.Queue, "now": sqlrows.Micros(req.DueBy(now)), "kinds": req.Kinds}
	addExact(a, req.Exact)
	ready, suspects := lockDueJobs, lockSuspects
	if limited {
		ready, suspects = lockLimitedDueJobs, lockLimitedSuspects
	}
	if req.Suspects {
		return s.lockWindow(ctx, suspects, a, req.Limit)
	}
	for _, priority := range due {
		most := req.Limit - len(jobs)
		if req.DueFor > 0 {
			most = req.Limit // the jobs that have been due for longest may have any priority
		}
		if most == 0 {
			break
		}
		a["priority"] = priority
		some, someRares, err := s.lockWindow(ctx, ready, a, most)
		if err != nil {
			return nil, nil, err
		}
		jobs, rares = append(jobs, some...), append(rares, someRares...)
	}
	if len(jobs) > req.Limit {
		slices.SortFunc(jobs, func(a, b store.Claimed) int { return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID)) })
		jobs = jobs[:req.Limit]
	}
	return jobs, rares, nil
}

// A claim looks at the first jobs, claimWindow more than it takes, because concurrent claims have locked some of them, and
// then, if it has too few jobs, at the next claimReach.
const (
	claimWindow = 100
	claimReach  = 10_000
)

// lockWindow locks claimable jobs, at most limit, among the first of them. rares are the numbers of the jobs that have rows in
// hourbell_job_rare.
func (s *session) lockWindow(ctx context.Context, name statement, a args, limit int) (jobs []store.Claimed, rares []int64, err error) {
	first := limit + claimWindow
	for _, w := range []struct{ offset, size int }{{0, first}, {first, claimReach}} {
		if len(jobs) == limit {
			break
		}
		a["limit"], a["offset"], a["window"] = limit-len(jobs), w.offset, w.size
		err := s.Each(ctx, name, a, func(r row) error {
			var rare bool
			job, err := sqlrows.ScanClaimed(r, &rare)
			if jobs = append(jobs, job); rare {
				rares = append(rares, job.ID)
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return jobs, rares, nil
}

// takeTokens takes tokens for a claim of at most so many jobs, in a transaction of their own, so that no claim waits for the commit of
// another claim. It returns the first of them.
func (b *Backend) takeTokens(ctx context.Context, doing string, jobs int) (first int64, err error) {
	return rowwise.InTx(b.look(ctx, doing), func(s *session) (int64, error) {
		last, err := s.raiseTokens(ctx, jobs)
		return last - int64(jobs) + 1, err
	})
}

// tokensFor returns the first of the tokens of a claim of locked jobs. The tokens that were taken before are used unless one of the jobs
// has got such a token, or a greater token, since.
func (s *session) tokensFor(ctx context.Context, jobs []store.Claimed) (first int64, err error) {
	stale := func(j store.Claimed) bool { return j.Token >= s.tokens }
	if s.tokens > 0 && !slices.ContainsFunc(jobs, stale) {
		return s.tokens, nil
	}
	last, err := s.raiseTokens(ctx, len(jobs))
	return last - int64(len(jobs)) + 1, err
}

// raiseTokens gives tokens to a number of jobs, and returns the last of them. Other transactions wait here until this transaction ends.
func (s *session) raiseTokens(ctx context.Context, jobs int) (last int64, err error) {
	return s.giveNumbers(ctx, "token", jobs)
}

// giveNumbers takes the next numbers of a counter, and returns the last of them.
func (s *session) giveNumbers(ctx context.Context, counter string, count int) (last int64, err error) {
	result, err := s.Run(ctx, giveNumbers, args{"name": counter, "count": count})
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// BeginJobs lets claims begin; see store.Jobs.
func (b *Backend) BeginJobs(ctx context.Context, asked store.BeginRequest) (store.BeginResult, error) {
	return rowwise.InTx(b.write(ctx, "begin jobs"), func(s *session) (out store.BeginResult, err error) {
		there, err := s.checkNode(ctx, asked.Node)
		if err != nil {
			return out, err
		}
		if there.pauses {
			paused, err := s.ListClaims(ctx, store.ClaimsRequest{Node: asked.Node, Paused: true, Now: asked.Now})
			if err != nil {
				return out, err
			}
			for _, ref := range asked.Claims {
				if slices.Contains(paused, ref) {
					out.Paused = append(out.Paused, ref.ID)
				}
			}
		}
		req := asked.Without(out.Paused)
		if err := s.Exec(ctx, beginJobs, args{"claims": claimRefs(req.Claims), "node": req.Node}); err != nil || !there.handled && !req.HasHooks() {
			return out, err
		}
		handlers, err := s.ReadHandlers(ctx)
		if err != nil {
			return out, err
		}
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return out, err
		}
		return out, rowwise.Begin(ctx, s, req, handlers, now)
	})
}
