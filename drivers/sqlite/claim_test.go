package sqlite

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Jobs of a kind that a node does not take, however many are due, cost its claims
// nothing: those that find something, and those that do not.
func TestJobsOfForeignKindsCostNothing(t *testing.T) {
	const backlog, tries = 50_000, 20
	b := openFile(t, newFile(t), Synchronous("NORMAL"))
	node := register(t, b, time.Hour)
	fastest := func(kinds ...string) (idle, busy time.Duration) {
		idle, busy = time.Hour, time.Hour
		claim := func(want int) time.Duration {
			start := time.Now()
			res, err := b.Claim(t.Context(), store.ClaimRequest{Node: node, Queue: "q", Kinds: kinds, Limit: 10})
			took := time.Since(start)
			if err != nil || len(res.Jobs) != want {
				t.Fatalf("%d claimed, want %d, %v", len(res.Jobs), want, err)
			}
			return took
		}
		for range tries {
			idle = min(idle, claim(0))
			for i := range 3 {
				insertSame(t, b, store.NewJob{Kind: kinds[i%len(kinds)], Priority: 5}, 1)
			}
			busy = min(busy, claim(3))
		}
		return idle, busy
	}
	idle, busy := fastest("k")
	idleOfTwo, busyOfTwo := fastest("k", "l")
	insertSame(t, b, store.NewJob{Kind: "foreign", Priority: 5}, backlog)
	insertSame(t, b, store.NewJob{Kind: "urgent", Priority: 1}, backlog)
	insertSame(t, b, store.NewJob{Kind: "zzz", Priority: 5, Delay: time.Hour}, 100)
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
			Kind: []string{"a", "b", "b", "c", "x"}[i*7%5], Queue: "q", Args: []byte("{}"), MaxAttempts: 1,
			Priority: int16(1 + i*5%3), RunAt: now.Add(-time.Duration(i*11%4) * time.Minute),
		})
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
	if want := 240; got != want {
		t.Errorf("claimed %d, want %d", got, want)
	}
}
