package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Claim takes due jobs; see store.Jobs. It looks first without the write lock,
// and where there is nothing to take it writes nothing: a commit would be
// noticed by every other node, which would look in its turn. Batches have no
// number here.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	const doing = "claim jobs"
	out, found, err := b.lookForJobs(ctx, doing, req)
	if err != nil || !found {
		return out, err
	}
	err = b.write(ctx, doing, func(s *session) error {
		if err := s.checkNode(ctx, req.Node); err != nil {
			return err
		}
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		out.Now = now
		if out.Jobs, err = s.claim(ctx, req, now); err != nil || len(out.Jobs) == req.Limit {
			return err
		}
		out.NextDue, err = s.nextDue(ctx, req.Queue, now)
		return err
	})
	if err != nil {
		return store.ClaimResult{}, err
	}
	return out, nil
}

// lookForJobs says whether a claim would find anything; where it would not, out
// is the answer to the claim.
func (b *Backend) lookForJobs(ctx context.Context, doing string, req store.ClaimRequest) (out store.ClaimResult, found bool, err error) {
	err = b.read(ctx, doing, func(s *session) error {
		if err := s.checkNode(ctx, req.Node); err != nil {
			return err
		}
		now, err := s.now(ctx, req.Now)
		if err != nil {
			return err
		}
		out.Now = now
		name, a := claimOf("claim_any", req, now)
		if err := s.one(ctx, name, a, &found); err != nil || found {
			return err
		}
		out.NextDue, err = s.nextDue(ctx, req.Queue, now)
		return err
	})
	if err != nil || found {
		return store.ClaimResult{}, found, err
	}
	return out, false, nil
}

// exactJob is what a claim takes beside its kinds, in the JSON of a parameter.
type exactJob struct {
	Kind    string `json:"kind"`
	ArgsAt  int    `json:"at"`
	ArgsLen int    `json:"len"`
}

// claimOf returns the statement that serves a claim, which looks at args only
// where it must, and the parameters that tell which jobs may be taken.
func claimOf(statement string, req store.ClaimRequest, now time.Time) (string, args) {
	a := args{"queue": req.Queue, "now": micros(now), "kinds": jsonList(req.Kinds)}
	if len(req.Exact) == 0 {
		return statement, a
	}
	var pack packer
	exact := make([]exactJob, len(req.Exact))
	for i, e := range req.Exact {
		at, length := pack.add(e.Args)
		exact[i] = exactJob{e.Kind, at, length}
	}
	a["exact"], a["bytes"] = jsonOf(exact), pack.parameter()
	return statement + "_exact", a
}

// checkNode answers store.ErrNodeGone for a node that is not alive by the books.
func (s *session) checkNode(ctx context.Context, node int64) error {
	var alive bool
	if err := s.one(ctx, "node_alive", args{"node": node}, &alive); err != nil {
		return err
	}
	if !alive {
		return fmt.Errorf("node %d: %w", node, store.ErrNodeGone)
	}
	return nil
}

// claim takes up to req.Limit jobs and returns them in the order of their start.
func (s *session) claim(ctx context.Context, req store.ClaimRequest, now time.Time) ([]store.Claimed, error) {
	var jobs []store.Claimed
	var token int64
	name, a := claimOf("claim", req, now)
	a["limit"], a["node"] = req.Limit, req.Node
	err := s.each(ctx, name, a, func(r row) error {
		job, err := scanClaimed(r)
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
	return jobs, s.exec(ctx, "counter_raise", args{"name": "token", "value": token})
}

func scanClaimed(r row) (store.Claimed, error) {
	var j store.Claimed
	err := r.Scan(&j.ID, &j.Token, &j.Kind, &j.Queue, &j.Args, &j.Headers, &j.Priority, &j.Attempt, &j.MaxAttempts,
		&j.OnLoss, &j.Origin, durationScanner{&j.Timeout}, into(&j.RunAt), into(&j.CreatedAt), &j.Schedule, &j.ScheduleName, into(&j.Slot))
	return j, err
}

// nextDue is when the queue's next ready job is due; zero: there is none.
func (s *session) nextDue(ctx context.Context, queue string, now time.Time) (time.Time, error) {
	var next time.Time
	err := s.one(ctx, "next_due", args{"queue": queue, "now": micros(now)}, into(&next))
	return next, err
}
