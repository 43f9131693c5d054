package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// sampled is how many jobs the table of a dry run shows.
const sampled = 10

// jobsChanging is one run of a command that changes jobs.
type jobsChanging struct {
	p      *program
	client *hourbell.Client
	change jobChange
	filter hourbell.JobFilter
	dryRun bool
	format format
	// filtered reports that there are conditions besides the numbers.
	filtered bool

	res  tally
	jobs []store.JobChange // the answers; those for jobs that a filter selected only if they are few
}

// tally has how many jobs there are of each answer.
type tally struct{ changed, requested, missing, unchanged, keyTaken int }

// do changes the jobs, shows the progress on a terminal, and prints the records.
func (r *jobsChanging) do(ctx context.Context) error {
	bar := r.p.newBar(1)
	defer bar.clear()
	if bar.out != nil && r.filter.IDs == nil {
		n, err := r.client.Jobs.Count(ctx, r.filter)
		if err != nil {
			return err
		}
		bar.steps = max(int(n), 1)
	}
	changes := r.changes(ctx, bar)
	if r.format != asTable {
		record := func(c store.JobChange) any { return view.NewChangeRecord(c, r.dryRun) }
		return printList(r.p, view.Listing[store.JobChange]{Record: record}, r.format, changes)
	}
	for _, err := range changes {
		if err != nil {
			return err
		}
	}
	return nil
}

// changes changes the jobs, yields the answers and moves the bar.
func (r *jobsChanging) changes(ctx context.Context, bar *bar) iter.Seq2[store.JobChange, error] {
	return func(yield func(store.JobChange, error) bool) {
		stopped := false
		options := []hourbell.Option{hourbell.EachBatch(func(jobs []store.JobChange) error {
			r.add(jobs)
			for _, job := range jobs {
				if stopped = !yield(job, nil); stopped {
					return errReported
				}
			}
			bar.show(fmt.Sprintf("%s, %s", r.change.verb, plain.Plural(r.res.total(), "job")), float64(r.res.total()))
			return nil
		})}
		if r.dryRun {
			options = append(options, hourbell.DryRun())
		}
		if _, err := r.change.do(r.client.Jobs, ctx, r.filter, options...); err != nil && !stopped {
			yield(store.JobChange{}, err)
		}
	}
}

// add adds the answers for a batch.
func (r *jobsChanging) add(jobs []store.JobChange) {
	switch {
	case r.filter.IDs != nil || r.res.total()+len(jobs) <= tableRows:
		r.jobs = append(r.jobs, jobs...)
	default:
		r.jobs = nil
	}
	for _, job := range jobs {
		switch job.Change {
		case store.Changed:
			r.res.changed++
		case store.Requested:
			r.res.requested++
		case store.Missing:
			r.res.missing++
		case store.Unchanged:
			r.res.unchanged++
		case store.KeyTaken:
			r.res.keyTaken++
		}
	}
}

// total returns how many jobs there are answers for.
func (t tally) total() int { return t.changed + t.requested + t.missing + t.unchanged + t.keyTaken }

// interrupted adds to an error how much was done before.
func (r *jobsChanging) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s jobs: interrupted", r.change.verb)
	}
	if n := r.res.changed + r.res.requested; n > 0 && !r.dryRun {
		err = fmt.Errorf("%w; the %s before stay as they were changed", err, plain.Plural(n, "job"))
	}
	return err
}

// tell prints what became of the jobs: for people a sentence for each, unless a filter
// selected many, and how many there are; on standard error where jobs could not be
// changed. For programs there are records already, so that only errors are printed. Jobs
// that could not be changed are an error.
func (r *jobsChanging) tell(ctx context.Context) error {
	for _, job := range r.jobs {
		r.tellOne(job)
	}
	if r.jobs == nil {
		r.tellLeft()
	}
	switch {
	case r.format != asTable:
	case r.dryRun:
		if err := r.tellDryRun(ctx); err != nil {
			return err
		}
	case r.filter.IDs == nil:
		r.tellCounts("")
	}
	_, unchanged := r.change.said[store.Unchanged]
	if r.res.missing+r.res.keyTaken > 0 || r.res.unchanged > 0 && !unchanged {
		return errReported
	}
	return nil
}

// tellCounts prints how many jobs there are of each answer that is no error.
func (r *jobsChanging) tellCounts(before string) {
	switch done := r.res.changed + r.res.requested; {
	case r.res.total() == 0:
		fmt.Fprintf(r.p.stdout, "%sno job matches\n", before)
	case done+r.res.unchanged == 0 && r.filter.IDs == nil:
		fmt.Fprintf(r.p.stdout, "%sno job was changed\n", before)
	}
	for _, of := range []struct {
		change store.Change
		n      int
	}{{store.Changed, r.res.changed}, {store.Requested, r.res.requested}, {store.Unchanged, r.res.unchanged}} {
		said, done := r.change.said[of.change]
		switch {
		case !done || of.n == 0:
		case of.n == 1:
			fmt.Fprintf(r.p.stdout, "%s1 job: %s\n", before, said.one)
		default:
			fmt.Fprintf(r.p.stdout, "%s%s: %s\n", before, plain.Plural(of.n, "job"), said.many)
		}
	}
}

// tellDryRun prints what would be changed, and some of the jobs.
func (r *jobsChanging) tellDryRun(ctx context.Context) error {
	r.tellCounts("dry run, nothing is changed: ")
	if r.res.total() == r.res.missing {
		return nil
	}
	sample := r.filter
	sample.Limit, sample.Details = sampled, true
	jobs, err := r.client.Jobs.List(ctx, sample)
	if err != nil {
		return err
	}
	now, err := r.client.Now(ctx)
	if err != nil {
		return err
	}
	views, err := view.Jobs(ctx, r.client, false, jobs...)
	if err != nil {
		return err
	}
	if r.res.total() > len(jobs) {
		fmt.Fprintf(r.p.stdout, "the newest %s:\n", plain.Plural(len(jobs), "job"))
	}
	return printList(r.p, view.JobListing(now), asTable, all(views))
}

// tellOne prints what became of one job.
func (r *jobsChanging) tellOne(job store.JobChange) {
	verb := r.change.verb
	said, done := r.change.said[job.Change]
	switch {
	case done && (r.format != asTable || r.dryRun):
	case done:
		fmt.Fprintf(r.p.stdout, "job %d: %s\n", job.ID, said.one)
	case job.Change == store.Missing && r.filtered:
		printError(r.p.stderr, fmt.Errorf("%s job %d: %w, or the other flags do not select it", verb, job.ID, hourbell.ErrNotFound))
	case job.Change == store.Missing:
		printError(r.p.stderr, fmt.Errorf("%s job %d: %w; it never existed, or it has been pruned", verb, job.ID, hourbell.ErrNotFound))
	case job.Change == store.KeyTaken:
		printError(r.p.stderr, fmt.Errorf("%s job %d: job %d holds its unique key; wait until the key is free, or cancel or "+
			"delete that job", verb, job.ID, job.Holder))
	default:
		printError(r.p.stderr, fmt.Errorf("%s job %d: it %s", verb, job.ID, r.change.left.one))
	}
}

// tellLeft prints how many of the jobs that a filter selected could not be changed.
func (r *jobsChanging) tellLeft() {
	if n := r.res.keyTaken; n > 0 {
		printError(r.p.stderr, fmt.Errorf("%s %s: other jobs hold their unique keys; wait until the keys are free, or cancel "+
			"or delete those jobs", r.change.verb, plain.Plural(n, "job")))
	}
	if _, done := r.change.said[store.Unchanged]; r.res.unchanged > 0 && !done {
		printError(r.p.stderr, fmt.Errorf("%s %s: they %s", r.change.verb, plain.Plural(r.res.unchanged, "job"), r.change.left.many))
	}
}
