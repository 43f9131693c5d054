package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/rowwise"
)

// What one insert statement takes at most.
const (
	chunkJobs  = 5000
	chunkBytes = 8 << 20
)

// insertWhat is the operation in errors.
const insertWhat = "insert jobs"

// Insert stores jobs; see store.Jobs. What fits into one statement needs no
// transaction around it, and no settings: it plans nothing.
func (b *Backend) Insert(ctx context.Context, req store.InsertRequest) (out store.InsertResult, err error) {
	if b.invalid != nil {
		return out, fmt.Errorf("%s: %w", insertWhat, b.invalid)
	}
	if req.Linked() {
		return b.insertLinked(ctx, req)
	}
	switch {
	case req.Tx != nil:
		out.Jobs, err = b.insertInTx(ctx, req)
	case anyMeets(req.Jobs) || req.By.Recorded():
		out.Jobs, err = rowwise.InTx(b.work(ctx, programConns, insertWhat), func(tx pgx.Tx) ([]store.Inserted, error) {
			return b.insertRecorded(ctx, tx, req)
		})
	case severalSteps(req.Jobs):
		out.Jobs, err = rowwise.InTx(b.work(ctx, programConns, insertWhat), func(tx pgx.Tx) ([]store.Inserted, error) {
			return b.insertionIn(tx, req.Now).insert(ctx, req.Jobs)
		})
	case chunk(req.Jobs) < len(req.Jobs):
		out.Jobs, err = rowwise.InTx(b.transact(ctx, programConns, insertWhat, b.writeBegin()), func(tx pgx.Tx) ([]store.Inserted, error) {
			return b.insertionIn(tx, req.Now).insert(ctx, req.Jobs)
		})
	default:
		out.Jobs, err = b.insertionAlone(req.Now).insert(ctx, req.Jobs)
	}
	if err != nil {
		return store.InsertResult{}, err
	}
	return out, nil
}

// insertInTx is Insert in a transaction of the program.
func (b *Backend) insertInTx(ctx context.Context, req store.InsertRequest) (out []store.Inserted, err error) {
	q, err := querierOf(req.Tx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", insertWhat, err)
	}
	if req.Jobs, err = b.afterFired(ctx, q, req); err == nil {
		out, err = b.insertOrNone(ctx, q, req)
	}
	if err == nil {
		err = b.markNoted(ctx, q, req.Jobs, out)
	}
	if err == nil {
		err = b.record(ctx, q, req.Entry(out), req.Now)
	}
	if err != nil {
		err = b.explainIn(insertWhat, err)
	}
	return out, err
}

// insertRecorded inserts jobs that may meet others, and the entry about the insert.
func (b *Backend) insertRecorded(ctx context.Context, tx pgx.Tx, req store.InsertRequest) (out []store.Inserted, err error) {
	jobs, err := b.afterFired(ctx, tx, req)
	if err != nil {
		return nil, err
	}
	if out, err = b.insertWaiting(ctx, tx, req.Now, jobs); err != nil {
		return nil, err
	}
	return out, b.record(ctx, tx, req.Entry(out), req.Now)
}

// anyMeets reports whether the insert of any of these jobs depends on other rows
// of its schedule.
func anyMeets(jobs []store.NewJob) bool {
	return slices.ContainsFunc(jobs, func(job store.NewJob) bool { return job.Waiting || job.Origin.LeavesNotes() })
}

// insertion inserts jobs. Every job that the driver makes is inserted by one.
type insertion struct {
	b     *Backend
	now   time.Time
	slots bool // the jobs are the first jobs of their slots, which are recorded as fired
	alone bool // each statement commits by itself
	// numbers are the numbers of the jobs of the request, by their indexes; nil: the database gives each job its number with the insert.
	numbers []int64
	// run returns the transaction of the next statement.
	run func(ctx context.Context) rowwise.Transaction[querier]
	// wake returns the wake-up for the next statement; nil: it is sent separately;
	// empty: it is sent separately, and the statement returns the number of its
	// transaction. The insertion calls after when the statement has ended, also after
	// an error, because the statement may have been committed. returned is what the
	// statement returned as sent.
	wake func(text string) (sent *string, after func(returned *string))
}

// noAfter does nothing after a statement.
func noAfter(*string) {}

// insertionIn is an insertion in a transaction. The wake-up leaves with the commit.
func (b *Backend) insertionIn(q querier, now time.Time) insertion {
	return insertion{
		b: b, now: now,
		run: func(context.Context) rowwise.Transaction[querier] {
			return func(do func(q querier) error) error { return do(q) }
		},
		wake: func(text string) (*string, func(*string)) { return &text, noAfter },
	}
}

// insertionOf is an insertion in a caller's transaction. The wake-up leaves with the
// commit or, in a burst, is sent by commitWakes.
func (b *Backend) insertionOf(q querier, req store.InsertRequest) insertion {
	i := b.insertionIn(q, req.Now)
	if req.NotifyInTx {
		return i
	}
	i.wake = func(text string) (*string, func(*string)) {
		if b.commitWakes.take(text) {
			return &text, noAfter
		}
		none := ""
		return &none, func(returned *string) {
			if returned == nil {
				return // nothing was inserted
			}
			if xid, err := strconv.ParseUint(*returned, 10, 64); err == nil {
				b.commitWakes.remember(xid, text)
			}
		}
	}
	return i
}

// insertionAlone is an insertion whose statements commit by themselves. A wake-up is
// sent with its statement or, in a burst, together with wake-ups of other inserts.
func (b *Backend) insertionAlone(now time.Time) insertion {
	return insertion{
		b: b, now: now, alone: true,
		run: func(ctx context.Context) rowwise.Transaction[querier] {
			return func(do func(q querier) error) error {
				return b.alone(ctx, programConns, insertWhat)(func(conn *pgxpool.Conn) error { return do(conn) })
			}
		},
		wake: func(text string) (*string, func(*string)) {
			if b.insertWakes.take(text) {
				return &text, noAfter
			}
			return nil, func(*string) { b.insertWakes.owe(text) }
		},
	}
}

// insert inserts jobs, some thousands per statement, and answers for each in their
// order.
func (i insertion) insert(ctx context.Context, jobs []store.NewJob) ([]store.Inserted, error) {
	if store.HasKeys(jobs) {
		return i.insertKeyed(ctx, jobs)
	}
	out := make([]store.Inserted, 0, len(jobs))
	for len(jobs) > 0 {
		n := chunk(jobs)
		ids, err := i.insertChunk(ctx, jobs[:n])
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, store.Inserted{ID: id})
		}
		jobs = jobs[n:]
	}
	return out, nil
}

// chunk is how many of the jobs go into the next statement.
func chunk(jobs []store.NewJob) int {
	size := 0
	for i := range jobs {
		size += len(jobs[i].Args) + len(jobs[i].Headers)
		if i == chunkJobs || (i > 0 && size > chunkBytes) {
			return i
		}
	}
	return len(jobs)
}

// insertChunk inserts jobs without keys by one statement and returns their numbers.
func (i insertion) insertChunk(ctx context.Context, jobs []store.NewJob) ([]int64, error) {
	text, args := i.statement(jobs)
	ids, err := i.send(ctx, jobs, text, args, 1)
	if err != nil {
		return nil, err
	}
	list, err := parseIDs(ids[0], len(jobs))
	slices.Sort(list) // RETURNING promises no order
	return list, err
}

// statement is the statement for a chunk, and its arguments without the head. Values that
// are the same for all jobs are sent once: as arrays, 1,000 equal jobs take 1.6 times as
// long (BenchmarkInsert), and one job 1.1 to 1.2 times (BenchmarkInsertSingle).
func (i insertion) statement(jobs []store.NewJob) (text string, args []any) {
	b := i.b
	switch {
	case i.slots:
		return b.q(insertSlotJobs), columns(jobs)
	case linked(jobs):
		return b.q(insertLinkedJobs), append(columns(jobs), linkedColumns(jobs)...)
	case len(jobs) == 1:
		return b.q(insertJob), shared(&jobs[0], string(jobs[0].Args))
	case store.SameButArgs(jobs):
		return b.q(insertSameJobs), shared(&jobs[0], argsTexts(jobs))
	}
	return b.q(insertJobs), columns(jobs)
}

// send sends one statement that inserts jobs, with their wake-up, and returns the columns of its row, which are lists of numbers, but
// for the last column. It sets the head of the arguments.
func (i insertion) send(ctx context.Context, jobs []store.NewJob, text string, args []any, columns int) ([]string, error) {
	wake, after := i.wake(insertWake(jobs))
	args[0], args[1], args[2] = when(i.now), i.b.channel, wake
	type row struct {
		ids  []string
		wake *string
	}
	got, err := rowwise.InTx(i.run(ctx), func(q querier) (row, error) {
		got := row{ids: make([]string, columns)}
		var targets []any
		for n := range got.ids {
			targets = append(targets, &got.ids[n])
		}
		err := q.QueryRow(ctx, text, args...).Scan(append(targets, &got.wake)...)
		return got, err
	})
	after(got.wake)
	return got.ids, err
}

// sendText sends one statement that returns one text.
func (i insertion) sendText(ctx context.Context, name statement, args ...any) (string, error) {
	return rowwise.InTx(i.run(ctx), func(q querier) (text string, err error) {
		err = q.QueryRow(ctx, i.b.q(name), args...).Scan(&text)
		return text, err
	})
}

// insertWake is the wake-up for new jobs: by the name of their queue, if there
// is but one.
func insertWake(jobs []store.NewJob) string {
	queue := jobs[0].Queue
	for i := range jobs {
		if jobs[i].Queue != queue {
			queue = "" // any
		}
	}
	return wakeText(store.Wake{Kind: store.WakeJobs, Queue: queue})
}

// parseIDs reads about n numbers: one number, or an array of numbers as PostgreSQL
// writes it, {1,2,3}.
func parseIDs(text string, n int) ([]int64, error) {
	ids := make([]int64, 0, n)
	text = strings.Trim(text, "{}")
	if text == "" {
		return ids, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the numbers of inserted jobs: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
