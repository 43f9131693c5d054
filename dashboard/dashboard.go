// Package dashboard serves pages that show a store and change what may be changed by
// hand: an overview, schedules with timelines, jobs, queues, nodes, calendars, handlers and locks.
//
//	pages := dashboard.Handler(client, dashboard.Options{Authorize: authorize})
//	mux.Handle("/admin/", http.StripPrefix("/admin", pages))
//
// The handler can be mounted below any path that ends with a slash, because all pages
// lie on one level and link to each other by relative addresses; names stand in the
// query, since a name may contain any character.
//
// Pages are complete without JavaScript, times then in UTC. With JavaScript they show
// times in the viewer's zone and change when the store changes. GET never changes
// anything. A change is a form that is posted, and needs the role operator.
//
// What a page shows is what package internal/view makes for the program's listings:
// the same columns, words and hidden secrets.
package dashboard

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/lock"
)

// Options are the settings of the pages. The zero value is useful: each caller that reaches
// the handler may read, and none may change anything.
type Options struct {
	// Authorize decides who the caller is. Nil: the identity that an access.Protect
	// around this handler has found or, without it, a viewer, who only reads.
	Authorize access.Authorize
	// Commands lets admins make and replace handlers whose jobs are of the kinds command, http
	// and sql. Without it no caller can.
	Commands bool
	// Login is the address of a page to log in, such as "/login". A caller who is not
	// known is sent there, with the wanted address in the parameter to. Empty: the
	// caller gets an error.
	Login string
	// Locks lists locks by name (lock.Lister); nil: there is no page of locks.
	Locks func(ctx context.Context, req lock.LocksRequest) ([]lock.Info, error)
	// Files returns the files that this process keeps the store equal to; nil: there
	// is no page of files.
	Files func() []File
	// Logger gets the errors that pages do not show, because the errors may contain the
	// address of the store. Nil: slog.Default().
	Logger *slog.Logger
}

// File is a file of schedules that a process has loaded.
type File struct {
	Path       string
	Owner      string    // of its schedules in the store
	ModifiedAt time.Time // of the content, by the clock of the file system
	Entries    int
	Problem    string // why the content is not used; empty: it is used
	Refused    bool   // the problem is a mistake in the file, or another reason for which it cannot be in effect
}

//go:embed assets/style.css assets/live.js assets/favicon.svg
var assets embed.FS

// maxForm is how many bytes a posted form may have.
const maxForm = 64 << 10

// Handler returns the pages of a client's store. The client need not run. Concurrent
// requests are allowed.
func Handler(client *hourbell.Client, options Options) http.Handler {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	p := &pages{client: client, options: options, streams: make(chan struct{}, mostStreams)}
	mux := http.NewServeMux()
	for path, show := range map[string]shower{
		"/{$}": p.overview, "/jobs": p.jobs, "/job": p.job, "/confirm": p.confirmJobs,
		"/schedules": p.schedules, "/schedule": p.schedule, "/whatif": p.whatIf, "/backfill": p.confirmBackfill,
		"/slots": p.slots, "/queues": p.queues, "/kinds": p.kinds, "/keys": p.keys, "/pause": p.pausePage,
		"/groups": p.groups, "/nodes": p.nodes, "/calendars": p.calendars, "/calendar": p.calendar,
		"/batches": p.batches, "/events": p.events, "/handlers": p.handlers, "/handler": p.handler, "/limits": p.limits,
		"/limit": p.limit, "/locks": p.locks, "/audit": p.audit, "/files": p.files, "/find": p.find, "/edit-schedule": p.editSchedule,
		"/progress": p.progress, "/edit-limit": p.limitForm().edit, "/edit-calendar": p.calendarForm().edit, "/edit-handler": p.handlerForm().edit,
		"/stats": p.stats,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, show) })
	}
	mux.HandleFunc("POST /change-jobs", p.posted(p.changeJobs))
	mux.HandleFunc("POST /send-signal", p.posted(p.sendSignal))
	mux.HandleFunc("POST /stop-change", p.posted(p.stopChange))
	mux.HandleFunc("POST /change-schedule", p.posted(p.changeSchedule))
	mux.HandleFunc("POST /change-handler", p.posted(p.handlerForm().change))
	mux.HandleFunc("POST /change-pause", p.posted(p.changePause))
	mux.HandleFunc("POST /change-calendar", p.posted(p.calendarForm().change))
	mux.HandleFunc("POST /change-limit", p.posted(p.limitForm().change))
	for _, name := range []string{"style.css", "live.js", "favicon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "private, max-age=300")
			http.ServeFileFS(w, r, assets, "assets/"+name)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { p.refuse(w, r, errNoPage) })
	return access.Protect(mux, access.Options{Authorize: options.Authorize, MaxBody: maxForm, Refuse: p.refuseCaller})
}

// pages is the handler.
type pages struct {
	client  *hourbell.Client
	options Options
	streams chan struct{} // a place for each page that is kept up to date
	changes broadcast     // of changes that were made through this handler
	summary shared
	bulks   bulks
}
