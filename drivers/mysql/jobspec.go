package mysql

import (
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// jobArgs returns the arguments of insert_jobs for a job; sqlrows.SpecColumns maps its description.
func jobArgs(job *store.NewJob, now time.Time) args {
	created := code("UTC_TIMESTAMP(6)")
	if !now.IsZero() {
		created = datetime(sqlrows.Instant(now))
	}
	runAt := datetime(job.RunAt)
	if job.RunAt.IsZero() {
		runAt = later(created, job.Delay)
	}
	a := args{
		"run_at": runAt, "created_at": created, "slot": datetime(job.Slot),
		"schedule": sqlrows.OrNull(job.Schedule), "origin": job.Origin, "state": sqlrows.StateOf(job), "waits": sqlrows.OrNull(int64(job.OpenEdges)), "releases": job.Releases,
		"args": sqlrows.NotNull(job.Args), "headers": job.Headers,
	}
	sqlrows.AddSpec(a, &job.JobSpec)
	return a
}
