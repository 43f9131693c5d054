package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/store"
)

// jobChange is what can be done with jobs, one by its number or many by a filter.
type jobChange struct {
	verb string
	does string // the summary, before "a job" or "jobs"
	do   changeJobsTo
}

// changeJobs is a method of hourbell.JobService, and changeJobsTo is such a method with the values that it needs.
type (
	changeJobs   func(ctx context.Context, f hourbell.JobFilter, options ...hourbell.Option) (hourbell.JobChanges, error)
	changeJobsTo func(ctx context.Context, f hourbell.JobFilter, to ChangeTo, options ...hourbell.Option) (hourbell.JobChanges, error)
)

// ChangeTo has the values that some changes need.
type ChangeTo struct {
	To       string `json:"to,omitempty" minLength:"1" doc:"Of move: the queue." shape:"name"`
	Priority int    `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"Of reprioritise: 1 (first) to 9 (last)."`
	From     string `json:"from,omitempty" minLength:"1" doc:"Of retry: the step from which the jobs take their steps again." shape:"name"`
}

// only returns an error if there are values that a change does not take. takes has the values that it takes.
func (to ChangeTo) only(takes ChangeTo) error {
	for _, v := range []struct {
		field, value string
		taken        bool
	}{
		{"to", to.To, takes.To != ""},
		{"priority", strconv.Itoa(to.Priority), takes.Priority != 0 || to.Priority == 0},
		{"from", to.From, takes.From != ""},
	} {
		if v.value != "" && !v.taken {
			return fieldError(v.field, v.value, "is given, which this change does not take", "leave it out")
		}
	}
	return nil
}

func (h *handler) addJobChanges() {
	jobs := h.client.Jobs
	plain := func(do changeJobs) changeJobsTo {
		return func(ctx context.Context, f hourbell.JobFilter, to ChangeTo, options ...hourbell.Option) (hourbell.JobChanges, error) {
			if err := to.only(ChangeTo{}); err != nil {
				return hourbell.JobChanges{}, err
			}
			return do(ctx, f, options...)
		}
	}
	for _, change := range []jobChange{
		{"cancel", "Cancels", plain(jobs.Cancel)},
		{"retry", "Runs again", func(ctx context.Context, f hourbell.JobFilter, to ChangeTo, options ...hourbell.Option) (hourbell.JobChanges, error) {
			if err := to.only(ChangeTo{From: to.From}); err != nil {
				return hourbell.JobChanges{}, err
			}
			if to.From != "" {
				options = append(options, hourbell.FromStep(to.From))
			}
			return jobs.Retry(ctx, f, options...)
		}},
		{"delete", "Deletes", plain(jobs.Delete)},
		{"move", "Moves to another queue", func(ctx context.Context, f hourbell.JobFilter, to ChangeTo, options ...hourbell.Option) (hourbell.JobChanges, error) {
			if err := to.only(ChangeTo{To: to.To}); err != nil {
				return hourbell.JobChanges{}, err
			}
			return jobs.Move(ctx, f, to.To, options...)
		}},
		{"reprioritise", "Gives another priority to", func(ctx context.Context, f hourbell.JobFilter, to ChangeTo,
			options ...hourbell.Option,
		) (hourbell.JobChanges, error) {
			if err := to.only(ChangeTo{Priority: to.Priority}); err != nil {
				return hourbell.JobChanges{}, err
			}
			return jobs.Reprioritise(ctx, f, to.Priority, options...)
		}},
	} {
		add(h, route{
			access.Operator, http.MethodPost, "/api/v1/jobs/" + change.verb, change.verb + "-jobs",
			change.does + " the jobs that a filter selects", "jobs", 0, 0,
		},
			func(ctx context.Context, in *struct{ Body jobsToChange }) (*changesOutput, error) {
				return h.changeJobs(ctx, change, in.Body)
			})
		method, path := http.MethodPost, "/api/v1/jobs/{id}/"+change.verb
		if change.verb == "delete" {
			method, path = http.MethodDelete, "/api/v1/jobs/{id}"
		}
		one := route{access.Operator, method, path, change.verb + "-job", change.does + " a job", "jobs", 0, 0}
		if change.verb == "move" || change.verb == "reprioritise" {
			add(h, one, func(ctx context.Context, in *struct {
				JobID
				Body ChangeTo
			},
			) (*changeOutput, error) {
				return h.changeJob(ctx, change, in.ID, in.Body)
			})
			continue
		}
		if change.verb == "retry" {
			add(h, one, func(ctx context.Context, in *struct {
				JobID
				Body *ChangeTo // clients of earlier releases send none
			},
			) (*changeOutput, error) {
				var to ChangeTo
				if in.Body != nil {
					to = *in.Body
				}
				return h.changeJob(ctx, change, in.ID, to)
			})
			continue
		}
		add(h, one, func(ctx context.Context, in *JobID) (*changeOutput, error) {
			return h.changeJob(ctx, change, in.ID, ChangeTo{})
		})
	}
}

type changeOutput struct{ Body view.ChangeRecord }

// changeJob changes a job by its number. A job that is already as it was to become is
// no error.
func (h *handler) changeJob(ctx context.Context, change jobChange, id int64, to ChangeTo) (*changeOutput, error) {
	changes, err := change.do(ctx, hourbell.JobFilter{IDs: []int64{id}}, to)
	if err != nil {
		return nil, err
	}
	done := store.JobChange{ID: id, Change: store.Missing}
	if len(changes.Jobs) == 1 {
		done = changes.Jobs[0]
	}
	switch done.Change {
	case store.Missing:
		return nil, newProblem(http.StatusNotFound, fmt.Sprintf("job %d: not found; it may have been deleted or pruned", id))
	case store.KeyTaken:
		return nil, newProblem(http.StatusConflict, fmt.Sprintf("job %d: another job, %d, has its unique key; wait until "+
			"that job has ended, or cancel it", id, done.Holder))
	}
	return &changeOutput{view.NewChangeRecord(done, false)}, nil
}

// jobsToChange selects jobs: all given conditions must hold.
type jobsToChange struct {
	IDs []int64 `json:"ids,omitempty" maxItems:"10000" nullable:"false" doc:"The numbers of jobs."`
	view.JobConditions
	All    bool `json:"all,omitempty" doc:"Confirms that all jobs are meant, where there is no condition."`
	DryRun bool `json:"dry_run,omitempty" doc:"Change nothing, and answer what would be changed."`
	ChangeTo
}

// Changes counts what became of the selected jobs.
type Changes struct {
	Changed   int                 `json:"changed"`
	Requested int                 `json:"requested" doc:"Running jobs whose nodes were asked to end them."`
	Missing   int                 `json:"missing" doc:"Jobs that do not exist."`
	Unchanged int                 `json:"unchanged" doc:"Jobs whose state does not allow the change."`
	Conflicts int                 `json:"conflicts" doc:"Jobs whose unique key another job has."`
	DryRun    bool                `json:"dry_run"`
	Jobs      []view.ChangeRecord `json:"jobs" nullable:"false" doc:"The answers for the first jobs, at most 1,000."`
	More      bool                `json:"more" doc:"There are more answers than jobs has."`
}

// mostAnswers is how many answers a change of many jobs returns.
const mostAnswers = 1000

type changesOutput struct{ Body Changes }

func (h *handler) changeJobs(ctx context.Context, change jobChange, in jobsToChange) (*changesOutput, error) {
	filter, err := filterOf(ctx, h.client, in.JobConditions)
	if err != nil {
		return nil, err
	}
	filter.IDs, filter.All = in.IDs, in.All
	return h.counted(in.DryRun, func(options ...hourbell.Option) (hourbell.JobChanges, error) {
		return change.do(ctx, filter, in.ChangeTo, options...)
	})
}

// counted changes many jobs, and returns what became of them.
func (h *handler) counted(dryRun bool, do func(options ...hourbell.Option) (hourbell.JobChanges, error)) (*changesOutput, error) {
	out := &changesOutput{Changes{DryRun: dryRun, Jobs: []view.ChangeRecord{}}}
	options := []hourbell.Option{hourbell.EachBatch(func(jobs []store.JobChange) error {
		for _, job := range jobs {
			if out.Body.More = len(out.Body.Jobs) == mostAnswers; out.Body.More {
				break
			}
			out.Body.Jobs = append(out.Body.Jobs, view.NewChangeRecord(job, dryRun))
		}
		return nil
	})}
	if dryRun {
		options = append(options, hourbell.DryRun())
	}
	n, err := do(options...)
	if err != nil {
		if done := n.Changed + n.Requested; done > 0 && !dryRun {
			h.o.Logger.Warn("a change of jobs through the API ended early", "changed", done, "error", err)
		}
		return nil, err
	}
	out.Body.Changed, out.Body.Requested, out.Body.Missing, out.Body.Unchanged, out.Body.Conflicts = n.Changed, n.Requested, n.Missing, n.Unchanged, n.KeyTaken
	return out, nil
}
