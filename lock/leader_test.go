package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

// TestOneLeads runs three leaders over one store: one leads, and the next leads when it stops.
func TestOneLeads(t *testing.T) {
	provider := memory.New()
	var leading, most atomic.Int64
	var stops []context.CancelFunc
	var leaders []*lock.Leader
	led, ended := make(chan int, 3), make(chan error, 3)
	for i := range 3 {
		leader, err := lock.NewLeader(locker(t, provider, lock.Config{Lease: time.Second}), "crier")
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		leaders, stops = append(leaders, leader), append(stops, stop)
		go func() {
			ended <- leader.Run(ctx, func(ctx context.Context, held *lock.Lock) error {
				most.Store(max(most.Load(), leading.Add(1)))
				led <- i
				<-ctx.Done()
				leading.Add(-1)
				return ctx.Err()
			})
		}()
	}
	seen := map[int]bool{}
	for range 3 {
		i := <-led
		if _, leads := leaders[i].Leading(); !leads || seen[i] {
			t.Errorf("leader %d: leads %t, again %t", i, leads, seen[i])
		}
		seen[i] = true
		stops[i]()
		must(t, <-ended)
		if _, leads := leaders[i].Leading(); leads {
			t.Errorf("leader %d leads after its end", i)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d led at once", most.Load())
	}
}

// away is a provider whose store can be away.
type away struct {
	lock.Provider
	now atomic.Bool
}

var errAway = errors.New("the store is away")

func (a *away) TryLock(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if a.now.Load() {
		return nil, errAway
	}
	lease, err := a.Provider.TryLock(ctx, req)
	return awayLease{lease, a}, err
}

type awayLease struct {
	lock.Lease
	store *away
}

func (l awayLease) Extend(ctx context.Context, hold time.Duration) error {
	if l.store.now.Load() {
		return errAway
	}
	return l.Lease.Extend(ctx, hold)
}

// TestALeadIsLostAndWonAgain takes the store away for longer than the lease.
func TestALeadIsLostAndWonAgain(t *testing.T) {
	store := &away{Provider: memory.New()}
	leader, err := lock.NewLeader(locker(t, store, lock.Config{Lease: 200 * time.Millisecond}), "crier")
	must(t, err)
	errDone := errors.New("done")
	times := 0
	err = leader.Run(t.Context(), func(ctx context.Context, held *lock.Lock) error {
		if times++; times == 2 {
			return errDone
		}
		store.now.Store(true)
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("the context ended because of %v", cause)
		}
		if _, leads := leader.Leading(); leads {
			t.Error("leads after the loss")
		}
		store.now.Store(false)
		return ctx.Err()
	})
	if !errors.Is(err, errDone) || times != 2 {
		t.Errorf("%v after %d leads", err, times)
	}
}

func TestALeaderNeedsAName(t *testing.T) {
	if _, err := lock.NewLeader(locker(t, memory.New(), lock.Config{}), ""); err == nil {
		t.Error("no name is accepted")
	}
}

// What only one process may do at a time, such as reading a feed, runs on the process that leads.
func ExampleLeader() {
	locks, err := lock.New(memory.New(), lock.Config{}) // in production a provider of a driver
	if err != nil {
		fmt.Println(err)
		return
	}
	leader, err := lock.NewLeader(locks, "feed")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = leader.Run(context.Background(), func(ctx context.Context, held *lock.Lock) error {
		fmt.Println("reading, with token", held.Token()) // until ctx ends
		return nil
	})
	fmt.Println(err)
	// Output:
	// reading, with token 1
	// <nil>
}
