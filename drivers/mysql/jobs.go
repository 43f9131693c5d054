package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	return readWithin(ctx, b, req.Within, "list jobs", func(ctx context.Context, s *session) ([]store.JobInfo, error) {
		return s.ListJobs(ctx, req)
	})
}

// CountJobs counts jobs; see store.Jobs.
func (b *Backend) CountJobs(ctx context.Context, req store.CountJobsRequest) (int64, error) {
	return readWithin(ctx, b, req.Within, "count jobs", func(ctx context.Context, s *session) (int64, error) {
		return s.CountJobs(ctx, req)
	})
}
