package hourbell

import (
	"context"
	"fmt"
	"slices"

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
	if limit == 0 {
		limit = 200
	}
	limit = min(max(limit, 1), 10_000)
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
	for _, link := range links {
		if jobs[link.Job] && jobs[link.Dependent] {
			g.Links = append(g.Links, link)
		}
	}
	slices.SortFunc(g.Links, func(a, b store.Link) int {
		return slices.Compare([]int64{a.Dependent, a.Job}, []int64{b.Dependent, b.Job})
	})
	var ids []int64
	for one := range jobs {
		ids = append(ids, one)
	}
	slices.Sort(ids)
	return g, s.fill(ctx, &g, id, ids)
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
