package mysql

import (
	"context"

	"github.com/hourbell/hourbell/store"
)

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) (out []store.JobInfo, err error) {
	err = b.readWithin(ctx, req.Within, "list jobs", func(ctx context.Context, s *session) (err error) {
		out, err = s.ListJobs(ctx, req)
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
