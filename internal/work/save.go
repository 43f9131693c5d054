package work

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
)

// saveGap is the shortest interval between two rounds of a saver.
const saveGap = time.Second

// saver collects runs that have something new to be stored while they run, and stores it in calls for
// many runs, at most one round of calls each saveGap. A failure is repeated with the newest state of
// the runs; it never ends a run.
type saver struct {
	what   string // for reports
	report *loop.Report
	wake   loop.Signal
	// save stores what some of the runs have, in one call, and returns the runs that it left. again
	// means that these runs wait for the next round; otherwise they are stored in the same round.
	save func(ctx context.Context, runs []*Run) (left []*Run, again bool, err error)

	mu      sync.Mutex
	waiting map[*Run]struct{}
	writing loop.Lock // held during a round, so that an older state cannot overtake a newer state
}

func newSaver(what string, report *loop.Report, save func(ctx context.Context, runs []*Run) (left []*Run, again bool, err error)) *saver {
	return &saver{what: what, report: report, wake: loop.NewSignal(), save: save, waiting: map[*Run]struct{}{}, writing: loop.NewLock()}
}

// add adds runs that have something new; it never blocks for long.
func (s *saver) add(runs ...*Run) {
	if len(runs) == 0 {
		return
	}
	s.mu.Lock()
	for _, run := range runs {
		s.waiting[run] = struct{}{}
	}
	s.mu.Unlock()
	s.wake.Notify()
}

// take returns the waiting runs, in random order.
func (s *saver) take() []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := slices.Collect(maps.Keys(s.waiting))
	clear(s.waiting)
	return runs
}

// run saves until ctx ends.
func (s *saver) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		if ctx.Err() != nil {
			return
		}
		s.write(ctx)
		if loop.Sleep(ctx, saveGap) != nil {
			return
		}
	}
}

// write is one round.
func (s *saver) write(ctx context.Context) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for runs := s.take(); len(runs) > 0; {
		left, again, err := s.save(ctx, runs)
		switch {
		case err != nil:
			s.add(runs...)
			if ctx.Err() == nil {
				s.report.StoreFailed(s.what, err)
			}
			return
		case again:
			s.add(left...)
			left = nil
		}
		s.report.StoreWorks(s.what)
		runs = left
	}
}
