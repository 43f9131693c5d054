package sqlite

import (
	"context"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	var more []string
	if onlyFailures(req.JobFilter) {
		more = []string{"failures"}
	}
	return readWithin(ctx, b, req.Within, "list jobs", func(ctx context.Context, s *session) ([]store.JobInfo, error) {
		return s.ListJobs(ctx, req, more...)
	})
}

// onlyFailures reports whether a filter selects nothing but jobs that did not complete, and no
// narrower index has them. SQLite itself prefers to walk over all jobs.
func onlyFailures(f store.JobFilter) bool {
	completes := func(s store.State) bool { return !s.Finished() || s == store.StateCompleted }
	return len(f.States) > 0 && !slices.ContainsFunc(f.States, completes) && !f.Narrowed() &&
		len(f.IDs) == 0 && f.Schedule == "" && f.HostsOf == "" && f.Batch == 0 && f.Group == "" && f.Key == "" && f.Unique == "" && f.Error == ""
}

// CountJobs counts jobs; see store.Jobs.
func (b *Backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	return readWithin(ctx, b, req.Within, "count jobs", func(ctx context.Context, s *session) (int64, error) {
		return s.CountJobs(ctx, req)
	})
}
