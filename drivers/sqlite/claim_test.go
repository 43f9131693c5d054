package sqlite

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Jobs of a kind that a node does not take, however many are due, cost its claims
// nothing: those that find something, and those that do not.
func TestJobsOfForeignKindsCostNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("measures times")
	}
	const backlog, tries = 50_000, 20
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	node := register(t, b, time.Hour)
	exact := []store.ExactJob{store.NewExactJob("exact", []byte("{}")), store.NewExactJob("exact", []byte("[2]"))}
	fastest := func(kinds ...string) (idle, busy time.Duration) {
		idle, busy = time.Hour, time.Hour
		req := store.ClaimRequest{Part: true, Node: node, Queue: "q", Kinds: kinds, Limit: 10}
		if kinds[0] == "exact" {
			req.Kinds, req.Exact = nil, exact
		}
		claim := func(want int) time.Duration {
			start := time.Now()
			res, err := b.Claim(t.Context(), req)
			took := time.Since(start)
			if err != nil || len(res.Jobs) != want {
				t.Fatalf("%d claimed, want %d, %v", len(res.Jobs), want, err)
			}
			return took
		}
		for range tries {
			idle = min(idle, claim(0))
			for i := range 3 {
				insertSame(t, b, store.NewJob{JobSpec: store.JobSpec{Kind: kinds[i%len(kinds)], Priority: 5}}, 1)
			}
			busy = min(busy, claim(3))
		}
		return idle, busy
	}
	idle, busy := fastest("k")
	idleOfTwo, busyOfTwo := fastest("k", "l")
	idleOfExact, busyOfExact := fastest("exact")
	insertSame(t, b, store.NewJob{JobSpec: store.JobSpec{Kind: "foreign", Priority: 5}}, backlog)
	insertArgs(t, b, "exact", "{ }", backlog)
	insertSame(t, b, store.NewJob{JobSpec: store.JobSpec{Kind: "urgent", Priority: 1}}, backlog)
	insertSame(t, b, store.NewJob{JobSpec: store.JobSpec{Kind: "zzz", Priority: 5}, Delay: time.Hour}, 100)
	compare := func(what string, before, after time.Duration) {
		t.Logf("%s: %v without a backlog, %v with it", what, before, after)
		if after > 20*before {
			t.Errorf("%s took %v without a backlog of foreign kinds, and %v with it", what, before, after)
		}
	}
	idleThen, busyThen := fastest("k")
	compare("a claim of one kind in vain", idle, idleThen)
	compare("a claim of one kind", busy, busyThen)
	idleThen, busyThen = fastest("k", "l")
	compare("a claim of two kinds in vain", idleOfTwo, idleThen)
	compare("a claim of two kinds", busyOfTwo, busyThen)
	digestAll(t, b, node, exact)
	idleThen, busyThen = fastest("exact")
	compare("a claim of exact jobs in vain", idleOfExact, idleThen)
	compare("a claim of exact jobs", busyOfExact, busyThen)
}

// insertArgs inserts jobs of a kind with some args into the queue q, due now.
func insertArgs(t *testing.T, b *Backend, kind, args string, number int) {
	t.Helper()
	job := store.NewJob{JobSpec: store.JobSpec{Kind: kind, Queue: "q", Args: []byte(args), Priority: 5, MaxAttempts: 1}}
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: slices.Repeat([]store.NewJob{job}, number)}); err != nil {
		t.Fatal(err)
	}
}

// digestAll makes claims of exact jobs, in vain, until all jobs that they have to
// compare have digests. It returns how many claims that took.
func digestAll(t *testing.T, b *Backend, node int64, exact []store.ExactJob) (claims int) {
	t.Helper()
	for {
		res, err := b.Claim(t.Context(), store.ClaimRequest{Part: true, Node: node, Queue: "q", Exact: exact, Limit: 10})
		if err != nil || len(res.Jobs) > 0 {
			t.Fatalf("%d claimed, %v", len(res.Jobs), err)
		}
		claims++
		if res.Again == 0 {
			return claims
		}
	}
}

// However many jobs have no digest yet, a claim gives digests to a bounded number of
// them, asks for another claim, and gets to every job that it may take.
func TestDigestsAreMadeAFewAtATime(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	node := register(t, b, time.Hour)
	mine := store.NewExactJob("k", []byte("[2]"))
	insertArgs(t, b, "k", "[1]", 2*digestRounds*digestRows)
	insertArgs(t, b, "k", "[2]", 1)
	insertArgs(t, b, "other", "[1]", 1)
	claims := 0
	for taken := 0; taken == 0; claims++ {
		res, err := b.Claim(t.Context(), store.ClaimRequest{Part: true, Node: node, Queue: "q", Exact: []store.ExactJob{mine}, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if taken = len(res.Jobs); taken == 0 && res.Again <= 0 {
			t.Fatalf("claim %d took nothing and asked for no other", claims+1)
		}
	}
	if claims != 3 {
		t.Errorf("%d claims were made, want 3", claims)
	}
	insertArgs(t, b, "k", "["+strings.Repeat(" ", digestBytes/20)+"]", 30) // two transactions, of 20 and of 10
	if read, err := b.digestsOf(t.Context(), "claim jobs", store.ClaimRequest{Queue: "q"}, []string{"k"}); err != nil || len(read.digests) != 20 || !read.more {
		t.Errorf("%d digests of large args are made at a time, more %v, %v", len(read.digests), read.more, err)
	}
	digestAll(t, b, node, []store.ExactJob{mine})
	var of, all int
	if err := b.reader.QueryRow("SELECT count(digest), count(*) FROM hourbell_job").Scan(&of, &all); err != nil || of != all-1 {
		t.Errorf("%d of %d jobs have digests, %v; only jobs of the kind should", of, all, err)
	}
	if n := digestAll(t, b, node, []store.ExactJob{mine}); n != 1 {
		t.Errorf("%d more claims were needed", n)
	}
}

// A job is found by its args after a retry and after it was made ready again.
func TestExactJobsRunAgain(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	node := register(t, b, time.Hour)
	mine := []store.ExactJob{store.NewExactJob("k", []byte("[2]"))}
	insertArgs(t, b, "k", "[2]", 1)
	claim := func() store.Outcome {
		t.Helper()
		res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Exact: mine, Limit: 10})
		if err != nil || len(res.Jobs) != 1 {
			t.Fatalf("%d claimed, %v", len(res.Jobs), err)
		}
		return store.Outcome{ID: res.Jobs[0].ID, Token: res.Jobs[0].Token}
	}
	for _, result := range []store.Result{store.Retry, store.Release, store.Completed} {
		outcome := claim()
		outcome.Result = result
		if _, err := b.Finish(t.Context(), store.FinishRequest{Outcomes: []store.Outcome{outcome}}); err != nil {
			t.Fatal(err)
		}
		if result == store.Completed {
			if _, err := b.ChangeJobs(t.Context(), store.ChangeJobsRequest{Action: store.RetryJobs, IDs: []int64{outcome.ID}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim()
}

// Claims of several kinds take jobs in the order of all of them, also where many
// of one kind came at the same instant.
func TestClaimsOfSeveralKindsAreInOrder(t *testing.T) {
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	node := register(t, b, time.Hour)
	now := time.Now()
	var jobs []store.NewJob
	for i := range 300 {
		jobs = append(jobs, store.NewJob{
			JobSpec: store.JobSpec{Kind: []string{"a", "b", "b", "c", "x"}[i*7%5], Queue: "q", Args: []byte("{}"), MaxAttempts: 1, Priority: int16(1 + i*5%3)},
			RunAt:   now.Add(-time.Duration(i*11%4) * time.Minute),
		})
	}
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	// Some have digests, because a node has looked for certain jobs among them.
	if n := digestAll(t, b, node, []store.ExactJob{store.NewExactJob("b", []byte("[]"))}); n != 1 {
		t.Fatalf("%d claims", n)
	}
	for i := range jobs {
		jobs[i].Priority = int16(1 + i*7%3)
	}
	if _, err := b.Insert(t.Context(), store.InsertRequest{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	var last store.Claimed
	got := 0
	for {
		res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: []string{"c", "a", "b", "none"}, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range res.Jobs {
			if job.Kind == "x" || got > 0 && (job.Priority < last.Priority || job.Priority == last.Priority &&
				(job.RunAt.Before(last.RunAt) || job.RunAt.Equal(last.RunAt) && job.ID < last.ID)) {
				t.Fatalf("got %d of kind %s, priority %d, due %v, after %d, priority %d, due %v", job.ID, job.Kind, job.Priority, job.RunAt, last.ID, last.Priority, last.RunAt)
			}
			last = job
			got++
		}
		if len(res.Jobs) < 7 {
			break
		}
	}
	if want := 480; got != want {
		t.Errorf("claimed %d, want %d", got, want)
	}
}
