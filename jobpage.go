package hourbell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hourbell/hourbell/store"
)

// leastSearched is how many numbers of jobs Page searches at least, however long the store takes.
const leastSearched = 16_384

// PageTime is how long JobService.Page and JobService.Estimate look for jobs, unless
// JobFilter.Within is another time. A single read of the store can make the call a little
// longer.
const PageTime = 50 * time.Millisecond

// JobPage is a page of jobs.
type JobPage struct {
	Jobs []store.JobInfo // newest first
	// Next is JobFilter.Before of the next page; 0: this is the last page.
	Next int64
	// Partial means that the search stopped at Next, because its time was over after it had looked at
	// more than 16,000 numbers of jobs. The page then has fewer jobs than asked for, also none, although
	// older jobs may match. A store that is slow to answer makes no page partial.
	Partial bool
}

// Page returns jobs as List does, but does not look for them for longer than JobFilter.Within. If few
// of very many jobs match, and there is no index for the conditions, the page is Partial, and
// the next page continues the search. Jobs that are made during the search are not found.
func (s *JobService) Page(ctx context.Context, f JobFilter) (JobPage, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return JobPage{}, fmt.Errorf("list jobs: %w", err)
	}
	began, within, size := time.Now(), cmp.Or(f.Within, PageTime), pageSize(f.Limit)
	req := store.ListJobsRequest{JobFilter: conditions, Before: f.Before, Limit: size + 1, Attempts: f.Details, Within: within / 2}
	jobs, err := s.client.backend.ListJobs(ctx, req)
	if err == nil {
		return newJobPage(jobs, size), nil
	}
	if !errors.Is(err, store.ErrSlow) {
		return JobPage{}, err
	}
	search, err := s.search(ctx, req.Before)
	if err != nil {
		return JobPage{}, err
	}
	jobs = nil
	first := search.Before()
	for !search.Over() && len(jobs) <= size && (first-search.Before() < leastSearched || time.Since(began) < within) {
		req.After, req.Before = search.Part()
		req.Limit = size + 1 - len(jobs)
		asked := time.Now()
		found, err := s.client.backend.ListJobs(ctx, req)
		if errors.Is(err, store.ErrSlow) {
			if !search.Slow() {
				req.Within = 0 // the store is slow, and not the search
			}
			continue
		}
		if err != nil {
			return JobPage{}, err
		}
		search.Done(time.Since(asked))
		req.Within = within / 2
		jobs = append(jobs, found...)
	}
	page := newJobPage(jobs, size)
	if page.Next == 0 && !search.Over() {
		page.Next, page.Partial = search.Before(), true
	}
	return page, nil
}

// newJobPage returns a page of at most size jobs. There is one job more if there are further
// pages.
func newJobPage(jobs []store.JobInfo, size int) JobPage {
	if len(jobs) <= size {
		return JobPage{Jobs: jobs}
	}
	return JobPage{Jobs: jobs[:size], Next: jobs[size-1].ID}
}

// search begins a search at the numbers below before; 0: at the newest job.
func (s *JobService) search(ctx context.Context, before int64) (store.JobSearch, error) {
	if before == 0 {
		var err error
		if before, err = s.afterNewest(ctx, store.JobFilter{}); err != nil {
			return store.JobSearch{}, err
		}
	}
	return store.NewJobSearch(before), nil
}

// JobEstimate is about how many jobs match.
type JobEstimate struct {
	Jobs  int64
	Exact bool // Jobs is exact, as of Count
}

// The shares of the numbers of jobs that are counted for an estimate, and how many numbers
// each share has at most.
const (
	estimateShares = 64
	shareNumbers   = 2000
)

// Estimate counts jobs as Count does, but does not count for longer than JobFilter.Within. If that is
// too short, it counts in samples that are spread over all numbers of jobs, and multiplies:
// the result is rough if few jobs match.
func (s *JobService) Estimate(ctx context.Context, f JobFilter) (JobEstimate, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return JobEstimate{}, fmt.Errorf("count jobs: %w", err)
	}
	began, within := time.Now(), cmp.Or(f.Within, PageTime)
	req := store.CountJobsRequest{JobFilter: conditions, Within: within / 2}
	n, err := s.client.backend.CountJobs(ctx, req)
	if err == nil {
		return JobEstimate{n, true}, nil
	}
	if !errors.Is(err, store.ErrSlow) {
		return JobEstimate{}, err
	}
	end, err := s.afterNewest(ctx, store.JobFilter{})
	if err != nil {
		return JobEstimate{}, err
	}
	oldest, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{OldestFirst: true, Limit: 1})
	if err != nil || len(oldest) == 0 {
		return JobEstimate{}, err
	}
	first := oldest[0].ID - 1
	numbers := end - 1 - first
	var found, counted int64
	for i := range int64(estimateShares) {
		if counted > 0 && time.Since(began) > within {
			break
		}
		// 37 is odd, so that the shares are met in an order that soon is spread over all
		share := i * 37 % estimateShares
		req.After = first + numbers*share/estimateShares
		req.Before = min(first+numbers*(share+1)/estimateShares, req.After+shareNumbers) + 1
		n, err := s.client.backend.CountJobs(ctx, req)
		if errors.Is(err, store.ErrSlow) {
			continue
		}
		if err != nil {
			return JobEstimate{}, err
		}
		found, counted = found+n, counted+req.Before-1-req.After
	}
	if counted == 0 {
		return JobEstimate{}, fmt.Errorf("count jobs: %w", store.ErrSlow)
	}
	return JobEstimate{Jobs: int64(float64(found) / float64(counted) * float64(numbers))}, nil
}
