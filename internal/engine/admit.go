package engine

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/hourbell/hourbell/store"
)

// admitted are the jobs of restricted kinds that this node runs: those with
// exactly the args it was told. It is safe for concurrent use.
type admitted struct {
	jobs atomic.Pointer[[]store.ExactJob]
}

func (a *admitted) list() []store.ExactJob {
	if jobs := a.jobs.Load(); jobs != nil {
		return *jobs
	}
	return nil
}

// has says whether a job is among them.
func (a *admitted) has(kind string, args []byte) bool {
	return slices.ContainsFunc(a.list(), func(j store.ExactJob) bool {
		return j.Kind == kind && bytes.Equal(j.Args, args)
	})
}

// Admit sets the jobs of restricted kinds that this node runs, in the place of
// those before, and looks at once whether such jobs wait.
func (e *Engine) Admit(jobs []store.ExactJob) {
	e.admitted.jobs.Store(&jobs)
	e.wakes.jobs("")
}

// runs says whether this node may run a claimed job. The claim asked for such
// only, but what is admitted may have changed since.
func (e *Engine) runs(job store.Claimed) bool {
	return !slices.Contains(e.cfg.Restricted, job.Kind) || e.admitted.has(job.Kind, job.Args)
}

// Restricted marks, in the list of a node's kinds, one that the node does not
// run with any args.
const Restricted = " (restricted)"

// kindNames are the kinds as the node is listed with.
func (e *Engine) kindNames() []string {
	names := slices.Clone(e.cfg.Kinds)
	for _, kind := range e.cfg.Restricted {
		names = append(names, kind+Restricted)
	}
	return names
}
