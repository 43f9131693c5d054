package hourbelltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// expectation is what a job is to be: the fields that the options of a call set.
type expectation struct {
	job     store.NewJob
	tx      store.Tx // nil: none
	anyArgs bool
	given   map[string]bool // by the names of fields
}

// fields are the fields of a job that options set, as texts, with their names in messages.
var fields = []struct {
	name string
	of   func(store.JobSpec) string
}{
	{"queue", func(j store.JobSpec) string { return j.Queue }},
	{"group", func(j store.JobSpec) string { return j.Group }},
	{"priority", func(j store.JobSpec) string { return fmt.Sprint(j.Priority) }},
	{"max attempts", func(j store.JobSpec) string { return fmt.Sprint(j.MaxAttempts) }},
	{"on loss", func(j store.JobSpec) string { return j.OnLoss.String() }},
	{"timeout", func(j store.JobSpec) string { return j.Timeout.String() }},
	{"key", func(j store.JobSpec) string { return j.Key }},
	{"unique", func(j store.JobSpec) string { return j.Unique }},
}

// unusual sets each of fields, in their order, to a value that a job without options does not have.
var unusual = []hourbell.Option{
	hourbell.Queue("hourbelltest"), hourbell.Group("hourbelltest"), hourbell.Priority(9), hourbell.MaxAttempts(999), hourbell.OnLoss(hourbell.FailOnLoss),
	hourbell.Timeout(time.Nanosecond * 1001), hourbell.Key("hourbelltest"), hourbell.Unique("hourbelltest"),
}

// expect returns what a job with these options is to be. Options are functions that cannot be
// compared, so it makes two jobs with them, and one job had unusual values before: the options have
// set the fields that are equal in both.
func expect(ctx context.Context, args hourbell.Args, options []hourbell.Option) (expectation, error) {
	if args == nil {
		return expectation{}, errors.New("the args are nil; use hourbelltest.Any for any args of a kind")
	}
	plain, err := described(ctx, args, options)
	if err != nil {
		return expectation{}, err
	}
	_, isAny := args.(anyArgs)
	want := expectation{job: plain.Jobs[0], tx: plain.Tx, anyArgs: isAny, given: map[string]bool{}}
	for i, field := range fields {
		other, err := described(ctx, args, append(unusual[i:i+1:i+1], options...))
		if err != nil { // the unusual option contradicts an option: they set the same field
			want.given[field.name] = true
			continue
		}
		want.given[field.name] = field.of(want.job.JobSpec) == field.of(other.Jobs[0].JobSpec)
	}
	return want, nil
}

// described returns the insert of a job.
func described(ctx context.Context, args hourbell.Args, options []hourbell.Option) (store.InsertRequest, error) {
	var seen describer
	client, err := hourbell.New(&seen, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = client.Enqueue(ctx, args, options...)
	}
	return seen.req, err
}

// describer is a store that only keeps an insert.
type describer struct {
	store.Backend
	req store.InsertRequest
}

// Insert implements store.Jobs.
func (d *describer) Insert(_ context.Context, req store.InsertRequest) (store.InsertResult, error) {
	d.req = req
	return store.InsertResult{Jobs: make([]store.Inserted, len(req.Jobs))}, nil
}

// differences returns what is different in a job.
func (e expectation) differences(job store.JobInfo) (out []string) {
	if !e.anyArgs && !sameJSON(job.Args, e.job.Args) {
		out = append(out, "args "+string(job.Args))
	}
	for _, field := range fields {
		if have := field.of(job.JobSpec); e.given[field.name] && have != field.of(e.job.JobSpec) {
			out = append(out, field.name+" "+have)
		}
	}
	if e.due() && (job.Attempt > 1 || !job.RunAt.Equal(e.dueAt(job))) {
		out = append(out, fmt.Sprintf("due at %v, %v after it was made", job.RunAt.Format(time.RFC3339Nano), job.RunAt.Sub(job.CreatedAt)))
	}
	return out
}

// due reports whether an option has set when the job is due.
func (e expectation) due() bool { return !e.job.RunAt.IsZero() || e.job.Delay != 0 }

// dueAt returns when the job is to be due.
func (e expectation) dueAt(job store.JobInfo) time.Time {
	if !e.job.RunAt.IsZero() {
		return e.job.RunAt.Truncate(time.Microsecond)
	}
	return job.CreatedAt.Add(e.job.Delay.Truncate(time.Microsecond))
}

// String describes the job.
func (e expectation) String() string {
	parts := []string{"args " + string(e.job.Args)}
	if e.anyArgs {
		parts = []string{"any args"}
	}
	for _, field := range fields {
		if e.given[field.name] {
			parts = append(parts, field.name+" "+field.of(e.job.JobSpec))
		}
	}
	switch {
	case !e.job.RunAt.IsZero():
		parts = append(parts, "due at "+e.job.RunAt.Format(time.RFC3339Nano))
	case e.job.Delay != 0:
		parts = append(parts, fmt.Sprintf("due %v after it was made", e.job.Delay))
	}
	return fmt.Sprintf("a job of kind %s (%s)", e.job.Kind, strings.Join(parts, ", "))
}
