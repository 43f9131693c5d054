package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise/sqlrows"
)

// Insert stores jobs; see store.Jobs.
func (b *Backend) Insert(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	if !insertsAtOnce(req) {
		return b.calls.Insert(ctx, req)
	}
	const doing = "insert jobs"
	name, a := packJobs(req.Jobs, req.Now)
	result, err := b.writeOnce(ctx, doing, name, a)
	if err != nil {
		return out, err
	}
	out.Jobs, err = numbers(result)
	return out, b.explain(ctx, doing, err)
}

// insertsAtOnce reports whether one statement, which is a transaction of its own, is all of an insert.
func insertsAtOnce(req store.InsertRequest) bool {
	return len(req.Jobs) > 0 && !req.Linked() && req.Tx == nil && !store.HasKeys(req.Jobs) && !req.By.Recorded() &&
		chunk(req.Jobs) == len(req.Jobs) && !slices.ContainsFunc(req.Jobs, looksFirst)
}

// looksFirst reports whether the insert of a job depends on other rows.
func looksFirst(job store.NewJob) bool { return job.Waiting || job.Origin.LeavesNotes() }

// A statement inserts at most insertRows jobs and about insertBytes of args.
const (
	insertRows  = 2_000
	insertBytes = 16 << 20
)

// InsertJobs implements rowwise.Jobs. It inserts jobs in as many statements as they
// need. Every job that a session makes is inserted here.
func (s *session) InsertJobs(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
	out := make([]store.Inserted, 0, len(jobs))
	for len(jobs) > 0 {
		n := chunk(jobs)
		some, err := s.insertChunk(ctx, jobs[:n], now)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
		jobs = jobs[n:]
	}
	return out, nil
}

// chunk is how many of the jobs, at least one, go into the next statement.
func chunk(jobs []store.NewJob) int {
	size := 0
	for i, job := range jobs[:min(len(jobs), insertRows)] {
		size += len(job.Args) + len(job.Headers)
		if size > insertBytes {
			return max(i, 1)
		}
	}
	return min(len(jobs), insertRows)
}

// insertChunk inserts jobs, whose keys are free, by one statement.
func (s *session) insertChunk(ctx context.Context, jobs []store.NewJob, now time.Time) ([]store.Inserted, error) {
	name, a := packJobs(jobs, now)
	result, err := s.Run(ctx, name, a)
	if err != nil {
		return nil, err
	}
	return numbers(result)
}

// numbers returns the numbers of the jobs of one insert: AUTOINCREMENT counts by one,
// in the order of the rows. A RETURNING clause would cost a third more.
func numbers(result sql.Result) ([]store.Inserted, error) {
	last, err := result.LastInsertId()
	if err != nil {
		return nil, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return nil, err
	}
	inserted := make([]store.Inserted, n)
	for i := range inserted {
		inserted[i].ID = last - n + 1 + int64(i)
	}
	return inserted, nil
}

// packJobs is the statement for a chunk. Values that are the same for all jobs
// travel once, which makes it three times as fast. Without now it is the
// statement that reads the clock.
func packJobs(jobs []store.NewJob, now time.Time) (name statement, a args) {
	linked := slices.ContainsFunc(jobs, func(job store.NewJob) bool { return job.OpenEdges > 0 || job.Releases })
	if len(jobs) == 1 && !linked {
		a = sqlrows.JobArgs(&jobs[0], now)
		a["args"] = sqlrows.NotNull(jobs[0].Args)
		return insertJob, a
	}
	pack := packerFor(jobs)
	long := func(job store.NewJob) bool { return len(job.Args) > lengthMask }
	if linked || !store.SameButArgs(jobs) || slices.ContainsFunc(jobs, long) {
		text := []byte("[")
		for i := range jobs {
			text = append(appendJob(text, &jobs[i], &pack), ',')
		}
		text[len(text)-1] = ']'
		name = insertJobs
		if linked {
			name = insertLinkedJobs
		}
		return name, args{"now": sqlrows.Micros(sqlrows.Instant(now)), "jobs": string(text), "bytes": pack.Parameter()}
	}
	places := make([]byte, 0, 16*len(jobs))
	for _, job := range jobs {
		at, length := pack.Add(job.Args)
		places = append(strconv.AppendInt(places, int64(at)<<lengthBits|int64(length), 10), ',')
	}
	places[len(places)-1] = ']'
	a = sqlrows.JobArgs(&jobs[0], now)
	a["places"], a["bytes"] = "["+string(places), pack.Parameter()
	return insertSameJobs, a
}

// packerFor has room for what the jobs carry.
func packerFor(jobs []store.NewJob) sqlrows.Packer {
	size := 0
	for _, job := range jobs {
		size += len(job.Args) + len(job.Headers)
	}
	return sqlrows.NewPacker(size)
}

// A place in insert_same_jobs.sql has so many bits for the length.
const (
	lengthBits = 21
	lengthMask = 1<<lengthBits - 1
)
