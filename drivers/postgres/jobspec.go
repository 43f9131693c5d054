package postgres

import (
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// specColumn is a column of the tables job and history that holds a field of
// store.JobSpec.
type specColumn struct {
	name, kind string
	value      func(job *store.JobSpec) any  // the field as an argument
	values     func(jobs []store.NewJob) any // the fields of many jobs as an array; nil: all are null
	target     func(job *store.JobSpec) any  // what scans the field
}

// specColumns are the columns of store.JobSpec except args and headers, which listings
// may leave out. In statements the list is named spec. A new field of a job is added
// here, and in a migration.
var specColumns = []specColumn{
	specField("timeout_ns", "bigint", func(s *store.JobSpec) int64 { return int64(s.Timeout) }, func(s *store.JobSpec) any { return (*int64)(&s.Timeout) }),
	specField("priority", "smallint", func(s *store.JobSpec) int16 { return s.Priority }, func(s *store.JobSpec) any { return &s.Priority }),
	specField("max_attempts", "smallint", func(s *store.JobSpec) int16 { return s.MaxAttempts }, func(s *store.JobSpec) any { return &s.MaxAttempts }),
	specField("on_loss", "smallint", func(s *store.JobSpec) int16 { return int16(s.OnLoss) }, func(s *store.JobSpec) any { return (*int16)(&s.OnLoss) }),
	specField("queue", "text", func(s *store.JobSpec) string { return s.Queue }, func(s *store.JobSpec) any { return (*repeated)(&s.Queue) }),
	specField("kind", "text", func(s *store.JobSpec) string { return s.Kind }, func(s *store.JobSpec) any { return (*repeated)(&s.Kind) }),
	specOrNull("group_name", "text", func(s *store.JobSpec) *string { return orNull(s.Group) }, func(s *store.JobSpec) any { return (*word)(&s.Group) }),
	specOrNull("job_key", "text", func(s *store.JobSpec) *string { return orNull(s.Key) }, func(s *store.JobSpec) any { return (*word)(&s.Key) }),
	specOrNull("batch", "bigint", func(s *store.JobSpec) *int64 { return orNull(s.Batch) }, func(s *store.JobSpec) any { return (*number)(&s.Batch) }),
	specOrNull("unique_key", "text", func(s *store.JobSpec) *string { return orNull(s.Unique) }, func(s *store.JobSpec) any { return (*word)(&s.Unique) }),
}

// specField is a column that is never null.
func specField[T any](name, kind string, value func(*store.JobSpec) T, target func(*store.JobSpec) any) specColumn {
	return specColumn{
		name: name, kind: kind, target: target,
		value: func(s *store.JobSpec) any { return value(s) },
		values: func(jobs []store.NewJob) any {
			return listOf(jobs, func(job *store.NewJob) T { return value(&job.JobSpec) })
		},
	}
}

// specOrNull is a column that may be null.
func specOrNull[T any](name, kind string, value func(*store.JobSpec) *T, target func(*store.JobSpec) any) specColumn {
	c := specField(name, kind, value, target)
	c.values = func(jobs []store.NewJob) any {
		return listUnlessNull(jobs, func(job *store.NewJob) *T { return value(&job.JobSpec) })
	}
	return c
}

// specLists returns the lists of columns that statements name: spec has all;
// spec_fixed leaves out max_attempts, because a retry by hand may raise it; and
// spec_claimed leaves out the queue, which a claim knows.
func specLists() map[string]string {
	return map[string]string{"spec": specWithout(""), "spec_fixed": specWithout("max_attempts"), "spec_claimed": specWithout("queue")}
}

// specWithout returns the list of all columns but one.
func specWithout(name string) string {
	var list []string
	for _, c := range specColumns {
		if c.name != name {
			list = append(list, c.name+" "+c.kind)
		}
	}
	return strings.Join(list, ", ")
}

// specTargets scan the columns of spec except the named ones.
func specTargets(s *store.JobSpec, except ...string) []any {
	var targets []any
	for _, c := range specColumns {
		if !slices.Contains(except, c.name) {
			targets = append(targets, c.target(s))
		}
	}
	return targets
}

// newJobParams are the parameters of the statements that insert jobs. insertion.send sets
// the first headParams of them, shared and columns the others. If some of
// the jobs are linked, linkedParams follow.
const (
	newJobParams = "now channel wake run_at delay slot schedule_id origin waiting args headers {spec}"
	linkedParams = " waits releases"
	headParams   = 3
)

// shared returns the arguments of jobs that differ in their args only, without the head.
func shared(job *store.NewJob, args any) []any {
	values := make([]any, headParams, headParams+9+len(specColumns))
	values = append(values, when(job.RunAt), job.Delay.Microseconds(), when(job.Slot), orNull(job.Schedule), int16(job.Origin), job.Waiting,
		args, headersText(job))
	for _, c := range specColumns {
		values = append(values, c.value(&job.JobSpec))
	}
	return values
}

// columns returns the arguments of any jobs, as arrays, without the head.
func columns(jobs []store.NewJob) []any {
	values := make([]any, headParams, headParams+9+len(specColumns))
	values = append(values,
		listUnlessNull(jobs, func(job *store.NewJob) *time.Time { return when(job.RunAt) }),
		listOf(jobs, func(job *store.NewJob) int64 { return job.Delay.Microseconds() }),
		listUnlessNull(jobs, func(job *store.NewJob) *time.Time { return when(job.Slot) }),
		listUnlessNull(jobs, func(job *store.NewJob) *int64 { return orNull(job.Schedule) }),
		listOf(jobs, func(job *store.NewJob) int16 { return int16(job.Origin) }),
		listOf(jobs, func(job *store.NewJob) bool { return job.Waiting }),
		argsTexts(jobs),
		listUnlessNull(jobs, headersText),
	)
	for _, c := range specColumns {
		values = append(values, c.values(jobs))
	}
	return values
}

// linked reports whether any of the jobs waits for jobs, or has dependents in its insert.
func linked(jobs []store.NewJob) bool {
	return slices.ContainsFunc(jobs, func(job store.NewJob) bool { return job.OpenEdges > 0 || job.Releases })
}

// linkedColumns returns the arguments of linkedParams.
func linkedColumns(jobs []store.NewJob) []any {
	return []any{
		listUnlessNull(jobs, func(job *store.NewJob) *int32 {
			if n := int32(job.OpenEdges); n > 0 {
				return &n
			}
			return nil
		}),
		listOf(jobs, func(job *store.NewJob) bool { return job.Releases }),
	}
}

func argsTexts(jobs []store.NewJob) []string {
	return listOf(jobs, func(job *store.NewJob) string { return string(job.Args) })
}

func headersText(job *store.NewJob) *string {
	if job.Headers == nil {
		return nil
	}
	text := string(job.Headers)
	return &text
}

func listOf[T any](jobs []store.NewJob, value func(*store.NewJob) T) []T {
	list := make([]T, len(jobs))
	for i := range jobs {
		list[i] = value(&jobs[i])
	}
	return list
}

// listUnlessNull returns an array of values; nil if all of them are null, so that they
// are sent as one null: unnest fills the array up.
func listUnlessNull[T any](jobs []store.NewJob, value func(*store.NewJob) *T) any {
	list := listOf(jobs, value)
	for _, one := range list {
		if one != nil {
			return list
		}
	}
	return nil
}
