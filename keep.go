package hourbell

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

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
