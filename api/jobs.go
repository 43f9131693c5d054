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
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

func (h *handler) addJobs() {
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/jobs", "list-jobs", "Lists jobs, live and finished, newest first", "jobs", 0, 0}, h.listJobs)
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/jobs/count", "count-jobs", "Counts jobs", "jobs", 0, 0}, h.countJobs)
	add(h, route{access.Viewer, http.MethodGet, "/api/v1/jobs/{id}", "get-job", "Returns a job with its attempts", "jobs", 0, 0}, h.getJob)
	add(h, route{access.Operator, http.MethodPost, "/api/v1/jobs", "enqueue-job", "Enqueues a job", "jobs", 0, http.StatusCreated}, h.enqueue)
	add(h, route{access.Operator, http.MethodPost, "/api/v1/jobs/many", "enqueue-jobs", "Enqueues many jobs, all or none", "jobs", maxMany, http.StatusCreated}, h.enqueueMany)
}

// JobQuery are the conditions by which jobs are listed, as in `hourbell jobs list`.
type JobQuery struct {
	State         []string `query:"state,explode" doc:"Only these states: waiting, scheduled, ready, retrying, running, completed, failed, cancelled, not_started; may be repeated."`
	Queue         string   `query:"queue"`
	Kind          string   `query:"kind"`
	Schedule      string   `query:"schedule" doc:"Only jobs made for this schedule."`
	Group         string   `query:"group" doc:"Only jobs of this group."`
	Unique        string   `query:"unique" doc:"Only jobs with this unique key."`
	Error         string   `query:"error" doc:"Only jobs whose last error contains this text."`
	Since         string   `query:"since" doc:"Only jobs enqueued at or after this instant, or this long ago, such as 2h or 7d."`
	Until         string   `query:"until" doc:"Only jobs enqueued before this instant, or longer ago."`
	FinishedSince string   `query:"finished_since" doc:"Only jobs that ended at or after this instant, or this long ago."`
	FinishedUntil string   `query:"finished_until" doc:"Only jobs that ended before this instant, or longer ago."`
}

// filter returns the filter of a query. No parameter is empty (see checkQuery), so an
// empty field was not given.
func (q JobQuery) filter(ctx context.Context, client *hourbell.Client) (hourbell.JobFilter, error) {
	selection, err := view.JobConditions{
		States: q.State, Queue: given(q.Queue), Kind: given(q.Kind), Schedule: given(q.Schedule), Group: given(q.Group), Unique: given(q.Unique), Error: given(q.Error),
		Since: given(q.Since), Until: given(q.Until), FinishedSince: given(q.FinishedSince), FinishedUntil: given(q.FinishedUntil),
	}.Select()
	if err != nil {
		return hourbell.JobFilter{}, err
	}
	return selection.At(ctx, client)
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type listJobsInput struct {
	JobQuery
	Secrets
	Paging
}

func (h *handler) listJobs(ctx context.Context, in *listJobsInput) (*listed[view.JobRecord], error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	filter, err := in.filter(ctx, h.client)
	if err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		text, err := decodeCursor(in.Cursor)
		if filter.Before, _ = strconv.ParseInt(text, 10, 64); err != nil || filter.Before < 1 {
			return nil, badCursor(in.Cursor)
		}
	}
	filter.Limit, filter.Details = in.Limit+1, true
	found, err := h.client.Jobs.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	jobs, err := view.Jobs(ctx, h.client, in.Show, found...)
	if err != nil {
		return nil, err
	}
	return newPage(in.Limit, jobs, func(j view.Job) string { return fmt.Sprint(j.ID) }, view.NewJobRecord), nil
}

type countOutput struct{ Body view.CountRecord }

func (h *handler) countJobs(ctx context.Context, in *struct{ JobQuery }) (*countOutput, error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	filter, err := in.filter(ctx, h.client)
	if err != nil {
		return nil, err
	}
	n, err := h.client.Jobs.Count(ctx, filter)
	return &countOutput{view.CountRecord{Count: n}}, err
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
	return &jobOutput{view.NewJobRecord(jobs[0])}, nil
}

// NewJob is a job to enqueue. Durations are written as 90s, 15m or 1h30m.
type NewJob struct {
	Kind        string          `json:"kind" minLength:"1" doc:"The kind, for which some node has code."`
	Args        json.RawMessage `json:"args,omitempty" doc:"The arguments: any JSON of at most 1 MiB."`
	Queue       string          `json:"queue,omitempty" minLength:"1"`
	Group       string          `json:"group,omitempty" minLength:"1" doc:"A label by which jobs are selected."`
	Priority    int             `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"1 (first) to 9 (last); default 5."`
	MaxAttempts int             `json:"max_attempts,omitempty" minimum:"1" maximum:"1000"`
	OnLoss      string          `json:"on_loss,omitempty" enum:"retry,fail"`
	Timeout     string          `json:"timeout,omitempty" minLength:"1" doc:"The greatest duration of an attempt."`
	Backoff     string          `json:"backoff,omitempty" minLength:"1" doc:"Such as constant:30s, linear:10s or exponential:1s:10m."`
	In          string          `json:"in,omitempty" minLength:"1" doc:"Run it no sooner than this from now."`
	At          string          `json:"at,omitempty" minLength:"1" doc:"Run it no sooner than this instant."`
	Unique      string          `json:"unique,omitempty" minLength:"1" doc:"A key that at most one live job of the kind has."`
	UniqueArgs  *[]string       `json:"unique_args,omitempty" nullable:"false" doc:"A key made from these fields of the arguments; []: from all."`
	UniqueFor   string          `json:"unique_for,omitempty" minLength:"1" doc:"Keep the key taken at least this long."`
	OnConflict  string          `json:"on_conflict,omitempty" enum:"keep,replace,reschedule,error"`
	PushAtMost  string          `json:"push_at_most,omitempty" minLength:"1"`
	After       []AfterJob      `json:"after,omitempty" nullable:"false" doc:"Run it after the ends of these jobs."`
	AfterAny    bool            `json:"after_any,omitempty" doc:"Run it after the end of any job of after."`
}

// AfterJob is a job after whose end another job runs.
type AfterJob struct {
	Job   int64  `json:"job" minimum:"1"`
	On    string `json:"on,omitempty" enum:"success,failure,either"`
	Delay string `json:"delay,omitempty" minLength:"1" doc:"No sooner than this after the end."`
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

// option returns the options that a key becomes, for one of the jobs of a request.
func (i Idempotency) options(ctx context.Context, at int) []hourbell.Option {
	if i.Key == "" {
		return nil
	}
	id, _ := access.FromContext(ctx)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", id.Name, i.Key, at))
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
	if i.Key != "" && (j.Unique != "" || j.UniqueArgs != nil || len(j.After) > 0) {
		err = errors.Join(err, fieldError("Idempotency-Key", i.Key, "is given together with unique, unique_args or after", "use one of them"))
	}
	req := hourbell.Request{Args: hourbell.RawArgs{Name: j.Kind, JSON: j.args()}, Options: append(options, i.options(ctx, at)...)}
	if err == nil {
		err = req.Validate()
	}
	return req, err
}

func (j NewJob) args() []byte {
	if len(j.Args) == 0 {
		return []byte("null")
	}
	return j.Args
}

// options returns the options of a job.
func (j NewJob) options() ([]hourbell.Option, error) {
	var options []hourbell.Option
	var errs []error
	set := func(given bool, option hourbell.Option) {
		if given {
			options = append(options, option)
		}
	}
	length := func(field, text string, option func(time.Duration) hourbell.Option) {
		if text != "" {
			d, err := duration(field, text)
			errs = append(errs, err)
			set(err == nil, option(d))
		}
	}
	set(j.Queue != "", hourbell.Queue(j.Queue))
	set(j.Group != "", hourbell.Group(j.Group))
	set(j.Priority != 0, hourbell.Priority(j.Priority))
	set(j.MaxAttempts != 0, hourbell.MaxAttempts(j.MaxAttempts))
	set(j.OnLoss == "fail", hourbell.OnLoss(hourbell.FailOnLoss))
	set(j.Backoff != "", hourbell.Backoff(j.Backoff))
	length("timeout", j.Timeout, hourbell.Timeout)
	length("in", j.In, hourbell.In)
	if j.At != "" {
		at, err := view.ParseInstant("at", j.At, "")
		errs = append(errs, err)
		set(err == nil, hourbell.At(at))
	}
	set(j.Unique != "", hourbell.Unique(j.Unique))
	if j.UniqueArgs != nil {
		set(true, hourbell.UniqueArgs(*j.UniqueArgs...))
	}
	length("unique_for", j.UniqueFor, hourbell.UniqueFor)
	length("push_at_most", j.PushAtMost, hourbell.PushAtMost)
	if on, known := store.ParseOnConflict(j.OnConflict); known && j.OnConflict != "" {
		set(true, hourbell.OnConflict(on))
	}
	for _, a := range j.After {
		on, known := store.ParseOn(a.On)
		if !known {
			on = hourbell.OnSuccess
		}
		var delay time.Duration
		if a.Delay != "" {
			var err error
			delay, err = duration("after.delay", a.Delay)
			errs = append(errs, err)
		}
		set(true, hourbell.After(a.Job, on, delay))
	}
	set(j.AfterAny, hourbell.AfterAny())
	return options, errors.Join(errs...)
}

// duration reads a duration of a request.
func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fieldError(field, text, "is not a duration", "write a number with its unit, like 90s, 15m or 1h30m")
	}
	return d, nil
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
			return nil, inJob(i, err)
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

// inJob adds the place of a job to an error about its fields.
func inJob(i int, err error) error {
	fields := fieldProblems(err)
	if len(fields) == 0 {
		return err
	}
	for k := range fields {
		fields[k].Field = fmt.Sprintf("jobs[%d].%s", i, fields[k].Field)
	}
	return invalid(fields)
}
