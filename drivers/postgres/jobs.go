package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
)

// What one insert statement takes at most.
const (
	chunkJobs  = 5000
	chunkBytes = 8 << 20
)

// Insert stores jobs; see store.Jobs. What fits into one statement needs no
// transaction around it, and no settings: it plans nothing.
func (b *Backend) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	const what = "insert jobs"
	var out store.InsertResult
	if b.invalid != nil {
		return out, fmt.Errorf("%s: %w", what, b.invalid)
	}
	var err error
	switch {
	case req.Unique != "":
		return b.insertUnique(ctx, req)
	case req.Tx != nil:
		return b.insertWith(ctx, req)
	case anyMeets(req.Jobs):
		err = b.work(ctx, programConns, what, func(tx pgx.Tx) error {
			jobs, err := b.afterFired(ctx, tx, req)
			if err != nil {
				return err
			}
			out.IDs, err = b.insertWaiting(ctx, tx, req.Now, jobs)
			return err
		})
	case len(req.Jobs) == 0:
	case chunk(req.Jobs) == len(req.Jobs):
		out.IDs, err = b.insertAlone(ctx, what, req.Now, req.Jobs)
	default:
		err = b.transact(ctx, programConns, what, writing, func(tx pgx.Tx) (err error) {
			out.IDs, err = b.insertJobs(ctx, nativeTx{tx: tx}, req.Now, req.Jobs)
			return err
		})
	}
	return out, err
}

// insertWith inserts in the caller's transaction.
func (b *Backend) insertWith(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	const what = "insert jobs"
	q, err := querierOf(req.Tx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", what, err)
	}
	if out.IDs, err = b.insertJobs(ctx, q, req.Now, req.Jobs); err != nil {
		return out, b.explain(what, err)
	}
	return out, nil
}

// insertUnique inserts the one job of a request unless one with its key lives.
func (b *Backend) insertUnique(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	const what = "insert jobs"
	wake := insertWake(req.Jobs)
	if req.Tx == nil {
		sent := &wake
		if !b.insertWakes.take(wake) {
			defer b.insertWakes.owe(wake)
			sent = nil
		}
		err = b.alone(ctx, programConns, what, func(conn *pgxpool.Conn) (err error) {
			out, err = b.findOrInsert(ctx, noTx{conn}, req, sent)
			return err
		})
		return out, err
	}
	q, err := querierOf(req.Tx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", what, err)
	}
	if out, err = b.findOrInsert(ctx, q, req, &wake); err != nil {
		return out, b.explain(what, err)
	}
	return out, nil
}

// findOrInsert inserts a job, or finds the one that has its key. That may end, or be
// rolled back, while it is looked up: then it begins again.
func (b *Backend) findOrInsert(ctx context.Context, q querier, req store.InsertRequest, wake *string) (out store.InsertResult, err error) {
	job := req.Jobs[0]
	args := append([]any{when(req.Now), b.channel, wake}, sharedColumns(job, string(job.Args))...)
	args = append(args, req.Unique)
	for {
		var text string
		var sent *string
		err := q.queryRow(ctx, b.q(insertUniqueJob), args...).Scan(&text, &sent)
		if err == nil {
			out.IDs, err = parseIDs(text, 1)
			return out, err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return out, err
		}
		var id int64
		err = q.queryRow(ctx, b.q(findUniqueJob), job.Kind, req.Unique).Scan(&id)
		if err == nil {
			return store.InsertResult{IDs: []int64{id}, Found: true}, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return out, err
		}
	}
}

// insertAlone inserts a chunk in one statement that commits by itself. Its
// wake-up is sent with it or, in a burst, together with wake-ups of other
// inserts.
func (b *Backend) insertAlone(ctx context.Context, what string, now time.Time, jobs []store.NewJob) (ids []int64, err error) {
	wake := insertWake(jobs)
	sent := &wake
	if !b.insertWakes.take(wake) {
		defer b.insertWakes.owe(wake) // also after an error: it may have been committed
		sent = nil
	}
	err = b.alone(ctx, programConns, what, func(conn *pgxpool.Conn) (err error) {
		ids, err = b.insertChunk(ctx, noTx{conn}, now, jobs, sent)
		return err
	})
	return ids, err
}

// anyMeets reports whether the insert of any of these jobs depends on other rows
// of its schedule.
func anyMeets(jobs []store.NewJob) bool {
	return slices.ContainsFunc(jobs, func(job store.NewJob) bool { return job.Waiting || job.Origin == store.OriginTrigger })
}

// insertJobs inserts any number of jobs, some thousands a statement, and
// returns their numbers in order.
func (b *Backend) insertJobs(ctx context.Context, q querier, now time.Time, jobs []store.NewJob) ([]int64, error) {
	var ids []int64
	for len(jobs) > 0 {
		n := chunk(jobs)
		wake := insertWake(jobs[:n])
		got, err := b.insertChunk(ctx, q, now, jobs[:n], &wake)
		if err != nil {
			return nil, err
		}
		ids, jobs = append(ids, got...), jobs[n:]
	}
	return ids, nil
}

// chunk is how many of the jobs go into the next statement.
func chunk(jobs []store.NewJob) int {
	size := 0
	for i, job := range jobs {
		size += len(job.Args) + len(job.Headers)
		if i == chunkJobs || (i > 0 && size > chunkBytes) {
			return i
		}
	}
	return len(jobs)
}

// insertChunk inserts jobs with one statement; wake nil: without a wake-up.
func (b *Backend) insertChunk(ctx context.Context, q querier, now time.Time, jobs []store.NewJob, wake *string) ([]int64, error) {
	text, args := b.insertOf(now, jobs, wake)
	var ids string
	var sent *string
	if err := q.queryRow(ctx, text, args...).Scan(&ids, &sent); err != nil {
		return nil, err
	}
	return parseIDs(ids, len(jobs))
}

// insertWake is the wake-up for new jobs: by the name of their queue, if there
// is but one.
func insertWake(jobs []store.NewJob) string {
	queue := jobs[0].Queue
	for _, job := range jobs[1:] {
		if job.Queue != queue {
			queue = "" // any
		}
	}
	return wakeText(store.Wake{Kind: store.WakeJobs, Queue: queue})
}

// parseIDs reads n numbers, or an array of them as PostgreSQL writes it,
// {1,2,3}, and puts them in order.
func parseIDs(text string, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	for field := range strings.SplitSeq(strings.Trim(text, "{}"), ",") {
		id, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the numbers of inserted jobs: %w", err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids) // RETURNING promises no order
	return ids, nil
}

// insertOf is the statement for a chunk. Values that are the same for all jobs
// travel once: sending each column as an array costs a third of the rate.
func (b *Backend) insertOf(now time.Time, jobs []store.NewJob, wake *string) (string, []any) {
	head := []any{when(now), b.channel, wake}
	if len(jobs) == 1 {
		return b.q(insertJob), append(head, sharedColumns(jobs[0], string(jobs[0].Args))...)
	}
	for _, job := range jobs[1:] {
		if !job.SameButArgs(jobs[0]) {
			return b.q(insertJobs), append(head, columns(jobs)...)
		}
	}
	args := make([]string, len(jobs))
	for i, job := range jobs {
		args[i] = string(job.Args)
	}
	return b.q(insertSameJobs), append(head, sharedColumns(jobs[0], args)...)
}

// sharedColumns are the values of jobs that differ in their args only.
func sharedColumns(job store.NewJob, args any) []any {
	return []any{
		when(job.RunAt), job.Delay.Microseconds(), when(job.Slot), orNull(job.Schedule), int64(job.Timeout), job.Priority,
		job.MaxAttempts, int16(job.OnLoss), int16(job.Origin), job.Queue, job.Kind, args, headersText(job.Headers), job.Waiting,
	}
}

func columns(jobs []store.NewJob) []any {
	n := len(jobs)
	runAt, slot := make([]*time.Time, n), make([]*time.Time, n)
	delay, timeout := make([]int64, n), make([]int64, n)
	schedule, headers := make([]*int64, n), make([]*string, n)
	priority, maxAttempts := make([]int16, n), make([]int16, n)
	onLoss, origin := make([]int16, n), make([]int16, n)
	queue, kind, args := make([]string, n), make([]string, n), make([]string, n)
	waiting := make([]bool, n)
	for i, job := range jobs {
		runAt[i], slot[i] = when(job.RunAt), when(job.Slot)
		delay[i], timeout[i] = job.Delay.Microseconds(), int64(job.Timeout)
		schedule[i], headers[i] = orNull(job.Schedule), headersText(job.Headers)
		priority[i], maxAttempts[i] = job.Priority, job.MaxAttempts
		onLoss[i], origin[i] = int16(job.OnLoss), int16(job.Origin)
		queue[i], kind[i], args[i] = job.Queue, job.Kind, string(job.Args)
		waiting[i] = job.Waiting
	}
	return []any{runAt, delay, slot, schedule, timeout, priority, maxAttempts, onLoss, origin, queue, kind, args, headers, waiting}
}

func headersText(headers []byte) *string {
	if headers == nil {
		return nil
	}
	text := string(headers)
	return &text
}

// ListJobs reads jobs in pages; see store.Jobs.
func (b *Backend) ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error) {
	var out []store.JobInfo
	err := b.list(ctx, "list jobs", func(tx pgx.Tx) (err error) {
		narrowed := req.Scheduled || req.Retrying
		states := stateNumbers(req.States)
		if len(states) == 0 && !narrowed {
			states = nil
		}
		out, err = collect(ctx, tx, scanJob, b.q(listJobs), listOrNull(req.IDs), states, orNull(req.Queue), orNull(req.Kind),
			orNull(req.Schedule), orNull(req.Before), req.Limit, len(req.States) == 1 && req.States[0] == store.StateRunning && !narrowed, req.Attempts,
			req.Scheduled, req.Retrying, when(req.Now))
		if err != nil || !req.Attempts {
			return err
		}
		return b.addAttempts(ctx, tx, out)
	})
	return out, err
}

func stateNumbers(states []store.State) []int16 {
	out := make([]int16, 0, len(states))
	for _, state := range states {
		out = append(out, int16(state))
	}
	return out
}

// jobColumns are the columns that scanJob scans.
const jobColumns = "id token kind queue state args headers priority attempt max_attempts on_loss origin timeout_ns run_at created_at started_at finished_at node schedule_id schedule_name slot cancel_asked reason unique_key losses"

func scanJob(r pgx.CollectableRow) (j store.JobInfo, err error) {
	var state, onLoss, origin int16
	var timeout int64
	err = r.Scan(&j.ID, &j.Token, &j.Kind, &j.Queue, &state, &j.Args, &j.Headers, &j.Priority, &j.Attempt, &j.MaxAttempts, &onLoss, &origin, &timeout,
		into(&j.RunAt), into(&j.CreatedAt), into(&j.StartedAt), into(&j.FinishedAt), (*word)(&j.Node), (*number)(&j.Schedule), (*word)(&j.ScheduleName),
		into(&j.Slot), &j.CancelAsked, &j.Reason, (*word)(&j.Unique), &j.Losses)
	j.State, j.OnLoss, j.Origin, j.Timeout = store.State(state), store.OnLoss(onLoss), store.Origin(origin), time.Duration(timeout)
	return j, err
}

// addAttempts reads the attempts of jobs.
func (b *Backend) addAttempts(ctx context.Context, tx pgx.Tx, jobs []store.JobInfo) error {
	place := map[int64]int{}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		place[job.ID], ids[i] = i, job.ID
	}
	var id int64
	var a store.Attempt
	targets := []any{
		&id, &a.Attempt, &a.Token, (*word)(&a.Node), into(&a.StartedAt), into(&a.FinishedAt), &a.Error, &a.Trace, &a.Output,
	}
	return each(ctx, tx, targets, func() {
		job := &jobs[place[id]]
		job.Attempts = append(job.Attempts, a)
		a.Output = nil // the next one gets bytes of its own
	}, b.q(listAttempts), ids)
}
