package mysql

import (
	"database/sql"
	"strings"
	"time"

	"github.com/hourbell/hourbell/store"
)

// specColumn is a column of the tables job and history that holds a field of
// store.JobSpec. Parameters have the name of their column.
type specColumn struct {
	name   string
	value  func(s *store.JobSpec) any // the field as a parameter
	target func(s *store.JobSpec) any // what scans the field
}

// specColumns are the columns of store.JobSpec except args and headers, which listings
// may leave out. In statements the list is named spec. A new field of a job is added
// here, and in a migration.
var specColumns = []specColumn{
	{"timeout", func(s *store.JobSpec) any { return s.Timeout.Microseconds() }, func(s *store.JobSpec) any { return durationScanner{&s.Timeout} }},
	{"priority", func(s *store.JobSpec) any { return s.Priority }, func(s *store.JobSpec) any { return &s.Priority }},
	{"max_attempts", func(s *store.JobSpec) any { return s.MaxAttempts }, func(s *store.JobSpec) any { return &s.MaxAttempts }},
	{"on_loss", func(s *store.JobSpec) any { return int16(s.OnLoss) }, func(s *store.JobSpec) any { return &s.OnLoss }},
	{"queue", func(s *store.JobSpec) any { return s.Queue }, func(s *store.JobSpec) any { return &s.Queue }},
	{"kind", func(s *store.JobSpec) any { return s.Kind }, func(s *store.JobSpec) any { return &s.Kind }},
	{"group_name", func(s *store.JobSpec) any { return textOrNull(s.Group) }, func(s *store.JobSpec) any { return textScanner{&s.Group} }},
	{"job_key", func(s *store.JobSpec) any { return textOrNull(s.Key) }, func(s *store.JobSpec) any { return textScanner{&s.Key} }},
	{"batch", func(s *store.JobSpec) any { return orNull(s.Batch) }, func(s *store.JobSpec) any { return numberScanner{&s.Batch} }},
	{"unique_key", func(s *store.JobSpec) any { return textOrNull(s.Unique) }, func(s *store.JobSpec) any { return textScanner{&s.Unique} }},
}

// specLists returns the lists of columns that statements name spec and spec_fixed; the
// latter leaves out max_attempts, because a retry by hand may raise it.
func specLists() (spec, specFixed string) {
	var all, fixed []string
	for _, c := range specColumns {
		all = append(all, c.name)
		if c.name != "max_attempts" {
			fixed = append(fixed, c.name)
		}
	}
	return strings.Join(all, ", "), strings.Join(fixed, ", ")
}

// specTargets scan the columns of spec.
func specTargets(s *store.JobSpec) []any {
	targets := make([]any, len(specColumns))
	for i, c := range specColumns {
		targets[i] = c.target(s)
	}
	return targets
}

// jobArgs returns the arguments of insert_jobs for a job.
func jobArgs(job *store.NewJob, now time.Time) args {
	created := code("UTC_TIMESTAMP(6)")
	if !now.IsZero() {
		created = datetime(instant(now))
	}
	runAt := datetime(job.RunAt)
	if job.RunAt.IsZero() {
		runAt = later(created, job.Delay)
	}
	a := args{
		"run_at": runAt, "created_at": created, "slot": datetime(job.Slot),
		"schedule": orNull(job.Schedule), "origin": job.Origin, "state": stateOf(job), "waits": orNull(int64(job.OpenEdges)), "releases": job.Releases,
	}
	addSpec(a, &job.JobSpec)
	return a
}

// addSpec adds the fields of a job's spec to the arguments of a statement.
func addSpec(a args, spec *store.JobSpec) {
	a["args"], a["headers"] = notNull(spec.Args), spec.Headers
	for _, c := range specColumns {
		a[c.name] = c.value(spec)
	}
}

func stateOf(job *store.NewJob) store.State {
	if job.Waiting {
		return store.StateWaiting
	}
	return store.StateReady
}

// textOrNull is a text as a parameter: NULL for an empty one.
func textOrNull(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// textScanner is the way back from textOrNull.
type textScanner struct{ text *string }

// Scan implements sql.Scanner.
func (s textScanner) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*s.text = text.String
	return err
}

// numberScanner is the way back from orNull.
type numberScanner struct{ n *int64 }

// Scan implements sql.Scanner.
func (s numberScanner) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	*s.n = n.Int64
	return err
}
