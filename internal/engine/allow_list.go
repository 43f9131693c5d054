package engine

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/hourbell/hourbell/store"
)

// Admission is a job of a restricted kind that a node runs: one with exactly
// these args.
type AllowedJob struct {
	store.ExactJob
	// Hook says that it is a hook's. Only then it is given what its headers say:
	// whoever can write to the store must not choose what another command reads.
	Hook bool
}

// admitted are a node's admissions. It is safe for concurrent use.
type allowList struct {
	jobs  atomic.Pointer[[]AllowedJob]
	exact atomic.Pointer[[]store.ExactJob] // the same, for claims
}

// list returns what claims ask for.
func (a *allowList) list() []store.ExactJob {
	if jobs := a.exact.Load(); jobs != nil {
		return *jobs
	}
	return nil
}

// find returns how a job is admitted.
func (a *allowList) find(kind string, args []byte) (found, hook bool) {
	list := a.jobs.Load()
	if list == nil {
		return false, false
	}
	for _, one := range *list {
		if one.Kind == kind && bytes.Equal(one.Args, args) {
			found, hook = true, hook || one.Hook
		}
	}
	return found, hook
}

// Admit sets the jobs of restricted kinds that this node runs, in the place of
// those before, and looks at once whether such jobs wait.
func (e *Engine) SetAllowList(admissions []AllowedJob) {
	jobs := make([]store.ExactJob, len(admissions))
	for i, one := range admissions {
		jobs[i] = one.ExactJob
	}
	e.allowList.jobs.Store(&admissions)
	e.allowList.exact.Store(&jobs)
	e.wakes.jobs("")
}

// admit says whether this node may run a claimed job, and takes from it what it
// must not see. The claim asked for such only, but what is admitted may have
// changed since.
func (e *Engine) allow(job *store.Claimed) bool {
	if !slices.Contains(e.cfg.Restricted, job.Kind) {
		return true
	}
	found, hook := e.allowList.find(job.Kind, job.Args)
	if found && !hook {
		job.Headers = withoutHook(job.Headers)
	}
	return found
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
