package hourbell

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// JobGraph is jobs that follow each other, as JobService.Graph returns them.
type JobGraph struct {
	// Jobs, by number, have their arguments and headers; a job that was deleted or pruned has
	// only its ID.
	Jobs  []store.JobInfo
	Links []store.Link // between these jobs, by dependent and predecessor
	// More reports that the graph has jobs that were left out.
	More bool
}

// linksPerJob bounds how many edges of a job Graph reads in one step.
const linksPerJob = 10

// Graph returns the jobs that a job is connected with: its predecessors and dependents,
// their predecessors and dependents, and so on, the nearest first, at most limit jobs (200
// if it is 0, and not more than 10,000). ErrNotFound means that nothing is known of the job.
// It reads in steps, so that states of different steps are of different instants.
func (s *JobService) Graph(ctx context.Context, id int64, limit int) (JobGraph, error) {
	limit = graphLimit(limit)
	var g JobGraph
	jobs, links := map[int64]bool{id: true}, map[[2]int64]store.Link{}
	for step := []int64{id}; len(step) > 0; {
		found, err := store.List[store.Link](ctx, s.client.backend, store.ListRequest{IDs: step, Limit: linksPerJob * limit})
		if err != nil {
			return g, fmt.Errorf("read the graph of job %d: %w", id, err)
		}
		g.More = g.More || len(found) >= linksPerJob*limit
		step = nil
		for _, link := range found {
			links[[2]int64{link.Dependent, link.Job}] = link
			for _, one := range []int64{link.Job, link.Dependent} {
				switch {
				case jobs[one]:
				case len(jobs) == limit:
					g.More = true
				default:
					jobs[one] = true
					step = append(step, one)
				}
			}
		}
	}
	g.Links = linksAmong(jobs, links)
	return g, s.fill(ctx, &g, id, slices.Sorted(maps.Keys(jobs)))
}

// linksAmong returns the links whose ends are both among some jobs, in order.
func linksAmong(jobs map[int64]bool, links map[[2]int64]store.Link) (among []store.Link) {
	for _, link := range links {
		if jobs[link.Job] && jobs[link.Dependent] {
			among = append(among, link)
		}
	}
	slices.SortFunc(among, func(a, b store.Link) int {
		return slices.Compare([]int64{a.Dependent, a.Job}, []int64{b.Dependent, b.Job})
	})
	return among
}

// fill reads the jobs of a graph.
func (s *JobService) fill(ctx context.Context, g *JobGraph, root int64, ids []int64) error {
	known, err := s.byID(ctx, ids)
	if err != nil {
		return fmt.Errorf("read the graph of job %d: %w", root, err)
	}
	if _, found := known[root]; !found && len(g.Links) == 0 {
		_, err := s.Get(ctx, root)
		return err
	}
	for _, id := range ids {
		job, found := known[id]
		if !found {
			job.ID = id
		}
		g.Jobs = append(g.Jobs, job)
	}
	return nil
}

// byID reads jobs with their details, some hundred at a time.
func (s *JobService) byID(ctx context.Context, ids []int64) (map[int64]store.JobInfo, error) {
	known := make(map[int64]store.JobInfo, len(ids))
	for part := range slices.Chunk(ids, 500) {
		jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: part}, Limit: len(part), Attempts: true})
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			known[job.ID] = job
		}
	}
	return known, nil
}

// Predecessor is what a job follows, with the result that the predecessor has left.
type Predecessor struct {
	ID   int64
	Name string // in its graph; of a job that set off a schedule with After, the schedule's name; else empty
	// Kind, State and Reason are zero, and Result is nil, if nothing is known of the job any
	// more because it was deleted, or was pruned after the end of the job that follows it.
	Kind   string
	State  store.State
	Reason string
	Result []byte // JSON (JobRow.SetResult), or nil
}

// Decode decodes the result into value, as json.Unmarshal does. A job without a result is an
// error.
func (p Predecessor) Decode(value any) error {
	if len(p.Result) == 0 {
		return fmt.Errorf("job %d has no result", p.ID)
	}
	if err := json.Unmarshal(p.Result, value); err != nil {
		return fmt.Errorf("decode the result of job %d: %w", p.ID, err)
	}
	return nil
}

// Predecessors returns the jobs that a job follows (After, a Graph, Finally, or After of its schedule), by number, with
// their results, or ErrNotFound. All of them are read, some hundred at a time.
func (s *JobService) Predecessors(ctx context.Context, id int64) ([]Predecessor, error) {
	return predecessorsOf(ctx, s.client.backend.ListJobs, id)
}

// Follows reports whether the job was enqueued with predecessors, or made by a schedule's After. It reads nothing. It is
// false for a worker in a test.
func (j *JobRow) Follows() bool {
	return j.run != nil && (plan.Follows(j.run.Headers) || j.run.Origin == store.OriginAfter)
}

// Predecessors returns the jobs that this job follows, by number, with their results. A job
// that follows none costs nothing. Concurrent calls are allowed.
func (j *JobRow) Predecessors(ctx context.Context) ([]Predecessor, error) {
	if !j.Follows() {
		return nil, nil
	}
	return predecessorsOf(ctx, j.run.ListJobs, j.ID)
}

// endOf returns how a job has ended, and its result.
func endOf(job store.JobInfo, name string) Predecessor {
	return Predecessor{job.ID, name, job.Kind, job.State, job.Reason, job.Result}
}

// predecessorsOf reads the predecessors of a job by list.
func predecessorsOf(ctx context.Context, list func(context.Context, store.ListJobsRequest) ([]store.JobInfo, error), id int64) ([]Predecessor, error) {
	read := func(ids []int64) ([]store.JobInfo, error) {
		jobs, err := list(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: len(ids), Attempts: true})
		if err != nil {
			return nil, fmt.Errorf("read the predecessors of job %d: %w", id, err)
		}
		return jobs, nil
	}
	jobs, err := read([]int64{id})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("read the predecessors of job %d: %w", id, ErrNotFound)
	}
	follows := jobs[0]
	out := make([]Predecessor, len(follows.After))
	place := make(map[int64]*Predecessor, len(out))
	ids := make([]int64, len(out))
	for i, e := range follows.After {
		out[i].ID, ids[i] = e.Job, e.Job
		place[e.Job] = &out[i]
	}
	for part := range slices.Chunk(ids, 500) {
		jobs, err := read(part)
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			name := plan.Headers(job.Headers)[NameHeader]
			if name == "" && follows.Origin == store.OriginAfter {
				name = job.ScheduleName
			}
			*place[job.ID] = endOf(job, name)
		}
	}
	return out, nil
}
