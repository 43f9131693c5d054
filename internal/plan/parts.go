package plan

import (
	"github.com/hourbell/hourbell/store"
)

// Part is the description of the job of a schedule, or of one of its hooks.
type Part struct {
	Spec   store.JobSpec // Headers has the headers that are stored with the job of a slot; nil for a hook
	Origin store.Origin  // OriginSchedule or OriginHook
	Hook   string        // on_failure, on_missed or on_recovery; empty: the schedule's job
	hook   *Hook
}

// Parts returns the descriptions of a schedule's job and hooks.
func (d *Definition) Parts() []Part {
	parts := []Part{{Spec: d.Job(0, store.OriginSchedule).JobSpec, Origin: store.OriginSchedule}}
	for _, one := range []struct {
		name string
		hook *Hook
	}{{"on_failure", d.Hooks.OnFailure}, {"on_missed", d.Hooks.OnMissed}, {"on_recovery", d.Hooks.OnRecovery}} {
		if one.hook != nil {
			parts = append(parts, Part{Spec: one.hook.spec(d.Queue), Origin: store.OriginHook, Hook: one.name, hook: one.hook})
		}
	}
	return parts
}

// Adopt changes the definition, or the hook, to a changed description of a part. headers are the
// user's headers. An unchanged description leaves the definition's bytes unchanged: a hook keeps only
// the options that differ from part.
func (d *Definition) Adopt(part Part, spec store.JobSpec, headers map[string]string) {
	if part.hook == nil {
		d.Kind, d.Args, d.Queue, d.Priority, d.MaxAttempts = spec.Kind, string(spec.Args), spec.Queue, spec.Priority, spec.MaxAttempts
		d.OnLoss, d.Timeout, d.Group, d.Headers = spec.OnLoss, spec.Timeout, spec.Group, headers
		return
	}
	h := part.hook
	h.Kind, h.Headers, h.OnLoss = spec.Kind, headers, spec.OnLoss
	if string(spec.Args) != string(part.Spec.Args) {
		h.Args = string(spec.Args)
	}
	if spec.Queue != part.Spec.Queue {
		h.Queue = spec.Queue
	}
	if spec.Priority != part.Spec.Priority {
		h.Priority = spec.Priority
	}
	if spec.MaxAttempts != part.Spec.MaxAttempts {
		h.MaxAttempts = spec.MaxAttempts
	}
	if spec.Timeout != part.Spec.Timeout {
		h.Timeout = spec.Timeout
	}
}
