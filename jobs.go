package hourbell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// JobService reads and changes jobs: Client.Jobs. Client.Enqueue makes jobs.
// Concurrent calls are allowed.
//
// Calls that change jobs take InTx.
type JobService struct{ client *Client }

// Get returns a job with its arguments and attempts, or ErrNotFound if the
// number was never given or the job has been pruned.
func (s *JobService) Get(ctx context.Context, id int64) (store.JobInfo, error) {
	jobs, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{JobFilter: store.JobFilter{IDs: []int64{id}}, Limit: 1, Attempts: true})
	if err != nil {
		return store.JobInfo{}, fmt.Errorf("read job %d: %w", id, err)
	}
	if len(jobs) == 0 {
		return store.JobInfo{}, noJob(id)
	}
	return jobs[0], nil
}

// Output returns what an attempt at a job has printed, from a byte on: the part
// of its last 64 KiB that is stored. While the attempt runs, new output arrives
// about once a second. To follow a job, call Output again with the End of the
// answer; when the answer is not Running, all of the attempt has been read, and a
// Last that differs from its Token is a later attempt. A job that does not exist is
// ErrNotFound.
func (s *JobService) Output(ctx context.Context, of store.ReadOutputRequest) (store.JobOutput, error) {
	of.From = max(of.From, 0)
	out, err := s.client.backend.ReadOutput(ctx, of)
	if errors.Is(err, store.ErrNotFound) {
		return out, noJob(of.ID)
	}
	if err != nil {
		return out, fmt.Errorf("read the output of job %d: %w", of.ID, err)
	}
	return out, nil
}

// noJob returns the error for a job that does not exist.
func noJob(id int64) error {
	return fmt.Errorf("job %d: %w; it may have been deleted or pruned, or its kind keeps nothing of jobs that complete", id, ErrNotFound)
}

// JobFilter selects jobs, live and finished. All given conditions must hold; the
// zero value selects all jobs.
type JobFilter struct {
	IDs []int64
	// States, Scheduled, Retrying and Parked are one condition together: a job
	// matches if it is in one of States, or if it is scheduled, retrying or parked
	// and that field is true.
	States    []store.State
	Scheduled bool // ready, not begun, and due later than now
	Retrying  bool // ready after an attempt that failed
	Parked    bool // ready, and waits for a signal or for the end of a sleep
	Queue     string
	Kind      string
	Schedule  string // by name; of a schedule on every host the jobs of all hosts
	Group     string
	Key       string // of the option Key
	Batch     int64  // the number of a batch
	Unique    string // the unique key of the option Unique, also of finished jobs
	// Error is a text that the last error of the job contains, letter by letter,
	// at most 1,000 bytes. The last error is the reason for which the job failed or
	// was cancelled, and the error of the newest attempt that left an error.
	Error string
	// Args are values in the arguments of the job. There is no index of arguments: the store reads the arguments of the jobs
	// that meet the other conditions, and a Page may be Partial. A call that changes jobs looks at the arguments before it locks the jobs: OnConflict
	// may replace them in between.
	Args []ArgsCondition
	// ShownArgs returns what Args may look at in the arguments of a job of a kind, so that a search does not
	// reveal what a listing hides. Nil: all arguments. It does not count as a condition.
	ShownArgs func(kind string, args []byte) []byte
	// The job was enqueued at CreatedSince or later, and before CreatedUntil, by the
	// store's clock (see Client.Now); it ended at FinishedSince or later, and before
	// FinishedUntil. A job that has not ended matches neither of these two.
	CreatedSince, CreatedUntil   time.Time
	FinishedSince, FinishedUntil time.Time

	// All confirms that a call that changes jobs means all jobs, where no other
	// condition is given.
	All bool

	// Within is how long Page and Estimate look for jobs; default PageTime and EstimateTime.
	Within time.Duration

	// Of List and Page only.
	Before  int64 // only numbers below this number: the last number of the previous page
	Limit   int   // rows of a page; default 100
	Details bool  // also read arguments and the records of attempts
}

// maxErrorText is the greatest length of JobFilter.Error in bytes.
const maxErrorText = 1000

// Validate returns what is wrong with the conditions, each as a *check.FieldError, or
// nil. It needs no store.
func (f JobFilter) Validate() error {
	return check.Join(
		checkIfGiven("queue", f.Queue), checkIfGiven("kind", f.Kind), checkIfGiven("schedule", f.Schedule),
		checkIfGiven("group", f.Group), checkIfGiven("key", f.Key), checkIfGiven("unique", f.Unique),
		checkBatch(f.Batch), checkErrorText(f.Error), checkArgs(f.Args), checkRange("since", f.CreatedSince, "until", f.CreatedUntil),
		checkRange("finished-since", f.FinishedSince, "finished-until", f.FinishedUntil),
	)
}

// conditions returns the conditions of a filter for the store, after checking them.
func (s *JobService) conditions(ctx context.Context, f JobFilter) (store.JobFilter, error) {
	if err := f.Validate(); err != nil {
		return store.JobFilter{}, err
	}
	schedule, hostsOf, err := s.client.ofHosts(ctx, f.Schedule)
	return store.JobFilter{
		IDs: f.IDs, States: f.States, Scheduled: f.Scheduled, Retrying: f.Retrying, Parked: f.Parked,
		Queue: f.Queue, Kind: f.Kind, Schedule: schedule, HostsOf: hostsOf,
		Group: f.Group, Key: f.Key, Batch: f.Batch, Unique: f.Unique, Error: f.Error, ArgsText: argsText(f.Args), CreatedSince: f.CreatedSince,
		CreatedUntil: f.CreatedUntil, FinishedSince: f.FinishedSince, FinishedUntil: f.FinishedUntil,
	}, err
}

// checkIfGiven checks a name in a filter; an empty name is no condition.
func checkIfGiven(field, name string) error {
	if name == "" {
		return nil
	}
	return check.StoredName(field, name)
}

// checkBatch checks the number of a batch; 0 is no condition.
func checkBatch(id int64) error {
	if id >= 0 {
		return nil
	}
	return &check.FieldError{Field: "batch", Value: fmt.Sprint(id), Problem: "is not the number of a batch", Remedy: "use a positive whole number"}
}

// checkErrorText checks a part of an error. Errors are stored as UTF-8 without NUL.
func checkErrorText(text string) error {
	switch {
	case len(text) > maxErrorText:
		return &check.FieldError{
			Field: "error", Value: check.Shorten(text), Problem: fmt.Sprintf("has %d bytes", len(text)),
			Remedy: fmt.Sprintf("give at most %d bytes of the error", maxErrorText),
		}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &check.FieldError{
			Field: "error", Value: check.Shorten(text),
			Problem: "is not UTF-8 without NUL, as errors are", Remedy: "give another part of the error",
		}
	}
	return nil
}

// checkArgs checks the conditions on the arguments.
func checkArgs(conditions []ArgsCondition) error {
	var all []error
	for _, c := range conditions {
		all = append(all, c.validate())
	}
	return check.Join(all...)
}

// checkRange checks two instants of a filter; the zero time is no condition.
func checkRange(sinceField string, since time.Time, untilField string, until time.Time) error {
	err := check.Join(checkTime(sinceField, since), checkTime(untilField, until))
	if err == nil && !since.IsZero() && !until.IsZero() && !since.Before(until) {
		err = &check.FieldError{
			Field: untilField, Value: until.Format(time.RFC3339Nano),
			Problem: "is not after " + sinceField, Remedy: "give a later instant, or leave one of them out",
		}
	}
	return err
}

// List returns jobs, live and finished, newest first, a page at a time. A page of
// jobs that are rare among many others may read all jobs.
func (s *JobService) List(ctx context.Context, f JobFilter) ([]store.JobInfo, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return s.listed(ctx, f, store.ListJobsRequest{JobFilter: conditions, Before: f.Before, Limit: pageSize(f.Limit), Attempts: f.Details})
}

// Count returns how many jobs match, at one instant unless the filter has Args. The number is exact, so that
// Count may read all jobs: a second or so for a million.
func (s *JobService) Count(ctx context.Context, f JobFilter) (int64, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return 0, fmt.Errorf("count jobs: %w", err)
	}
	return s.counted(ctx, f, store.CountJobsRequest{JobFilter: conditions})
}

// leastSearched is how many numbers of jobs Page searches at least, however long the store takes.
const leastSearched = 16_384

// How long calls look for jobs, unless JobFilter.Within is another time: JobService.Page, and JobService.Estimate and the other
// estimates. A single read of the store can make a call a little longer.
const (
	PageTime     = time.Second
	EstimateTime = 50 * time.Millisecond
)

// pageTimes returns how much of its time a page looks for jobs by one statement, which the database plans for all jobs, before it goes on
// in parts. No part takes longer than the rest. A page after the first mostly goes on with a search for which this was too short, and a
// search by arguments has no index.
func pageTimes(f JobFilter) (whole, rest time.Duration) {
	within := cmp.Or(f.Within, PageTime)
	if whole = within / 6; f.Before == 0 && len(f.Args) == 0 {
		whole = within - whole
	}
	return whole, within - whole
}

// JobPage is a page of jobs.
type JobPage struct {
	Jobs []store.JobInfo // newest first
	// Next is JobFilter.Before of the next page; 0: this is the last page.
	Next int64
	// Partial means that the search stopped at Next, because its time was over after it had looked at
	// more than 16,000 numbers of jobs. The page then has fewer jobs than asked for, also none, although
	// older jobs may match. A store that is slow to answer makes no page partial.
	Partial bool
}

// Page returns jobs as List does, but does not look for them for longer than JobFilter.Within. If few
// of very many jobs match, and there is no index for the conditions, the page is Partial, and
// the next page continues the search. Jobs that are made during the search are not found.
func (s *JobService) Page(ctx context.Context, f JobFilter) (JobPage, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return JobPage{}, fmt.Errorf("list jobs: %w", err)
	}
	began, size := time.Now(), pageSize(f.Limit)
	whole, rest := pageTimes(f)
	req := store.ListJobsRequest{JobFilter: conditions, Before: f.Before, Limit: size + 1, Attempts: f.Details, Within: whole}
	jobs, err := s.listed(ctx, f, req)
	if err == nil {
		return newJobPage(jobs, size), nil
	}
	if !errors.Is(err, store.ErrSlow) {
		return JobPage{}, err
	}
	req.Within = rest
	jobs, search, err := s.searchJobs(ctx, f, req, began.Add(whole+rest))
	if err != nil {
		return JobPage{}, err
	}
	page := newJobPage(jobs, size)
	if page.Next == 0 && !search.Over() {
		page.Next, page.Partial = search.Before(), true
	}
	return page, nil
}

// searchJobs looks for the jobs of a page in one part of the numbers after the other, for req.Within in each, until a deadline. It searches
// leastSearched numbers also if the deadline has passed.
func (s *JobService) searchJobs(ctx context.Context, f JobFilter, req store.ListJobsRequest, deadline time.Time) (
	jobs []store.JobInfo, search store.JobSearch, err error,
) {
	if search, err = s.search(ctx, req.Before); err != nil {
		return nil, search, err
	}
	first, most, within := search.Before(), req.Limit, req.Within
	for !search.Over() && len(jobs) < most && (first-search.Before() < leastSearched || time.Now().Before(deadline)) {
		req.After, req.Before = search.Part()
		req.Limit = most - len(jobs)
		asked := time.Now()
		found, err := s.listed(ctx, f, req)
		if errors.Is(err, store.ErrSlow) {
			if !search.Slow() {
				req.Within = 0 // the store is slow, and not the search
			}
			continue
		}
		if err != nil {
			return nil, search, err
		}
		search.Done(time.Since(asked))
		req.Within = within
		jobs = append(jobs, found...)
	}
	return jobs, search, nil
}

// newJobPage returns a page of at most size jobs. There is one job more if there are further
// pages.
func newJobPage(jobs []store.JobInfo, size int) JobPage {
	if len(jobs) <= size {
		return JobPage{Jobs: jobs}
	}
	return JobPage{Jobs: jobs[:size], Next: jobs[size-1].ID}
}

// search begins a search at the numbers below before; 0: at the newest job.
func (s *JobService) search(ctx context.Context, before int64) (store.JobSearch, error) {
	if before == 0 {
		var err error
		if before, err = s.afterNewest(ctx, store.JobFilter{}); err != nil {
			return store.JobSearch{}, err
		}
	}
	return store.NewJobSearch(before), nil
}

// JobEstimate is about how many jobs match.
type JobEstimate struct {
	Jobs  int64
	Exact bool // Jobs is exact, as of Count
}

// The shares of the numbers of jobs that are counted for an estimate, and how many numbers
// each share has at most.
const (
	estimateShares = 64
	shareNumbers   = 2000
)

// Estimate counts jobs as Count does, but does not count for longer than JobFilter.Within. If that is
// too short, it counts in samples that are spread over all numbers of jobs, and multiplies:
// the result is rough if few jobs match.
func (s *JobService) Estimate(ctx context.Context, f JobFilter) (JobEstimate, error) {
	conditions, err := s.conditions(ctx, f)
	if err != nil {
		return JobEstimate{}, fmt.Errorf("count jobs: %w", err)
	}
	began, within := time.Now(), cmp.Or(f.Within, EstimateTime)
	req := store.CountJobsRequest{JobFilter: conditions, Within: within / 2}
	n, err := s.counted(ctx, f, req)
	if err == nil {
		return JobEstimate{n, true}, nil
	}
	if !errors.Is(err, store.ErrSlow) {
		return JobEstimate{}, err
	}
	end, err := s.afterNewest(ctx, store.JobFilter{})
	if err != nil {
		return JobEstimate{}, err
	}
	oldest, err := s.client.backend.ListJobs(ctx, store.ListJobsRequest{OldestFirst: true, Limit: 1})
	if err != nil || len(oldest) == 0 {
		return JobEstimate{}, err
	}
	first := oldest[0].ID - 1
	numbers := end - 1 - first
	found, counted, err := s.countSamples(ctx, f, req, first, numbers, began.Add(within))
	if err != nil {
		return JobEstimate{}, err
	}
	if counted == 0 {
		return JobEstimate{}, fmt.Errorf("count jobs: %w", store.ErrSlow)
	}
	return JobEstimate{Jobs: int64(float64(found) / float64(counted) * float64(numbers))}, nil
}

// countSamples counts jobs in samples of the numbers that follow first, until a deadline or until it has counted in each share of the numbers.
// It returns how many jobs it has found, and in how many numbers.
func (s *JobService) countSamples(ctx context.Context, f JobFilter, req store.CountJobsRequest, first, numbers int64, deadline time.Time) (
	found, counted int64, err error,
) {
	for i := range int64(estimateShares) {
		if counted > 0 && time.Now().After(deadline) {
			break
		}
		// 37 is odd, so that the shares are met in an order that soon is spread over all
		share := i * 37 % estimateShares
		req.After = first + numbers*share/estimateShares
		req.Before = min(first+numbers*(share+1)/estimateShares, req.After+shareNumbers) + 1
		n, err := s.counted(ctx, f, req)
		if errors.Is(err, store.ErrSlow) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		found, counted = found+n, counted+req.Before-1-req.After
	}
	return found, counted, nil
}
