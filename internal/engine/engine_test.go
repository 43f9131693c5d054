package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/work"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

var errAway = errors.New("the store is away")

// faulty is a store that can become unavailable and can lose its answers.
type faulty struct {
	store.Backend
	away        atomic.Bool
	loseAnswers atomic.Bool  // loses the answers of claims
	refuses     atomic.Int64 // the number of a job whose outcome it refuses to write
	beats       atomic.Int32
}

func (f *faulty) check() error {
	if f.away.Load() {
		return errAway
	}
	return nil
}

func (f *faulty) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	if err := f.check(); err != nil {
		return store.ClaimResult{}, err
	}
	res, err := f.Backend.Claim(ctx, req)
	if err == nil && len(res.Jobs) > 0 && f.loseAnswers.Load() {
		return store.ClaimResult{}, errAway
	}
	return res, err
}

func (f *faulty) Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error) {
	if err := f.check(); err != nil {
		return store.FinishResult{}, err
	}
	for _, o := range req.Outcomes {
		if o.ID == f.refuses.Load() {
			return store.FinishResult{}, errors.New("this outcome cannot be written")
		}
	}
	return f.Backend.Finish(ctx, req)
}

func (f *faulty) Heartbeat(ctx context.Context, req store.HeartbeatRequest) (store.HeartbeatResult, error) {
	if err := f.check(); err != nil {
		return store.HeartbeatResult{}, err
	}
	f.beats.Add(1)
	return f.Backend.Heartbeat(ctx, req)
}

func (f *faulty) Leave(ctx context.Context, req store.LeaveRequest) (store.RescueResult, error) {
	if err := f.check(); err != nil {
		return store.RescueResult{}, err
	}
	return f.Backend.Leave(ctx, req)
}

func (f *faulty) DueSchedules(ctx context.Context, req store.DueSchedulesRequest) (store.DueSchedulesResult, error) {
	if err := f.check(); err != nil {
		return store.DueSchedulesResult{}, err
	}
	return f.Backend.DueSchedules(ctx, req)
}

func (f *faulty) Rescue(ctx context.Context, req store.RescueRequest) (store.RescueResult, error) {
	if err := f.check(); err != nil {
		return store.RescueResult{}, err
	}
	return f.Backend.Rescue(ctx, req)
}

// journal counts events.
type journal struct {
	mu     sync.Mutex
	events []event.Event
}

func (j *journal) note(e event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

func (j *journal) count(kind event.Kind) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// testNode is an engine under test.
type testNode struct {
	*faulty
	journal
	engine *Engine
	stop   func() // stops the node, after the store is back
	end    func() // stops the node
}

const testLease = 400 * time.Millisecond

func startNode(t testing.TB, backend store.Backend, attempt work.Func, change ...func(*Config)) *testNode {
	t.Helper()
	n := &testNode{faulty: &faulty{Backend: backend}}
	cfg := Config{
		Backend: n.faulty, Name: t.Name(), Version: "test",
		Queues: map[string]int{"q": 4}, Kinds: []string{"k"}, Work: attempt,
		Timeout: func(store.Claimed) time.Duration { return 0 },
		Lease:   testLease, Heartbeat: testLease / 4, Drain: time.Second, Grace: 100 * time.Millisecond, CallTimeout: time.Second, Alone: time.Second,
		PollBusy: 5 * time.Millisecond, PollIdle: 20 * time.Millisecond, PollPushed: 20 * time.Millisecond,
		Sink: n.note,
	}
	for _, f := range change {
		f(&cfg)
	}
	e := New(cfg)
	n.engine = e
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(done)
		e.Run(ctx, context.Background())
	}()
	n.end = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	n.stop = func() {
		n.away.Store(false)
		n.end()
	}
	t.Cleanup(n.stop)
	return n
}

func insert(t *testing.T, backend store.Backend, n int, change ...func(*store.NewJob)) []int64 {
	t.Helper()
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = store.NewJob{JobSpec: store.JobSpec{Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 3, Args: []byte("null")}}
		for _, f := range change {
			f(&jobs[i])
		}
	}
	res, err := backend.Insert(context.Background(), store.InsertRequest{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	return res.IDs()
}

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain for: %s", what)
}

func finished(t *testing.T, backend store.Backend, want store.State, ids ...int64) func() bool {
	t.Helper()
	return func() bool {
		jobs, err := backend.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids, States: []store.State{want}}, Limit: len(ids)})
		if err != nil {
			t.Fatal(err)
		}
		return len(jobs) == len(ids)
	}
}

// shortSighted is a store whose first claims do not find all due jobs.
type shortSighted struct {
	store.Backend
	blind atomic.Int32 // number of such claims that are left
}

func (s *shortSighted) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	if s.blind.Add(-1) >= 0 {
		return store.ClaimResult{Again: 10 * time.Millisecond}, nil
	}
	return s.Backend.Claim(ctx, req)
}

func TestAClaimThatDidNotLookEverywhereIsRepeated(t *testing.T) {
	backend := &shortSighted{Backend: memory.New()}
	backend.blind.Store(3)
	ids := insert(t, backend, 1)
	startNode(t, backend, func(context.Context, *work.Run) error { return nil }, func(cfg *Config) {
		cfg.PollBusy, cfg.PollIdle, cfg.PollPushed = time.Hour, time.Hour, time.Hour
	})
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, ids...))
}

// locked is a store whose first claim after a wake-up finds only locked rows.
type locked struct {
	store.Backend
	push   chan struct{}
	locked atomic.Bool
}

func (l *locked) Listen(ctx context.Context, wake func(store.Wake)) error {
	wake(store.Wake{})
	select {
	case <-ctx.Done():
	case <-l.push:
		wake(store.Wake{Kind: store.WakeJobs, Queue: "q"})
		<-ctx.Done()
	}
	return ctx.Err()
}

func (l *locked) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	if l.locked.CompareAndSwap(true, false) {
		return store.ClaimResult{}, nil
	}
	return l.Backend.Claim(ctx, req)
}

func TestAPushIsBelievedThoughTheClaimFindsNothing(t *testing.T) {
	backend := &locked{Backend: memory.New(), push: make(chan struct{})}
	e := New(Config{
		Backend: backend, Name: t.Name(), Version: "test", Queues: map[string]int{"q": 4}, Kinds: []string{"k"},
		Work: func(context.Context, *work.Run) error { return nil }, Timeout: func(store.Claimed) time.Duration { return 0 },
		Lease: 10 * time.Second, Heartbeat: time.Second, Drain: time.Second, Grace: time.Second, CallTimeout: time.Second,
		PollBusy: 4 * time.Second, PollIdle: time.Hour, PollPushed: time.Hour, Sink: (&journal{}).note,
	})
	ctx, stop := context.WithCancel(context.Background())
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx, context.Background())
	}()
	time.Sleep(100 * time.Millisecond) // until the loop waits
	ids := insert(t, backend, 1)
	backend.locked.Store(true)
	close(backend.push)
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, ids...))
	stop()
	<-done
}

// TestAStopWithoutTheStore stops a node while the store is away: the node has stopped, and the event has what the store did
// not take.
func TestAStopWithoutTheStore(t *testing.T) {
	backend := memory.New()
	release := make(chan struct{})
	n := startNode(t, backend, func(context.Context, *work.Run) error {
		<-release
		return nil
	})
	insert(t, backend, 2)
	waitUntil(t, "all run", func() bool { return n.count(event.JobStarted) == 2 })
	n.away.Store(true)
	close(release)
	n.end()
	n.mu.Lock()
	defer n.mu.Unlock()
	var told []string
	for _, e := range n.events {
		if e.Kind == event.StopUnwritten {
			told = append(told, e.Err.Error())
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "outcomes of jobs 1, 2 in time") || !strings.Contains(told[0], "leave the cluster: ") {
		t.Errorf("%q", told)
	}
	if last := n.events[len(n.events)-1].Kind; last != event.NodeStopped {
		t.Errorf("the last event is %s", last)
	}
}

func TestAShortOutageInterruptsNoJob(t *testing.T) {
	backend := memory.New()
	release := make(chan struct{})
	n := startNode(t, backend, func(ctx context.Context, _ *work.Run) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ids := insert(t, backend, 4)
	waitUntil(t, "all run", func() bool { return n.count(event.JobStarted) == 4 })
	n.away.Store(true)
	time.Sleep(testLease / 2)
	close(release) // jobs end while the store is unavailable
	time.Sleep(20 * time.Millisecond)
	n.away.Store(false)
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
	if n.count(event.LeaseLost) != 0 || n.count(event.ClaimLost) != 0 {
		t.Errorf("lease lost %d times, claims %d", n.count(event.LeaseLost), n.count(event.ClaimLost))
	}
	if failed, back := n.count(event.StoreFailed), n.count(event.StoreBack); failed == 0 || failed > 4 {
		t.Errorf("the failure was reported %d times (%d times its end)", failed, back)
	}
}

func TestAnOutageLongerThanTheLeaseEndsContextsFirst(t *testing.T) {
	backend := memory.New()
	var interrupted atomic.Int32
	n := startNode(t, backend, func(ctx context.Context, run *work.Run) error {
		if run.Attempt > 1 || interrupted.Load() >= 4 {
			return nil
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), node.ErrClaimLost) {
			t.Errorf("cause: %v", context.Cause(ctx))
		}
		interrupted.Add(1)
		return ctx.Err()
	})
	ids := insert(t, backend, 4)
	waitUntil(t, "all run", func() bool { return n.count(event.JobStarted) == 4 })
	n.away.Store(true)
	waitUntil(t, "contexts ended", func() bool { return interrupted.Load() == 4 })
	n.away.Store(false)
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
	jobs, err := backend.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids}, Limit: 4, Attempts: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if job.Attempt != 1 {
			t.Errorf("job %d: attempt %d; the interrupted one was not refunded", job.ID, job.Attempt)
		}
		if len(job.Attempts) != 1 || job.Attempts[0].Outcome != store.AttemptLeaseLost || job.Attempts[0].Error == "" {
			t.Errorf("job %d: the interrupted attempt left the records %+v", job.ID, job.Attempts)
		}
	}
	if n.count(event.LeaseLost) != 1 || n.count(event.JobReleased) != 4 {
		t.Errorf("lease lost %d times, %d jobs handed back", n.count(event.LeaseLost), n.count(event.JobReleased))
	}
}

func TestAZombiesOutcomeIsRefused(t *testing.T) {
	backend := memory.New()
	hold := make(chan struct{})
	var first atomic.Pointer[context.Context] // context of the run that does not end
	zombie := startNode(t, backend, func(ctx context.Context, _ *work.Run) error {
		if first.CompareAndSwap(nil, &ctx) {
			<-hold // does not end when its context ends
		}
		return nil
	})
	ids := insert(t, backend, 1)
	waitUntil(t, "the zombie runs", func() bool { return zombie.count(event.JobStarted) == 1 })
	zombie.away.Store(true)
	second := startNode(t, backend, func(context.Context, *work.Run) error {
		if (*first.Load()).Err() == nil {
			t.Error("the job was started elsewhere before its first context ended")
		}
		return nil
	})
	waitUntil(t, "rescued and completed", finished(t, backend, store.StateCompleted, ids...))
	zombie.away.Store(false)
	close(hold)
	waitUntil(t, "the zombie's outcome is refused", func() bool { return zombie.count(event.ClaimLost) == 1 })
	if second.count(event.JobRescued) != 1 || second.count(event.NodeDied) != 1 || zombie.count(event.JobCompleted) != 0 {
		t.Errorf("rescued %d, died %d, zombie completed %d", second.count(event.JobRescued), second.count(event.NodeDied), zombie.count(event.JobCompleted))
	}
	insert(t, backend, 3)
	waitUntil(t, "the zombie registered again and works", func() bool {
		return zombie.count(event.JobCompleted)+second.count(event.JobCompleted) == 4 && zombie.count(event.LeaseRegained) > 0
	})
}

func TestClaimsWithoutAnAnswerAreHandedBack(t *testing.T) {
	backend := memory.New()
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	n.loseAnswers.Store(true)
	ids := insert(t, backend, 3)
	waitUntil(t, "the claim was made", func() bool {
		jobs, _ := backend.ListJobs(context.Background(), store.ListJobsRequest{JobFilter: store.JobFilter{IDs: ids, States: []store.State{store.StateRunning}}, Limit: 3})
		return len(jobs) == 3
	})
	n.loseAnswers.Store(false)
	waitUntil(t, "all completed", finished(t, backend, store.StateCompleted, ids...))
}

func TestAStartJudgesNoNodeForOneLease(t *testing.T) {
	backend := memory.New()
	dead, err := backend.Register(context.Background(), store.RegisterRequest{Name: "dead", Lease: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	ids := insert(t, backend, 1)
	if _, err := backend.Claim(context.Background(), store.ClaimRequest{Node: dead.Node, Queue: "q", Kinds: []string{"k"}, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	waitUntil(t, "rescued", finished(t, backend, store.StateCompleted, ids...))
	if took := time.Since(begun); took < testLease || took > testLease+time.Second {
		t.Errorf("the rescue came after %v, want one lease (%v) and at most a second more", took, testLease)
	}
	if n.count(event.NodeDied) != 1 {
		t.Errorf("%d deaths", n.count(event.NodeDied))
	}
}

func TestALongJobOnALivingNodeIsLeftAlone(t *testing.T) {
	backend := memory.New()
	var runs atomic.Int32
	attempt := func(ctx context.Context, _ *work.Run) error {
		runs.Add(1)
		return loop.Sleep(ctx, 4*testLease)
	}
	startNode(t, backend, attempt)
	startNode(t, backend, attempt)
	ids := insert(t, backend, 1, func(job *store.NewJob) { job.OnLoss = store.OnLossFail })
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, ids...))
	if runs.Load() != 1 {
		t.Errorf("it ran %d times", runs.Load())
	}
}

func TestEachJobOnceOnThreeNodes(t *testing.T) {
	backend := memory.New()
	const total = 1000
	var mu sync.Mutex
	seen := make(map[int64]int, total)
	attempt := func(_ context.Context, run *work.Run) error {
		mu.Lock()
		defer mu.Unlock()
		seen[run.ID]++
		return nil
	}
	for range 3 {
		startNode(t, backend, attempt)
	}
	insert(t, backend, total)
	waitUntil(t, "all done", func() bool { mu.Lock(); defer mu.Unlock(); return len(seen) == total })
	for id, n := range seen {
		if n != 1 {
			t.Errorf("job %d ran %d times", id, n)
		}
	}
}

func TestClaimsWithoutAnAnswerAreFoundAfterALongOutageToo(t *testing.T) {
	backend := memory.New()
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	n.loseAnswers.Store(true)
	ids := insert(t, backend, 1)
	waitUntil(t, "the claim was made", func() bool { return n.count(event.StoreFailed) > 0 })
	n.away.Store(true)
	n.loseAnswers.Store(false)
	time.Sleep(3 * testLease)
	n.away.Store(false)
	waitUntil(t, "completed", finished(t, backend, store.StateCompleted, ids...))
}

type silentError struct{ text string }

func (e *silentError) Error() string { return e.text }

func TestANilPointerInAnErrorIsAPanicOfTheJob(t *testing.T) {
	backend := memory.New()
	startNode(t, backend, func(context.Context, *work.Run) error {
		var err *silentError
		return err
	})
	ids := insert(t, backend, 1, func(job *store.NewJob) { job.MaxAttempts = 1 })
	waitUntil(t, "failed", finished(t, backend, store.StateFailed, ids...))
}

func TestAnOutcomeThatCannotBeWrittenHoldsUpNoOther(t *testing.T) {
	backend := memory.New()
	hold := make(chan struct{})
	n := startNode(t, backend, func(context.Context, *work.Run) error { <-hold; return nil })
	ids := insert(t, backend, 20)
	n.refuses.Store(ids[0])
	close(hold)
	waitUntil(t, "the others completed", finished(t, backend, store.StateCompleted, ids[1:]...))
	n.refuses.Store(0)
	waitUntil(t, "that one too, once it can be", finished(t, backend, store.StateCompleted, ids[0]))
}

func TestPrefetchedJobsDoNotWaitForSlowJobs(t *testing.T) {
	backend := memory.New()
	var slow atomic.Bool
	attempt := func(ctx context.Context, _ *work.Run) error {
		if slow.Load() {
			return loop.Sleep(ctx, 50*time.Millisecond)
		}
		return nil
	}
	nodes := []*testNode{startNode(t, backend, attempt), startNode(t, backend, attempt)}
	ids := insert(t, backend, 1000) // short jobs, so that nodes prefetch many
	waitUntil(t, "the quick ones completed", finished(t, backend, store.StateCompleted, ids...))
	slow.Store(true)
	ids = insert(t, backend, 200)
	begun := time.Now()
	waitUntil(t, "the slow ones completed", finished(t, backend, store.StateCompleted, ids...))
	took := time.Since(begun)
	// Two nodes with four workers each need 1.25 s, one node alone 2.5 s.
	t.Logf("took %v; handed back %d and %d", took, nodes[0].count(event.JobReleased), nodes[1].count(event.JobReleased))
	if took > 2300*time.Millisecond {
		t.Errorf("200 jobs of 50 ms took two nodes %v", took)
	}
}

// TestAClockThatWasAheadIsTold runs with a store's clock that is an hour ahead and is then corrected.
func TestAClockThatWasAheadIsTold(t *testing.T) {
	var ahead atomic.Int64
	backend := memory.New(memory.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
	n := startNode(t, backend, func(context.Context, *work.Run) error { return nil })
	text, err := plan.Definition{Rule: recur.Spec{Every: "100ms"}, Kind: "k", Queue: "q", Priority: 5, MaxAttempts: 1}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backend.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: text}}}); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(time.Hour))
	waitUntil(t, "it fires", func() bool { return n.count(event.SlotFired) > 3 })
	ahead.Store(0)
	waitUntil(t, "an event reports it", func() bool { return n.count(event.ScheduleAhead) > 0 })
	fired := n.count(event.SlotFired)
	if err := backend.ChangeSchedules(t.Context(), store.ChangeSchedulesRequest{Action: store.ResetSchedules, Names: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "it fires again after a reset", func() bool { return n.count(event.SlotFired) > fired })
}
