package hourbell

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/backoff"
	"github.com/hourbell/hourbell/internal/bound"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Config has the settings of a client. The zero value is useful: every field
// has a default, and a client without workers can do everything except run
// jobs.
type Config struct {
	// Workers are the workers of this node, by kind. A node claims only jobs of
	// these kinds.
	Workers *Workers
	// Queues is how many jobs of each queue run at once on this node. Default:
	// queue "default" with 4 × cores, at least 10.
	// Client.SetWorkers changes it while the client runs.
	Queues map[string]int
	// Ageing is, by queue, after which time a due job starts before jobs that are younger,
	// whatever their priority: 1 s to MaxDuration, or 0 for none. So a job of the last
	// priority starts within this time and a second as soon as a worker is free, also
	// while jobs of better priorities keep coming, unless still older jobs need all workers.
	// Default: none; then jobs start by priority only. Client.SetAgeing changes it while the
	// client runs.
	Ageing map[string]time.Duration
	// Admission is asked before each claim, and the node claims no jobs while it returns false:
	// jobs that run go on, and slots fire. It is asked again after 100 ms. Its calls are one at
	// a time, and must be quick. MaxMemory returns an admission by memory. Default: the node
	// always claims.
	Admission func() bool
	// Name is the node's name in lists and logs. Default: host name, process
	// number and a random part.
	Name string
	// Host is the name of the host on which this node runs: a place, which several nodes may
	// share. 1–63 letters, digits, dots, underscores and hyphens. Default: the operating system's name of the host or,
	// if a host cannot have that name here, localhost.
	Host string
	// Labels are what is known of this node, such as the role "db"; keys and values are as
	// Host. They are shown with the node.
	Labels map[string]string
	// Logger receives every event as a line. Default: slog.Default(). Use
	// slog.New(slog.DiscardHandler) for no output. Completed jobs are lines at
	// level DEBUG, failed jobs at level ERROR.
	Logger *slog.Logger
	// LogCompleted is how many completed jobs of each second get their lines at
	// level INFO instead; one more line counts the other jobs of that second.
	// Default 0, at most 10,000.
	LogCompleted int

	// Lease is how long the other nodes wait for a heartbeat of this node
	// before they take its jobs. Default 15 s, at least 100 ms.
	Lease time.Duration
	// Heartbeat is the time between heartbeats. Default a third of Lease, at
	// most half of it.
	Heartbeat time.Duration
	// Drain is how long a stop waits for running jobs before it cancels their
	// contexts. Default 30 s; negative: no wait.
	Drain time.Duration
	// Grace is how long a worker may take to return after its context has ended. A
	// stop waits so long, and the node keeps the jobs of workers that have not returned
	// then: see Client.Run. A worker that takes longer is stuck: see OnStuck. Default 5 s.
	Grace time.Duration
	// PollIdle is how often a node without wake-ups from its store looks for
	// work while there is none. Default 1 s; after it has found work it looks
	// every 100 ms.
	PollIdle time.Duration

	// CallTimeout is how long a call of the client may take in the store, even
	// if its context allows more; bulk calls and migrations get more time,
	// depending on their size. A call with InTx is bounded by its context only.
	// Default 30 s, from 10 ms to 1 h. The calls that a node itself makes have
	// bounds that follow from its lease.
	CallTimeout time.Duration

	// TxTimeout is how long a transaction of RegisterTx may be open; then it is
	// rolled back and the attempt fails with ErrTimeout. Default 0: as long as the
	// attempt may take; otherwise at least 10 ms. See RegisterTx for how long it may
	// be idle.
	TxTimeout time.Duration

	// RequireTx makes every call of this client that makes jobs (Enqueue,
	// EnqueueMany, triggers, backfills, RunOnce) fail with ErrTxRequired
	// unless it has the option InTx. Jobs of slots and hooks are not affected.
	RequireTx bool

	// NoMigrate prevents Run from creating or updating the schema, for
	// databases whose owner does this with Client.Migrate or `hourbell
	// migrate`.
	NoMigrate bool

	// StateDir is a folder on this host where the node records how far the
	// store has come, in a small file for each store. When the node starts, it
	// uses this file to notice that the store went back in time, because a
	// backup was restored or a failover lost commits. It then claims and fires
	// nothing until NodeService.AcceptHistory is called. The folder is created
	// if necessary; nodes of one host may share it; it must not be part of the
	// database's backup. Default: none; then only nodes that are running
	// notice.
	StateDir string

	// Keep is how long finished jobs and slot records are kept. KeepFor is for
	// the jobs of one kind.
	Keep Keep

	// NoStats prevents this node from writing statistics, which Client.Stats reads: a few
	// short rows a minute.
	NoStats bool

	// WorkMiddleware is called around each attempt of a job on this node, the
	// first outermost.
	WorkMiddleware []WorkMiddleware
	// EnqueueMiddleware is called around the calls of this client that describe
	// jobs, the first outermost. A job that another client makes, such as the
	// program hourbell, does not pass it.
	EnqueueMiddleware []EnqueueMiddleware
	// Observers receive every event of this client, in order, for metrics. An
	// event.CallObserver also receives the calls of the store.
	Observers []event.Observer

	// OnStuck is called with an event event.JobStuck when a worker is stuck: it has not
	// returned for Grace although its context has ended, because of its timeout, a
	// cancellation, a lost lease or a stop. The event has the job, why the context ended
	// (Err), how long ago (Took), and the stack of the worker's goroutine (Trace); what
	// the log and the store have of it does not depend on OnStuck. Another worker takes
	// the place of a stuck worker, as long as no more than the queue has workers are
	// replaced. Calls are one at a time, as calls of an observer are. See AbandonAfter.
	OnStuck func(stuck event.Event)

	// Callbacks let services without a log-in answer jobs that wait: see JobRow.CallbackURL. Default: none.
	Callbacks Callbacks

	// TakeOver is what Client.HandOver of the program before has passed to its
	// function, in the same process: Run goes on as the same node, with the same
	// claims. Such a client has the name of that node. Default: the node is new.
	TakeOver []byte
}

const (
	defaultQueue     = "default"
	defaultPriority  = 5
	defaultAttempts  = 25
	defaultLease     = 15 * time.Second
	defaultDrain     = 30 * time.Second
	defaultGrace     = 5 * time.Second
	defaultPollBusy  = 100 * time.Millisecond
	defaultPollIdle  = time.Second
	defaultPushed    = 10 * time.Second
	defaultCompleted = 24 * time.Hour
	defaultFailed    = 7 * 24 * time.Hour
	defaultSlots     = 30 * 24 * time.Hour
	keepNodes        = 8 * 24 * time.Hour // longer than the jobs that refer to them
	pruneLimit       = 1000
	maxWidth         = 10_000
	maxLogCompleted  = 10_000
)

// withDefaults sets every field that is zero to its default.
func (c Config) withDefaults() Config {
	if c.Workers == nil {
		c.Workers = NewWorkers()
	}
	if c.Queues == nil {
		c.Queues = map[string]int{defaultQueue: max(4*runtime.GOMAXPROCS(0), 10)}
	}
	c.Queues, c.Ageing = maps.Clone(c.Queues), maps.Clone(c.Ageing)
	c.Labels = maps.Clone(c.Labels)
	c.WorkMiddleware, c.EnqueueMiddleware = slices.Clone(c.WorkMiddleware), slices.Clone(c.EnqueueMiddleware)
	if c.Name == "" {
		c.Name = nodeName()
	}
	if c.Host == "" {
		c.Host = plan.DefaultHost()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Lease = orDefault(c.Lease, defaultLease)
	c.Heartbeat = orDefault(c.Heartbeat, c.Lease/3)
	c.Drain = max(orDefault(c.Drain, defaultDrain), 0)
	c.Grace = orDefault(c.Grace, defaultGrace)
	c.PollIdle = orDefault(c.PollIdle, defaultPollIdle)
	c.CallTimeout = orDefault(c.CallTimeout, bound.Limit)
	c.Keep.Completed = orDefault(c.Keep.Completed, defaultCompleted)
	c.Keep.Failed = orDefault(c.Keep.Failed, defaultFailed)
	c.Keep.Slots = orDefault(c.Keep.Slots, defaultSlots)
	return c
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// Validate returns every mistake in the configuration; New does the same.
func (c Config) Validate() error {
	c = c.withDefaults()
	errs := append([]error{check.Name("node name", c.Name), check.Host("host", c.Host)}, c.Workers.errs...)
	for _, label := range c.labels() {
		errs = append(errs, check.Label("label", label))
	}
	for queue, width := range c.Queues {
		errs = append(errs, check.Name("queue", queue))
		if width < 1 || width > maxWidth {
			errs = append(errs, &check.FieldError{
				Field: "workers of queue " + check.Shorten(queue), Value: fmt.Sprint(width), Problem: "is out of range",
				Remedy: fmt.Sprintf("use 1 to %d", maxWidth),
			})
		}
	}
	for queue, bound := range c.Ageing {
		errs = append(errs, c.checkAgeing(queue, bound))
	}
	errs = append(errs,
		c.Keep.checkNone("keep"),
		c.Callbacks.Validate(),
		between("lease", c.Lease, 100*time.Millisecond, time.Hour),
		between("heartbeat", c.Heartbeat, 10*time.Millisecond, c.Lease/2),
		between("drain", c.Drain, 0, MaxDuration),
		between("grace", c.Grace, 0, MaxDuration),
		checkCount("log_completed", int64(c.LogCompleted), maxLogCompleted),
		between("poll interval", c.PollIdle, time.Millisecond, time.Hour),
		between("tx timeout", orDefault(c.TxTimeout, MaxDuration), 10*time.Millisecond, MaxDuration),
		between("call timeout", c.CallTimeout, 10*time.Millisecond, time.Hour),
	)
	for i, middleware := range c.WorkMiddleware {
		errs = append(errs, checkGiven("work middleware", i, middleware != nil))
	}
	for i, middleware := range c.EnqueueMiddleware {
		errs = append(errs, checkGiven("enqueue middleware", i, middleware != nil))
	}
	for i, observer := range c.Observers {
		errs = append(errs, checkGiven("observer", i, observer != nil))
	}
	return check.Join(errs...)
}

// checkGiven returns an error for an element of a list that is nil.
func checkGiven(what string, i int, given bool) error {
	if given {
		return nil
	}
	return &check.FieldError{Field: fmt.Sprintf("%s %d", what, i+1), Problem: "is nil", Remedy: "pass a value, or leave it out"}
}

func between(field string, d, least, most time.Duration) error {
	if d < least || d > most {
		return &check.FieldError{Field: field, Value: d.String(), Problem: "is out of range", Remedy: fmt.Sprintf("use %v to %v", least, most)}
	}
	return nil
}

// labels returns the labels as KEY=VALUE, in byte order.
func (c Config) labels() []string {
	labels := make([]string, 0, len(c.Labels))
	for key, value := range c.Labels {
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	return labels
}

// nodeName makes a unique name.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil || check.Name("host", host) != nil {
		host = "node"
	}
	host, _, _ = strings.Cut(host, ".")
	return fmt.Sprintf("%s-%d-%s", host[:min(len(host), 100)], os.Getpid(), strings.ToLower(rand.Text()[:4]))
}

// BackoffHeader is the header of store.JobInfo.Headers with the back-off that the
// option Backoff, or the schedule of the job, has selected.
const BackoffHeader = store.BackoffHeader

// Backoff selects how long the job waits after a failed attempt until its next
// attempt, instead of the back-off of its kind (DefaultBackoff):
//
//	constant:30s                         always 30 s
//	linear:10s, linear:10s:1h            10 s, 20 s, 30 s …
//	exponential:1s, exponential:1s:10m   1 s, 2 s, 4 s, 8 s …
//	default                              attempt⁴ s: 1 s, 16 s, 81 s …
//
// The last duration is the greatest delay, 24 h if it is left out. Durations are
// from 100 ms to 8760 h. Each delay is spread by ± 10 %.
func Backoff(policy string) Option {
	return func(e *enqueuing) {
		e.given |= optBackoff
		p, err := backoff.Parse(policy)
		if err != nil {
			e.errs = append(e.errs, err)
			return
		}
		e.Headers = plan.WithBackoff(e.Headers, p.String())
	}
}

// Keep is how long finished jobs and slot records are kept. 0 means the
// default, a negative value means for ever.
type Keep struct {
	Completed time.Duration // completed and cancelled jobs; default 24 h; can be KeepNone
	Failed    time.Duration // failed jobs, and jobs that were not started; default 7 days
	Slots     time.Duration // records of slots; default 30 days
}

// KeepNone is a Keep.Completed that keeps nothing of a job that completes: the job is
// deleted with its attempts and its result in the transaction that would have
// moved it to history, which costs the database less. That there is no such job
// any more is then the proof that the job completed (or was deleted by hand).
// Cancelled jobs are kept as by default.
const KeepNone time.Duration = math.MinInt64

// KeepFor is how long finished jobs of this kind are kept, instead of
// Config.Keep. Fields that are 0 are as in Config.Keep; Slots must be 0. Times
// count from the end of the job by the store's clock. The node that finishes a
// job decides; Config.Keep holds for cancelled jobs and for jobs that were lost
// with their node.
func KeepFor(keep Keep) WorkerOption { return func(w *worker) { w.keep = keep } }

// KeepKinds sets how long finished jobs of some kinds are kept, instead of
// KeepFor of their workers. It replaces what was set before and takes effect at
// once for jobs that finish on this client's node, also while the client runs.
// If a kind or a Keep is not valid, KeepKinds returns an error and changes
// nothing.
func (c *Client) KeepKinds(keep map[string]Keep) error {
	var errs []error
	for kind, k := range keep {
		errs = append(errs, check.Name("kind", kind), k.check("keep of kind "+check.Shorten(kind)))
	}
	if err := check.Join(errs...); err != nil {
		return fmt.Errorf("keep kinds: %w", err)
	}
	keep = maps.Clone(keep)
	c.keeps.Store(&keep)
	return nil
}

// keepFor returns Outcome.Keep for a job of a kind that ends with a result.
func (c *Client) keepFor(kind string, result store.Result) time.Duration {
	if kind == store.ChildrenKind && result == store.Completed {
		return store.Forget
	}
	keep := c.cfg.Workers.byKind[kind].keep
	if set := c.keeps.Load(); set != nil {
		if own, found := (*set)[kind]; found {
			keep = own
		}
	}
	switch result {
	case store.Completed:
		return keepTime(keep.Completed, c.cfg.Keep.Completed)
	case store.Failed:
		return keepTime(keep.Failed, c.cfg.Keep.Failed)
	}
	return 0
}

// keepTime returns the Outcome.Keep for the time of a kind; otherwise is
// Config.Keep, by which the store deletes jobs without a time of their own.
func keepTime(own, otherwise time.Duration) time.Duration {
	switch {
	case own == KeepNone, own == 0 && otherwise == KeepNone:
		return store.Forget
	case own < 0:
		return math.MaxInt64
	}
	return own
}

// check checks the Keep of a kind.
func (k Keep) check(field string) error {
	var errs []error
	if k.Slots != 0 {
		errs = append(errs, &check.FieldError{Field: field + ": slots", Value: k.Slots.String(), Problem: "does not apply to a kind", Remedy: "use Config.Keep"})
	}
	return check.Join(append(errs, k.checkNone(field))...)
}

// checkNone checks that only completed jobs are not kept at all.
func (k Keep) checkNone(field string) error {
	var errs []error
	for _, one := range []struct {
		name string
		keep time.Duration
	}{{"failed", k.Failed}, {"slots", k.Slots}} {
		if one.keep == KeepNone {
			errs = append(errs, &check.FieldError{Field: field + ": " + one.name, Value: "none", Problem: "is possible for completed jobs only", Remedy: "give a time"})
		}
	}
	return check.Join(errs...)
}

// prune returns the request to delete old rows.
func (k Keep) prune() store.PruneRequest {
	if k.Completed == KeepNone { // cancelled jobs, and jobs that other nodes completed
		k.Completed = defaultCompleted
	}
	return store.PruneRequest{
		Completed: max(k.Completed, 0), Failed: max(k.Failed, 0), Slots: max(k.Slots, 0),
		Nodes: keepNodes, Audit: store.AuditKeep, Limit: pruneLimit,
	}
}
