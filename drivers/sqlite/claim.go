package sqlite

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// mostLaneSteps is how many steps of a claim pass on permits before it takes jobs. If that was not enough, the claim takes the jobs that
// have permits.
const mostLaneSteps = 4

// Claim takes due jobs; see store.Jobs. Batches have no number here.
func (b *Backend) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	if req.Part {
		return b.claimPart(ctx, req)
	}
	for steps := 1; ; steps++ {
		if _, err := b.digestDue(ctx, req, math.MaxInt); err != nil {
			return store.ClaimResult{}, err
		}
		if step, err := b.claim(ctx, req, steps >= mostLaneSteps); err != nil || !step.Again {
			return step.ClaimResult, err
		}
	}
}

// claim makes one step of a claim, of exact jobs only of jobs with digests.
func (b *Backend) claim(ctx context.Context, req store.ClaimRequest, last bool) (rowwise.ClaimStep, error) {
	const doing = "claim jobs"
	return rowwise.Claim(ctx, b.read(ctx, doing), b.Write(ctx, doing, nil), req, store.ClaimWay{Last: last, Digests: true})
}

// kindStreams are all jobs of some kinds.
func kindStreams(kinds []string) []rowwise.Stream {
	streams := make([]rowwise.Stream, 0, 2*len(kinds))
	for _, kind := range kinds {
		streams = append(streams, rowwise.Stream{Kind: kind}, rowwise.Stream{Kind: kind, Digested: true})
	}
	return streams
}

// exactStreams are the exact jobs of some kinds.
func exactStreams(jobs []store.ExactJob, kinds []string) []rowwise.Stream {
	var streams []rowwise.Stream
	seen := map[string]bool{}
	for i := range jobs {
		digest := hex.EncodeToString(jobs[i].SHA256[:])
		if key := digest + jobs[i].Kind; slices.Contains(kinds, jobs[i].Kind) && !seen[key] {
			seen[key] = true
			streams = append(streams, rowwise.Stream{Kind: jobs[i].Kind, Digest: &digest})
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

// FindDue implements rowwise.ClaimTx. Exact jobs are looked for only where a job of their kind with a digest is due.
func (s *session) FindDue(ctx context.Context, req store.ClaimRequest, by time.Time) ([]rowwise.Stream, error) {
	kinds := slices.Compact(slices.Sorted(slices.Values(req.Kinds)))
	exact := req.ExactKinds()
	streams := kindStreams(kinds)
	for _, kind := range exact {
		streams = append(streams, rowwise.Stream{Kind: kind, Digested: true})
	}
	due, err := s.dueStreams(ctx, req.Queue, streams, by)
	if err != nil || len(exact) == 0 {
		return due, err
	}
	var behind []string
	due = slices.DeleteFunc(due, func(one rowwise.Stream) bool {
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
func (s *session) dueStreams(ctx context.Context, queue string, streams []rowwise.Stream, by time.Time) (due []rowwise.Stream, err error) {
	if len(streams) == 0 {
		return nil, nil
	}
	err = s.Each(ctx, findDueStreams, args{"queue": queue, "due_by": sqlrows.Micros(by), "streams": sqlrows.JSON(streams)}, func(r row) error {
		var text string
		var one rowwise.Stream
		if err := r.Scan(&text); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(text), &one)
		due = append(due, one)
		return err
	})
	return due, err
}

// LookAround implements rowwise.ClaimTx.
func (s *session) LookAround(ctx context.Context, req store.ClaimRequest) (rowwise.Around, error) {
	return s.HoldNode(ctx, req.Node)
}

// TakeJobs implements rowwise.ClaimTx.
func (s *session) TakeJobs(ctx context.Context, req store.ClaimRequest, due []rowwise.Stream, permitted bool,
	now time.Time,
) (jobs []store.Claimed, batch int64, err error) {
	if len(due) == 0 && !req.Suspects {
		return nil, 0, nil
	}
	if len(due) > 1 && !req.Suspects { // one stream is searched by the claim itself
		if due, err = s.FindDue(ctx, req, req.DueBy(now)); err != nil || len(due) == 0 {
			return nil, 0, err
		}
	}
	name, a := claimStatement(&req, due, permitted, now)
	var token int64
	err = s.Each(ctx, name, a, func(r row) error {
		job, err := sqlrows.ScanClaimed(r)
		jobs = append(jobs, job)
		token = max(token, job.Token)
		return err
	})
	if err != nil || len(jobs) == 0 {
		return nil, 0, err
	}
	slices.SortFunc(jobs, store.CompareClaimed)
	return jobs, 0, s.Exec(ctx, sqlrows.RaiseCounter, args{"name": "token", "value": token})
}

// claimStatement returns the statement that takes jobs, and its parameters.
func claimStatement(req *store.ClaimRequest, due []rowwise.Stream, permitted bool, now time.Time) (statement, args) {
	name, limitedName := claimStreams, limitedStreams
	a := args{"queue": req.Queue, "now": sqlrows.Micros(now), "limit": req.Limit, "begin": req.Limit - req.Ahead, "node": req.Node}
	if !req.Suspects {
		a["due_by"] = sqlrows.Micros(req.DueBy(now))
	}
	digested := slices.ContainsFunc(due, func(s rowwise.Stream) bool { return s.Digested })
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
	if permitted {
		name = limitedName
	}
	return name, a
}
