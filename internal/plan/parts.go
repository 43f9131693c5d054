package plan

import (
	"github.com/hourbell/hourbell/store"
)

// Part is the description of the job of a schedule, or of one of its hooks.
type Part struct {
	Spec   store.JobSpec // Headers has the headers that are stored with the job of a slot; nil for a hook
	Origin store.Origin  // OriginSchedule or OriginHook
	Hook   string        // the key of the hook in files, such as on_failure; empty: the schedule's job
	hook   *Hook
}

// Parts returns the descriptions of a schedule's job and hooks.
func (d *Definition) Parts() []Part {
	job := d.Job(0, store.OriginSchedule).JobSpec
	job.Queue = d.Queue // without the place
	parts := []Part{{Spec: job, Origin: store.OriginSchedule}}
	for _, of := range d.Hooks.Lists() {
		for _, hook := range *of.Jobs {
			parts = append(parts, Part{Spec: hook.spec(d.Queue), Origin: store.OriginHook, Hook: of.Name, hook: hook})
		}
	}
	return parts
}

// Adopt changes the definition, or the hook, to a changed description of a part. headers are the
// user's headers. An unchanged description leaves the definition's bytes unchanged: a hook keeps only
// the options that differ from part.
func (d *Definition) Adopt(part Part, spec store.JobSpec, headers map[string]string) {
	if part.hook == nil {
		d.setSpec(spec, headers)
		return
	}
	part.hook.setSpec(&part.Spec, spec, headers)
}
