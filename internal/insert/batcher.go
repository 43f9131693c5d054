package insert

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

// The limits of one insert of batched jobs, and when another insert may begin
// concurrently. While one insert is under way, the next batch collects more
// jobs, which is faster than two concurrent inserts; but an insert that takes
// long, because a connection hangs, does not delay later jobs.
const (
	maxBatchJobs  = 1000
	maxBatchBytes = 4 << 20
	slowInsert    = 20 * time.Millisecond
	maxFlights    = 4
)

// An insert into a store that is far away mostly waits for the network, and so
// would the calls that wait for the previous insert. With such a store another
// insert may begin after this part of a round trip.
const roundTripPart = 4

// How often at most, and for how long, a flight yields to callers that have
// just been answered. One yield lets about 60 of them run on each processor,
// and fewer if another processor is idle and continues the flight.
//
// Without yields, 8 goroutines that enqueue one job after the other reach 0.66
// of the jobs per second on PostgreSQL and 0.55 on SQLite, because the inserts
// of half of them alternate with the inserts of the other half. With 100
// goroutines or more there is no difference (BenchmarkEnqueue of both drivers,
// PostgreSQL with fsync, medians of five alternating rounds).
const (
	returnYields = 64
	returnTime   = time.Millisecond
)

// Batcher puts single jobs that come at the same time into one insert, because
// the commit is the expensive part of an insert. It never waits for more jobs.
// Concurrent calls are allowed.
//
//	state of a call  | event                                     | next
//	-----------------+-------------------------------------------+------------------------------
//	new              | no insert is under way                    | its own goroutine inserts it
//	                 | otherwise                                 | waits in the last batch
//	waits in a batch | an insert ends, the batch is the first    | the batch is sent
//	                 | the insert under way takes long, or the   | the batch is sent concurrently
//	                 | store is far away (see patience)          |
//	                 | its caller leaves                         | not stored
//	sent             | the store answers                         | answered
//	                 | its caller leaves                         | unknown to the caller
//	                 | all callers of the batch leave            | the insert is cancelled
//
// A flight is a sequence of inserts; it ends when no batch waits. A goroutine
// for a flight lives only while jobs wait.
type Batcher struct {
	store store.Backend
	limit time.Duration // how long a caller waits for an answer

	mu      sync.Mutex
	flights int       // inserts under way
	begun   time.Time // when the last of them began
	landing int       // how many of the inserts have ended and let their callers enqueue again
	waiting []*batch  // in order; only the last one has room
	usual   int       // jobs of the batch that was sent last
}

// NewBatcher returns a Batcher that inserts into backend. limit is how long a
// caller waits for an answer.
func NewBatcher(backend store.Backend, limit time.Duration) *Batcher {
	return &Batcher{store: backend, limit: limit}
}

// batch is the jobs of several callers in one insert.
type batch struct {
	jobs    []store.NewJob
	calls   []*call // the callers of the jobs
	bytes   int     // size of the jobs' data
	present int     // number of callers that still wait for the answer
	sent    bool
	ctx     context.Context // of the insert; ends when no caller waits for it any more
	forget  context.CancelFunc
	done    chan struct{} // closed when all answers are set
}

// call is one caller, and then its answer.
type call struct {
	place  int  // index of its job in the batch
	left   bool // the caller has left, so its job is not sent
	answer [1]store.Inserted
	err    error
}

// result returns the answer.
func (c *call) result() ([]store.Inserted, error) {
	if c.err != nil {
		return nil, c.err
	}
	return c.answer[:], nil
}

// Insert stores one job, the only element of jobs, and returns when the job is
// durable. If ctx ends before the job was sent, the job is not stored. If no answer arrives before ctx or
// the limit ends, the error wraps store.ErrUnknown.
func (ib *Batcher) Insert(ctx context.Context, jobs []store.NewJob) ([]store.Inserted, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the job was not stored: %w", err)
	}
	c := &call{}
	b := ib.join(c, jobs[0])
	if b == nil {
		defer ib.landed()
		ib.send(ctx, jobs, []*call{c})
		if c.err != nil && ctx.Err() != nil {
			return nil, Unknown(c.err)
		}
		return c.result()
	}
	patience := time.NewTimer(ib.limit)
	defer patience.Stop()
	select {
	case <-b.done:
		return c.result()
	case <-ctx.Done():
		return nil, ib.leave(b, c, ctx.Err())
	case <-patience.C:
		return nil, ib.leave(b, c, fmt.Errorf("no answer within %v: %w", ib.limit, context.DeadlineExceeded))
	}
}

// join adds a call to a waiting batch; nil means that the caller must send the
// job itself, without waiting.
func (ib *Batcher) join(c *call, job store.NewJob) *batch {
	ib.mu.Lock()
	defer ib.mu.Unlock()
	if ib.flights == 0 {
		ib.flights++
		ib.begun = time.Now()
		return nil
	}
	size := len(job.Args) + len(job.Headers)
	if n := len(ib.waiting); n == 0 || !ib.waiting[n-1].room(size) {
		ib.waiting = append(ib.waiting, newBatch(ib.usual))
		if patience := ib.patience(); patience < slowInsert {
			time.AfterFunc(patience-time.Since(ib.begun), ib.depart)
		}
	}
	b := ib.waiting[len(ib.waiting)-1]
	c.place = len(b.jobs)
	b.jobs, b.calls = append(b.jobs, job), append(b.calls, c)
	b.bytes += size
	b.present++
	ib.overtake()
	return b
}

// patience returns how long an insert may be under way before the next insert
// begins.
func (ib *Batcher) patience() time.Duration {
	if away := store.RoundTrip(ib.store); away > 0 {
		return min(away/roundTripPart, slowInsert)
	}
	return slowInsert
}

// depart sends a batch that has waited for the time of patience.
func (ib *Batcher) depart() {
	ib.mu.Lock()
	defer ib.mu.Unlock()
	ib.overtake()
}

// overtake sends the waiting batch while another insert is under way, if that
// insert has taken longer than patience. The caller holds mu.
func (ib *Batcher) overtake() {
	if len(ib.waiting) == 0 || ib.flights >= maxFlights || ib.landing > 0 || time.Since(ib.begun) < ib.patience() {
		return
	}
	ib.flights++
	go ib.fly(ib.take())
}

func newBatch(usual int) *batch {
	b := &batch{jobs: make([]store.NewJob, 0, usual), calls: make([]*call, 0, usual), done: make(chan struct{})}
	b.ctx, b.forget = context.WithCancel(context.Background())
	return b
}

// room reports whether the batch has room for one more job.
func (b *batch) room(size int) bool {
	return len(b.jobs) < maxBatchJobs && b.bytes+size <= maxBatchBytes
}

// leave handles a caller that stops waiting; why is the reason. The error that it
// returns is either that the job was not stored, or that this is unknown.
func (ib *Batcher) leave(b *batch, c *call, why error) error {
	ib.mu.Lock()
	defer ib.mu.Unlock()
	if b.present--; b.present == 0 {
		b.forget()
	}
	if b.sent {
		return Unknown(why)
	}
	c.left = true
	b.jobs[c.place] = store.NewJob{} // releases the memory of the job
	if b.present == 0 {
		ib.waiting = slices.DeleteFunc(ib.waiting, func(other *batch) bool { return other == b })
	}
	return fmt.Errorf("the job was not stored: %w", why)
}

// Unknown marks an error after which a job may have been stored or not.
func Unknown(err error) error {
	if errors.Is(err, store.ErrUnknown) {
		return err // the store's error has this information already
	}
	return fmt.Errorf("it is unknown whether the job was stored: %w", unknownError{err})
}

// unknownError is an error that is also store.ErrUnknown, with the text of its cause.
type unknownError struct{ error }

func (e unknownError) Unwrap() []error { return []error{e.error, store.ErrUnknown} }

// landed is called after a caller's own insert: the calls that have joined a batch
// during the insert are sent next.
func (ib *Batcher) landed() {
	if b := ib.next(false); b != nil {
		go ib.fly(b)
	}
}

// fly sends batches one after the other while there are any.
func (ib *Batcher) fly(b *batch) {
	for ; b != nil; b = ib.next(true) {
		ib.send(b.ctx, b.jobs, b.calls)
		b.forget()
		all := ib.land(b)
		close(b.done)
		ib.letReturn(all)
	}
}

// land records that an insert has ended whose callers may enqueue again, and
// returns the number of jobs that the next insert would have then.
func (ib *Batcher) land(b *batch) int {
	ib.mu.Lock()
	defer ib.mu.Unlock()
	ib.landing++
	if len(ib.waiting) == 0 {
		return len(b.calls)
	}
	return len(b.calls) + len(ib.waiting[0].jobs)
}

// letReturn lets callers that have been answered enqueue again, so that the
// next insert contains their jobs and the jobs that wait already. It yields and
// does not sleep: if the callers do something else it returns after
// microseconds, and in a busy program after returnTime.
func (ib *Batcher) letReturn(all int) {
	for start, n := time.Now(), 0; n < returnYields && time.Since(start) < returnTime; n++ {
		runtime.Gosched()
		if ib.nextSize() >= min(all, maxBatchJobs) {
			return
		}
	}
}

// nextSize returns how many jobs the next insert would have.
func (ib *Batcher) nextSize() int {
	ib.mu.Lock()
	defer ib.mu.Unlock()
	if len(ib.waiting) == 0 {
		return 0
	}
	return len(ib.waiting[0].jobs)
}

// next returns the batch that has waited longest; nil means that there is none,
// and the flight ends. It undoes the effect of land.
func (ib *Batcher) next(landing bool) *batch {
	ib.mu.Lock()
	defer ib.mu.Unlock()
	if landing {
		ib.landing--
	}
	if len(ib.waiting) == 0 {
		ib.flights--
		return nil
	}
	return ib.take()
}

// take returns the batch that has waited longest, without calls whose callers
// have left. The caller holds mu, and there is a batch.
func (ib *Batcher) take() *batch {
	b := ib.waiting[0]
	ib.waiting = slices.Delete(ib.waiting, 0, 1)
	if b.present < len(b.calls) {
		b.dropLeft()
	}
	b.sent = true
	ib.usual = len(b.jobs)
	ib.begun = time.Now()
	return b
}

// dropLeft removes the jobs of callers that have left.
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

// send inserts the jobs and sets the answer of each call. If the store rejects
// a value of one job, send inserts the jobs in halves, so that the other jobs
// are stored.
func (ib *Batcher) send(ctx context.Context, jobs []store.NewJob, calls []*call) {
	res, err := ib.store.Insert(ctx, store.InsertRequest{Jobs: jobs})
	if half := len(calls) / 2; half > 0 && errors.Is(err, store.ErrRejected) {
		ib.send(ctx, jobs[:half], calls[:half])
		ib.send(ctx, jobs[half:], calls[half:])
		return
	}
	if err == nil && len(res.Jobs) != len(calls) {
		err = fmt.Errorf("the store answered for %d jobs of %d", len(res.Jobs), len(calls))
	}
	for i, c := range calls {
		if c.err = err; err == nil {
			c.answer[0] = res.Jobs[i]
		}
	}
}
