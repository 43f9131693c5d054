package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
)

func (p *pages) limits(ctx context.Context, _ *http.Request) (*page, error) {
	limits, err := p.client.Limits.List(ctx)
	if err != nil {
		return nil, err
	}
	t := tableOf(view.LimitListing(), limits, func(l hourbell.LimitInfo, column string) string {
		switch column {
		case "NAME":
			return link("limit", "name", l.Name)
		case "JOBS":
			return link("jobs", "queue", l.Queue, "kind", l.Kind)
		}
		return ""
	})
	t.Caption, t.Empty = "Limits", "No limit is stored."
	return &page{Title: "Limits", Template: "limits", Live: true, Data: struct {
		Table table
		New   hourbell.LimitInfo // for the form
	}{Table: t}}, nil
}

// limitPage is what the page of a limit shows.
type limitPage struct {
	Stored hourbell.LimitInfo
	Facts  []fact
	Keys   table
}

func (p *pages) limit(ctx context.Context, r *http.Request) (*page, error) {
	info, err := p.client.Limits.Get(ctx, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	links := map[string]string{"owner": link("schedules", "owner", info.Owner), "jobs": link("jobs", "queue", info.Queue, "kind", info.Kind)}
	d := limitPage{Stored: info, Facts: factsOf(view.LimitFacts(info), "", links)}
	d.Keys = tableOf(view.KeyUseListing(), info.Fullest, func(k hourbell.KeyUse, column string) string {
		if column == "KEY" {
			return link("jobs", "key", k.Key)
		}
		return ""
	})
	d.Keys.Caption, d.Keys.Empty = "Fullest keys", "No job of the limit runs or waits."
	return &page{Title: "Limit " + info.Name, Template: "limit", Live: true, Data: d}, nil
}

// changeLimit makes, replaces or deletes a limit.
func (p *pages) changeLimit(ctx context.Context, form url.Values) (done, next string, err error) {
	name := form.Get("name")
	switch action := form.Get("action"); action {
	case "put":
		limit, err := limitOf(form)
		if err != nil {
			return "", "", err
		}
		before, err := p.ownLimit(ctx, name)
		if err != nil {
			return "", "", err
		}
		revision := int64(0)
		if form.Has("revision") { // the limit as the form shows it, with the weights that the form does not have
			if revision, err = number("revision", form.Get("revision")); err != nil {
				return "", "", err
			}
			limit.Weights = before.Weights
		}
		_, err = p.client.Limits.Put(ctx, limit, revision)
		return "The limit " + name + " is stored.", link("limit", "name", name), err
	case "delete":
		if _, err := p.ownLimit(ctx, name); err != nil {
			return "", "", err
		}
		return "The limit " + name + " is deleted. Jobs that waited for a permit can start.", "limits", p.client.Limits.Delete(ctx, name)
	default:
		return "", "", fieldError("action", action, "is unknown", "use the forms of the page")
	}
}

// ownLimit returns the limit with a name, or the zero value, and refuses the limit of a file.
func (p *pages) ownLimit(ctx context.Context, name string) (hourbell.LimitInfo, error) {
	info, err := p.client.Limits.Get(ctx, name)
	switch {
	case errors.Is(err, hourbell.ErrNotFound):
		return hourbell.LimitInfo{}, nil
	case err == nil && info.Owner != "":
		return info, &access.RefusedError{
			Status: http.StatusConflict, Problem: fmt.Sprintf("the limit belongs to %q, which would undo the change", info.Owner), Remedy: "change it there",
		}
	}
	return info, err
}

// limitOf returns the limit that a form describes.
func limitOf(form url.Values) (hourbell.Limit, error) {
	limit := hourbell.Limit{
		Name: form.Get("name"), Queue: form.Get("queue"), Kind: form.Get("kind"),
		ByKey: form.Get("by_key") != "", Strict: form.Get("strict") != "",
	}
	for field, to := range map[string]*int{"concurrency": &limit.Concurrency, "burst": &limit.Burst} {
		if text := form.Get(field); text != "" {
			n, err := number(field, text)
			if err != nil {
				return limit, err
			}
			*to = int(min(n, 1<<31))
		}
	}
	if text := form.Get("rate"); text != "" {
		rate, err := hourbell.ParseRate(text)
		if err != nil {
			return limit, err
		}
		limit.Rate = rate
	}
	return limit, limit.Validate()
}
