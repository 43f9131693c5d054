package mysql

import (
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// setJob sets the arguments of insert_jobs to a job; sqlrows.SpecColumns maps its description.
func setJob(a args, job *store.NewJob, now time.Time) {
	created := code("UTC_TIMESTAMP(6)")
	if !now.IsZero() {
		created = datetime(sqlrows.Instant(now))
	}
	runAt := datetime(job.RunAt)
	if job.RunAt.IsZero() {
		runAt = later(created, job.Delay)
	}
	a["run_at"], a["created_at"], a["slot"] = runAt, created, datetime(job.Slot)
	a["schedule"], a["origin"], a["state"] = sqlrows.OrNull(job.Schedule), job.Origin, sqlrows.StateOf(job)
	a["waits"], a["releases"] = sqlrows.OrNull(int64(job.OpenEdges)), job.Releases
	a["rare"] = rare(job.Schedule, &job.JobSpec)
	a["args"], a["headers"] = sqlrows.NotNull(job.Args), job.Headers
	sqlrows.AddSpec(a, &job.JobSpec)
}
