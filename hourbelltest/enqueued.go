package hourbelltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// Job is a job with its arguments.
type Job[A hourbell.Args] struct {
	store.JobInfo
	Args A
}

// Jobs returns the jobs of a kind that were made since the kit was made, in the order in which they
// were made, whatever their states are. With options only the jobs to which each of them applies; see
// RequireEnqueued. The arguments are decoded from JSON.
func Jobs[A hourbell.Args](k *Kit, options ...hourbell.Option) []Job[A] {
	k.t.Helper()
	var zero A
	var out []Job[A]
	for _, found := range k.find(Any(zero.Kind()), options).matching {
		job := Job[A]{JobInfo: found}
		if err := json.Unmarshal(found.Args, &job.Args); err != nil {
			k.t.Fatalf("hourbelltest: decode the args of job %d of kind %s: %v", found.ID, found.Kind, err)
		}
		out = append(out, job)
	}
	return out
}

// Any stands for any arguments of a kind in RequireEnqueued and RequireNotEnqueued.
func Any(kind string) hourbell.Args { return anyArgs(kind) }

type anyArgs string

// Kind returns the kind.
func (a anyArgs) Kind() string { return string(a) }

// RequireEnqueued fails the test unless exactly one job with these arguments, to which each of the
// options applies, was made since the kit was made, whatever its state is, and returns that job. The
// message lists what the jobs of the kind have instead.
//
// Arguments are compared as JSON values. Options that are left out are not compared. Queue, Group,
// Priority, MaxAttempts, OnLoss, Timeout, Key, Unique, UniqueArgs, At and In can be compared; In counts from
// when the job was made, and applies also to a job that was made with At. With InTx the job is looked
// for among the jobs that were made in that transaction, which has not ended; else among the jobs
// that are committed. Other options have no effect.
func (k *Kit) RequireEnqueued(args hourbell.Args, options ...hourbell.Option) store.JobInfo {
	k.t.Helper()
	found := k.find(args, options)
	switch len(found.matching) {
	case 1:
		return found.matching[0]
	case 0:
		k.t.Fatalf("hourbelltest: %s was not enqueued; %s", found.want, found.others())
	default:
		k.t.Fatalf("hourbelltest: %s was enqueued %d times, as the jobs %v", found.want, len(found.matching), numbers(found.matching))
	}
	return store.JobInfo{}
}

// RequireNotEnqueued fails the test if a job was made that RequireEnqueued would find.
func (k *Kit) RequireNotEnqueued(args hourbell.Args, options ...hourbell.Option) {
	k.t.Helper()
	if found := k.find(args, options); len(found.matching) > 0 {
		k.t.Fatalf("hourbelltest: %s was enqueued, as the jobs %v", found.want, numbers(found.matching))
	}
}

// numbers returns the numbers of jobs.
func numbers(jobs []store.JobInfo) (ids []int64) {
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// found is the result of a search.
type found struct {
	want     expectation
	matching []store.JobInfo
	rest     []store.JobInfo // other jobs of the kind
}

// most is how many of the other jobs a message lists.
const most = 10

// others describes the jobs of the kind that do not match.
func (f found) others() string {
	if len(f.rest) == 0 {
		return "no job of the kind was"
	}
	var text strings.Builder
	if len(f.rest) == 1 {
		text.WriteString("another job of the kind was:")
	} else {
		fmt.Fprintf(&text, "%d jobs of the kind were:", len(f.rest))
	}
	for _, job := range f.rest[:min(len(f.rest), most)] {
		fmt.Fprintf(&text, "\n\tjob %d: %s", job.ID, strings.Join(f.want.differences(job), ", "))
	}
	if len(f.rest) > most {
		fmt.Fprintf(&text, "\n\t… and %d more", len(f.rest)-most)
	}
	return text.String()
}

// find looks for jobs.
func (k *Kit) find(args hourbell.Args, options []hourbell.Option) (out found) {
	k.t.Helper()
	want, err := expect(k.context(), args, options)
	k.fail("look for jobs", err)
	out.want = want
	for _, job := range k.made(want) {
		if len(want.differences(job)) == 0 {
			out.matching = append(out.matching, job)
		} else {
			out.rest = append(out.rest, job)
		}
	}
	return out
}

// made returns the jobs of a kind that were made since the kit was made: in a transaction, or
// committed.
func (k *Kit) made(want expectation) (jobs []store.JobInfo) {
	k.t.Helper()
	if want.tx != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, in := range k.inserts {
			if in.job.Kind == want.job.Kind && sameTx(in.tx, want.tx) {
				jobs = append(jobs, in.job)
			}
		}
		return jobs
	}
	for before := int64(0); ; {
		page, err := k.Client.Jobs.List(k.context(), hourbell.JobFilter{Kind: want.job.Kind, Before: before, Limit: 1000, Details: true})
		k.fail("list jobs", err)
		for _, job := range page {
			if job.ID > k.newest {
				jobs = append(jobs, job)
			}
		}
		if len(page) < 1000 || page[len(page)-1].ID <= k.newest {
			slices.Reverse(jobs)
			return jobs
		}
		before = page[len(page)-1].ID
	}
}

// insertInTx is a job that was made in a caller's transaction.
type insertInTx struct {
	tx  store.Tx
	job store.JobInfo
}

// sameTx reports whether two values are for the same transaction.
func sameTx(a, b store.Tx) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// recorder records which jobs are made in callers' transactions, because others cannot read them
// before the commit.
type recorder struct {
	store.Backend
	kit *Kit
}

// Unwrap returns the backend below; see store.Able.
func (r recorder) Unwrap() store.Backend { return r.Backend }

// Insert implements store.Jobs.
func (r recorder) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	res, err := r.Backend.Insert(ctx, req)
	if err != nil || req.Tx == nil {
		return res, err
	}
	now := r.kit.Now()
	r.kit.mu.Lock()
	defer r.kit.mu.Unlock()
	for i, job := range req.Jobs {
		if res.Jobs[i].Existed {
			continue
		}
		made := store.JobInfo{JobSpec: job.Clone(), ID: res.Jobs[i].ID, Origin: job.Origin, CreatedAt: now, RunAt: job.RunAt, Slot: job.Slot, Schedule: job.Schedule}
		if made.RunAt.IsZero() {
			made.RunAt = now.Add(job.Delay)
		}
		if len(job.After) > 0 {
			made.State = store.StateWaiting
		}
		r.kit.inserts = append(r.kit.inserts, insertInTx{req.Tx, made})
	}
	return res, err
}

// sameJSON reports whether two texts are the same JSON value.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	value := func(text []byte) (v any, err error) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		err = decoder.Decode(&v)
		return v, err
	}
	one, err := value(a)
	other, otherErr := value(b)
	return err == nil && otherErr == nil && reflect.DeepEqual(one, other)
}
