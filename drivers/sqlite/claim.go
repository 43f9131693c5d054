package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
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
		if out.Jobs, err = s.claim(ctx, req, now); err != nil || len(out.Jobs) == req.Limit || req.Suspects {
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
		if req.Suspects {
			return s.one(ctx, "any_suspect", args{"queue": req.Queue, "now": micros(now)}, &found)
		}
		due, err := s.due(ctx, req, now)
		if found = len(due) > 0; err != nil || found {
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

// stream is the jobs of one kind that a claim may take, in the JSON of a
// parameter: all of them, or those equal to an exact job.
type stream struct {
	Kind  string `json:"kind"`
	Exact bool   `json:"exact"`
}

// streamsOf are the kinds of a claim, each once.
func streamsOf(req store.ClaimRequest) []stream {
	streams := make([]stream, 0, len(req.Kinds))
	seen := make(map[string]bool, len(req.Kinds))
	add := func(kind string, exact bool) {
		if !seen[kind] {
			seen[kind] = true
			streams = append(streams, stream{kind, exact})
		}
	}
	for _, kind := range req.Kinds {
		add(kind, false)
	}
	for i := range req.Exact {
		add(req.Exact[i].Kind, true)
	}
	return streams
}

// exactJob is what a claim takes beside its kinds, in the JSON of a parameter.
type exactJob struct {
	Kind    string `json:"kind"`
	ArgsAt  int    `json:"at"`
	ArgsLen int    `json:"len"`
}

// addExact adds the parameters that tell which args an exact stream may have.
func addExact(a args, jobs []store.ExactJob) {
	var pack packer
	exact := make([]exactJob, len(jobs))
	for i, e := range jobs {
		at, length := pack.add(e.Args)
		exact[i] = exactJob{e.Kind, at, length}
	}
	a["exact"], a["bytes"] = jsonOf(exact), pack.parameter()
}

// due returns those of a claim's streams of which a job is due.
func (s *session) due(ctx context.Context, req store.ClaimRequest, now time.Time) (due []stream, err error) {
	streams := streamsOf(req)
	if len(streams) == 0 {
		return nil, nil
	}
	name, a := "due_streams", args{"queue": req.Queue, "now": micros(now), "streams": jsonOf(streams)}
	if len(req.Exact) > 0 {
		name += "_exact"
		addExact(a, req.Exact)
	}
	err = s.each(ctx, name, a, func(r row) error {
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
	due := streamsOf(req)
	if len(due) > 1 && !req.Suspects { // what claim does for one kind is no more than the look
		var err error
		if due, err = s.due(ctx, req, now); err != nil || len(due) == 0 {
			return nil, err
		}
	}
	name, a := "claim", args{"queue": req.Queue, "now": micros(now), "limit": req.Limit, "begin": req.Limit - req.Ahead, "node": req.Node}
	switch {
	case req.Suspects:
		name = "claim_suspects"
		a["kinds"] = jsonList(req.Kinds)
		addExact(a, req.Exact)
	case slices.ContainsFunc(due, func(s stream) bool { return s.Exact }):
		name = "claim_exact"
		a["streams"] = jsonOf(due)
		addExact(a, req.Exact)
	case len(due) > 1:
		name = "claim_several"
		a["streams"] = jsonOf(due)
	default:
		a["kind"] = due[0].Kind
	}
	var jobs []store.Claimed
	var token int64
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
		&j.OnLoss, &j.Origin, durationScanner{&j.Timeout}, into(&j.RunAt), into(&j.CreatedAt), &j.Schedule, &j.ScheduleName, into(&j.Slot),
		&j.Losses, &j.Refunds)
	return j, err
}

// BeginJobs lets claims begin; see store.Jobs.
func (b *Backend) BeginJobs(ctx context.Context, req store.BeginRequest) error {
	claims := make([]claimRef, len(req.Claims))
	for i, ref := range req.Claims {
		claims[i] = claimRef{ref.ID, ref.Token}
	}
	return b.write(ctx, "begin jobs", func(s *session) error {
		if err := s.checkNode(ctx, req.Node); err != nil {
			return err
		}
		return s.exec(ctx, "begin_jobs", args{"claims": jsonList(claims), "node": req.Node})
	})
}

// nextDue is when the queue's next ready job is due; zero: there is none.
func (s *session) nextDue(ctx context.Context, queue string, now time.Time) (time.Time, error) {
	var next time.Time
	err := s.one(ctx, "next_due", args{"queue": queue, "now": micros(now)}, into(&next))
	return next, err
}
