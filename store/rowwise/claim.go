package rowwise

import (
	"context"
	"time"

	"github.com/hourbell/hourbell/store"
)

// ClaimTx reads and writes what claims need.
type ClaimTx interface {
	NodeHolder
	LanesTx

	// LookAround reads what the gates have to know. It locks nothing.
	LookAround(ctx context.Context, req store.ClaimRequest) (Around, error)

	// Now returns the instant of the call: asked, or else the store's clock.
	Now(ctx context.Context, asked time.Time) (time.Time, error)

	// QueueRates returns what a claim has to know of the limits of a whole queue. With lock, claims from a queue with a rate happen one
	// after the other from then on, and each sees the starts of the claims before.
	QueueRates(ctx context.Context, queue string, lock bool) (store.QueueRates, error)

	// SaveRate writes the state of the rate of a limit of a whole queue.
	SaveRate(ctx context.Context, limit int64, tat time.Time) error

	// FindPauseWork reports whether a pause has ended, or due jobs are to be parked.
	FindPauseWork(ctx context.Context, now time.Time) (bool, error)

	// TendPauses makes some parked jobs claimable whose pauses have ended, and parks due jobs of paused groups and keys.
	TendPauses(ctx context.Context, now time.Time) (store.PauseStep, error)

	// FindPauses returns the subjects and names of the active pauses of queues and kinds.
	FindPauses(ctx context.Context, now time.Time) ([]store.Pause, error)

	// FindLaneWork looks for permits to be passed on before a claim from a queue.
	FindLaneWork(ctx context.Context, queue string, now time.Time) (store.LaneWork, error)

	// HasNewLaneJobs reports whether there are due jobs that limits concern, that hold no permits, and that a claim may take.
	HasNewLaneJobs(ctx context.Context, req store.ClaimRequest, now time.Time) (bool, error)

	// LockNewLaneJobs locks and returns such jobs, about FreshRows. If more may be left, and way is Last, it also returns the first of
	// them in whose lanes no job waits, at most as many as the claim takes.
	LockNewLaneJobs(ctx context.Context, req store.ClaimRequest, work store.LaneWork, way store.ClaimWay, now time.Time) (FreshJobs, error)

	// FindSuspect reports whether a claim of suspects from a queue may find a job.
	FindSuspect(ctx context.Context, queue string, now time.Time) (bool, error)

	// FindDue returns the streams in which jobs are due that a claim takes. In a transaction that takes jobs it may return none, if
	// TakeJobs searches for itself.
	FindDue(ctx context.Context, req store.ClaimRequest, by time.Time) ([]Stream, error)

	// NextDue returns when the next ready job of the queue is due, or any pause ends, whichever is earlier; zero: neither will be.
	NextDue(ctx context.Context, queue string, now time.Time) (time.Time, error)

	// TakeJobs gives the node the first due jobs of streams that FindDue has returned, or suspects, in the order in which they start, at
	// most Limit. With permitted, it leaves out jobs that need permits and hold none. batch is the number of the claim, if the store has
	// such numbers.
	TakeJobs(ctx context.Context, req store.ClaimRequest, due []Stream, permitted bool, now time.Time) (jobs []store.Claimed, batch int64, err error)

	// ReadStart reads the store's clock, from which the starts of the claim count. Before, it notes this process's clock in out.StartsFrom.
	ReadStart(ctx context.Context, asked time.Time, out *store.ClaimResult) (time.Time, error)
}

// Around is what the gates of a claim have to know.
type Around struct {
	Alive   bool // the store has the node as alive
	Pauses  bool // there are pauses, also pauses that have ended
	Mark    PauseMark
	Handled bool // there are handlers of starts
	Limited bool // there are limits; in PostgreSQL: of the whole queue
	Permits bool // there are limits of kinds and keys, also limits that have ended; in PostgreSQL: which concern the queue

	// Now is the instant of the call, and Jobs what a claim would find now if no kind and no queue were paused and DueFor were 0, if LookAround
	// has found them in one statement with the rest; otherwise zero and nil. The NextDue of Jobs counts pauses.
	Now  time.Time
	Jobs *DueJobs
}

// PauseMark changes whenever a pause begins, or is deleted after its end. The zero value: there are no pauses, or the driver's claims
// do not compare marks.
type PauseMark struct {
	Count int64
	Last  time.Time // when the last of the pauses began
}

// FreshJobs are due jobs that limits concern, and that hold no permits.
type FreshJobs struct {
	Jobs   []store.LaneJob
	Left   bool // there may be more
	Looked int  // as store.LaneStep has it
}

// DueJobs is what a claim may take of a queue.
type DueJobs struct {
	Due      []Stream
	Suspects bool      // there may be a suspect
	NextDue  time.Time // as NextDue returns it; only if no job is due
}

// Stream is jobs of a queue that one search of an index finds in the order of claims. Depending on the driver's indexes they have one priority,
// or they have one kind and, of their args, no digest, one given digest, or any digest.
type Stream struct {
	Kind     string    `json:"kind"`
	Digest   *string   `json:"digest,omitempty"`   // in hexadecimal
	Digested bool      `json:"digested,omitempty"` // any
	Priority int16     `json:"-"`
	First    time.Time `json:"-"` // no job of the stream that the claim takes was due earlier; only drivers that return it rely on it
}

// ClaimStep is what a step of a claim has done. With Again it has claimed no job, and the driver has to make another step.
type ClaimStep struct {
	store.ClaimResult
	Again bool

	Around    Around
	Searched  bool            // the step has looked for all due jobs that the claim may take, up to its last job
	Fresh     []store.LaneJob // jobs that have got permits, or wait from now on
	Claimable int             // how many jobs can be claimed that could not before
	Soon      bool            // due jobs may be left before the claimed jobs that hold no permits and wait in no lane: the next claim has to follow at once
}

// Claim makes one step of a claim. A look without locks passes the gates, and each gate may narrow the claim. If there is something to
// take or to do, a transaction passes the same gates again and takes what is left. So a claim that finds nothing writes nothing: other nodes
// would notice its commit, and look in their turn. The answer is what one of the two transactions has returned, except for NoSuspects, which
// the look finds out.
func Claim[Tx ClaimTx](ctx context.Context, look, take Transaction[Tx], req store.ClaimRequest, way store.ClaimWay) (ClaimStep, error) {
	gates := []gate{
		nodeGate{},    // Is the node alive?
		queueGate{},   // Do the limits of the whole queue let jobs start?
		pauseGate{},   // Is the queue paused, or a kind?
		laneGate{},    // Which jobs have the permits that they need?
		roomGate{},    // Do the rates leave the claim any job?
		suspectGate{}, // Are suspects asked for, and are there any?
		dueGate{},     // Where are jobs on the allow-list due?
	}
	looked, err := InTx(look, func(tx Tx) (progress, error) {
		c := &claim{tx: tx, req: req, way: way}
		for _, gate := range gates {
			if verdict, err := gate.look(ctx, c); err != nil || verdict != passes {
				return c.ends(verdict), err
			}
		}
		return c.ends(hasWork), nil // which dueGate has decided already
	})
	if err != nil || looked.verdict != hasWork {
		return looked.step, err
	}
	took, err := InTx(take, func(tx Tx) (progress, error) {
		c := &claim{tx: tx, req: req, way: way, due: looked.due}
		c.out.NoSuspects = looked.step.NoSuspects
		for _, gate := range gates {
			if verdict, err := gate.take(ctx, c); err != nil || verdict != passes {
				return c.ends(verdict), err
			}
		}
		err := c.takeJobs(ctx)
		return c.ends(passes), err
	})
	took.step.Again = took.verdict == hasWork
	return took.step, err
}

// A gate decides about one thing how much of a claim goes on.
type gate interface {
	// look decides without locks and writes.
	look(ctx context.Context, c *claim) (verdict, error)

	// take decides in the transaction that takes the jobs, and does what has to be done before.
	take(ctx context.Context, c *claim) (verdict, error)
}

// verdict is what a gate has decided. With an error it means nothing.
type verdict int

const (
	passes  verdict = iota // the next gate decides
	refuses                // the claim gets no job, and its answer is complete
	hasWork                // there is something to do: for a look, in a transaction; for a take, in another step of the claim
)

// claim is a claim on its way through the gates, in one transaction.
type claim struct {
	tx     ClaimTx
	req    store.ClaimRequest // what the gates have left of it
	way    store.ClaimWay
	most   int // Limit before the gates
	around Around
	now    time.Time
	rates  store.QueueRates
	lanes  store.LaneWork
	due    []Stream // where jobs are due
	out    ClaimStep
}

// progress is how far a claim has come.
type progress struct {
	verdict verdict
	due     []Stream
	step    ClaimStep
}

func (c *claim) ends(v verdict) progress {
	c.out.Around = c.around
	return progress{v, c.due, c.out}
}
