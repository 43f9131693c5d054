package sqlrows

import (
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// SpecColumn is a column of the tables job and history that holds a field of store.JobSpec. Parameters have the name of their
// column.
type SpecColumn struct {
	Name   string
	Value  func(s *store.JobSpec) any // the field as a parameter
	Target func(s *store.JobSpec) any // what scans the field
}

// SpecColumns are the columns of store.JobSpec except args and headers, which listings may leave out. In statements the list is
// named spec. A new field of a job is added here, and in a migration of each driver. The list is not changed.
var SpecColumns = []SpecColumn{
	{"timeout", func(s *store.JobSpec) any { return s.Timeout.Microseconds() }, func(s *store.JobSpec) any { return IntoDuration(&s.Timeout) }},
	{"priority", func(s *store.JobSpec) any { return s.Priority }, func(s *store.JobSpec) any { return &s.Priority }},
	{"max_attempts", func(s *store.JobSpec) any { return s.MaxAttempts }, func(s *store.JobSpec) any { return &s.MaxAttempts }},
	{"on_loss", func(s *store.JobSpec) any { return int16(s.OnLoss) }, func(s *store.JobSpec) any { return &s.OnLoss }},
	{"queue", func(s *store.JobSpec) any { return s.Queue }, func(s *store.JobSpec) any { return &s.Queue }},
	{"kind", func(s *store.JobSpec) any { return s.Kind }, func(s *store.JobSpec) any { return &s.Kind }},
	{"group_name", func(s *store.JobSpec) any { return TextOrNull(s.Group) }, func(s *store.JobSpec) any { return IntoText(&s.Group) }},
	{"job_key", func(s *store.JobSpec) any { return TextOrNull(s.Key) }, func(s *store.JobSpec) any { return IntoText(&s.Key) }},
	{"batch", func(s *store.JobSpec) any { return OrNull(s.Batch) }, func(s *store.JobSpec) any { return IntoNumber(&s.Batch) }},
	{"unique_key", func(s *store.JobSpec) any { return TextOrNull(s.Unique) }, func(s *store.JobSpec) any { return IntoText(&s.Unique) }},
}

// Lists returns the lists of columns that statements name; see sqltext.Rules. spec_fixed leaves out max_attempts, because a retry
// by hand may raise it.
func Lists() map[string]string {
	var all, fixed []string
	for _, c := range SpecColumns {
		all = append(all, c.Name)
		if c.Name != "max_attempts" {
			fixed = append(fixed, c.Name)
		}
	}
	return map[string]string{
		"spec": strings.Join(all, ", "), "spec_fixed": strings.Join(fixed, ", "), "schedule_columns": scheduleList, "limit_columns": limitList,
	}
}

// SpecTargets scan the columns of spec.
func SpecTargets(s *store.JobSpec) []any {
	targets := make([]any, len(SpecColumns))
	for i, c := range SpecColumns {
		targets[i] = c.Target(s)
	}
	return targets
}

// JobArgs returns the arguments for a job that a statement inserts, except args.
func JobArgs(job *store.NewJob, now time.Time) Args {
	a := Args{
		"now": Micros(Instant(now)), "run_at": Micros(job.RunAt), "delay": job.Delay.Microseconds(), "slot": Micros(job.Slot),
		"schedule": OrNull(job.Schedule), "origin": int16(job.Origin), "state": int16(StateOf(job)), "headers": job.Headers,
	}
	AddSpec(a, &job.JobSpec)
	return a
}

// AddSpec adds the columns of a job's spec to the arguments of a statement.
func AddSpec(a Args, spec *store.JobSpec) {
	for _, c := range SpecColumns {
		a[c.Name] = c.Value(spec)
	}
}

// StateOf returns the state of a new job.
func StateOf(job *store.NewJob) store.State {
	if job.Waiting {
		return store.StateWaiting
	}
	return store.StateReady
}
