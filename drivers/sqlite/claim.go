package sqlite

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Claim takes due jobs; see store.Jobs. It looks first without the write lock,
// and where there is nothing to take it writes nothing: a commit would be
// noticed by every other node, which would look in its turn. Batches have no
// number here.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	for steps := 1; ; steps++ {
		if _, err := b.digestDue(ctx, req, math.MaxInt); err != nil {
			return store.ClaimResult{}, err
		}
		if out, again, err := b.claim(ctx, req, steps >= mostLaneSteps); err != nil || !again {
			return out, err
		}
	}
}

// claim claims jobs, of exact jobs only the jobs with digests. again means that it has claimed none, because jobs that became
// claimable may need digests before the claim, or because more jobs have to be parked or more permits to be passed on before. last: it takes
// what it can, although permits are left to be passed on.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, last bool) (out store.ClaimResult, again bool, err error) {
	const doing = "claim jobs"
	looked, err := b.lookForJobs(ctx, doing, req)
	if err != nil || !looked.found {
		return looked.out, false, err
	}
	made, err := rowwise.InTx(b.write(ctx, doing), func(s *session) (did madeClaim, err error) {
		req, due := req, looked.due // a repetition may find other pauses
		there, err := s.checkNode(ctx, req.Node)
		if err != nil {
			return did, err
		}
		did.out.Handled = there.handled
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return did, err
		}
		did.out.Now = now
		asked := req.Limit
		req, rates, err := s.limitClaim(ctx, req, there, now, &did.out)
		if err != nil {
			return did, err
		}
		if there.pauses {
			moved, left, err := s.tendPauses(ctx, now)
			if did.again = left || moved > 0 && len(req.Exact) > 0; err != nil || did.again {
				return did, err
			}
			var paused bool
			if req, paused, err = s.withoutPaused(ctx, req, now); err != nil {
				return did, err
			}
			if due = nil; paused {
				err = s.answerPaused(ctx, req.Queue, there, now, &did.out)
				return did, err
			}
		}
		var work laneWork
		if there.permits {
			if work, did.again, err = s.tendLanes(ctx, req, last, now); err != nil || did.again {
				return did, err
			}
			if did.out.Rated = work.rated; work.refuses(req) {
				return did, nil
			}
		}
		if req.Limit == 0 {
			return did, nil
		}
		if there.pauses || work.limited {
			if due, err = s.due(ctx, req, req.DueBy(now)); err != nil {
				return did, err
			}
		}
		if did.out.Jobs, err = s.claim(ctx, req, due, work.limited, now); err != nil {
			return did, err
		}
		clock := func() (time.Time, error) { return s.StartsFrom(ctx, req.Now, &did.out) }
		if work.rated {
			next, err := rowwise.StartJobs(ctx, s, did.out.Jobs, clock)
			if err != nil {
				return did, err
			}
			work.next = earliest(work.next, next)
		}
		err = rates.Record(len(did.out.Jobs), clock, func(limit int64, tat time.Time) error {
			return s.Exec(ctx, upsertRateLane, args{"limit": limit, "tat": sqlrows.Micros(tat)})
		})
		if err != nil {
			return did, err
		}
		if len(did.out.Jobs) < asked && req.Permits.Rated() {
			did.out.NextStart = rates.Next(now)
		}
		if len(did.out.Jobs) == req.Limit || req.Suspects {
			return did, nil
		}
		did.out.NextDue, err = s.NextDue(ctx, req.Queue, now)
		did.out.NextDue = earliest(did.out.NextDue, work.next)
		return did, err
	})
	return made.out, made.again, err
}

// madeClaim is what a transaction of a claim has done.
type madeClaim struct {
	out   store.ClaimResult
	again bool // as for claim
}

// lookedForJobs is what a look for a claim has found.
type lookedForJobs struct {
	found bool              // the claim would find something
	out   store.ClaimResult // the answer to the claim, if it would find nothing
	due   []stream          // the streams of the due jobs, unless the claim asks for suspects
}

// lookForJobs reports whether a claim would find anything, or tend to pauses or lanes, and, unless it
// asks for suspects, in which streams; where it would not, out is the answer to the claim.
func (b *Backend) lookForJobs(ctx context.Context, doing string, req store.ClaimRequest) (lookedForJobs, error) {
	return rowwise.InTx(b.read(ctx, doing), func(s *session) (did lookedForJobs, err error) {
		req := req
		there, err := s.checkNode(ctx, req.Node)
		if err != nil {
			return did, err
		}
		did.out.Handled = there.handled
		now, err := s.Now(ctx, req.Now)
		if err != nil {
			return did, err
		}
		did.out.Now = now
		part, _, err := s.limitClaim(ctx, req, there, now, &did.out)
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
				err = s.answerPaused(ctx, req.Queue, there, now, &did.out)
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
			err = s.One(ctx, findSuspect, args{"queue": req.Queue, "now": sqlrows.Micros(now)}, &did.found)
			return did, err
		}
		did.due, err = s.due(ctx, req, req.DueBy(now))
		if did.found = len(did.due) > 0; err != nil || did.found {
			return did, err
		}
		did.out.NextDue, err = s.NextDue(ctx, req.Queue, now)
		did.out.NextDue = earliest(did.out.NextDue, work.next)
		return did, err
	})
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

// stream is jobs of one kind in the order of claims, in the JSON of a parameter:
// the jobs whose args have no digest, the jobs with one digest, or the jobs with any.
type stream struct {
	Kind     string  `json:"kind"`
	Digest   *string `json:"digest,omitempty"`   // in hexadecimal
	Digested bool    `json:"digested,omitempty"` // any
}

// kindStreams are all jobs of some kinds.
func kindStreams(kinds []string) []stream {
	streams := make([]stream, 0, 2*len(kinds))
	for _, kind := range kinds {
		streams = append(streams, stream{Kind: kind}, stream{Kind: kind, Digested: true})
	}
	return streams
}

// exactKinds returns each kind whose jobs a claim takes only with exact arguments, once.
func exactKinds(req store.ClaimRequest) []string {
	var kinds []string
	for i := range req.Exact {
		if kind := req.Exact[i].Kind; !slices.Contains(kinds, kind) && !slices.Contains(req.Kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// exactStreams are the exact jobs of some kinds.
func exactStreams(jobs []store.ExactJob, kinds []string) []stream {
	var streams []stream
	seen := map[string]bool{}
	for i := range jobs {
		digest := hex.EncodeToString(jobs[i].SHA256[:])
		if key := digest + jobs[i].Kind; slices.Contains(kinds, jobs[i].Kind) && !seen[key] {
			seen[key] = true
			streams = append(streams, stream{Kind: jobs[i].Kind, Digest: &digest})
		}
	}
	return streams
}

// exactJob is what a claim of suspects takes besides its kinds, in the JSON of a
// parameter.
type exactJob struct {
	Kind    string `json:"kind"`
	ArgsAt  int    `json:"at"`
	ArgsLen int    `json:"len"`
}

// addExact adds the parameters that name the args of exact jobs.
func addExact(a args, jobs []store.ExactJob) {
	var pack sqlrows.Packer
	exact := make([]exactJob, len(jobs))
	for i, e := range jobs {
		at, length := pack.Add(e.Args)
		exact[i] = exactJob{e.Kind, at, length}
	}
	a["exact"], a["bytes"] = sqlrows.JSON(exact), pack.Parameter()
}

// due returns the streams of a claim in which a job is due by an instant. Exact jobs are
// looked for only where a job of their kind with a digest is due.
func (s *session) due(ctx context.Context, req store.ClaimRequest, by time.Time) ([]stream, error) {
	kinds := slices.Compact(slices.Sorted(slices.Values(req.Kinds)))
	exact := exactKinds(req)
	streams := kindStreams(kinds)
	for _, kind := range exact {
		streams = append(streams, stream{Kind: kind, Digested: true})
	}
	due, err := s.dueStreams(ctx, req.Queue, streams, by)
	if err != nil || len(exact) == 0 {
		return due, err
	}
	var behind []string
	due = slices.DeleteFunc(due, func(one stream) bool {
		if !slices.Contains(exact, one.Kind) {
			return false
		}
		behind = append(behind, one.Kind)
		return true
	})
	found, err := s.dueStreams(ctx, req.Queue, exactStreams(req.Exact, behind), by)
	return append(due, found...), err
}

// dueStreams returns, of some streams, the ones in which a job is due by an instant.
func (s *session) dueStreams(ctx context.Context, queue string, streams []stream, by time.Time) (due []stream, err error) {
	if len(streams) == 0 {
		return nil, nil
	}
	err = s.Each(ctx, findDueStreams, args{"queue": queue, "due_by": sqlrows.Micros(by), "streams": sqlrows.JSON(streams)}, func(r row) error {
		var text string
		var one stream
		if err := r.Scan(&text); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(text), &one)
		due = append(due, one)
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
// claim has to look at.
func (s *session) checkNode(ctx context.Context, node int64) (there found, err error) {
	var alive bool
	if err := s.One(ctx, holdNode, args{"node": node}, &alive, &there.pauses, &there.handled, &there.limited, &there.permits); err != nil {
		return found{}, err
	}
	if !alive {
		return found{}, fmt.Errorf("node %d: %w", node, store.ErrNodeGone)
	}
	return there, nil
}

// limitClaim returns the claim, reduced to the jobs that the limits of the whole queue allow, which may be none. It writes the newest
// limit to the answer and, if nothing may start now, when the next job may start.
func (s *session) limitClaim(ctx context.Context, req store.ClaimRequest, there found, now time.Time, out *store.ClaimResult) (store.ClaimRequest, rowwise.QueueRates, error) {
	var rates rowwise.QueueRates
	if there.limited {
		var err error
		if rates, err = s.queueRates(ctx, req.Limited()); err != nil {
			return req, rates, err
		}
	}
	return rates.Bound(req, now, out), rates, nil
}

// claim takes up to req.Limit jobs and returns them in the order of their start. due are the streams in which a read without
// the write lock has just found jobs; a claim of suspects has none. With limited, claim leaves out jobs that need permits and
// hold none.
func (s *session) claim(ctx context.Context, req store.ClaimRequest, due []stream, limited bool, now time.Time) ([]store.Claimed, error) {
	if len(due) == 0 && !req.Suspects {
		return nil, nil
	}
	if len(due) > 1 && !req.Suspects { // one stream is searched by the claim itself
		var err error
		if due, err = s.due(ctx, req, req.DueBy(now)); err != nil || len(due) == 0 {
			return nil, err
		}
	}
	name, limitedName, a := claimStreams, limitedStreams, args{"queue": req.Queue, "now": sqlrows.Micros(now), "limit": req.Limit, "begin": req.Limit - req.Ahead, "node": req.Node}
	if !req.Suspects {
		a["due_by"] = sqlrows.Micros(req.DueBy(now))
	}
	digested := slices.ContainsFunc(due, func(s stream) bool { return s.Digested })
	switch {
	case req.Suspects:
		name, limitedName = claimSuspects, limitedSuspects
		a["kinds"] = sqlrows.JSONList(req.Kinds)
		addExact(a, req.Exact)
	case req.DueFor > 0:
		if name, limitedName = agedStreams, limitedAgedStreams; digested {
			name, limitedName = agedDigestedStreams, limitedAgedDigested
		}
		a["streams"] = sqlrows.JSON(due)
	case digested:
		name, limitedName = claimDigestedStreams, limitedDigestedStreams
		a["streams"] = sqlrows.JSON(due)
	case len(due) > 1 || due[0].Digest != nil:
		a["streams"] = sqlrows.JSON(due)
	default:
		name, limitedName = claimJobs, limitedJobs
		a["kind"] = due[0].Kind
	}
	if limited {
		name = limitedName
	}
	var jobs []store.Claimed
	var token int64
	err := s.Each(ctx, name, a, func(r row) error {
		job, err := sqlrows.ScanClaimed(r)
		jobs = append(jobs, job)
		token = max(token, job.Token)
		return err
	})
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b store.Claimed) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
	})
	return jobs, s.Exec(ctx, sqlrows.RaiseCounter, args{"name": "token", "value": token})
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
		claims := make([]claimRef, len(req.Claims))
		for i, ref := range req.Claims {
			claims[i] = claimRef{ref.ID, ref.Token}
		}
		if err := s.Exec(ctx, beginJobs, args{"claims": sqlrows.JSONList(claims), "node": req.Node}); err != nil || !there.handled && !req.HasHooks() {
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
