package fire

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
)

const (
	// spreadAllInterval is how often a node compares all schedules that are, or were, on every host with their hosts. The start of a
	// node is one of these times, so that a host that joins has its schedules at once.
	spreadAllInterval = 10 * time.Minute
	// spreadBatch is how many schedules are spread within one limit of time.
	spreadBatch = 50
)

// Spreader spreads schedules on every host while a node runs: schedules that were put, schedules whose time to look has come,
// and now and then all of them. It is a loop of its own, so that it does not delay slots. Concurrent calls are allowed, except
// of Run.
type Spreader struct {
	settler     Settler
	node        *node.Node
	callTimeout time.Duration
	wake        loop.Signal
	said        map[string]string // by schedule, the problem that an event has reported

	mu    sync.Mutex
	asked map[string]bool
}

// NewSpreader returns a Spreader. callTimeout limits the calls of one step.
func NewSpreader(settler Settler, n *node.Node, callTimeout time.Duration) *Spreader {
	return &Spreader{settler: settler, node: n, callTimeout: callTimeout, wake: loop.NewSignal(), said: map[string]string{}, asked: map[string]bool{}}
}

// Spread asks Run to spread a schedule.
func (s *Spreader) Spread(schedule string) {
	s.mu.Lock()
	s.asked[schedule] = true
	s.mu.Unlock()
	s.wake.Notify()
}

// take returns the schedules that are to be spread now, in byte order.
func (s *Spreader) take() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.asked {
		names = append(names, name)
	}
	clear(s.asked)
	slices.Sort(names)
	return names
}

// Run spreads schedules until ctx ends.
func (s *Spreader) Run(ctx context.Context) {
	allAt := loop.AlreadyDue
	for ctx.Err() == nil {
		switch {
		case s.node.Blocked():
			_ = loop.Sleep(ctx, blockedDelay) // the loop condition checks ctx
			continue
		case allAt <= loop.Now():
			s.spreadAll(ctx)
			allAt = loop.Now().Add(time.Duration(float64(spreadAllInterval) * (0.5 + loop.Around(s.settler.Store).Random("spread schedules"))))
		}
		s.spread(ctx, s.take())
		timer := time.NewTimer(allAt.Until())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.wake:
		}
		timer.Stop()
	}
}

// spreadAll spreads all schedules that are, or were, on every host.
func (s *Spreader) spreadAll(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, s.callTimeout)
	defer cancel()
	names, err := s.settler.Spreading(call)
	if err == nil {
		s.spread(ctx, names)
	}
	s.stored(ctx, err)
}

// spread spreads schedules. What fails is tried again when the schedule is due to be looked at.
func (s *Spreader) spread(ctx context.Context, names []string) {
	for some := range slices.Chunk(names, spreadBatch) {
		call, cancel := context.WithTimeout(ctx, s.callTimeout)
		problems, err := s.settler.Spread(call, some)
		cancel()
		if s.stored(ctx, err); err != nil {
			return
		}
		for _, name := range some {
			s.tell(name, problems[name])
		}
	}
}

// stored reports whether calls of the store fail.
func (s *Spreader) stored(ctx context.Context, err error) {
	switch {
	case err == nil:
		s.node.Report().StoreWorks("spread schedules")
	case ctx.Err() == nil:
		s.node.Report().StoreFailed("spread schedules", err)
	}
}

// tell emits an event for a problem of a schedule, once.
func (s *Spreader) tell(name string, problem error) {
	switch {
	case problem == nil, errors.Is(problem, context.DeadlineExceeded), errors.Is(problem, context.Canceled):
		delete(s.said, name)
	case s.said[name] != problem.Error():
		s.said[name] = problem.Error()
		s.node.Report().Emit(event.Event{Kind: event.ScheduleBad, Schedule: name, Err: problem})
	}
}
