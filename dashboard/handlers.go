package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/store"
)

// handlersPage is what the page of handlers shows.
type handlersPage struct {
	Table  table
	Events []string // for the form
}

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
	return &page{Title: "Handlers", Template: "handlers", Live: true, Data: handlersPage{t, store.AllHandlerEvents()}}, nil
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

// changeHandler makes or deletes a handler.
func (p *pages) changeHandler(ctx context.Context, form url.Values) (done, next string, err error) {
	name := form.Get("name")
	switch action := form.Get("action"); action {
	case "put":
		return p.putHandler(ctx, form)
	case "delete":
		return "The handler " + name + " is deleted. Jobs that it has made stay.", "handlers", p.client.Handlers.Delete(ctx, name)
	default:
		return "", "", fieldError("action", action, "is unknown", "use the forms of the page")
	}
}

// putHandler makes a handler. As in the API, work that runs whatever its arguments name needs an admin and the consent of
// the server, also if such a handler would be replaced.
func (p *pages) putHandler(ctx context.Context, form url.Values) (done, next string, err error) {
	name := form.Get("name")
	job := hourbell.RawArgs{Name: form.Get("job"), JSON: []byte(cmp.Or(form.Get("args"), "null"))}
	handler := hourbell.EventHandler{Name: name, On: form["on"], Kind: form.Get("kind"), Group: form.Get("group"), Queue: form.Get("queue"), Job: job}
	if err := errors.Join(kinds.CheckArgs(job.Name, job.JSON), handler.Validate()); err != nil {
		return "", "", err
	}
	if err := p.mayDefine(ctx, job.Name); err != nil {
		return "", "", err
	}
	before, err := p.client.Handlers.Get(ctx, name)
	switch {
	case errors.Is(err, hourbell.ErrNotFound):
	case err != nil:
		return "", "", err
	default:
		if err := p.mayDefine(ctx, declared.Raw(before.Job).Name); err != nil {
			return "", "", err
		}
	}
	_, err = p.client.Handlers.Put(ctx, handler)
	return "The handler " + name + " is stored.", link("handler", "name", name), err
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
