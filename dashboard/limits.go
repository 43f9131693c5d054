package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

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
	return &page{Title: "Limits", Template: "definitions", Live: true, Data: definitionsPage{
		"limit", "A limit bounds how many jobs of a queue, of a kind or of each key run at a time in the whole cluster, or start per interval.", t,
	}}, nil
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

// limitForm is the form of limits.
func (p *pages) limitForm() definition {
	return definition{
		thing: "limit", left: "Jobs that waited for a permit can start.",
		sections: func() []editSection {
			return []editSection{{"Limit", []editField{
				{Name: "name", About: "The name, by which it is known"},
				{Name: "queue", About: "Only jobs of this queue; empty: of any"},
				{Name: "kind", About: "Only jobs of this kind; empty: of any"},
				{Name: "by_key", About: "Each key for itself; jobs without a key are not limited", Truth: true},
				{Name: "concurrency", About: "How many jobs run at a time; empty: no bound", Number: true},
				{Name: "rate", About: "How many jobs start per interval, as in 10/s or 100/m; empty: no bound"},
				{Name: "burst", About: "How many jobs start at once after a rest; default 1", Number: true},
				{Name: "strict", About: "A job whose attempt failed keeps its permit until its next attempt", Truth: true},
				{Name: "weights", About: "Keys that may run several times as many, a line each, such as large=5", Lines: true},
			}}}
		},
		read: func(ctx context.Context, name string) (storedForm, error) {
			info, err := p.client.Limits.Get(ctx, name)
			return storedForm{formOfLimit(info.Limit), info.Revision, info.Owner}, err
		},
		put: func(ctx context.Context, form url.Values, revision int64) error {
			limit, err := limitOf(form)
			if err == nil {
				_, err = p.client.Limits.Put(ctx, limit, revision)
			}
			return err
		},
		remove:  func(ctx context.Context, name string) error { return p.client.Limits.Delete(ctx, name) },
		problem: p.problemOf,
	}
}

// formOfLimit returns a limit as its form has it.
func formOfLimit(l hourbell.Limit) url.Values {
	form := url.Values{"name": {l.Name}, "queue": {l.Queue}, "kind": {l.Kind}, "rate": {l.Rate.String()}}
	for name, n := range map[string]int{"concurrency": l.Concurrency, "burst": l.Burst} {
		if n != 0 {
			form.Set(name, strconv.Itoa(n))
		}
	}
	for name, is := range map[string]bool{"by_key": l.ByKey, "strict": l.Strict} {
		if is {
			form.Set(name, "true")
		}
	}
	var weights []string
	for key, weight := range l.Weights {
		weights = append(weights, fmt.Sprintf("%s=%d", key, weight))
	}
	slices.Sort(weights)
	form.Set("weights", strings.Join(weights, "\n"))
	return form
}

// limitOf returns the limit that a form describes.
func limitOf(form url.Values) (hourbell.Limit, error) {
	limit := hourbell.Limit{
		Name: form.Get("name"), Queue: form.Get("queue"), Kind: form.Get("kind"),
		ByKey: form.Get("by_key") != "", Strict: form.Get("strict") != "",
	}
	count := func(field, text string, to *int) error {
		if text == "" {
			return nil
		}
		n, err := number(field, text)
		*to = int(min(n, 1<<31))
		return err
	}
	errs := []error{count("concurrency", form.Get("concurrency"), &limit.Concurrency), count("burst", form.Get("burst"), &limit.Burst)}
	if text := form.Get("rate"); text != "" {
		rate, err := hourbell.ParseRate(text)
		limit.Rate, errs = rate, append(errs, err)
	}
	weights, err := pairs("weights", form.Get("weights"))
	errs = append(errs, err)
	for key, text := range weights {
		if limit.Weights == nil {
			limit.Weights = map[string]int{}
		}
		var weight int
		errs = append(errs, count("weights", text, &weight))
		limit.Weights[key] = weight
	}
	if err := errors.Join(errs...); err != nil {
		return limit, err
	}
	return limit, limit.Validate()
}
