package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// NewGraph is jobs that follow each other, as `hourbell enqueue --graph` reads them.
type NewGraph struct {
	Jobs    map[string]GraphJob `json:"jobs" maxProperties:"10000" nullable:"false" doc:"The jobs by name. With finally there may be none."`
	Finally *GraphFinally       `json:"finally,omitempty" doc:"The job that runs when all others have ended."`
}

// GraphJob is a job of a graph.
type GraphJob struct {
	JobWork
	After map[string]AfterEnd `json:"after,omitempty" nullable:"false" doc:"The jobs of the graph after whose ends it runs, by name."`
	Need  string              `json:"need,omitempty" enum:"all,any" doc:"any: run it after the end of any job of after. Default: all."`
}

// GraphFinally is the last job of a graph.
type GraphFinally struct {
	JobWork
	On string `json:"on,omitempty" enum:"all,failed,always" about:"after-outcome"`
}

// EnqueuedGraph is the answer for a graph.
type EnqueuedGraph struct {
	Batch int64            `json:"batch" doc:"The number of the batch that the jobs are."`
	Jobs  map[string]int64 `json:"jobs" nullable:"false" doc:"The number of each job by its name; finally: of the last job."`
}

// graph returns the graph as the client takes it, with the options that the job with each name has in addition. The error has
// all mistakes.
func (g NewGraph) graph(may func(kind string) error, more func(name string) []hourbell.Option) (hourbell.Graph, error) {
	out := hourbell.Graph{Jobs: make(map[string]hourbell.GraphJob, len(g.Jobs))}
	var refused error
	var mistakes []FieldProblem
	work := func(name, place string, j JobWork) (hourbell.Args, []hourbell.Option) {
		o := j.options()
		refused = errors.Join(refused, may(j.Kind))
		mistakes = append(mistakes, inPlace(place, fieldProblems(errors.Join(errors.Join(o.errs...), kinds.CheckArgs(j.Kind, j.args()))))...)
		return hourbell.RawArgs{Name: j.Kind, JSON: j.args()}, append(o.options, more(name)...)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Jobs)) {
		j, place := g.Jobs[name], "jobs."+check.Shorten(name)
		one := hourbell.GraphJob{After: make(map[string]hourbell.GraphEdge, len(j.After))}
		one.Args, one.Options = work(name, place, j.JobWork)
		if j.Need == "any" {
			one.Options = append(one.Options, hourbell.AfterAny())
		}
		for _, predecessor := range slices.Sorted(maps.Keys(j.After)) {
			on, delay, err := j.After[predecessor].edge("delay")
			one.After[predecessor] = hourbell.GraphEdge{On: on, Delay: delay}
			mistakes = append(mistakes, inPlace(place+".after."+check.Shorten(predecessor), fieldProblems(err))...)
		}
		out.Jobs[name] = one
	}
	if f := g.Finally; f != nil {
		out.Finally = &hourbell.Finally{On: hourbell.FinallyOn(f.On)}
		out.Finally.Args, out.Finally.Options = work(hourbell.FinallyName, hourbell.FinallyName, f.JobWork)
	}
	switch {
	case refused != nil:
		return out, refused
	case len(mistakes) > 0:
		return out, invalid(mistakes)
	}
	return out, out.Validate()
}

type enqueueGraphOutput struct {
	Replayed string `header:"Idempotent-Replayed" doc:"true: an earlier request with this Idempotency-Key made the jobs."`
	Body     EnqueuedGraph
}

// enqueueGraph enqueues a graph. With an Idempotency-Key each of its jobs has a unique key, so that the store keeps the jobs,
// and with them the answer, and refuses the graph of a repeated request as a whole.
func (h *handler) enqueueGraph(ctx context.Context, in *struct {
	Idempotency
	Body NewGraph
},
) (*enqueueGraphOutput, error) {
	more := func(name string) []hourbell.Option {
		options := in.options(ctx, "graph "+name)
		if options != nil {
			options = append(options, hourbell.OnConflict(hourbell.ErrorOnConflict))
		}
		return options
	}
	graph, err := in.Body.graph(func(kind string) error { return h.mayDefine(ctx, kind) }, more)
	if err != nil {
		return nil, err
	}
	made, err := h.client.EnqueueGraph(ctx, graph)
	var taken *store.DuplicateError
	if errors.As(err, &taken) {
		return h.firstGraph(ctx, taken.ID)
	}
	if err != nil {
		return nil, err
	}
	if made.Finally != 0 {
		made.IDs[hourbell.FinallyName] = made.Finally
	}
	return &enqueueGraphOutput{Body: EnqueuedGraph{made.Batch, made.IDs}}, nil
}

// firstGraph returns the answer to the first request with an Idempotency-Key, which enqueued a job. Jobs that were added to
// the batch later are not part of it.
func (h *handler) firstGraph(ctx context.Context, id int64) (*enqueueGraphOutput, error) {
	first, err := h.client.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	out := &enqueueGraphOutput{Replayed: "true", Body: EnqueuedGraph{Batch: first.Batch, Jobs: map[string]int64{}}}
	filter := hourbell.JobFilter{Batch: first.Batch, Limit: 1000, Details: true}
	for {
		jobs, err := h.client.Jobs.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			if strings.HasPrefix(job.Unique, keyPrefix) {
				out.Body.Jobs[view.JobName(job)] = job.ID
			}
		}
		if len(jobs) < filter.Limit {
			return out, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}
