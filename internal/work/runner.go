package work

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/internal/node"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/internal/travel"
	"github.com/hourbell/hourbell/store"
)

// Config is the configuration of a Runner. The caller fills every field; Queues and Restricted may
// be empty.
type Config struct {
	Store Store
	// Far reports whether the store has a high latency at present.
	Far      func() bool
	Node     *node.Node
	InFlight *InFlight // also the claims of Node
	Wakes    *loop.Wakes
	// Travel is the node as the clock of a test knows it; nil: the clock of the process counts.
	Travel *travel.Node

	Queues map[string]int // number of workers by queue, at the start; see SetWorkers
	Places plan.Places    // of the node; each has a queue within each of Queues, with as many workers
	// MaxRunning is how many jobs of a kind run at once on the node, at the start; see SetMaxRunning.
	MaxRunning map[string]int
	// Ageing is by queue after which time a due job starts before younger jobs, at the start; see SetAgeing.
	Ageing map[string]time.Duration
	// Admission reports whether the node may claim jobs at present; nil: always. Its calls are one at a time.
	Admission func() bool
	// Kinds are the kinds that this node runs with any args. Jobs of the kinds in Restricted run
	// only if SetAllowList has their exact args.
	Kinds      []string
	Restricted []string
	// Carried are the kinds whose runs can be handed over.
	Carried []string
	Work    Func
	// Timeout returns the timeout of an attempt; 0: none.
	Timeout func(store.Claimed) time.Duration
	// Backoff returns the delay after an attempt that ended with an error; nil: the default.
	Backoff func(_ store.Claimed, _ error, chance float64) time.Duration
	// KeepFor returns the Outcome.Keep of jobs of a kind that end with a result; nil: it is 0.
	KeepFor func(kind string, result store.Result) time.Duration

	// Grace is how long after the end of its context a worker may take to return.
	Grace time.Duration
	// AbandonAfter returns how long after the end of its context an attempt at a job of a kind ends without its worker;
	// 0: it does not. nil: no attempt does.
	AbandonAfter func(kind string) time.Duration
	// TxTimeout is how long a transaction may be open in which a worker completes its job; 0: as long
	// as the attempt takes.
	TxTimeout time.Duration
	// TxIdle is how long such a transaction may be idle while nothing keeps it alive.
	TxIdle time.Duration
	// Heartbeat is the interval of the node's heartbeats. A queue is searched for suspects at most
	// once per Heartbeat.
	Heartbeat time.Duration
	// Alone is how long a suspect runs alone on the node, and how long the suspect waits at most
	// until no other job of the node is in flight.
	Alone time.Duration
	// CallTimeout limits one call of the store.
	CallTimeout time.Duration
	PollBusy    time.Duration // interval of claims after a claim that returned jobs
	PollIdle    time.Duration // interval of reads of cancel requests, while the store sends no wake-ups
}

// Store is the part of a store that a Runner uses. The methods belong to store.Jobs,
// store.Nodes and store.Permits.
type Store interface {
	Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error)
	BeginJobs(ctx context.Context, req store.BeginRequest) (store.BeginResult, error)
	Finish(ctx context.Context, req store.FinishRequest) (store.FinishResult, error)
	FindClaim(ctx context.Context, ref store.ClaimRef) (store.ClaimState, error)
	Claims(ctx context.Context, req store.ClaimsRequest) ([]store.ClaimRef, error)
	SaveProgress(ctx context.Context, req store.SaveProgressRequest) error
	SaveOutput(ctx context.Context, req store.SaveOutputRequest) ([]store.ClaimRef, error)
	ListJobs(ctx context.Context, req store.ListJobsRequest) ([]store.JobInfo, error)
	List(ctx context.Context, req store.ListRequest) (store.Listing, error)
	SaveStep(ctx context.Context, req store.SaveStepRequest) (store.SaveStepResult, error)
	CloseLanes(ctx context.Context, req store.CloseLanesRequest) error
	ExchangePermits(ctx context.Context, req store.ExchangePermitsRequest) (store.QueuePermits, error)
}

// Runner runs the jobs of a node. Concurrent calls are allowed.
type Runner struct {
	cfg         Config
	around      loop.Ambient
	node        *node.Node
	report      *loop.Report
	wakes       *loop.Wakes
	inFlight    *InFlight
	outcomes    *outcomes
	progress    *saver
	output      *saver
	lostAnswers lostAnswers
	solo        solo
	unknown     unknownClaims
	undecided   undecided
	allowList   allowList
	leaving     leaving
	widths      widths
	bounds      bounds
	admission   admission
	stuck       stuckRuns
	txRooms     txRooms
	lastEnded   loop.Signal // the node stops, and no job in flight is open
}

// New returns a Runner that claims nothing yet.
func New(cfg Config) *Runner {
	report := cfg.Node.Report()
	r := &Runner{
		cfg: cfg, around: loop.Around(cfg.Store), node: cfg.Node, report: report, wakes: cfg.Wakes, inFlight: cfg.InFlight,
		outcomes:  newOutcomes(cfg.Store, cfg.CallTimeout, report, cfg.InFlight, cfg.Node.Name),
		progress:  newProgress(cfg.Store, cfg.CallTimeout, report),
		output:    newOutput(cfg.Store, cfg.CallTimeout, report),
		lastEnded: loop.NewSignal(),
	}
	r.setRuns(nil)
	r.widths.byQueue, r.widths.permits, r.widths.bounded = maps.Clone(cfg.Queues), map[string]*permits{}, loop.NewSignal()
	r.widths.ageing = map[string]time.Duration{}
	maps.Copy(r.widths.ageing, cfg.Ageing)
	r.admission.ask, r.admission.report = cfg.Admission, report
	for kind, most := range cfg.MaxRunning {
		r.SetMaxRunning(kind, most)
	}
	return r
}

// Fetch takes up the runs that were left, and claims jobs and passes them to the workers until ctx
// ends. workers counts the goroutines of the workers, which finish the jobs that run.
func (r *Runner) Fetch(ctx context.Context, workers *sync.WaitGroup) {
	var loops sync.WaitGroup
	left, fetchers := r.left(), r.fetchers()
	for _, f := range fetchers { // before one of them exchanges permits
		f.count(left[f.queue])
	}
	for _, f := range fetchers {
		runs := left[f.queue]
		delete(left, f.queue)
		loops.Go(func() { f.run(ctx, workers, runs) })
	}
	for _, runs := range left { // of queues that this program does not serve
		for _, run := range runs {
			workers.Go(func() {
				run.begins(nil, -1, goroutineNumber())
				defer func() { r.afterAll(run, run.returns()) }()
				r.execute(run)
			})
		}
	}
	loops.Wait()
}

// WriteOutcomes writes the outcomes of runs until ctx ends.
func (r *Runner) WriteOutcomes(ctx context.Context) { r.outcomes.run(ctx) }

// SaveProgress writes the progress of runs until ctx ends.
func (r *Runner) SaveProgress(ctx context.Context) { r.progress.run(ctx) }

// SaveOutput writes the output of runs until ctx ends.
func (r *Runner) SaveOutput(ctx context.Context) { r.output.run(ctx) }

// CompareClaims compares the claims of this node with the claims that the store holds for it:
// it releases claims whose answers were lost, and passes cancel requests and pauses to runs. The node
// calls it after each heartbeat.
func (r *Runner) CompareClaims(ctx context.Context) {
	r.reconcile(ctx)
	r.ReadCancels(ctx)
	r.readPauses(ctx)
}

// Open returns the number of jobs in flight that have no outcome: their workers have not returned.
func (r *Runner) Open() int { return int(r.inFlight.open.Load()) }

// AwaitEnds waits until no job in flight is open, and reports whether that was so before ctx ended. The node
// must have begun to stop.
func (r *Runner) AwaitEnds(ctx context.Context) bool {
	for r.Open() > 0 {
		select {
		case <-r.lastEnded:
		case <-ctx.Done():
			return r.Open() == 0
		}
	}
	return true
}

// closed records that a run has got its outcome, which the outcomes have by now.
func (r *Runner) closed() {
	if r.inFlight.open.Add(-1) == 0 && r.node.Stopping() {
		r.lastEnded.Notify()
	}
}

// Flush waits until all outcomes and progress are written, but not longer than limit. Only outcomes
// that are not written are an error.
func (r *Runner) Flush(limit time.Duration) error {
	deadline := time.After(limit)
	for r.outcomes.backlog() > 0 {
		select {
		case <-deadline:
			return fmt.Errorf("the store did not take the outcomes of %s in time; these jobs run again when the lease of this node has passed", r.cfg.InFlight.names())
		case <-time.After(2 * time.Millisecond):
		}
	}
	call, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r.progress.write(call)
	return nil
}
