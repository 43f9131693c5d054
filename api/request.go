package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hourbell/hourbell/check"
)

// exchange is a request and the way to its answer.
type exchange struct {
	r *http.Request
	w http.ResponseWriter
}

type exchangeKey struct{}

// exchangeOf returns the exchange of the context of a route.
func exchangeOf(ctx context.Context) exchange {
	e, _ := ctx.Value(exchangeKey{}).(exchange)
	return e
}

// extend gives a change of many jobs the time that it needs to answer.
func (e exchange) extend() {
	http.NewResponseController(e.w).SetWriteDeadline(time.Now().Add(changeTime)) //nolint:errcheck // then the bound of the server holds
}

// manyTimes are the query parameters that may be repeated.
var manyTimes = []string{"state", "args", "down", "exclude"}

// guarded returns the routes behind the checks that all requests pass.
func (h *handler) guarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.RawQuery
		r = h.nameInPath(r)
		if allow := h.allowed(r.URL.Path); allow != nil && !slices.Contains(allow, r.Method) {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			writeProblem(w, noRoute(http.StatusMethodNotAllowed))
			return
		}
		if found, pattern := h.mux.Handler(r); pattern == "" {
			unknown := &statusOnly{header: w.Header()}
			found.ServeHTTP(unknown, r)
			writeProblem(w, noRoute(unknown.status))
			return
		}
		if err := checkQuery(query); err != nil {
			writeProblem(w, h.problem(r, err))
			return
		}
		if p := readBody(w, r); p != nil {
			writeProblem(w, p)
			return
		}
		r = r.Clone(context.WithValue(r.Context(), exchangeKey{}, exchange{r, w}))
		r.Header.Del("Accept") // answers are JSON, whatever the caller accepts
		if r.Method == http.MethodGet && r.URL.Path != h.o.Prefix+eventsPath {
			h.reads.serve(w, r, h.mux)
		} else {
			h.mux.ServeHTTP(w, r)
		}
	})
}

// allowed returns the methods of the route with exactly this path; nil: there is none. The mux would take GET /jobs/cancel for
// GET /jobs/{id}.
func (h *handler) allowed(path string) []string {
	item := h.api.OpenAPI().Paths[strings.TrimPrefix(path, h.o.Prefix)]
	if item == nil {
		return nil
	}
	methods := slices.Sorted(maps.Keys(operationsOf(item)))
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	return methods
}

// readBody reads the body, whose size access.Protect bounds, so that a body that does
// not arrive as it should is refused before the route.
func readBody(w http.ResponseWriter, r *http.Request) *Problem {
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); !ok || server.ReadTimeout <= 0 {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) //nolint:errcheck // a recorder of tests has no deadline
	}
	body, err := io.ReadAll(r.Body)
	var (
		large *http.MaxBytesError
		slow  net.Error
	)
	switch {
	case errors.As(err, &large):
		return newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes; send less at a time", large.Limit))
	case errors.As(err, &slow) && slow.Timeout():
		return newProblem(http.StatusRequestTimeout, "the body did not arrive in time; send it again")
	case err != nil:
		return newProblem(http.StatusBadRequest, "the body could not be read; send it again")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func noRoute(status int) *Problem {
	if status == http.StatusMethodNotAllowed {
		return newProblem(status, "the route does not take this method; the header Allow lists the methods that it takes")
	}
	return newProblem(http.StatusNotFound, "there is no such route; /api/openapi.json lists the routes")
}

// statusOnly keeps the status and the headers of an answer and drops its body.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header            { return s.header }
func (s *statusOnly) Write(text []byte) (int, error) { return len(text), nil }
func (s *statusOnly) WriteHeader(status int)         { s.status = status }

// checkQuery refuses a query that readers could understand in different ways: a
// parameter that is empty, or that is given twice.
func checkQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fieldError("query", query, "cannot be read", "write name=value pairs with & between them, and escape other characters")
	}
	for name, given := range values {
		switch {
		case name == "":
			return fieldError("query", query, "has a parameter without a name", "write name=value pairs with & between them")
		case !utf8.ValidString(name) || slices.ContainsFunc(given, func(value string) bool { return !utf8.ValidString(value) }):
			return fieldError("query", query, "is not UTF-8", "write it in UTF-8")
		case slices.Contains(given, ""):
			return fieldError(check.Shorten(name), "", "is empty", "give a value, or leave it out")
		case len(given) > 1 && !slices.Contains(manyTimes, name):
			return fieldError(check.Shorten(name), given[1], "is given twice", "give it once")
		}
	}
	return nil
}

// nameInPath moves the query parameter name into the path, as the segment behind schedules, limits and every other
// collection with names, because some proxies change escaped slashes in paths.
func (h *handler) nameInPath(r *http.Request) *http.Request {
	name := r.URL.Query().Get("name")
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), h.o.Prefix+"/api/v1/")
	collection, action, _ := strings.Cut(rest, "/")
	pattern := collection
	if strings.HasPrefix(rest, "jobs/") && strings.HasSuffix(rest, "/signals") {
		collection, action, pattern = rest, "", "jobs/{id}/signals"
	}
	if !ok || name == "" || h.api.OpenAPI().Paths["/api/v1/"+pattern+"/{name}"] == nil || strings.Contains(action, "/") {
		return r
	}
	segment := strings.ReplaceAll(url.PathEscape(name), ".", "%2E") // a segment of dots means another place
	escaped := h.o.Prefix + "/api/v1/" + collection + "/" + segment
	if action != "" {
		escaped += "/" + action
	}
	moved := r.Clone(r.Context())
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return r
	}
	moved.URL.Path, moved.URL.RawPath = path, escaped
	query := moved.URL.Query()
	query.Del("name")
	moved.URL.RawQuery = query.Encode()
	return moved
}

func encodeCursor(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// decodeCursor returns the text of a cursor; empty: the first page.
func decodeCursor(cursor string) (string, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !utf8.Valid(text) {
		return "", badCursor(cursor)
	}
	return string(text), nil
}

func badCursor(cursor string) error {
	return fieldError("cursor", cursor, "is not a cursor of this list", "use the field next of the page before")
}
