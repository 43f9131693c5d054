package mysql

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// mostLaneSteps is how many steps a claim has at most because of limits of kinds and keys. The first step gives jobs permits or places in lanes.
// The second step takes jobs, also from lanes in which no job waits.
const mostLaneSteps = 2

// Claim takes due jobs; see store.Jobs. Batches have no number here.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	for steps := 1; ; steps++ {
		step, err := b.claim(ctx, req, store.ClaimWay{Last: steps >= mostLaneSteps})
		if errors.Is(err, errBusyLanes) {
			return b.claimPermitted(ctx, req)
		}
		if err != nil || !step.Again {
			return step.ClaimResult, err
		}
	}
}

// busyLanes is when a claim comes back that met lanes which another transaction had locked.
const busyLanes = 100 * time.Millisecond

// claimPermitted claims jobs that need no permits, or hold them, because another transaction has locked lanes.
func (b *Backend) claimPermitted(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	step, err := b.claim(ctx, req, store.ClaimWay{Last: true, Busy: true})
	out := step.ClaimResult
	if err == nil && req.WantsNextDue(len(out.Jobs)) {
		again := out.Now
		if req.Now.IsZero() { // the clock of a test may stand still
			again = out.Now.Add(busyLanes)
		}
		out.NextDue = store.Earlier(out.NextDue, again)
	}
	return out, err
}

// claim makes one step of a claim. Between its look and its transaction it takes tokens.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, way store.ClaimWay) (rowwise.ClaimStep, error) {
	const doing = "claim jobs"
	way.RowLocks = true
	return rowwise.Claim(ctx, b.look(ctx, doing), func(do func(*session) error) error {
		var tokens int64
		if !b.server.galera { // where each claim writes the row of the tokens; see TouchJobs
			var err error
			if tokens, err = b.takeTokens(ctx, doing, req.Limit); err != nil {
				return err
			}
		}
		return b.Write(ctx, doing, nil)(func(s *session) error {
			s.impatient, s.firstToken = !way.Busy, tokens
			return do(s)
		})
	}, req, way)
}

// LookAround implements rowwise.ClaimTx. It is one statement.
func (s *session) LookAround(ctx context.Context, req store.ClaimRequest) (found rowwise.Around, err error) {
	a := args{"node": req.Node, "queue": req.Queue, "now": instantOf(req.Now), "kinds": req.Kinds}
	addExact(a, req.Exact)
	found.Jobs = &rowwise.DueJobs{}
	var due int64
	var first time.Time
	targets := append(sqlrows.AroundTargets(&found), sqlrows.IntoTime(&found.Now), &due, sqlrows.IntoTime(&first), &found.Jobs.Suspects,
		sqlrows.IntoTime(&found.Jobs.NextDue))
	err = s.One(ctx, findWork, a, targets...)
	for priority := int16(store.FirstPriority); priority <= store.LastPriority; priority++ {
		if due&(1<<priority) != 0 {
			found.Jobs.Due = append(found.Jobs.Due, rowwise.Stream{Priority: priority, First: first})
		}
	}
	return found, err
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

// FindDue implements rowwise.ClaimTx: it returns each priority that has such jobs.
func (s *session) FindDue(ctx context.Context, req store.ClaimRequest, by time.Time) (due []rowwise.Stream, err error) {
	a := args{"queue": req.Queue, "now": sqlrows.Micros(by), "kinds": req.Kinds}
	addExact(a, req.Exact)
	err = s.Each(ctx, findDuePriorities, a, func(r row) error {
		var one rowwise.Stream
		err := r.Scan(&one.Priority, sqlrows.IntoTime(&one.First))
		due = append(due, one)
		return err
	})
	return due, err
}

// TakeJobs implements rowwise.ClaimTx.
func (s *session) TakeJobs(ctx context.Context, req store.ClaimRequest, due []rowwise.Stream, permitted bool,
	now time.Time,
) (jobs []store.Claimed, batch int64, err error) {
	jobs, rares, err := s.lockClaimable(ctx, req, due, permitted, now)
	if err != nil || len(jobs) == 0 {
		return nil, 0, err
	}
	slices.SortFunc(jobs, store.CompareClaimed)
	first, err := s.tokensFor(ctx, jobs)
	if err != nil {
		return nil, 0, err
	}
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i], jobs[i].Token, jobs[i].Attempt = jobs[i].ID, first+int64(i), min(jobs[i].Attempt, math.MaxInt16-1)+1
	}
	if err := s.giveJobs(ctx, ids, args{"before": first - 1, "begin": req.Limit - req.Ahead, "node": req.Node, "now": sqlrows.Micros(now)}); err != nil {
		return nil, 0, err
	}
	return jobs, 0, s.OnIDs(ctx, rares, updateRare)
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

// lockClaimable locks jobs that a claim takes, and leaves out jobs that other transactions have locked. If permitted is set, it also leaves out
// jobs that need permits and hold none. rares are the numbers of all locked jobs that have rows in hourbell_job_rare.
func (s *session) lockClaimable(ctx context.Context, req store.ClaimRequest, due []rowwise.Stream, permitted bool,
	now time.Time,
) (jobs []store.Claimed, rares []int64, err error) {
	a := args{"queue": req.Queue, "now": sqlrows.Micros(req.DueBy(now)), "kinds": req.Kinds}
	addExact(a, req.Exact)
	ready, suspects := lockDueJobs, lockSuspects
	if permitted {
		ready, suspects = lockLimitedDueJobs, lockLimitedSuspects
	}
	if req.Suspects {
		return s.lockWindow(ctx, suspects, a, req.Limit)
	}
	for _, stream := range due {
		most := req.Limit - len(jobs)
		if req.DueFor > 0 {
			most = req.Limit // the jobs that have been due for longest may have any priority
		}
		if most == 0 {
			break
		}
		a["priority"], a["first"] = stream.Priority, sqlrows.Micros(stream.First)
		some, someRares, err := s.lockWindow(ctx, ready, a, most)
		if err != nil {
			return nil, nil, err
		}
		jobs, rares = append(jobs, some...), append(rares, someRares...)
	}
	return store.LongestDue(jobs, req.Limit), rares, nil
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
	stale := func(j store.Claimed) bool { return j.Token >= s.firstToken }
	if s.firstToken > 0 && !slices.ContainsFunc(jobs, stale) {
		return s.firstToken, nil
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
