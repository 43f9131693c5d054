package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

var insertTests = []scenario{
	{"EveryFieldIsKept", insertFields},
	{"NumbersGrowInTheOrderOfTheRequest", insertOrder},
	{"NothingIsFine", insertNothing},
	{"LargeBatchKeepsArgsByteForByte", insertLarge},
	{"LargeArgs", insertHuge},
	{"DelayCountsFromTheStoresNow", insertDelay},
	{"TimesAreKeptToTheMicrosecond", insertMicroseconds},
	{"RequestIsNotKept", insertCopies},
	{"TransactionCommits", insertCommit},
	{"TransactionRollsBack", insertRollback},
	{"EndedTransactionIsRefused", insertEnded},
	{"ForeignTransactionIsRefused", insertForeign},
}

// sameJSON compares headers, which a database may format differently.
func sameJSON(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func fullJob(now time.Time) store.NewJob {
	return store.NewJob{
		JobSpec: store.JobSpec{
			Kind: "k", Queue: "q", Args: []byte(`{"a": 1}`), Headers: []byte(`{"traceparent":"00-ab","β":"ü"}`),
			Priority: 3, MaxAttempts: 7, OnLoss: store.OnLossFail, Timeout: 90*time.Second + 500*time.Millisecond, Group: "grüppe", Key: "schlüssel", Batch: 7,
		},
		Origin: store.OriginTrigger, RunAt: now.Add(-time.Second), Delay: time.Hour,
	}
}

func insertFields(e *env) {
	row := e.put("s", "{}")
	n := fullJob(e.now)
	n.Schedule, n.Slot = row.ID, e.now.Add(-time.Hour)
	id := e.insertOne(n)
	info := e.job(id)
	want := store.JobInfo{
		JobSpec: n.JobSpec, ID: id, State: store.StateReady, Origin: store.OriginTrigger, RunAt: n.RunAt,
		CreatedAt: e.now, Schedule: row.ID, ScheduleName: "s", Slot: n.Slot, Token: info.Token,
	}
	want.Headers = info.Headers // compared below
	e.want(info, want, "a listed job must have what was inserted (RunAt wins over Delay, times in UTC)")
	e.ok(sameJSON(info.Headers, n.Headers), "headers must be kept", string(info.Headers))

	e.tick(time.Minute)
	c := e.claimOne(e.node("n"))
	e.ok(sameJSON(c.Headers, n.Headers), "headers must travel with the claim", string(c.Headers))
	e.ok(c.Token > 0, "a token is a positive number")
	claimed := store.Claimed{
		JobSpec: n.JobSpec, ID: id, Token: c.Token, Attempt: 1, Origin: store.OriginTrigger, RunAt: n.RunAt,
		CreatedAt: want.CreatedAt, Schedule: row.ID, ScheduleName: "s", Slot: n.Slot,
	}
	claimed.Headers = c.Headers // compared above
	e.want(c, claimed, "a claimed job must have what was inserted")
}

func insertOrder(e *env) {
	var last int64
	for round := range 3 {
		jobs := make([]store.NewJob, 50)
		for i := range jobs {
			jobs[i] = with(func(j *store.NewJob) { j.Args = fmt.Appendf(nil, `[%d,%d]`, round, i) })
		}
		ids := e.insert(jobs...)
		for i, id := range ids {
			e.ok(id > last, "numbers must grow with time and in the order of the request", id, "after", last)
			last = id
			e.want(string(e.job(id).Args), string(jobs[i].Args), "IDs must be in the order of the request's jobs")
		}
	}
}

func insertNothing(e *env) {
	e.want(len(e.insert()), 0, "an insert of no jobs must return no numbers")
	e.want(len(e.list(store.ListJobsRequest{})), 0, "an insert of no jobs must store nothing")
}

func insertLarge(e *env) {
	const n = 5000
	odd := []string{" ", "\n\t", "  \r\n ", "é", "日本", "🔔", `\u0000`, `\"`, "'; DROP TABLE job; --", "$1", "%s", "{}", ","}
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = with(func(j *store.NewJob) {
			j.Args = fmt.Appendf(nil, "%s{ \"n\" :%d,\"n\":\"%s\"}%s", strings.Repeat(" ", i%3), i,
				strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(odd[i%len(odd)]), strings.Repeat("\n", i%2))
			j.Priority = int16(1 + i%9)
			j.Queue = []string{"q", "r"}[i%2]
			if i%4 == 0 {
				j.Headers = fmt.Appendf(nil, `{"i":"%d"}`, i)
			}
			if i%5 == 0 {
				j.RunAt = e.now.Add(time.Duration(i) * time.Second)
			}
		})
	}
	ids := e.insert(jobs...)
	e.ok(slices.IsSorted(ids) && len(slices.Compact(slices.Clone(ids))) == n, "5,000 jobs in one call must get growing numbers")
	found := 0
	for before := int64(0); ; {
		page := e.list(store.ListJobsRequest{Before: before, Attempts: true, Limit: 1000})
		for _, info := range page {
			i, ok := slices.BinarySearch(ids, info.ID)
			if !ok || !bytes.Equal(info.Args, jobs[i].Args) || !sameJSON(info.Headers, jobs[i].Headers) ||
				info.Priority != jobs[i].Priority || info.Queue != jobs[i].Queue {
				e.t.Fatalf("each job of a large batch must be stored under its own number, args byte for byte: got %+v, want %+v", info, jobs[i])
			}
			found++
		}
		if len(page) == 0 || found > n {
			break
		}
		before = page[len(page)-1].ID
	}
	e.want(found, n, "every job of a large batch must be stored")
}

func insertHuge(e *env) {
	args := []byte(`"` + strings.Repeat("ü", 1<<19-1) + `"`) // 1 MiB
	ids := e.insert(with(func(j *store.NewJob) { j.Args = args }), newJob(), with(func(j *store.NewJob) { j.Args = args }))
	e.ok(bytes.Equal(e.job(ids[2]).Args, args), "args of 1 MiB must be kept byte for byte")
	jobs := e.claim(e.node("n"), 3)
	e.ok(len(jobs) == 3 && bytes.Equal(jobs[0].Args, args), "args of 1 MiB must reach the claimer byte for byte")
}

func insertDelay(e *env) {
	id := e.insertOne(with(func(j *store.NewJob) { j.Delay = time.Hour }))
	e.want(e.job(id).RunAt, e.now.Add(time.Hour), "run_at must be the request's Now + Delay where RunAt is zero")
	id = e.insertOne(newJob())
	e.want(e.job(id).RunAt, e.now, "run_at must be Now where RunAt and Delay are zero")
}

func insertMicroseconds(e *env) {
	zone := time.FixedZone("east", 3*3600)
	at := time.Date(2035, 7, 1, 12, 0, 0, 123456789, zone)
	id := e.insertOne(with(func(j *store.NewJob) { j.RunAt, j.Slot = at, at }))
	for _, got := range []time.Time{e.job(id).RunAt, e.job(id).Slot} {
		d := got.Sub(at).Abs()
		e.ok(d < time.Microsecond && got.Nanosecond()%1000 == 0, "times must be kept to the microsecond", got)
		e.ok(got.Location() == time.UTC, "times must be returned in UTC", got)
	}
	early := time.Date(1901, 2, 3, 4, 5, 6, 7000, time.UTC)
	id = e.insertOne(with(func(j *store.NewJob) { j.RunAt, j.Slot = early, early }))
	e.want(e.job(id).RunAt, early, "times before 1970 must be kept too")
}

func insertCopies(e *env) {
	args := []byte(`{"a":1}`)
	id := e.insertOne(with(func(j *store.NewJob) { j.Args = args }))
	args[5] = '2'
	first := e.job(id)
	e.want(string(first.Args), `{"a":1}`, "a driver must not keep slices of a request")
	first.Args[5] = '3'
	e.want(string(e.job(id).Args), `{"a":1}`, "a driver must not hand out slices that it keeps")
}

// begin opens a transaction that is rolled back at the end if it is still open.
func (e *env) begin() Transaction {
	e.t.Helper()
	tx, err := e.Begin(e.ctx)
	e.must(err)
	e.t.Cleanup(func() { _ = tx.Rollback() }) // of a test that has failed; the store is not closed while the transaction is open
	return tx
}

func (e *env) insertTx(tx store.Tx, jobs ...store.NewJob) []int64 {
	e.t.Helper()
	res, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx, Jobs: jobs})
	e.must(err)
	return res.IDs()
}

func insertCommit(e *env) {
	tx := e.begin()
	ids := e.insertTx(tx.Tx, newJob(), newJob())
	ids = append(ids, e.insertTx(tx.Tx, newJob())...)
	e.want(len(e.list(store.ListJobsRequest{})), 0, "before its commit a transaction's insert must not be seen by others (it must not be committed by the driver)")
	e.must(tx.Commit())
	e.want(e.listIDs(store.ListJobsRequest{}), []int64{ids[2], ids[1], ids[0]}, "after the commit all of a transaction's inserts must be there")
	e.want(claimedIDs(e.claim(e.node("n"), 10)), ids, "jobs of a committed transaction must be claimable")
}

func insertRollback(e *env) {
	tx := e.begin()
	e.insertTx(tx.Tx, newJob(), newJob())
	e.must(tx.Rollback())
	e.want(len(e.list(store.ListJobsRequest{})), 0, "rolled-back work must never have existed")
	id := e.insertOne(newJob())
	e.want(e.listIDs(store.ListJobsRequest{}), []int64{id}, "after a roll-back the store must go on as before")
}

func insertEnded(e *env) {
	for _, end := range []func(Transaction) error{
		func(tx Transaction) error { return tx.Commit() },
		func(tx Transaction) error { return tx.Rollback() },
	} {
		tx := e.begin()
		e.must(end(tx))
		_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: tx.Tx, Jobs: []store.NewJob{newJob()}})
		e.ok(errors.Is(err, store.ErrTxEnded), "an insert in a transaction that has ended must give ErrTxEnded", err)
		e.want(len(e.list(store.ListJobsRequest{})), 0, "an insert in a transaction that has ended must store nothing")
	}
}

// foreignTx is a transaction that belongs to no driver.
type foreignTx struct{}

func (foreignTx) HourbellTx() {}

func insertForeign(e *env) {
	_, err := e.a.Insert(e.ctx, store.InsertRequest{Now: e.now, Tx: foreignTx{}, Jobs: []store.NewJob{newJob()}})
	e.ok(errors.Is(err, store.ErrForeignTx), "another driver's transaction must give ErrForeignTx", err)
	e.want(len(e.list(store.ListJobsRequest{})), 0, "another driver's transaction must store nothing")
}
