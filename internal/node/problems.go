package node

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hourbell/hourbell/store"
)

// problems are what is wrong with the node, as the store lists it (store.RegisterRequest.Problems). They are registered after the
// next heartbeat, whose answer has the time of the store's clock.
type problems struct {
	mu       sync.Mutex
	reported map[string][]store.NodeProblem // by who reports them; Since is not used
	list     []store.NodeProblem            // as it is registered
}

// set changes what one reporter has found, and reports whether that is a change.
func (p *problems) set(reporter string, found []store.NodeProblem) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reported == nil {
		p.reported = map[string][]store.NodeProblem{}
	}
	changed := !slices.Equal(p.reported[reporter], found)
	p.reported[reporter] = slices.Clone(found)
	return changed
}

// merged returns what all reporters have found. A problem with the name and the subject of a registered problem has its Since; new
// problems have now.
func (p *problems) merged(now time.Time) (all []store.NodeProblem) {
	for _, reporter := range slices.Sorted(maps.Keys(p.reported)) {
		for _, one := range p.reported[reporter] {
			one.Since = now
			for _, known := range p.list {
				if known.Name == one.Name && known.Subject == one.Subject {
					one.Since = known.Since
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// known returns what is registered.
func (p *problems) known() []store.NodeProblem {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list
}

// next makes what is reported now what is registered, and returns what was registered before, and whether they differ.
func (p *problems) next(now time.Time) (before []store.NodeProblem, differ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.list = p.list, p.merged(now)
	return before, !slices.Equal(before, p.list)
}

// restore takes next back, after a failure of the store.
func (p *problems) restore(before []store.NodeProblem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = before
}

// ReportProblems sets what a reporter has found wrong with the node; none takes back what it reported before. The store lists it
// within a heartbeat. Since is not used.
func (n *Node) ReportProblems(reporter string, found []store.NodeProblem) {
	if n.problems.set(reporter, found) {
		n.HeartbeatNow()
	}
}

// registerProblems registers the problems that have been reported, if they differ from what is registered. now is the time of the
// store's clock. After a failure the next heartbeat tries again.
func (n *Node) registerProblems(ctx context.Context, now time.Time) {
	before, differ := n.problems.next(now)
	if !differ {
		return
	}
	if err := n.continueRegistration(ctx); err != nil {
		n.problems.restore(before)
		n.report.StoreFailed("register", err)
	}
}

// continueRegistration registers the node under its number with what is to be registered now. Calls come one after the other, so that the last
// has what was known last. A node that is gone is no error: it registers under a new number, with the same.
func (n *Node) continueRegistration(ctx context.Context) error {
	n.registering.Lock()
	defer n.registering.Unlock()
	req := n.registration()
	req.Continue = n.Number()
	_, err := n.cfg.Store.Register(ctx, req) // whether the lease may be trusted is for heartbeats to say
	if errors.Is(err, store.ErrNodeGone) {
		return nil
	}
	return err
}
