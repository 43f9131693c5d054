package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addJobs() {
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/jobs", "list-jobs", "Lists jobs, live and finished, newest first", "jobs", 0, 0}, h.listJobs)
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/jobs/count", "count-jobs", "Counts jobs", "jobs", 0, 0}, h.countJobs)
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/jobs/{id}", "get-job", "Returns a job with its attempts", "jobs", 0, 0}, h.getJob)
	add(h, route{
		access.Viewer, http.MethodGet, "/api/v1/jobs/{id}/output", "get-output",
		"Returns what an attempt at a job has printed, also while the attempt runs", "jobs", 0, 0,
	}, h.getOutput)
	add(h, route{access.Operator, http.MethodPost, "/api/v1/jobs", "enqueue-job", "Enqueues a job", "jobs", 0, http.StatusCreated}, h.enqueue)
	answers := h.api.OpenAPI().Paths["/api/v1/jobs"].Post.Responses
	existed := *answers["201"]
	existed.Description = "A job has the key already; nothing was enqueued"
	answers["200"] = &existed
	add(h, route{
		access.Operator, http.MethodPost, "/api/v1/jobs/many", "enqueue-jobs", "Enqueues many jobs, all or none",
		"jobs", maxMany, http.StatusCreated,
	}, h.enqueueMany)
	add(h, route{
		access.Operator, http.MethodPost, "/api/v1/jobs/graph", "enqueue-graph",
		"Enqueues a graph: jobs that follow each other, all or none", "jobs", maxMany, http.StatusCreated,
	}, h.enqueueGraph)
}

// filterOf returns the filter that conditions describe. An empty condition was not given, because neither a parameter of a query (see
// checkQuery) nor a text of a body may be empty.
func filterOf(ctx context.Context, client *hourbell.Client, conditions view.JobConditions) (hourbell.JobFilter, error) {
	selection, err := conditions.Select()
	if err != nil {
		return hourbell.JobFilter{}, err
	}
	return selection.At(ctx, client)
}

// given returns a value that may be left out; nil: it is the zero value, and was not given.
func given[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

type listJobsInput struct {
	view.JobConditions
	Secrets
	Paging
}

// listedJobs is the answer of the list of jobs.
type listedJobs struct {
	Body struct {
		PageOf[view.JobRecord]
		Partial bool `json:"partial" about:"partial"`
	}
}

func (h *handler) listJobs(ctx context.Context, in *listJobsInput) (*listedJobs, error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	filter, err := filterOf(ctx, h.client, in.JobConditions)
	if err != nil {
		return nil, err
	}
	if filter.Before, err = numberCursor(in.Cursor); err != nil {
		return nil, err
	}
	filter.Limit, filter.Details = in.Limit, true
	page, err := h.client.Jobs.Page(ctx, filter)
	if err != nil {
		return nil, err
	}
	jobs, err := view.Jobs(ctx, h.client, in.Show, page.Jobs...)
	if err != nil {
		return nil, err
	}
	now, err := h.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	record := func(j view.Job) view.JobRecord { return view.NewJobRecord(j, now) }
	out := &listedJobs{}
	out.Body.PageOf = newPage(in.Limit, jobs, func(j view.Job) string { return fmt.Sprint(j.ID) }, record).Body
	out.Body.Partial = page.Partial
	if page.Next != 0 {
		out.Body.Next = given(encodeCursor(fmt.Sprint(page.Next)))
	}
	return out, nil
}

// Count is a number of jobs.
type Count struct {
	view.CountRecord
	Estimated bool `json:"estimated" doc:"count is an estimate from samples, because there are very many jobs."`
}

type countOutput struct{ Body Count }

func (h *handler) countJobs(ctx context.Context, in *struct {
	view.JobConditions
	Exact bool `query:"exact" doc:"Count all jobs, which takes a second or so for a million."`
},
) (*countOutput, error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	filter, err := filterOf(ctx, h.client, in.JobConditions)
	if err != nil {
		return nil, err
	}
	if in.Exact {
		n, err := h.client.Jobs.Count(ctx, filter)
		return &countOutput{Count{CountRecord: view.CountRecord{Count: n}}}, err
	}
	n, err := h.client.Jobs.Estimate(ctx, filter)
	return &countOutput{Count{CountRecord: view.CountRecord{Count: n.Jobs}, Estimated: !n.Exact}}, err
}

// JobID is the parameter of routes about a job.
type JobID struct {
	ID int64 `path:"id" minimum:"1" doc:"The number of the job."`
}

type jobOutput struct{ Body view.JobRecord }

func (h *handler) getJob(ctx context.Context, in *struct {
	JobID
	Secrets
},
) (*jobOutput, error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	job, err := h.client.Jobs.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	jobs, err := view.Jobs(ctx, h.client, in.Show, job)
	if err != nil {
		return nil, err
	}
	if err := view.AddOutput(ctx, h.client, &jobs[0]); err != nil {
		return nil, err
	}
	if err := view.AddSteps(ctx, h.client, &jobs[0], in.Show); err != nil {
		return nil, err
	}
	now, err := h.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	return &jobOutput{view.NewJobRecord(jobs[0], now)}, nil
}

type printedOutput struct{ Body view.OutputRecord }

func (h *handler) getOutput(ctx context.Context, in *struct {
	JobID
	From  int64 `query:"from" minimum:"0" doc:"Only from this byte on; end of an answer is the from of the next request."`
	Token int64 `query:"token" minimum:"1" doc:"The attempt with this token; without it, the last attempt."`
},
) (*printedOutput, error) {
	found, err := h.client.Jobs.Output(ctx, store.ReadOutputRequest{ID: in.ID, Token: in.Token, From: in.From})
	if err != nil {
		return nil, err
	}
	return &printedOutput{view.NewOutputRecord(in.ID, found)}, nil
}

// Work is what a job does, and how: of a new job as well as of a job that a handler makes. Durations are written as 90s, 15m
// or 1h30m.
type Work struct {
	Kind        string          `json:"kind" minLength:"1" doc:"The kind, for which some node has code." shape:"name"`
	Args        json.RawMessage `json:"args,omitempty" doc:"The arguments: any JSON of at most 1 MiB."`
	Queue       string          `json:"queue,omitempty" minLength:"1" shape:"name"`
	Priority    int             `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"1 (first) to 9 (last); default 5."`
	MaxAttempts int             `json:"max_attempts,omitempty" minimum:"1" maximum:"1000"`
	OnLoss      string          `json:"on_loss,omitempty" enum:"retry,fail"`
	Timeout     string          `json:"timeout,omitempty" minLength:"1" doc:"The greatest duration of an attempt, or none." shape:"timeout"`
	Backoff     string          `json:"backoff,omitempty" minLength:"1" doc:"Such as constant:30s, linear:10s or exponential:1s:10m." shape:"backoff"`
}

func (w Work) args() []byte { return orNull(w.Args) }

// JobWork is what a new job does, where and when.
type JobWork struct {
	Work
	Group string `json:"group,omitempty" minLength:"1" doc:"A label by which jobs are selected." shape:"name"`
	Key   string `json:"key,omitempty" minLength:"1" doc:"What the job is for, such as a customer." shape:"name"`
	In    string `json:"in,omitempty" minLength:"1" doc:"Run it no sooner than this from now." shape:"duration"`
	At    string `json:"at,omitempty" minLength:"1" doc:"Run it no sooner than this instant." shape:"instant"`
}

// NewJob is a job to enqueue.
type NewJob struct {
	JobWork
	Unique     string     `json:"unique,omitempty" minLength:"1" doc:"A key that at most one live job of the kind has." shape:"name"`
	UniqueArgs *[]string  `json:"unique_args,omitempty" nullable:"false" doc:"A key made from these fields of the arguments; []: from all."`
	UniqueFor  string     `json:"unique_for,omitempty" minLength:"1" doc:"Keep the key taken at least this long." shape:"duration"`
	Until      string     `json:"unique_until,omitempty" enum:"end,start" doc:"start: the key is unique among jobs that have not begun."`
	OnConflict string     `json:"on_conflict,omitempty" enum:"keep,replace,reschedule,error"`
	PushAtMost string     `json:"push_at_most,omitempty" minLength:"1" shape:"duration"`
	After      []AfterJob `json:"after,omitempty" nullable:"false" doc:"Run it after the ends of these jobs."`
	AfterAny   bool       `json:"after_any,omitempty" doc:"Run it after the end of any job of after."`
}

// AfterJob is a job after whose end another job runs.
type AfterJob struct {
	Job int64 `json:"job" minimum:"1"`
	AfterEnd
}

// AfterEnd is which end of a job another job waits for.
type AfterEnd struct {
	On    string `json:"on,omitempty" enum:"success,failure,either" doc:"Default: success."`
	Delay string `json:"delay,omitempty" minLength:"1" doc:"No sooner than this after the end." shape:"duration"`
}

// edge returns the outcome and the delay. field is the name of the delay in errors.
func (a AfterEnd) edge(field string) (on store.On, delay time.Duration, err error) {
	on, known := store.ParseOn(a.On)
	if !known {
		on = hourbell.OnSuccess
	}
	if a.Delay != "" {
		delay, err = duration(field, a.Delay)
	}
	return on, delay, err
}

// Enqueued is the answer for a new job.
type Enqueued struct {
	ID       int64  `json:"id"`
	Existed  bool   `json:"existed" doc:"Another job has the unique key; id is its number."`
	Conflict string `json:"conflict,omitempty" doc:"What happened to the job that has the key."`
}

// Idempotency is the header of requests that may be repeated.
type Idempotency struct {
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"Within 24 hours, requests of one caller with this key make each job once, and get the same answer."`
}

// keyKept is how long an Idempotency-Key is remembered.
const keyKept = 24 * time.Hour

// keyPrefix begins the unique key that an Idempotency-Key becomes.
const keyPrefix = "idempotency-key:"

// options returns the options that a key becomes. place is the job's place in the request.
func (i Idempotency) options(ctx context.Context, at string) []hourbell.Option {
	if i.Key == "" {
		return nil
	}
	id, _ := access.FromContext(ctx)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %s", id.Name, i.Key, at))
	return []hourbell.Option{hourbell.Unique(keyPrefix + hex.EncodeToString(sum[:])), hourbell.UniqueFor(keyKept)}
}

// request returns a job as the client takes it. at is its place among the jobs of the
// request.
func (h *handler) request(ctx context.Context, j NewJob, i Idempotency, at int) (hourbell.Request, error) {
	if err := h.mayDefine(ctx, j.Kind); err != nil {
		return hourbell.Request{}, err
	}
	options, err := j.options()
	err = errors.Join(err, kinds.CheckArgs(j.Kind, j.args()))
	if i.Key != "" && (j.Unique != "" || j.UniqueArgs != nil) {
		err = errors.Join(err, fieldError("Idempotency-Key", i.Key, "is given together with unique or unique_args", "use one of them"))
	}
	req := hourbell.Request{Args: hourbell.RawArgs{Name: j.Kind, JSON: j.args()}, Options: append(options, i.options(ctx, strconv.Itoa(at))...)}
	if err == nil {
		err = req.Validate()
	}
	return req, err
}

// orNull returns arguments; null if none are given.
func orNull(args json.RawMessage) []byte {
	if len(args) == 0 {
		return []byte("null")
	}
	return args
}

// jobOptions collects the options of a job and what is wrong with them.
type jobOptions struct {
	options []hourbell.Option
	errs    []error
}

func (o *jobOptions) set(given bool, option hourbell.Option) {
	if given {
		o.options = append(o.options, option)
	}
}

// length reads a duration; empty: it was not given.
func (o *jobOptions) length(field, text string, option func(time.Duration) hourbell.Option) {
	if text != "" {
		d, err := duration(field, text)
		o.errs = append(o.errs, err)
		o.set(err == nil, option(d))
	}
}

// options returns the options of what a job does.
func (j JobWork) options() jobOptions {
	var o jobOptions
	o.set(j.Queue != "", hourbell.Queue(j.Queue))
	o.set(j.Group != "", hourbell.Group(j.Group))
	o.set(j.Key != "", hourbell.Key(j.Key))
	o.set(j.Priority != 0, hourbell.Priority(j.Priority))
	o.set(j.MaxAttempts != 0, hourbell.MaxAttempts(j.MaxAttempts))
	o.set(j.OnLoss == "fail", hourbell.OnLoss(hourbell.FailOnLoss))
	o.set(j.Backoff != "", hourbell.Backoff(j.Backoff))
	if j.Timeout != "" {
		d, err := timeout(j.Timeout)
		o.errs = append(o.errs, err)
		o.set(err == nil, hourbell.Timeout(d))
	}
	o.length("in", j.In, hourbell.In)
	if j.At != "" {
		at, err := view.ParseInstant("at", j.At, "")
		o.errs = append(o.errs, err)
		o.set(err == nil, hourbell.At(at))
	}
	return o
}

// options returns the options of a job.
func (j NewJob) options() ([]hourbell.Option, error) {
	o := j.JobWork.options()
	o.set(j.Unique != "", hourbell.Unique(j.Unique))
	if j.UniqueArgs != nil {
		o.set(true, hourbell.UniqueArgs(*j.UniqueArgs...))
	}
	o.length("unique_for", j.UniqueFor, hourbell.UniqueFor)
	o.set(j.Until == "start", hourbell.UniqueUntilStart())
	o.length("push_at_most", j.PushAtMost, hourbell.PushAtMost)
	if on, known := store.ParseOnConflict(j.OnConflict); known && j.OnConflict != "" {
		o.set(true, hourbell.OnConflict(on))
	}
	for _, a := range j.After {
		on, delay, err := a.edge("after.delay")
		o.errs = append(o.errs, err)
		o.set(true, hourbell.After(a.Job, on, delay))
	}
	o.set(j.AfterAny, hourbell.AfterAny())
	return o.options, errors.Join(o.errs...)
}

// duration reads a duration of a request.
func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fieldError(field, text, "is not a duration", "write a number with its unit, like 90s, 15m or 1h30m")
	}
	return d, nil
}

// timeout reads a timeout of a request: a duration, or none.
func timeout(text string) (time.Duration, error) {
	if text == declared.NoTimeout {
		return hourbell.MaxDuration, nil
	}
	return duration("timeout", text)
}

type enqueueOutput struct {
	Location string `header:"Location"`
	Replayed string `header:"Idempotent-Replayed" doc:"true: an earlier request with this Idempotency-Key made the job."`
	Status   int
	Body     Enqueued
}

func (h *handler) enqueue(ctx context.Context, in *struct {
	Idempotency
	Body NewJob
},
) (*enqueueOutput, error) {
	req, err := h.request(ctx, in.Body, in.Idempotency, 0)
	if err != nil {
		return nil, err
	}
	made, err := h.client.Enqueue(ctx, req.Args, req.Options...)
	if err != nil {
		return nil, err
	}
	out := &enqueueOutput{Status: http.StatusCreated, Location: fmt.Sprintf("%s/api/v1/jobs/%d", h.o.Prefix, made.ID), Body: newEnqueued(made)}
	switch {
	case made.Existed && in.Key != "": // the first request has got the same answer
		out.Replayed, out.Body = "true", Enqueued{ID: made.ID}
	case made.Existed:
		out.Status = http.StatusOK
	}
	return out, nil
}

func newEnqueued(e hourbell.Enqueued) Enqueued {
	out := Enqueued{ID: e.ID, Existed: e.Existed}
	if e.Existed {
		out.Conflict = e.Conflict.String()
	}
	return out
}

type enqueueManyOutput struct {
	Replayed string `header:"Idempotent-Replayed" doc:"true: an earlier request with this Idempotency-Key made the jobs."`
	Body     struct {
		Jobs []Enqueued `json:"jobs" nullable:"false" doc:"The answer for each job, in the order of the request."`
	}
}

func (h *handler) enqueueMany(ctx context.Context, in *struct {
	Idempotency
	Body struct {
		Jobs []NewJob `json:"jobs" minItems:"1" maxItems:"10000" nullable:"false"`
	}
},
) (*enqueueManyOutput, error) {
	requests := make([]hourbell.Request, len(in.Body.Jobs))
	for i, job := range in.Body.Jobs {
		var err error
		if requests[i], err = h.request(ctx, job, in.Idempotency, i); err != nil {
			if fields := fieldProblems(err); len(fields) > 0 {
				err = invalid(inPlace(fmt.Sprintf("jobs[%d]", i), fields))
			}
			return nil, err
		}
	}
	made, err := h.client.EnqueueMany(ctx, requests)
	if err != nil {
		return nil, err
	}
	out := &enqueueManyOutput{}
	for _, one := range made {
		if in.Key != "" && one.Existed {
			out.Replayed, one = "true", hourbell.Enqueued{ID: one.ID}
		}
		out.Body.Jobs = append(out.Body.Jobs, newEnqueued(one))
	}
	return out, nil
}

// inPlace adds the place of a job to mistakes in its fields.
func inPlace(place string, fields []FieldProblem) []FieldProblem {
	for i := range fields {
		fields[i].Field = place + "." + fields[i].Field
	}
	return fields
}
