package work

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/handover"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// permitStore is a store whose exchanges are answered by a function.
type permitStore struct {
	Store
	answer func(store.ExchangePermitsRequest) (share int, err error)
}

func (s *permitStore) ExchangePermits(_ context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error) {
	share, err := s.answer(req)
	return store.QueuePermits{Revision: 1, Bounded: true, Permits: max(share, req.InUse), Share: share, Scarce: true}, err
}

// newTestPermits returns the permits of a queue with a limit, and a fetcher of a number of workers.
func newTestPermits(t *testing.T, width int, answer func(store.ExchangePermitsRequest) (share int, err error)) (*permits, *fetcher) {
	r := newRunner(t, nil, Config{
		Store: &permitStore{Store: memory.New(), answer: answer}, Queues: map[string]int{"q": width},
		CallTimeout: time.Second, Heartbeat: time.Hour, Far: func() bool { return false },
	})
	f := r.fetchers()[0]
	return f.permits, f
}

// begins starts to wait for a permit, and returns the answer.
func begins(p *permits, f *fetcher) <-chan bool {
	answer := make(chan bool, 1)
	waiting := f.gated.Load()
	go func() { answer <- p.begin(f) }()
	for len(answer) == 0 && f.gated.Load() == waiting {
		time.Sleep(time.Millisecond)
	}
	return answer
}

func TestClaimedJobsWaitForPermits(t *testing.T) {
	var share, inUse atomic.Int64
	var fails atomic.Bool
	p, f := newTestPermits(t, 10, func(req store.ExchangePermitsRequest) (int, error) {
		if inUse.Store(int64(req.InUse)); fails.Load() {
			return 0, errors.New("not now")
		}
		return int(share.Load()), nil
	})
	exchange := func() {
		p.exchanging.Lock()
		defer p.exchanging.Unlock()
		p.exchange(t.Context(), 0)
	}
	is := func(what string, answer <-chan bool, want bool) {
		t.Helper()
		if len(answer) == 0 && f.gated.Load() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		if (len(answer) > 0) != want {
			t.Errorf("%s: %d answers", what, len(answer))
		}
	}
	f.inFlight.Store(3)
	for range 3 {
		is("without a limit", begins(p, f), true)
	}
	p.compare(1, 0)
	fourth := begins(p, f)
	is("after a claim has found a limit, before the exchange", fourth, false)
	share.Store(3)
	exchange()
	if inUse.Load() != 3 {
		t.Errorf("%d jobs are in use; 3 run", inUse.Load())
	}
	is("while as many run as may", fourth, false)
	f.inFlight.Add(1)
	p.end()
	if !<-fourth {
		t.Error("a job went back though another has ended")
	}
	f.inFlight.Store(9)
	share.Store(1)
	exchange()
	if inUse.Load() != 3 {
		t.Errorf("%d are in use; 3 run, and others have no permits", inUse.Load())
	}
	p.end()
	fifth := begins(p, f)
	is("while more run than may", fifth, false)
	p.end()
	is("while as many run as may", fifth, false)
	if p.dismiss(f, false); <-fifth || f.begun.Load() != 1 {
		t.Error("a job that went back may begin, or does not count as begun")
	}
	fails.Store(true)
	p.end()
	f.inFlight.Store(0)
	exchange()
	share.Store(5)
	sixth := begins(p, f)
	is("after an exchange that may have returned all permits", sixth, false)
	fails.Store(false)
	exchange()
	if !<-sixth {
		t.Error("a job went back though there are permits")
	}
	p.dismiss(f, true)
	for range 4 {
		is("of a fetcher that has ended, with permits", begins(p, f), true)
	}
	if last := begins(p, f); <-last {
		t.Error("a job of a fetcher that has ended began without a permit")
	}
}

// TestPermitsInUseAreKept lets workers begin and end jobs while permits are exchanged, also in vain, and for other numbers of permits.
func TestPermitsInUseAreKept(t *testing.T) {
	const workers, rounds = 20, 1000
	var mu sync.Mutex
	held, running, greatest := 0, 0, 0
	p, f := newTestPermits(t, workers, func(req store.ExchangePermitsRequest) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		share := rand.IntN(6)
		if held = max(share, req.InUse); running > held {
			t.Errorf("%d jobs run, and the node keeps %d permits", running, held)
		}
		if rand.IntN(4) == 0 {
			return 0, errors.New("the answer was lost")
		}
		return share, nil
	})
	p.compare(1, 0)
	var over atomic.Bool
	var wg sync.WaitGroup
	f.inFlight.Store(workers)
	for range workers {
		wg.Go(func() {
			for !over.Load() && p.begin(f) {
				mu.Lock()
				if running++; running > held {
					t.Errorf("%d jobs run with %d permits", running, held)
				}
				greatest = max(greatest, running)
				mu.Unlock()
				if rand.IntN(3) == 0 {
					time.Sleep(time.Microsecond)
				}
				mu.Lock()
				running--
				mu.Unlock()
				p.end()
			}
		})
	}
	for range rounds {
		p.exchanging.Lock()
		p.exchange(t.Context(), 0)
		p.exchanging.Unlock()
		f.inFlight.Store(rand.Int64N(workers))
		time.Sleep(time.Microsecond)
	}
	over.Store(true)
	p.dismiss(f, true)
	wg.Wait()
	if greatest < 2 {
		t.Errorf("at most %d jobs ran at a time", greatest)
	}
}

// TestAFetcherWaitsInTurn checks that a fetcher that has nothing to run gets the next free permit for a claim before the jobs that
// another fetcher has claimed in advance.
func TestAFetcherWaitsInTurn(t *testing.T) {
	p, f := newTestPermits(t, 10, func(store.ExchangePermitsRequest) (int, error) { return 1, nil })
	g := newFetcher(p.runner, "q@host", "q", 10, 0, p)
	p.serve([]*fetcher{f, g})
	p.compare(1, 0)
	p.ask(t.Context(), f, 10)
	f.depth.Store(4)
	if n := p.reserve(f, 10); n != 5 {
		t.Fatalf("a fetcher claims %d jobs, not as many as may run and its depth", n)
	}
	f.inFlight.Add(5)
	p.release(f)
	if !p.begin(f) {
		t.Fatal("there is no permit")
	}
	turn := make(chan int)
	go func() {
		n := 0
		for n == 0 {
			n = p.reserve(g, 10)
			if n == 0 {
				n = g.awaitTurn(t.Context())
			}
		}
		turn <- n
	}()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		waits = len(p.waiting) > 0
		p.mu.Unlock()
	}
	second := begins(p, f)
	p.end()
	if n := <-turn; n != 1 {
		t.Errorf("the other fetcher may claim %d jobs", n)
	}
	if len(second) > 0 {
		t.Error("a job that came later has begun")
	}
	p.release(g)
	if !<-second {
		t.Error("the job went back")
	}
}

// TestRunsThatWereLeftKeepTheirPermits checks that a run that its worker has left counts until its job is over: a run of the program
// before, which had no permit of this program, and a run that this program has left.
func TestRunsThatWereLeftKeepTheirPermits(t *testing.T) {
	p, f := newTestPermits(t, 10, nil)
	end := error(&handover.LeftError{Left: &handover.Left{}})
	p.runner.cfg.Work = func(context.Context, *Run) error { return end }
	p.runner.TakeOver(t.Context(), []RunState{{Job: store.Claimed{ID: 1, Token: 1, JobSpec: store.JobSpec{Queue: "q"}}}}, nil)
	runs := p.runner.left()["q"]
	for range 3 {
		f.count(runs)
		f.attend(runs[0], -1, 0)
		if n := p.running.Load(); n != 1 {
			t.Fatalf("%d permits are taken while one job goes on", n)
		}
	}
	end = nil
	f.count(runs)
	f.attend(runs[0], -1, 0)
	if n := p.running.Load(); n != 0 {
		t.Errorf("%d permits are taken, and no job goes on", n)
	}
}

// TestANodeWithoutPermitsKeepsNone expects that a node which holds no permits and needs none does not look after them.
func TestANodeWithoutPermitsKeepsNone(t *testing.T) {
	p, f := newTestPermits(t, 2, func(req store.ExchangePermitsRequest) (int, error) { return req.Want, nil })
	f.wants.Store(2)
	p.exchanging.Lock()
	p.exchange(t.Context(), 0)
	p.exchanging.Unlock()
	if !p.keep(t.Context()) || p.last.Permits != 2 {
		t.Fatalf("a node that needs 2 permits holds %d, and looks after them no more", p.last.Permits)
	}
	f.wants.Store(0)
	for range 3 { // permits are returned when they were not used between two looks
		if !p.keep(t.Context()) {
			break
		}
	}
	if p.keep(t.Context()) || p.last.Permits != 0 {
		t.Errorf("a node that needs no permits holds %d, or goes on to look after them", p.last.Permits)
	}
}
