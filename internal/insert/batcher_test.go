package insert_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/internal/insert"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// gate is a store whose inserts wait until the test lets them through, and fail
// if the test requires it.
type gate struct {
	store.Backend
	open chan struct{} // nil: inserts do not wait
	fail func(jobs []store.NewJob) error

	mu    sync.Mutex
	sizes []int // of inserts, in the order in which they were sent
}

func (g *gate) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	g.mu.Lock()
	g.sizes = append(g.sizes, len(req.Jobs))
	g.mu.Unlock()
	if g.open != nil {
		select {
		case <-g.open:
		case <-ctx.Done():
			return store.InsertResult{}, ctx.Err()
		}
	}
	if g.fail != nil {
		if err := g.fail(req.Jobs); err != nil {
			return store.InsertResult{}, err
		}
	}
	return g.Backend.Insert(ctx, req)
}

// letThrough lets n inserts through, one by one.
func (g *gate) letThrough(n int) {
	for range n {
		g.open <- struct{}{}
		synctest.Wait()
	}
}

// answer is the result of an Insert.
type answer struct {
	id  int64
	err error
}

// burst is a set of concurrent calls of Insert.
type burst struct {
	*insert.Batcher
	backend store.Backend
	answers []*answer
	wg      sync.WaitGroup
}

// newBurst returns a batcher on the gate. If the gate is closed, a first call
// waits at the gate, so that all later calls join a batch.
func newBurst(t *testing.T, g *gate) *burst {
	t.Helper()
	g.Backend = memory.New()
	b := &burst{Batcher: insert.NewBatcher(g, 30*time.Second), backend: g}
	if g.open != nil {
		b.enqueue(t.Context(), "first")
	}
	return b
}

// enqueue calls Insert and returns when the call waits or has ended.
func (b *burst) enqueue(ctx context.Context, texts ...string) {
	for _, text := range texts {
		a := &answer{}
		b.answers = append(b.answers, a)
		b.wg.Go(func() {
			var made []store.Inserted
			if made, a.err = b.Insert(ctx, jobs(text)); a.err == nil {
				a.id = made[0].ID
			}
		})
	}
	synctest.Wait()
}

// job returns a job with a text as its args.
// jobs returns one job.
func jobs(text string) []store.NewJob {
	return []store.NewJob{{JobSpec: store.JobSpec{Kind: "note", Queue: "q", Priority: 5, MaxAttempts: 1, Args: []byte(strconv.Quote(text))}}}
}

// stored returns the args of all stored jobs by number.
func (b *burst) stored(t *testing.T) map[int64]string {
	t.Helper()
	jobs, err := b.backend.ListJobs(t.Context(), store.ListJobsRequest{Limit: 10_000, Attempts: true})
	if err != nil {
		t.Fatal(err)
	}
	out := map[int64]string{}
	for _, job := range jobs {
		out[job.ID] = string(job.Args)
	}
	return out
}

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("job ", i)
	}
	return texts
}

func TestABurstOfEnqueuesIsBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		texts := numbered(2_500)
		b.enqueue(t.Context(), texts...)
		g.letThrough(4)
		b.wg.Wait()
		if want := []int{1, 1000, 1000, 500}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs, want %v", g.sizes, want)
		}
		stored := b.stored(t)
		if len(stored) != len(b.answers) {
			t.Errorf("%d jobs are stored, want %d", len(stored), len(b.answers))
		}
		for i, a := range b.answers[1:] {
			if want := strconv.Quote(texts[i]); a.err != nil || stored[a.id] != want {
				t.Fatalf("%q got the number %d of %s, %v", texts[i], a.id, stored[a.id], a.err)
			}
		}
	})
}

// TestAnsweredCallersJoinTheNextInsert checks that callers that were answered are
// part of the next insert, not of the insert after it. On one processor the
// scheduler runs an insert after 61 callers.
func TestAnsweredCallersJoinTheNextInsert(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		for range 200 {
			b.wg.Go(func() {
				for range 2 {
					if _, err := b.Insert(t.Context(), jobs("")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		synctest.Wait()
		g.letThrough(2)
		close(g.open)
		b.wg.Wait()
		if want := []int{1, 200, 200}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs, want %v", g.sizes, want)
		}
	})
}

func TestAnEnqueueAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		b := newBurst(t, g)
		for i := range 3 {
			b.enqueue(t.Context(), fmt.Sprint(i))
		}
		b.wg.Wait()
		if want := []int{1, 1, 1}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs, want %v", g.sizes, want)
		}
	})
}

func TestInsertBatchesAreBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		for range 9 {
			b.enqueue(t.Context(), strings.Repeat("x", 1_000_000))
		}
		g.letThrough(4)
		b.wg.Wait()
		if want := []int{1, 4, 4, 1}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs of 1 MB, want %v", g.sizes, want)
		}
	})
}

func TestARejectedJobFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := func(job store.NewJob) bool { return strings.Contains(string(job.Args), "bad") }
		g := &gate{open: make(chan struct{}), fail: func(jobs []store.NewJob) error {
			if slices.ContainsFunc(jobs, bad) {
				return fmt.Errorf("insert jobs: %w", store.ErrRejected)
			}
			return nil
		}}
		b := newBurst(t, g)
		texts := append(numbered(997), "bad 1", "good", "bad 2")
		b.enqueue(t.Context(), texts...)
		close(g.open)
		b.wg.Wait()
		for i, a := range b.answers[1:] {
			if got, want := errors.Is(a.err, store.ErrRejected), strings.HasPrefix(texts[i], "bad"); got != want || (a.err == nil) == want {
				t.Errorf("%q got %v", texts[i], a.err)
			}
		}
		if got, want := len(b.stored(t)), len(b.answers)-2; got != want {
			t.Errorf("%d jobs are stored, want %d", got, want)
		}
		if len(g.sizes) > 50 {
			t.Errorf("it took %d inserts to find two bad jobs among 1,000", len(g.sizes))
		}
	})
}

func TestAnErrorOfTheStoreIsEverybodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the connection broke during the commit")
		g := &gate{open: make(chan struct{}), fail: func(jobs []store.NewJob) error {
			if len(jobs) > 1 {
				return gone
			}
			return nil
		}}
		b := newBurst(t, g)
		b.enqueue(t.Context(), numbered(10)...)
		g.letThrough(2)
		b.wg.Wait()
		for _, a := range b.answers[1:] {
			if !errors.Is(a.err, gone) {
				t.Errorf("a call got %v", a.err)
			}
		}
		if want := []int{1, 10}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs, want %v: what may have been stored is not sent again", g.sizes, want)
		}
	})
}

func TestWhoLeavesBeforeTheInsertStoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		ctx, cancel := context.WithCancel(t.Context())
		b.enqueue(ctx, "leaves 1")
		b.enqueue(t.Context(), "stays")
		b.enqueue(ctx, "leaves 2")
		cancel()
		synctest.Wait()
		for _, i := range []int{1, 3} {
			if err := b.answers[i].err; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "not stored") {
				t.Errorf("a call whose context ended while it waited got %v", err)
			}
		}
		g.letThrough(2)
		b.wg.Wait()
		stored := b.stored(t)
		if got := stored[b.answers[2].id]; len(stored) != 2 || got != `"stays"` {
			t.Errorf("stored: %v; the one that stayed got %d, %v", stored, b.answers[2].id, b.answers[2].err)
		}

		if _, err := b.Insert(ctx, jobs("")); !errors.Is(err, context.Canceled) || len(g.sizes) != 2 {
			t.Errorf("with a context that had ended: %v, inserts %v", err, g.sizes)
		}
	})
}

// TestWhereAllHaveLeftNothingIsSent checks that a batch whose callers have all
// left is not sent and not kept.
func TestWhereAllHaveLeftNothingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		ctx, cancel := context.WithCancel(t.Context())
		b.enqueue(ctx, numbered(1_500)...)
		cancel()
		synctest.Wait()
		g.letThrough(1)
		b.wg.Wait()
		if want := []int{1}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs, want %v", g.sizes, want)
		}
	})
}

func TestWhoLeavesDuringTheInsertIsToldThatItIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		ctx, cancel := context.WithCancel(t.Context())
		b.enqueue(ctx, "leaves")
		b.enqueue(t.Context(), "stays")
		g.letThrough(1) // the two are under way now, after the first insert
		cancel()
		synctest.Wait()
		if err := b.answers[1].err; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "unknown") {
			t.Errorf("a call whose context ended during its insert got %v", err)
		}
		g.letThrough(1)
		b.wg.Wait()
		if err := b.answers[2].err; err != nil || len(b.stored(t)) != 3 {
			t.Errorf("the other call got %v; stored: %v", err, b.stored(t))
		}
	})
}

// TestAnInsertThatAllHaveLeftEnds checks that an insert for which no caller
// waits any more is cancelled, so that a store that hangs does not keep it for
// ever.
func TestAnInsertThatAllHaveLeftEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		ctx, cancel := context.WithCancel(t.Context())
		b.enqueue(ctx, numbered(2)...)
		g.letThrough(1)
		cancel()
		b.enqueue(t.Context(), "next") // takes the place of the cancelled insert
		g.letThrough(1)
		b.wg.Wait()
		if err := b.answers[3].err; err != nil || len(b.stored(t)) != 2 {
			t.Errorf("the next call got %v; stored: %v", err, b.stored(t))
		}
	})
}

// TestASlowInsertIsOvertaken checks that a slow insert delays neither later
// calls nor waiting calls, but that a store that hangs does not get an insert
// for every job.
func TestASlowInsertIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := newBurst(t, g)
		b.enqueue(t.Context(), "waits")
		for range 5 {
			time.Sleep(20 * time.Millisecond)
			b.enqueue(t.Context(), numbered(2)...)
		}
		if want := []int{1, 2, 2, 2}; !slices.Equal(g.sizes, want) {
			t.Errorf("inserts of %v jobs, want %v", g.sizes, want)
		}
		g.letThrough(5)
		b.wg.Wait()
		if want := []int{1, 2, 2, 2, 5}; !slices.Equal(g.sizes, want) || len(b.stored(t)) != 12 {
			t.Errorf("inserts of %v jobs, want %v", g.sizes, want)
		}
	})
}

// distant is a store at some distance.
type distant struct {
	store.Backend
	away time.Duration
	most atomic.Int64 // concurrent inserts
	now  atomic.Int64
}

func (d *distant) Connection() store.Connection { return store.Connection{RoundTrip: d.away} }

func (d *distant) Insert(ctx context.Context, req store.InsertRequest) (store.InsertResult, error) {
	n := d.now.Add(1)
	defer d.now.Add(-1)
	d.most.Store(max(n, d.most.Load()))
	time.Sleep(d.away)
	return d.Backend.Insert(ctx, req)
}

// enqueueEvery enqueues a job from another goroutine each time a while has
// passed, and returns how long the calls took.
func (d *distant) enqueueEvery(t *testing.T, while time.Duration, calls int) []time.Duration {
	t.Helper()
	d.Backend = memory.New()
	batcher := insert.NewBatcher(d, 30*time.Second)
	took := make([]time.Duration, calls)
	var all sync.WaitGroup
	for i := range took {
		time.Sleep(while)
		all.Go(func() {
			started := time.Now()
			if _, err := batcher.Insert(t.Context(), jobs("")); err != nil {
				t.Error(err)
			}
			took[i] = time.Since(started)
		})
	}
	all.Wait()
	return took
}

// TestAnEnqueueFarAwayTakesOneRoundTrip checks that a call does not wait for
// the round trips of other calls: single inserts from several goroutines take
// one round trip each.
func TestAnEnqueueFarAwayTakesOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &distant{away: 2 * time.Millisecond}
		took := d.enqueueEvery(t, 700*time.Microsecond, 1000)
		if most := slices.Max(took); most > d.away*5/4 {
			t.Errorf("a call took %v where an insert takes %v", most, d.away)
		}
	})
}

// TestInsertsNearbyGoOneByOne checks that inserts into a near store are not
// concurrent, because two concurrent inserts cost more.
func TestInsertsNearbyGoOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &distant{away: 600 * time.Microsecond}
		d.enqueueEvery(t, 100*time.Microsecond, 1000)
		if most := d.most.Load(); most != 1 {
			t.Errorf("%d inserts were under way at a time", most)
		}
	})
}

func TestManyGoroutinesEnqueue(t *testing.T) {
	b := newBurst(t, &gate{})
	const goroutines, each = 100, 20
	ids := make(chan int64, goroutines*each)
	for range goroutines {
		b.wg.Go(func() {
			for range each {
				made, err := b.Insert(t.Context(), jobs(""))
				if err != nil {
					t.Error(err)
					return
				}
				ids <- made[0].ID
			}
		})
	}
	b.wg.Wait()
	close(ids)
	stored := b.stored(t)
	if len(stored) != goroutines*each {
		t.Errorf("%d jobs are stored, want %d", len(stored), goroutines*each)
	}
	for id := range ids {
		if _, there := stored[id]; !there {
			t.Fatalf("job %d is not stored, or was told twice", id)
		}
		delete(stored, id)
	}
}
