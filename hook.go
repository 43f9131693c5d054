package hourbell

import (
	"errors"

	"github.com/hourbell/hourbell/internal/plan"
)

// Hooks are jobs that a schedule makes because of its outcomes: to notify
// users, to feed a monitor, to clean up. A hook is itself a job: it is made in
// the same transaction as the outcome that causes it, it is retried, and it can
// be listed.
type Hooks struct {
	// OnFailure runs when a job of the schedule has ended as failed, or as lost
	// with its node: once for each such job, after its last attempt.
	OnFailure *Hook
	// OnMissed runs when slots were missed: once for all slots that one node
	// found missed at the same time.
	OnMissed *Hook
	// OnRecovery runs when a job of the schedule completes after a failure or a
	// missed slot.
	OnRecovery *Hook
}

// Hook is the job that a hook makes. Its worker finds the cause in
// JobRow.Headers under HookHeader; a command reads it from its standard input,
// and an HTTP call sends it as its body.
type Hook struct {
	Kind string
	Args []byte // JSON, kept byte for byte; empty: null
}

// HookHeader is the header (see JobRow.Headers) with the cause of a hook's job:
// a HookEvent as JSON.
const HookHeader = plan.HookHeader

// HookEvent is the cause of a hook, in the JSON that its job gets.
type HookEvent = plan.HookEvent

// The values of HookEvent.Event.
const (
	HookFailure  = plan.HookFailure
	HookMissed   = plan.HookMissed
	HookRecovery = plan.HookRecovery
)

// Each calls do for every hook that is set, with its name in files and
// messages.
func (h Hooks) Each(do func(name string, hook *Hook)) {
	for _, one := range []struct {
		name string
		hook *Hook
	}{{"on_failure", h.OnFailure}, {"on_missed", h.OnMissed}, {"on_recovery", h.OnRecovery}} {
		if one.hook != nil {
			do(one.name, one.hook)
		}
	}
}

// validate returns what is wrong with the hooks.
func (h Hooks) validate() error {
	var errs []error
	h.Each(func(name string, hook *Hook) {
		errs = append(errs, CheckName(name+" kind", hook.Kind))
		if len(hook.Args) > 0 {
			errs = append(errs, checkArgsOf(name+" args", hook.Args))
		}
	})
	return errors.Join(errs...)
}

// stored returns the hooks as a schedule's row stores them.
func (h Hooks) stored() plan.Hooks {
	return plan.Hooks{OnFailure: h.OnFailure.stored(), OnMissed: h.OnMissed.stored(), OnRecovery: h.OnRecovery.stored()}
}

func (h *Hook) stored() *plan.Hook {
	if h == nil {
		return nil
	}
	return &plan.Hook{Kind: h.Kind, Args: string(h.Args)}
}

func storedHooks(h plan.Hooks) Hooks {
	return Hooks{OnFailure: storedHook(h.OnFailure), OnMissed: storedHook(h.OnMissed), OnRecovery: storedHook(h.OnRecovery)}
}

func storedHook(h *plan.Hook) *Hook {
	if h == nil {
		return nil
	}
	return &Hook{Kind: h.Kind, Args: []byte(h.Args)}
}
