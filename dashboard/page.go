package dashboard

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plain"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// pageTime bounds the reads of a page. A filter that fits few of many jobs may need
// longer, and is refused then.
const pageTime = 10 * time.Second

// shower reads what a page shows.
type shower func(ctx context.Context, r *http.Request) (*page, error)

// page is a page before it is written.
type page struct {
	Title    string
	Template string // a file of templates, without its suffix
	Live     bool   // it is kept up to date while it is open
	Data     any
	Next     string // the address of the page that is shown instead; empty: this page

	// The frame around the page, set by serve.
	Nav     []group
	AtHome  bool // the page is the overview
	Retry   bool // the page says that the store does not answer, and is asked for again
	Caller  access.Identity
	Changes bool // the caller may change something
	Flash   string
	Query   string // what was searched for
}

// group is a menu at the top of each page.
type group struct {
	Text  string
	Here  bool // one of the links leads to this page
	Links []navigation
}

// navigation is a link of a group.
type navigation struct {
	Text, Href string
	Here       bool
}

//go:embed templates/*.html
var templateFiles embed.FS

var templates = parseTemplates()

// parseTemplates returns the templates of all pages by name, each with the frame.
func parseTemplates() map[string]*template.Template {
	functions := template.FuncMap{"when": when, "clean": plain.Clean, "lines": func(text string) string { return plain.CleanLines(text, "") }}
	frame := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{
		"overview", "jobs", "job", "confirm", "schedules", "schedule", "whatif", "backfill",
		"definitions", "progress", "handler", "limit", "listing", "pause", "calendar", "audit", "files", "find", "edit", "stats", "problem",
	} {
		all[name] = template.Must(template.Must(frame.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return all
}

// serve answers a request for a page: with the page, or with the stream that keeps it
// up to date.
func (p *pages) serve(w http.ResponseWriter, r *http.Request, show shower) {
	w.Header().Set("Vary", "Accept")
	if r.Header.Get("Accept") == "text/event-stream" {
		p.stream(w, r, show)
		return
	}
	shown, err := p.read(r, show)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if shown.Next != "" {
		w.Header().Set("Location", shown.Next) // relative, as in posted
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	shown.Flash = takeFlash(w, r)
	p.write(w, r, http.StatusOK, shown)
}

// read calls show with the time that a page has.
func (p *pages) read(r *http.Request, show shower) (*page, error) {
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	shown, err := show(ctx, r)
	if err != nil && ctx.Err() != nil {
		return nil, errSlow
	}
	if err == nil {
		shown.Caller, _ = access.FromContext(r.Context())
		shown.Changes = shown.Caller.Role >= access.Operator
	}
	return shown, err
}

// write writes a page with its frame.
func (p *pages) write(w http.ResponseWriter, r *http.Request, status int, shown *page) {
	shown.Nav, shown.AtHome, shown.Query = p.navigation(r), r.URL.Path == "/", r.URL.Query().Get("q")
	var out bytes.Buffer
	if err := templates[shown.Template].ExecuteTemplate(&out, "frame", shown); err != nil {
		p.options.Logger.Error("a page could not be made", "page", shown.Template, "error", err)
		http.Error(w, "the page could not be made; the log of the server has the reason", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(out.Bytes()) //nolint:errcheck // the reader has gone
}

// main returns the part of a page that is replaced while the page is open.
func (p *page) main() (string, error) {
	var out strings.Builder
	err := templates[p.Template].ExecuteTemplate(&out, "main", p)
	return out.String(), err
}

// navigation returns the menus at the top of a page.
func (p *pages) navigation(r *http.Request) []group {
	work := group{Text: "Work", Links: []navigation{
		{Text: "Jobs", Href: "jobs"},
		{Text: "Batches", Href: "batches"},
		{Text: "Queues", Href: "queues"},
		{Text: "Kinds", Href: "kinds"},
		{Text: "Groups", Href: "groups"},
		{Text: "Limits", Href: "limits"},
		{Text: "Paused keys", Href: "keys"},
	}}
	schedules := group{Text: "Schedules", Links: []navigation{
		{Text: "Schedules", Href: "schedules"},
		{Text: "Slots", Href: "slots"},
		{Text: "Calendars", Href: "calendars"},
		{Text: "Handlers", Href: "handlers"},
	}}
	cluster := group{Text: "Cluster", Links: []navigation{{Text: "Nodes", Href: "nodes"}, {Text: "Statistics", Href: "stats"}, {Text: "Events", Href: "events"}}}
	if p.options.Locks != nil {
		cluster.Links = append(cluster.Links, navigation{Text: "Locks", Href: "locks"})
	}
	admin := group{Text: "Admin"}
	if caller, _ := access.FromContext(r.Context()); caller.Role >= access.Operator {
		admin.Links = append(admin.Links, navigation{Text: "Who did what", Href: "audit"})
	}
	if p.options.Files != nil {
		admin.Links = append(admin.Links, navigation{Text: "Files", Href: "files"})
	}
	menus := []group{work, schedules, cluster, admin}
	if len(admin.Links) == 0 {
		menus = menus[:3]
	}
	part := map[string]string{
		"job": "jobs", "confirm": "jobs", "progress": "jobs", "schedule": "schedules", "whatif": "schedules", "edit-schedule": "schedules", "backfill": "schedules",
		"calendar": "calendars", "handler": "handlers", "limit": "limits", "edit-calendar": "calendars", "edit-handler": "handlers", "edit-limit": "limits",
	}
	here := strings.TrimPrefix(r.URL.Path, "/")
	if here == "pause" {
		here = p.pausables()[r.URL.Query().Get("of")].list
	}
	if whole, found := part[here]; found {
		here = whole
	}
	for i, menu := range menus {
		for k, one := range menu.Links {
			menu.Links[k].Here = one.Href == here
			menus[i].Here = menus[i].Here || one.Href == here
		}
	}
	return menus
}

var (
	errNoPage = &access.RefusedError{Status: http.StatusNotFound, Problem: "there is no such page", Remedy: "use the links above"}
	errSlow   = &access.RefusedError{
		Status: http.StatusServiceUnavailable, Problem: fmt.Sprintf("the store has not answered within %v", plain.Brief(pageTime)),
		Remedy: "select less: jobs of one queue or one kind, of one state, or of a shorter time",
	}
)

// problem is what the page of an error shows.
type problem struct {
	Status          int
	Problem, Remedy string
}

// refuseCaller answers a request that access.Protect refuses: a browser whose user is not
// known is sent to the page to log in, if there is one.
func (p *pages) refuseCaller(w http.ResponseWriter, r *http.Request, refused *access.RefusedError) {
	if refused.Status == http.StatusUnauthorized && p.options.Login != "" && r.Method == http.MethodGet && r.Header.Get("Accept") != "text/event-stream" {
		wanted, _, _ := strings.Cut(r.RequestURI, "#")
		http.Redirect(w, r, link(p.options.Login, "to", wanted), http.StatusSeeOther)
		return
	}
	p.refuse(w, r, refused)
}

// refuse answers with the page of an error.
func (p *pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	shown := p.problemOf(err)
	caller, _ := access.FromContext(r.Context())
	p.write(w, r, shown.Status, &page{
		Title: "Not done", Template: "problem", Data: shown, Caller: caller,
		Retry: shown.Status >= http.StatusInternalServerError && r.Method == http.MethodGet,
	})
}

// problemOf returns what a caller may know of an error.
func (p *pages) problemOf(err error) problem {
	var refused *access.RefusedError
	var field *check.FieldError
	var rule *recur.Error
	switch {
	case errors.As(err, &refused):
		return problem{Status: refused.Status, Problem: refused.Problem, Remedy: refused.Remedy}
	case errors.As(err, &field), errors.As(err, &rule):
		return problem{Status: http.StatusBadRequest, Problem: plain.OneLine(err.Error())}
	case errors.Is(err, hourbell.ErrNotFound):
		return problem{Status: http.StatusNotFound, Problem: plain.OneLine(err.Error())}
	case errors.Is(err, hourbell.ErrConflict), errors.Is(err, hourbell.ErrAnswered), errors.Is(err, hourbell.ErrJobEnded),
		errors.Is(err, store.ErrUnsettled), errors.Is(err, store.ErrInUse):
		return problem{Status: http.StatusConflict, Problem: plain.OneLine(err.Error()), Remedy: "look at the present state, and try again"}
	case errors.Is(err, context.Canceled):
		return problem{Status: http.StatusServiceUnavailable, Problem: "the request has ended"}
	}
	p.options.Logger.Error("a page could not be read", "error", err)
	return problem{
		Status: http.StatusInternalServerError, Problem: "the store could not be read or changed",
		Remedy: "try again; the log of the server has the reason",
	}
}

// link returns the relative address of a page with parameters. Empty values are left
// out.
func link(path string, parameters ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			query.Set(parameters[i], parameters[i+1])
		}
	}
	return withQuery(path, query)
}

// withQuery returns the relative address of a page with a query.
func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
