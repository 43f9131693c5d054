package hourbell

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// What one insert of gathered jobs takes at most, and when another insert may begin
// concurrently: while one is under way, the next gathers more, which beats two at a
// time; but one that takes long, because a connection hangs, does not hold up the
// others.
const (
	gatherJobs    = 1000
	gatherBytes   = 4 << 20
	gatherSlow    = 20 * time.Millisecond
	gatherFlights = 4
)

// An insert into a store that is far away mostly waits for the network, and so would
// the calls that wait for the insert before. There another insert may begin after this
// part of a round trip.
const gatherPart = 4

// How often at most, and for how long, a flight yields to those who were just
// answered. A yield lets some 60 of them run on each processor, and fewer where
// another one is idle and takes the flight up again.
const (
	returnYields = 64
	returnTime   = time.Millisecond
)

// gatherer brings single enqueues that come at the same time into one insert,
// since what a store takes its time for is the commit. It never waits for more:
// who comes while no insert is under way inserts at once, in his own goroutine;
// the others gather meanwhile and go together as soon as that ends, or sooner where
// the store is far away. A goroutine of its own lives only while jobs wait.
type gatherer struct {
	backend store.Backend
	limit   time.Duration // of a caller who waits

	mu      sync.Mutex
	flights int       // inserts under way
	begun   time.Time // when the last of them began
	landing int       // of them: have ended, and let their callers enqueue again
	waiting []*batch  // in order; only the last one has room
	usual   int       // jobs of the batch that was sent last
}

// batch is jobs of several callers on their way into one insert.
type batch struct {
	jobs    []store.NewJob
	calls   []*call // whose the jobs are
	bytes   int     // of what the jobs carry
	present int     // callers who still wait for the answer
	sent    bool
	ctx     context.Context // of the insert; ends when nobody waits for it any more
	forget  context.CancelFunc
	done    chan struct{} // closed when all answers are there
}

// call is one caller, then the answer.
type call struct {
	place int  // of its job in the batch
	left  bool // the caller has gone, and the job goes with it
	id    int64
	err   error
}

// insert stores one job and returns its number when it is durable. If ctx ends
// before the job was sent, it is not stored.
func (g *gatherer) insert(ctx context.Context, job store.NewJob) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("the job was not stored: %w", err)
	}
	c := &call{}
	b := g.join(c, job)
	if b == nil {
		defer g.landed()
		g.send(ctx, []store.NewJob{job}, []*call{c})
		if c.err != nil && ctx.Err() != nil {
			return 0, unknown(c.err)
		}
		return c.id, c.err
	}
	patience := time.NewTimer(g.limit)
	defer patience.Stop()
	select {
	case <-b.done:
		return c.id, c.err
	case <-ctx.Done():
		return 0, g.leave(b, c, ctx.Err())
	case <-patience.C:
		return 0, g.leave(b, c, fmt.Errorf("no answer within %v: %w", g.limit, context.DeadlineExceeded))
	}
}

// join adds a call to those that wait; nil: it need not wait, and the caller is
// to send it.
func (g *gatherer) join(c *call, job store.NewJob) *batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flights == 0 {
		g.flights++
		g.begun = time.Now()
		return nil
	}
	size := len(job.Args) + len(job.Headers)
	if n := len(g.waiting); n == 0 || !g.waiting[n-1].room(size) {
		g.waiting = append(g.waiting, newBatch(g.usual))
		if patience := g.patience(); patience < gatherSlow {
			time.AfterFunc(patience-time.Since(g.begun), g.depart)
		}
	}
	b := g.waiting[len(g.waiting)-1]
	c.place = len(b.jobs)
	b.jobs, b.calls = append(b.jobs, job), append(b.calls, c)
	b.bytes += size
	b.present++
	g.overtake()
	return b
}

// patience is how long an insert may be under way before the next one begins.
func (g *gatherer) patience() time.Duration {
	if away := store.RoundTrip(g.backend); away > 0 {
		return min(away/gatherPart, gatherSlow)
	}
	return gatherSlow
}

// depart is for a batch that has waited as long as patience demands.
func (g *gatherer) depart() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.overtake()
}

// overtake sends those who wait while another insert is under way, if that has taken
// its time. The caller holds mu.
func (g *gatherer) overtake() {
	if len(g.waiting) == 0 || g.flights >= gatherFlights || g.landing > 0 || time.Since(g.begun) < g.patience() {
		return
	}
	g.flights++
	go g.fly(g.take())
}

func newBatch(usual int) *batch {
	b := &batch{jobs: make([]store.NewJob, 0, usual), calls: make([]*call, 0, usual), done: make(chan struct{})}
	b.ctx, b.forget = context.WithCancel(context.Background())
	return b
}

// room says whether one more job fits.
func (b *batch) room(size int) bool {
	return len(b.jobs) < gatherJobs && b.bytes+size <= gatherBytes
}

// leave is for a caller who waits no longer, and why. What it answers is the truth
// about its job: not stored, or unknown.
func (g *gatherer) leave(b *batch, c *call, why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.present--; b.present == 0 {
		b.forget()
	}
	if b.sent {
		return unknown(why)
	}
	c.left = true
	b.jobs[c.place] = store.NewJob{} // to keep nothing of it
	if b.present == 0 {
		g.waiting = slices.DeleteFunc(g.waiting, func(other *batch) bool { return other == b })
	}
	return fmt.Errorf("the job was not stored: %w", why)
}

// unknown marks an error after which a job may have been stored or not.
func unknown(err error) error {
	if errors.Is(err, ErrUnknown) {
		return err // the store says so, and of what
	}
	return fmt.Errorf("it is unknown whether the job was stored: %w", unknownError{err})
}

// unknownError is an error that is also ErrUnknown, whose text its caller gives.
type unknownError struct{ error }

func (e unknownError) Unwrap() []error { return []error{e.error, ErrUnknown} }

// landed is called after an insert of a caller's own: those who have gathered
// meanwhile go next.
func (g *gatherer) landed() {
	if b := g.next(false); b != nil {
		go g.fly(b)
	}
}

// fly sends one batch after the other while there are any.
func (g *gatherer) fly(b *batch) {
	for ; b != nil; b = g.next(true) {
		g.send(b.ctx, b.jobs, b.calls)
		b.forget()
		all := g.land(b)
		close(b.done)
		g.letReturn(all)
	}
}

// land notes that an insert has ended whose callers may come again, and returns how
// many jobs there are then.
func (g *gatherer) land(b *batch) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.landing++
	if len(g.waiting) == 0 {
		return len(b.calls)
	}
	return len(b.calls) + len(g.waiting[0].jobs)
}

// letReturn lets those who have their answers enqueue again, so that all go along,
// they and those who wait already. It yields and does not sleep: where they do
// something else it is over in microseconds, and in a busy program after returnTime.
func (g *gatherer) letReturn(all int) {
	for start, n := time.Now(), 0; n < returnYields && time.Since(start) < returnTime; n++ {
		runtime.Gosched()
		if g.gathered() >= min(all, gatherJobs) {
			return
		}
	}
}

// gathered is how many jobs the next insert would have.
func (g *gatherer) gathered() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		return 0
	}
	return len(g.waiting[0].jobs)
}

// next takes the batch that has waited longest; nil: there is none, and the flight
// is over. It ends what land has begun.
func (g *gatherer) next(landing bool) *batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	if landing {
		g.landing--
	}
	if len(g.waiting) == 0 {
		g.flights--
		return nil
	}
	return g.take()
}

// take takes the batch that has waited longest, without those who have left. The
// caller holds mu, and there is a batch.
func (g *gatherer) take() *batch {
	b := g.waiting[0]
	g.waiting = slices.Delete(g.waiting, 0, 1)
	if b.present < len(b.calls) {
		b.dropLeft()
	}
	b.sent = true
	g.usual = len(b.jobs)
	g.begun = time.Now()
	return b
}

// dropLeft takes out the jobs of those who have left.
func (b *batch) dropLeft() {
	stay := 0
	for i, c := range b.calls {
		if !c.left {
			b.jobs[stay], b.calls[stay] = b.jobs[i], c
			stay++
		}
	}
	b.jobs, b.calls = b.jobs[:stay], b.calls[:stay]
}

// send inserts the jobs and leaves each call its answer. Where the store rejects
// a value of one of them it inserts them in halves, so that the others get in.
func (g *gatherer) send(ctx context.Context, jobs []store.NewJob, calls []*call) {
	res, err := g.backend.Insert(ctx, store.InsertRequest{Jobs: jobs})
	if half := len(calls) / 2; half > 0 && errors.Is(err, store.ErrRejected) {
		g.send(ctx, jobs[:half], calls[:half])
		g.send(ctx, jobs[half:], calls[half:])
		return
	}
	if err == nil && len(res.IDs) != len(calls) {
		err = fmt.Errorf("the store answered with %d numbers for %d jobs", len(res.IDs), len(calls))
	}
	for i, c := range calls {
		if c.err = err; err == nil {
			c.id = res.IDs[i]
		}
	}
}
