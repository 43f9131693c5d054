package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

func (p *pages) handlers(ctx context.Context, r *http.Request) (*page, error) {
	handlers, err := p.client.Handlers.List(ctx)
	if err != nil {
		return nil, err
	}
	t := tableOf(view.HandlerListing(secretsFor(r)), handlers, func(h hourbell.EventHandlerInfo, column string) string {
		switch column {
		case "NAME":
			return link("handler", "name", h.Name)
		case "KIND":
			return link("jobs", "kind", h.Kind)
		case "GROUP":
			return link("jobs", "group", h.Group)
		}
		return ""
	})
	t.Caption, t.Empty = "Handlers", "No handler is stored."
	return &page{Title: "Handlers", Template: "definitions", Live: true, Data: definitionsPage{
		"handler", "A handler makes a job from each event of its scope: of all jobs, of the jobs of a kind, or of the jobs of a group.", t,
	}}, nil
}

// handlerPage is what the page of a handler shows.
type handlerPage struct {
	Name    string
	Facts   []fact
	Secrets string // as jobData.Secrets
}

func (p *pages) handler(ctx context.Context, r *http.Request) (*page, error) {
	found, err := p.client.Handlers.Get(ctx, r.URL.Query().Get("name"))
	if err != nil {
		return nil, err
	}
	secrets := secretsFor(r)
	d := handlerPage{Name: found.Name, Facts: factsOf(view.HandlerFacts(found, secrets), "", nil), Secrets: "shown"}
	if !secrets {
		d.Secrets = link("handler", "name", found.Name, "secrets", "show")
	}
	return &page{Title: "Handler " + found.Name, Template: "handler", Live: true, Data: d}, nil
}

// handlerForm is the form of handlers.
func (p *pages) handlerForm() definition {
	return definition{
		thing: "handler", left: "Jobs that it has made stay.",
		note: "Commands, HTTP calls and SQL statements are made by admins only, and only where the node was started with “--commands any”.",
		sections: func() []editSection {
			options := fieldsOf(handlerKeys())
			for i := range options {
				switch options[i].Name {
				case "max_attempts":
					options[i].About = "How often the job is tried; default 5"
				case "timeout":
					options[i].About = "How long an attempt may take; default 5m"
				}
			}
			return []editSection{{"Handler", []editField{
				{Name: "name", About: "The name, by which it is known"},
				{Name: "on", About: "The events that make a job: " + strings.Join(store.AllHandlerEvents(), ", ")},
				{Name: "kind", About: "Only events of jobs of this kind; empty: of any"},
				{Name: "group", About: "Only events of jobs of this group; empty: of any"},
			}}, {"Its job", append([]editField{
				{Name: "job", About: "The kind of the job that it makes"},
				{Name: "args", About: "The arguments of the job, as JSON", Lines: true},
			}, options...)}}
		},
		read: func(ctx context.Context, name string) (storedForm, error) {
			found, err := p.client.Handlers.Get(ctx, name)
			return storedForm{formOfHandler(found.EventHandler), found.UpdatedAt.UnixMicro(), ""}, err // a handler has no revision
		},
		put:     p.putHandler,
		remove:  func(ctx context.Context, name string) error { return p.client.Handlers.Delete(ctx, name) },
		problem: p.problemOf,
	}
}

// handlerKeys are the keys of jobs that a handler has, too.
func handlerKeys() []declared.Key {
	return slices.DeleteFunc(declared.JobKeys(), func(k declared.Key) bool { return k.Name == "group" || k.Name == "key" })
}

// formOfHandler returns a handler as its form has it. Values that may be secrets are hidden.
func formOfHandler(h hourbell.EventHandler) url.Values {
	job := declared.Raw(h.Job)
	form := url.Values{
		"name": {h.Name}, "on": {strings.Join(h.On, ", ")}, "kind": {h.Kind}, "group": {h.Group}, "job": {job.Name},
		"args": {indented(kinds.Redact(job.Name, job.JSON))},
	}
	options := hourbell.Schedule{Queue: h.Queue, Priority: h.Priority, MaxAttempts: h.MaxAttempts, OnLoss: h.OnLoss, Timeout: h.Timeout, Backoff: h.Backoff}
	for _, key := range handlerKeys() {
		form.Set(key.Name, key.Text(options))
	}
	return form
}

// handlerOf returns the handler that a form describes.
func handlerOf(form url.Values, stored hourbell.RawArgs) (hourbell.EventHandler, error) {
	var options hourbell.Schedule
	var errs []error
	for _, key := range handlerKeys() {
		if text := form.Get(key.Name); text != "" {
			errs = append(errs, key.Set(&options, text))
		}
	}
	job, err := jobOf(form.Get("job"), form.Get("args"), stored)
	handler := hourbell.EventHandler{
		Name: form.Get("name"), On: split(form.Get("on")), Kind: form.Get("kind"), Group: form.Get("group"), Job: job, Queue: options.Queue,
		Priority: options.Priority, MaxAttempts: options.MaxAttempts, OnLoss: options.OnLoss, Timeout: options.Timeout, Backoff: options.Backoff,
	}
	if err := errors.Join(append(errs, err, kinds.CheckArgs(job.Name, job.JSON))...); err != nil {
		return handler, err
	}
	return handler, handler.Validate()
}

// putHandler makes or replaces a handler. As in the API, work that runs whatever its arguments name needs an admin and the consent of
// the server, also if such a handler would be replaced.
func (p *pages) putHandler(ctx context.Context, form url.Values, revision int64) error {
	var before hourbell.RawArgs
	if revision != hourbell.OnlyNew {
		found, err := p.client.Handlers.Get(ctx, form.Get("name"))
		if err != nil {
			return err
		}
		before = declared.Raw(found.Job)
	}
	handler, err := handlerOf(form, before)
	if err != nil {
		return err
	}
	if err := errors.Join(p.mayDefine(ctx, declared.Raw(handler.Job).Name), p.mayDefine(ctx, before.Name)); err != nil {
		return err
	}
	if revision == hourbell.OnlyNew {
		return p.client.Handlers.Create(ctx, handler)
	}
	_, err = p.client.Handlers.Put(ctx, handler)
	return err
}

// mayDefine refuses work that runs whatever its arguments name, unless the server allows such work and the caller is an
// admin.
func (p *pages) mayDefine(ctx context.Context, kind string) error {
	if !view.RunsAnything(kind) {
		return nil
	}
	return access.RequireCommands(ctx, kind, p.options.Commands)
}

// mayDefineAll is mayDefine for the job and the hooks of a schedule.
func (p *pages) mayDefineAll(ctx context.Context, s hourbell.Schedule) error {
	err := p.mayDefine(ctx, declared.Raw(s.Job).Name)
	s.Hooks.Each(func(_ string, hook hourbell.Args) {
		if err == nil {
			err = p.mayDefine(ctx, declared.Raw(hook).Name)
		}
	})
	return err
}
