package work

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
)

// fetchCrew is who runs the jobs that a fetcher claims.
type fetchCrew struct {
	crew     crew
	width    int             // number of workers at the last look at crew
	workers  *sync.WaitGroup // counts the workers
	replaced atomic.Int64    // stuck workers in whose place there are others

	// A queue of a place is dormant until its first job: it has no workers, and wake-ups that may be
	// for other queues make it claim at most once per dormantPause. Most places have no jobs.
	dormant bool

	jobs     chan *Run
	inFlight atomic.Int64 // claimed jobs that are not over, without jobs whose workers are stuck and replaced
	room     loop.Signal  // is sent when inFlight falls so far that it is not full any more
}

// count counts runs that were left, which the fetcher will take up, as in flight and with permits.
func (f *fetcher) count(left []*Run) {
	f.inFlight.Add(int64(len(left)))
	for _, run := range left {
		if !run.permitted { // otherwise this program has left it, and it has kept its permit
			run.permitted = true
			f.permits.running.Add(1)
		}
	}
}

// hire starts the workers that are missing.
func (f *fetcher) hire() {
	f.dormant = false
	for _, number := range f.crew.missing() {
		f.workers.Go(func() { f.work(number) })
	}
}

// follow takes over changes of the number of workers and of the bounds of kinds. Jobs that no worker has
// taken go back when a bound has changed, or when there are fewer workers than before.
func (f *fetcher) follow() {
	width, rebound := f.crew.width(), f.rebound.Swap(false)
	if width == f.width && !rebound {
		return
	}
	fewer := width < f.width
	f.width = width
	if fewer || rebound {
		f.releaseUnstarted(notInTime)
	} else {
		f.learn(func() {})
	}
	if !f.dormant {
		f.hire()
	}
}

// hasChanged reports whether follow has something to take over.
func (f *fetcher) hasChanged() bool { return f.crew.width() != f.width || f.rebound.Load() }

// work runs jobs one after another, as the worker with a number, until the fetcher closes the channel
// or the queue has fewer workers. If a job ends the goroutine, a new goroutine continues the work.
func (f *fetcher) work(number int) {
	goroutine, over := goroutineNumber(), false
	var last *Run
	replaced := func() bool { return last != nil && last.attemptNow().replaced }
	defer func() {
		if !over && !replaced() {
			f.workers.Go(func() { f.work(number) })
		}
	}()
	for {
		size := f.crew.size.Load() // before the look at the width, so that no change is missed
		if f.crew.leave(number) {
			break
		}
		select {
		case run, open := <-f.jobs:
			if !open {
				over = true
				return
			}
			last = run
			f.workOn(run, number, goroutine)
			if replaced() { // another worker has the number
				over = true
				return
			}
			last = nil
		case <-size.changed:
		}
	}
	over = true
}

// workOn attends to a run when there is a permit, or gives it back, as the worker with a number in a goroutine.
func (f *fetcher) workOn(run *Run, number int, goroutine uint64) {
	if !f.permits.begin(f) {
		f.runner.around.Step(context.Background(), fmt.Sprintf("%s gives back %d", f.queue, run.ID))
		f.releaseRuns([]*Run{run}, "it was claimed in advance, and no permit of its queue was free in time")
		f.room.Notify()
		return
	}
	f.begun.Add(1)
	run.permitted = true
	f.attend(run, number, goroutine)
}

// attend executes a run that is counted as in flight and has a permit, as the worker with a number, or -1, in a goroutine.
func (f *fetcher) attend(run *Run, number int, goroutine uint64) {
	run.begins(f, number, goroutine)
	took := time.Duration(0)
	defer func() {
		at := run.returns()
		f.runner.afterAll(run, at)
		if took > 0 { // before the fetcher learns of the room
			f.workTime.Add(int64(took))
			f.ended.Add(1)
		}
		if !run.isLeft() && !at.abandoned { // otherwise the job goes on, or the permit was given back
			f.permits.end()
		}
		if !at.replaced {
			f.inFlight.Add(-1)
		} else if f.replaced.Add(-1); !at.abandoned {
			f.permits.stuck.Add(-1)
		}
		if !f.full() {
			f.room.Notify()
		}
		if f.short.Load() && f.runner.bounds.has(run.Kind) {
			f.wake.Notify()
		}
	}()
	took = f.runner.execute(run)
}

// notInTime is why a job goes back that was claimed in advance.
const notInTime = "it was claimed in advance, and no worker was free in time"

// releaseUnstarted releases the jobs that have not begun, so that other nodes can claim them,
// and stops prefetching until jobs are short again.
func (f *fetcher) releaseUnstarted(why string) {
	f.learn(func() { f.pace = pace{} })
	defer f.permits.dismiss(f, false)
	for {
		select {
		case run := <-f.jobs:
			f.runner.deliver(run, result{outcome: unstarted(run.Claimed), why: why})
			f.begun.Add(1)
			f.inFlight.Add(-1)
		default:
			return
		}
	}
}

// releaseRuns releases runs that were not passed to a worker.
func (f *fetcher) releaseRuns(runs []*Run, why string) {
	for _, run := range runs {
		f.runner.deliver(run, result{outcome: unstarted(run.Claimed), why: why})
		f.inFlight.Add(-1)
	}
}
