package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
)

func (h *handler) addLimits() {
	const all, one = "/api/v1/limits", "/api/v1/limits/{name}"
	add(h, route{access.Viewer, http.MethodGet, all, "list-limits", "Lists limits by name, with what they hold", "limits", 0, 0}, h.listLimits)
	add(h, route{access.Viewer, http.MethodGet, one, "get-limit", "Returns a limit and its fullest keys", "limits", 0, 0}, h.getLimit)
	add(h, route{access.Operator, http.MethodPut, one, "put-limit", "Creates or replaces a limit", "limits", 0, 0}, h.putLimit)
	add(h, route{
		access.Operator, http.MethodDelete, one, "delete-limit",
		"Deletes a limit; jobs that waited for a permit can start", "limits", 0, http.StatusNoContent,
	}, h.deleteLimit)
}

// listLimits reads all limits, as the store returns them; there are few.
func (h *handler) listLimits(ctx context.Context, in *struct{ Paging }) (*listed[view.LimitRecord], error) {
	ctx, stop := context.WithTimeout(ctx, readTime)
	defer stop()
	after, err := decodeCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	limits, err := h.client.Limits.List(ctx)
	if err != nil {
		return nil, err
	}
	limits = slices.DeleteFunc(limits, func(one hourbell.LimitInfo) bool { return one.Name <= after && after != "" })
	return newPage(in.Limit, limits, func(one hourbell.LimitInfo) string { return one.Name }, view.NewLimitRecord), nil
}

type limitOutput struct {
	ETag string `header:"ETag" doc:"The revision."`
	Body view.LimitRecord
}

func (h *handler) getLimit(ctx context.Context, in *Named) (*limitOutput, error) {
	info, err := h.client.Limits.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &limitOutput{ETag: etag(info.Revision), Body: view.NewLimitRecord(info)}, nil
}

// LimitDefinition is which jobs a limit concerns, and what bounds them.
type LimitDefinition struct {
	Owner       string         `json:"owner,omitempty" minLength:"1" doc:"The owner, as of a schedule." shape:"name"`
	Queue       string         `json:"queue,omitempty" minLength:"1" doc:"Only jobs of this queue." shape:"name"`
	Kind        string         `json:"kind,omitempty" minLength:"1" doc:"Only jobs of this kind." shape:"name"`
	ByKey       bool           `json:"by_key,omitempty" doc:"Only jobs with a key, each key for itself."`
	Concurrency int            `json:"concurrency,omitempty" minimum:"1" maximum:"1000000" doc:"How many run at a time."`
	Rate        string         `json:"rate,omitempty" minLength:"1" doc:"How many start per interval, such as 10/s or 100/m. Of each key if by_key."`
	Burst       int            `json:"burst,omitempty" minimum:"1" maximum:"1000000" doc:"How many start at once after a rest; default 1."`
	Weights     map[string]int `json:"weights,omitempty" doc:"By key: multiply the concurrency."`
	Strict      bool           `json:"strict,omitempty" doc:"A job whose attempt failed keeps its permit until its next attempt."`
}

func (h *handler) putLimit(ctx context.Context, in *struct {
	Named
	Conditions
	Body LimitDefinition
},
) (*limitOutput, error) {
	revision, err := in.revision()
	d := in.Body
	limit := hourbell.Limit{
		Name: in.Name, Owner: d.Owner, Queue: d.Queue, Kind: d.Kind, ByKey: d.ByKey, Concurrency: d.Concurrency, Burst: d.Burst, Weights: d.Weights, Strict: d.Strict,
	}
	errs := []error{err}
	if d.Rate != "" {
		limit.Rate, err = hourbell.ParseRate(d.Rate)
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, limit.Validate())...); err != nil {
		return nil, err
	}
	if _, err := h.client.Limits.Put(ctx, limit, revision); err != nil {
		return nil, in.stale(err)
	}
	return h.getLimit(ctx, &in.Named)
}

func (h *handler) deleteLimit(ctx context.Context, in *deletedInput) (*noContent, error) {
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	return nil, in.stale(h.client.Limits.DeleteIf(ctx, in.Name, revision))
}
