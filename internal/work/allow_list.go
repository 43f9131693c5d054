package work

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// AllowedJob is a job that a node's program declares: exactly this kind with exactly these args. Jobs
// of restricted kinds run only if they are declared.
type AllowedJob struct {
	store.ExactJob
	// Hook reports whether the job is a hook. Only hooks get the header store.HookHeader, because
	// otherwise anyone who can write to the store could choose the input of another command.
	Hook bool
}

// allowList contains the declared jobs of a node. It is safe for concurrent use.
type allowList struct {
	jobs  atomic.Pointer[[]AllowedJob]
	runs  atomic.Pointer[string]           // see Runner.Runs
	exact atomic.Pointer[[]store.ExactJob] // the jobs of restricted kinds, for claims
}

// list returns the jobs of restricted kinds for a claim.
func (a *allowList) list() []store.ExactJob {
	if jobs := a.exact.Load(); jobs != nil {
		return *jobs
	}
	return nil
}

// find reports whether a job is declared, and whether it is declared as a hook.
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

// SetAllowList replaces the list of declared jobs, and wakes the fetchers to claim the jobs of
// restricted kinds among them.
func (r *Runner) SetAllowList(jobs []AllowedJob) {
	exact := make([]store.ExactJob, 0, len(jobs))
	for _, one := range jobs {
		if slices.Contains(r.cfg.Restricted, one.Kind) {
			exact = append(exact, one.ExactJob)
		}
	}
	r.allowList.jobs.Store(&jobs)
	r.allowList.exact.Store(&exact)
	r.setRuns(exact)
	r.wakes.WakeJobs("")
}

// Runs returns a short text that is the same for nodes that may run the same jobs.
func (r *Runner) Runs() string { return *r.allowList.runs.Load() }

// setRuns sets the text of Runs for a list of declared jobs.
func (r *Runner) setRuns(declared []store.ExactJob) {
	digest := sha256.New()
	for _, kinds := range [][]string{r.cfg.Kinds, r.cfg.Restricted} {
		for _, kind := range slices.Sorted(slices.Values(kinds)) {
			fmt.Fprintf(digest, "%q", kind)
		}
		digest.Write([]byte{0})
	}
	var exact []string
	for _, job := range declared {
		exact = append(exact, fmt.Sprintf("%q%x", job.Kind, job.SHA256))
	}
	slices.Sort(exact)
	fmt.Fprint(digest, exact)
	runs := hex.EncodeToString(digest.Sum(nil)[:8])
	r.allowList.runs.Store(&runs)
}

// MayRun reports whether this node may run jobs with this kind and these args.
func (r *Runner) MayRun(kind string, args []byte) bool {
	if !slices.Contains(r.cfg.Restricted, kind) {
		return true
	}
	found, _ := r.allowList.find(kind, args)
	return found
}

// allow reports whether this node may run a claimed job, and removes headers that the job must not
// have. Claims contain the list, but the list may have changed since the claim.
func (r *Runner) allow(job *store.Claimed) bool {
	if !slices.Contains(r.cfg.Restricted, job.Kind) {
		return true
	}
	found, hook := r.allowList.find(job.Kind, job.Args)
	if found && !hook {
		job.Headers = plan.WithoutHook(job.Headers)
	}
	return found
}

// KindNames returns the kinds of a node as they are listed in the store. Jobs of the kinds in
// restricted run only if their args are in the allow-list.
func KindNames(kinds, restricted []string) []string {
	names := slices.Clone(kinds)
	for _, kind := range restricted {
		names = append(names, kind+store.Restricted)
	}
	return names
}
