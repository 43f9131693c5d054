package dashboard

import (
	"context"
	"net/http"
	"net/url"

	"github.com/hourbell/hourbell"
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
	return &page{Title: "Limits", Template: "limits", Live: true, Data: struct{ Table table }{t}}, nil
}

// limitPage is what the page of a limit shows.
type limitPage struct {
	Name  string
	Facts []fact
	ByKey bool
	Keys  table
}

func (p *pages) limit(ctx context.Context, r *http.Request) (*page, error) {
	info, err := p.client.Limits.Get(ctx, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	links := map[string]string{"owner": link("schedules", "owner", info.Owner), "jobs": link("jobs", "queue", info.Queue, "kind", info.Kind)}
	d := limitPage{Name: info.Name, Facts: factsOf(view.LimitFacts(info), "", links), ByKey: info.ByKey}
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
		_, err = p.client.Limits.Put(ctx, limit, 0)
		return "The limit " + name + " is stored.", link("limit", "name", name), err
	case "delete":
		return "The limit " + name + " is deleted. Jobs that waited for a permit can start.", "limits", p.client.Limits.Delete(ctx, name)
	default:
		return "", "", fieldError("action", action, "is unknown", "use the forms of the page")
	}
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
