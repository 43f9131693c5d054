package hourbell

import (
	"slices"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

// Hooks are jobs that a schedule makes because of its outcomes: to notify
// users, to feed a monitor, to clean up. A hook is itself a job: it is made in
// the same transaction as the outcome that causes it, it is retried, and it can
// be listed. Its worker finds the cause in JobRow.Headers under HookHeader; a
// command reads it from its standard input, and an HTTP call sends it as its
// body.
//
// A field of type Several has several hooks for one event, and nil has none.
type Hooks struct {
	// OnStart runs when an attempt at a job of the schedule is about to begin: it is made
	// once, in the transaction that records that the attempt begins, when a worker has the
	// job. An attempt that does not begin after all, because the answer of the store to this
	// transaction was lost, has made it, too.
	OnStart Args
	// OnSuccess runs when a job of the schedule completes.
	OnSuccess Args
	// OnFailure runs when a job of the schedule has ended as failed, or as lost
	// with its node: once for each such job, after its last attempt.
	OnFailure Args
	// OnRetry runs when an attempt at a job of the schedule has failed and the job
	// is tried again after a delay: once for each such attempt. An attempt that was
	// lost with its node is not such an attempt.
	OnRetry Args
	// OnOutput runs when an attempt at a job of the schedule that has printed something ends
	// the job as completed or failed, or is to be tried again: once for each such attempt.
	OnOutput Args
	// OnMissed runs when slots were missed: once for all slots that one node
	// found missed at the same time.
	OnMissed Args
	// OnNotStarted runs when the end of a job of a schedule that this schedule follows
	// (see Schedule.After) does not start it: once for each such end.
	OnNotStarted Args
	// OnRecovery runs when a job of the schedule completes after a failure or a
	// missed slot.
	OnRecovery Args
}

// Several are hooks for one event: a job is made for each of them, in their order.
// Only fields of Hooks may have it; it is no job itself.
type Several []Args

// Kind implements Args, so that a field of Hooks can have the type.
func (Several) Kind() string { return "several" }

// each returns the hooks of a field of Hooks.
func each(field Args) []Args {
	several, is := field.(Several)
	switch {
	case is:
		return slices.DeleteFunc(slices.Clone(several), func(job Args) bool { return job == nil })
	case field == nil:
		return nil
	}
	return []Args{field}
}

// hookField is a field of Hooks with its name in files and messages.
type hookField struct {
	name string
	jobs *Args
}

func (h *Hooks) fields() []hookField {
	return []hookField{
		{"on_start", &h.OnStart},
		{"on_success", &h.OnSuccess},
		{"on_failure", &h.OnFailure},
		{"on_retry", &h.OnRetry},
		{"on_output", &h.OnOutput},
		{"on_missed", &h.OnMissed},
		{"on_not_started", &h.OnNotStarted},
		{"on_recovery", &h.OnRecovery},
	}
}

// HookNames returns the names of the fields of Hooks in files and messages.
func HookNames() (names []string) {
	for _, field := range (&Hooks{}).fields() {
		names = append(names, field.name)
	}
	return names
}

// HookHeader is the header (see JobRow.Headers) with the cause of the job of a hook or a
// handler: a store.HookEvent as JSON.
const HookHeader = store.HookHeader

// The values of store.HookEvent.Event and, except HookOutput, the events of an EventHandler.
const (
	HookStart      = store.HookStart
	HookSuccess    = store.HookSuccess
	HookFailure    = store.HookFailure
	HookRetry      = store.HookRetry
	HookOutput     = store.HookOutput
	HookMissed     = store.HookMissed
	HookNotStarted = store.HookNotStarted
	HookRecovery   = store.HookRecovery
)

// Each calls do for every hook that is set, with the name of its field in files
// and messages. A field with Several hooks is passed hook by hook.
func (h Hooks) Each(do func(name string, job Args)) {
	for _, field := range h.fields() {
		for _, job := range each(*field.jobs) {
			do(field.name, job)
		}
	}
}

// Field returns the hooks of a field by its name (see HookNames).
func (h Hooks) Field(name string) []Args {
	for _, field := range h.fields() {
		if field.name == name {
			return each(*field.jobs)
		}
	}
	return nil
}

// Set sets a field by its name (see HookNames): none, one or Several hooks.
func (h *Hooks) Set(name string, jobs ...Args) {
	for _, field := range h.fields() {
		if field.name == name {
			*field.jobs = asField(jobs)
		}
	}
}

func asField(jobs []Args) Args {
	switch len(jobs) {
	case 0:
		return nil
	case 1:
		return jobs[0]
	}
	return Several(jobs)
}

// encode validates the hooks and returns them as a schedule's row stores them.
func (h Hooks) encode() (plan.Hooks, error) {
	var errs []error
	encode := func(name string, field Args) (list plan.HookList) {
		for _, job := range each(field) {
			raw, err := encodeArgs(name+" ", job)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if given, ok := job.(RawArgs); ok {
				raw = given // empty arguments are stored as such
			}
			list = append(list, &plan.Hook{Kind: raw.Name, Args: string(raw.JSON)})
		}
		return list
	}
	stored := plan.Hooks{
		OnStart: encode("on_start", h.OnStart), OnSuccess: encode("on_success", h.OnSuccess), OnFailure: encode("on_failure", h.OnFailure),
		OnRetry: encode("on_retry", h.OnRetry), OnOutput: encode("on_output", h.OnOutput), OnMissed: encode("on_missed", h.OnMissed), OnNotStarted: encode("on_not_started", h.OnNotStarted),
		OnRecovery: encode("on_recovery", h.OnRecovery),
	}
	return stored, check.Join(errs...)
}

func storedHooks(h plan.Hooks) Hooks {
	return Hooks{
		OnStart: storedHook(h.OnStart), OnSuccess: storedHook(h.OnSuccess), OnFailure: storedHook(h.OnFailure), OnRetry: storedHook(h.OnRetry), OnOutput: storedHook(h.OnOutput),
		OnMissed: storedHook(h.OnMissed), OnNotStarted: storedHook(h.OnNotStarted), OnRecovery: storedHook(h.OnRecovery),
	}
}

func storedHook(list plan.HookList) Args {
	var jobs []Args
	for _, h := range list {
		jobs = append(jobs, RawArgs{Name: h.Kind, JSON: []byte(h.Args)})
	}
	return asField(jobs)
}
