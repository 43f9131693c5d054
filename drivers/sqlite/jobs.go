package sqlite

import (
	"context"
	"slices"

	"github.com/hourbell/hourbell/store"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) (out []store.JobInfo, err error) {
	var more []string
	if onlyFailures(req.JobFilter) {
		more = []string{"failures"}
	}
	err = b.readWithin(ctx, req.Within, "list jobs", func(ctx context.Context, s *session) (err error) {
		out, err = s.ListJobs(ctx, req, more...)
		return err
	})
	return out, err
}

// CountJobs counts jobs; see store.Jobs.
func (b *Backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (n int64, err error) {
	err = b.readWithin(ctx, req.Within, "count jobs", func(ctx context.Context, s *session) (err error) {
		n, err = s.CountJobs(ctx, countJobs, req)
		return err
	})
	return n, err
}

// onlyFailures reports whether a filter selects nothing but jobs that did not complete, and no
// narrower index has them. SQLite itself prefers to walk over all jobs.
func onlyFailures(f store.JobFilter) bool {
	completes := func(s store.State) bool { return !s.Finished() || s == store.StateCompleted }
	return len(f.States) > 0 && !slices.ContainsFunc(f.States, completes) && !f.Scheduled && !f.Retrying &&
		len(f.IDs) == 0 && f.Schedule == "" && f.HostsOf == "" && f.Batch == 0
}
