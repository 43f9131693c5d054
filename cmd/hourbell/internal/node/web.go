package node

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/api"
	"github.com/hourbell/hourbell/dashboard"
	"github.com/hourbell/hourbell/lock"
)

// Web is how a node is reached over HTTP: its pages and its API, and who may use them.
type Web struct {
	Address string // host:port; empty: the node is not reached
	// Guard recognises callers. Nil: the callers are operators, and the address
	// must be a loopback address.
	Guard *access.Guard
	TLS   *tls.Config // nil: without TLS
	// Commands lets admins make and change commands, HTTP calls and SQL statements.
	Commands bool
	// Callbacks answers the callback URLs of the client.
	Callbacks bool
}

// web answers at Web.Address. Until the store is open it answers that the node
// starts.
type web struct {
	settings Web
	metrics  http.Handler
	log      *slog.Logger
	started  atomic.Pointer[http.Handler]
}

// authorize returns how callers are recognised.
func (w *web) authorize() access.Authorize {
	if w.settings.Guard == nil {
		return access.Local()
	}
	return w.settings.Guard.Authorize
}

// start serves the pages and the API of a client from now on, with the locks in its store
// (nil: there are none) and the files of the node.
func (w *web) start(client *hourbell.Client, locks lock.Inspector, files func() []dashboard.File) {
	mux := http.NewServeMux()
	mux.Handle("/api/", api.Handler(client, api.Options{Authorize: w.authorize(), Commands: w.settings.Commands, Locks: locks, Logger: w.log}))
	if w.settings.Callbacks {
		mux.Handle("/callbacks/", api.Callbacks(client, w.log))
	}
	pages := dashboard.Options{Authorize: w.authorize(), Commands: w.settings.Commands, Files: files, Logger: w.log}
	if locks != nil {
		pages.Locks = locks.Locks
	}
	if w.settings.Guard != nil {
		pages.Login = "/login"
	}
	mux.Handle("/", dashboard.Handler(client, pages))
	var handler http.Handler = mux
	w.started.Store(&handler)
}

// handler answers probes, log-ins, and everything else when the node has started.
func (w *web) handler(probes http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/livez", probes)
	mux.Handle("/healthz", probes)
	mux.Handle("/readyz", probes)
	mux.Handle("GET /metrics", access.Protect(w.metrics, access.Options{Authorize: w.authorize()}))
	if w.settings.Guard != nil {
		pages := w.settings.Guard.Handler("")
		for _, path := range []string{"/login", "/login.css", "/logout"} {
			mux.Handle(path, pages)
		}
	}
	mux.HandleFunc("/", func(to http.ResponseWriter, r *http.Request) {
		started := w.started.Load()
		if started == nil {
			to.Header().Set("Retry-After", "1")
			answer(to, "ready", errors.New("starting"))
			return
		}
		(*started).ServeHTTP(to, r)
	})
	return mux
}

// withoutAddress removes the address from an error that repeats it.
func withoutAddress(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
