package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
)

func (h *handler) addHandlers() {
	const all, one = "/api/v1/handlers", "/api/v1/handlers/{name}"
	add(h, route{access.Viewer, http.MethodGet, all, "list-handlers", "Lists handlers, which make jobs from events, by name", "handlers", 0, 0}, h.listHandlers)
	add(h, route{access.Viewer, http.MethodGet, one, "get-handler", "Returns a handler", "handlers", 0, 0}, h.getHandler)
	add(h, route{access.Operator, http.MethodPut, one, "put-handler", "Creates or replaces a handler", "handlers", 0, 0}, h.putHandler)
	add(h, route{
		access.Operator, http.MethodDelete, one, "delete-handler",
		"Deletes a handler; jobs that it has made stay", "handlers", 0, http.StatusNoContent,
	}, h.deleteHandler)
}

// listHandlers reads all handlers, as the store returns them; there are few.
func (h *handler) listHandlers(ctx context.Context, in *struct {
	Secrets
	Paging
},
) (*listed[view.HandlerRecord], error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	after, err := decodeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	handlers, err := h.client.Handlers.List(ctx)
	if err != nil {
		return nil, err
	}
	handlers = slices.DeleteFunc(handlers, func(one hourbell.EventHandlerInfo) bool { return one.Name <= after && after != "" })
	record := func(one hourbell.EventHandlerInfo) view.HandlerRecord { return view.NewHandlerRecord(one, in.Show) }
	return newPage(in.Limit, handlers, func(one hourbell.EventHandlerInfo) string { return one.Name }, record), nil
}

type handlerOutput struct{ Body view.HandlerRecord }

func (h *handler) getHandler(ctx context.Context, in *struct {
	Named
	Secrets
},
) (*handlerOutput, error) {
	if err := in.allowed(ctx); err != nil {
		return nil, err
	}
	found, err := h.client.Handlers.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &handlerOutput{view.NewHandlerRecord(found, in.Show)}, nil
}

// HandlerDefinition is the definition of a handler.
type HandlerDefinition struct {
	On    []string   `json:"on" minItems:"1" maxItems:"7" nullable:"false" enum:"start,success,failure,retry,missed,not_started,recovery" doc:"The events from which it makes jobs."`
	Kind  string     `json:"kind,omitempty" minLength:"1" doc:"Only events of jobs of this kind." shape:"name"`
	Group string     `json:"group,omitempty" minLength:"1" doc:"Only events of jobs of this group." shape:"name"`
	Job   HandlerJob `json:"job" doc:"The job that it makes; by default with 5 attempts of at most 5m each."`
}

// HandlerJob is the job that a handler makes.
type HandlerJob struct{ Work }

// handler returns the definition as the client takes it. The error has every mistake.
func (d HandlerDefinition) handler(name string) (hourbell.EventHandler, error) {
	job := d.Job
	out := hourbell.EventHandler{
		Name: name, On: d.On, Kind: d.Kind, Group: d.Group, Job: hourbell.RawArgs{Name: job.Kind, JSON: job.args()},
		Queue: job.Queue, Priority: job.Priority, MaxAttempts: job.MaxAttempts, Backoff: job.Backoff,
	}
	if job.OnLoss == "fail" {
		out.OnLoss = hourbell.FailOnLoss
	}
	var timeErr error
	if job.Timeout != "" {
		out.Timeout, timeErr = timeout(job.Timeout)
	}
	return out, errors.Join(timeErr, kinds.CheckArgs(job.Kind, job.args()), out.Validate())
}

func (h *handler) putHandler(ctx context.Context, in *struct {
	Named
	OnlyNew
	Body HandlerDefinition
},
) (*handlerOutput, error) {
	onlyNew, headerErr := in.asked()
	handler, err := in.Body.handler(in.Name)
	if err := errors.Join(headerErr, err); err != nil {
		return nil, err
	}
	if err := h.mayDefine(ctx, in.Body.Job.Kind); err != nil {
		return nil, err
	}
	before, err := h.client.Handlers.Get(ctx, in.Name)
	switch {
	case errors.Is(err, hourbell.ErrNotFound):
	case err != nil:
		return nil, err
	default:
		if err := h.mayDefine(ctx, declared.Raw(before.Job).Name); err != nil {
			return nil, err
		}
	}
	if onlyNew {
		err = in.refused(h.client.Handlers.Create(ctx, handler))
	} else {
		_, err = h.client.Handlers.Put(ctx, handler)
	}
	if err != nil {
		return nil, err
	}
	found, err := h.client.Handlers.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &handlerOutput{view.NewHandlerRecord(found, false)}, nil
}

func (h *handler) deleteHandler(ctx context.Context, in *Named) (*noContent, error) {
	return nil, h.client.Handlers.Delete(ctx, in.Name)
}
