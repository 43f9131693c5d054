package hourbell

import (
	"errors"
	"time"

	"github.com/hourbell/hourbell/internal/plan"
)

// Hooks are jobs that a schedule makes because of its outcomes: to notify
// users, to feed a monitor, to clean up. A hook is itself a job: it is made in
// the same transaction as the outcome that causes it, it is retried, and it can
// be listed. Its worker finds the cause in JobRow.Headers under HookHeader; a
// command reads it from its standard input, and an HTTP call sends it as its
// body.
type Hooks struct {
	// OnFailure runs when a job of the schedule has ended as failed, or as lost
	// with its node: once for each such job, after its last attempt.
	OnFailure Args
	// OnMissed runs when slots were missed: once for all slots that one node
	// found missed at the same time.
	OnMissed Args
	// OnRecovery runs when a job of the schedule completes after a failure or a
	// missed slot.
	OnRecovery Args
}

// HookHeader is the header (see JobRow.Headers) with the cause of a hook's job:
// a HookEvent as JSON. The other constants are the values of HookEvent.Event.
const (
	HookHeader = "hourbell-hook"

	HookFailure  = "failure"
	HookMissed   = "missed"
	HookRecovery = "recovery"
)

// HookEvent is the cause of a hook, in the JSON that its job gets. Releases
// only add fields.
type HookEvent struct {
	// Event is failure, missed or recovery.
	Event    string `json:"event"`
	Schedule string `json:"schedule"`
	// Slot, Job, Attempt and Node describe the job that failed or completed.
	Slot    time.Time `json:"slot,omitzero"`
	Job     int64     `json:"job,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Node    string    `json:"node,omitempty"`
	// Reason is why the job failed or the slots were missed.
	Reason string `json:"reason,omitempty"`
	// Output is the end of the output of the job's last attempt, at most 8 KiB.
	// Bytes that are not UTF-8 are replaced.
	Output string `json:"output,omitempty"`
	// First, Last and Count describe the slots that were missed.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Count int64     `json:"count,omitempty"`
}

// Each calls do for every hook that is set, with its name in files and
// messages.
func (h Hooks) Each(do func(name string, job Args)) {
	for _, one := range []struct {
		name string
		job  Args
	}{{"on_failure", h.OnFailure}, {"on_missed", h.OnMissed}, {"on_recovery", h.OnRecovery}} {
		if one.job != nil {
			do(one.name, one.job)
		}
	}
}

// encode validates the hooks and returns them as a schedule's row stores them.
func (h Hooks) encode() (plan.Hooks, error) {
	var errs []error
	encode := func(name string, job Args) *plan.Hook {
		if job == nil {
			return nil
		}
		raw, err := encodeArgs(name+" ", job)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		if given, ok := job.(RawArgs); ok {
			raw = given // empty arguments are stored as such
		}
		return &plan.Hook{Kind: raw.Name, Args: string(raw.JSON)}
	}
	stored := plan.Hooks{
		OnFailure: encode("on_failure", h.OnFailure), OnMissed: encode("on_missed", h.OnMissed), OnRecovery: encode("on_recovery", h.OnRecovery),
	}
	return stored, errors.Join(errs...)
}

func storedHooks(h plan.Hooks) Hooks {
	return Hooks{OnFailure: storedHook(h.OnFailure), OnMissed: storedHook(h.OnMissed), OnRecovery: storedHook(h.OnRecovery)}
}

func storedHook(h *plan.Hook) Args {
	if h == nil {
		return nil
	}
	return RawArgs{Name: h.Kind, JSON: []byte(h.Args)}
}
