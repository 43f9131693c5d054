// Package api serves Hourbell over HTTP: jobs, batches, schedules, slots, calendars,
// groups, handlers, queues, locks, nodes and events, described by OpenAPI 3.1. It uses a client and nothing else of a
// store, and shows what the program shows: the records of internal/view.
//
//	mux.Handle("/api/", api.Handler(client, api.Options{Authorize: authorize}))
//
// docs/api.md has the rules that all routes share.
package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/lock"
)

// Options are the settings of Handler. The zero value serves all callers as viewers.
type Options struct {
	// Prefix is the path below which the handler is mounted, such as "/ops", without
	// a slash at its end: the routes are /ops/api/v1/… then. Default: none.
	Prefix string
	// Authorize decides who the caller is. Nil: the identity that an outer
	// access.Protect has found or, without an outer access.Protect, a viewer, who
	// only reads.
	Authorize access.Authorize
	// Commands lets admins create and change work of the kinds command, http and
	// sql. Without it no caller can.
	Commands bool
	// Locks lists and frees locks; nil: the routes of locks answer that there are none.
	Locks lock.Inspector
	// Logger receives a line for each change, with the caller, and errors of the
	// store, whose details no caller sees. Default: slog.Default().
	Logger *slog.Logger
}

// Handler returns the handler of /api/v1/… and /api/openapi.json below the prefix.
func Handler(client *hourbell.Client, o Options) http.Handler {
	h := newHandler(client, o)
	return access.Protect(h.guarded(), access.Options{
		Authorize: o.Authorize,
		Refuse: func(w http.ResponseWriter, _ *http.Request, refused *access.RefusedError) {
			writeProblem(w, newProblem(refused.Status, refused.Error()))
		},
	})
}

// The bounds of requests and answers.
const (
	maxOne      = 2 << 20          // bytes of the body with one job or one schedule
	maxMany     = access.MaxBody   // bytes of the body with many jobs
	bodyTime    = 30 * time.Second // how long a body may take to arrive, if the server has no bound
	readTime    = 10 * time.Second // how long the store may take for a list or a count
	changeTime  = 10 * time.Minute // how long a change and its answer may take
	defaultPage = 50
	maxPage     = 200
)

// handler has the routes.
type handler struct {
	client  *hourbell.Client
	o       Options
	mux     *http.ServeMux
	api     huma.API
	streams chan struct{} // a place for each stream of events
	reads   reads
	roles   map[string]access.Role
}

func newHandler(client *hourbell.Client, o Options) *handler {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	h := &handler{client: client, o: o, mux: http.NewServeMux(), streams: make(chan struct{}, mostStreams), roles: map[string]access.Role{}}
	server := o.Prefix
	if server == "" {
		server = "/"
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	h.api = humago.NewWithPrefix(h.mux, o.Prefix, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Hourbell", Version: hourbell.Version, Description: description,
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Servers: []*huma.Server{{URL: server}},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token":   {Type: "http", Scheme: "bearer", Description: "An API token; `hourbell auth token` makes one."},
					"session": {Type: "apiKey", In: "cookie", Name: "hourbell", Description: "The session of a browser."},
				},
			},
			Security: []map[string][]string{{"token": {}}, {"session": {}}, {}},
		},
		Formats:                      map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}, // json: also problem+json
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{transformProblem},
	})
	h.addJobs()
	h.addJobChanges()
	h.addSignals()
	h.addSchedules()
	h.addTimes()
	h.addCalendars()
	h.addGroups()
	h.addQueues()
	h.addHandlers()
	h.addLimits()
	h.addBatches()
	h.addLocks()
	h.addListings()
	h.addAudit()
	h.addStats()
	h.addEvents()
	describe(registry)
	h.addOpenAPI()
	return h
}

const description = "Enqueue and control jobs, define schedules, and see what became of every slot.\n\n" +
	"Names may contain `/`: write a name as one escaped segment of the path (`a%2Fb`), or leave the segment out and " +
	"give the query parameter `name`, as in `PUT /api/v1/schedules?name=a/b` and `POST /api/v1/schedules/pause?name=a/b`.\n\n" +
	"Errors are problems as in RFC 9457, with the field and the remedy. Lists are pages: `next` is the cursor of the next page."

// route is a route and the role that it needs.
type route struct {
	role    access.Role
	method  string
	path    string // below the prefix
	id      string // the name of the operation, such as list-jobs
	summary string
	tag     string
	body    int64 // the greatest size of the body in bytes; 0: maxOne
	status  int   // of a success; 0: 200, or 204 without a body
}

// add adds a route. The role is checked before the request is read. do gets a context
// that ends when the caller goes away.
func add[I, O any](h *handler, r route, do func(context.Context, *I) (*O, error)) {
	h.roles[r.method+" "+r.path] = r.role
	if r.body == 0 {
		r.body = maxOne
	}
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, Tags: []string{r.tag}, DefaultStatus: r.status,
		Description:     "Needs the role " + r.role.String() + ".",
		MaxBodyBytes:    r.body,
		BodyReadTimeout: -1, // readBody has read the body
		Responses:       map[string]*huma.Response{},
		Middlewares: huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
			if err := access.Require(ctx.Context(), r.role, strings.ReplaceAll(r.id, "-", " ")); err != nil {
				r, w := humago.Unwrap(ctx)
				writeProblem(w, h.problem(r, err))
				return
			}
			next(ctx)
		}, h.refuseConditions(r.method, reflect.TypeFor[I]())},
	}
	problem := &huma.Response{Description: "What is wrong, and the remedy", Content: map[string]*huma.MediaType{
		problemType: {Schema: h.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")},
	}}
	op.Responses["default"] = problem
	for _, status := range r.refusals(reflect.TypeFor[I]()) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status) + ": " + refusalTexts[status], Content: problem.Content}
	}
	huma.Register(h.api, op, func(ctx context.Context, in *I) (*O, error) {
		at := exchangeOf(ctx)
		changes := r.role > access.Viewer && r.method != http.MethodGet
		if changes {
			at.extend()
			id, _ := access.FromContext(ctx)
			ctx = hourbell.WithActor(ctx, hourbell.Actor{Name: id.Who(), Source: id.Address})
		}
		out, err := do(ctx, in)
		if err != nil {
			return nil, h.problem(at.r, err)
		}
		if changes {
			h.note(at.r, r.id)
		}
		return out, nil
	})
	shapeParameters(reflect.TypeFor[I](), operationsOf(h.api.OpenAPI().Paths[r.path])[r.method])
}

// refusalTexts describes the statuses with which routes refuse requests.
var refusalTexts = map[int]string{
	http.StatusBadRequest:            "the request cannot be read.",
	http.StatusUnauthorized:          "the caller is not known.",
	http.StatusForbidden:             "the caller may not do this.",
	http.StatusNotFound:              "there is no such thing.",
	http.StatusRequestTimeout:        "the body did not arrive in time.",
	http.StatusPreconditionFailed:    "the condition of the request does not hold.",
	http.StatusConflict:              "the present state does not allow it.",
	http.StatusRequestEntityTooLarge: "the body is too large.",
	http.StatusUnsupportedMediaType:  "the body is not JSON.",
	http.StatusUnprocessableEntity:   "a parameter or a field is not valid.",
	http.StatusServiceUnavailable:    "the store did not answer in time; the same request may be sent again.",
	http.StatusGatewayTimeout:        "the store did not say whether the change was made.",
}

// refusals returns the statuses with which a route refuses requests. in is the type of its input.
func (r route) refusals(in reflect.Type) []int {
	statuses := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
	}
	if strings.Contains(r.path, "{") || r.tag == "slots" || r.tag == "locks" {
		statuses = append(statuses, http.StatusNotFound)
	}
	if conditions(in) != nil {
		statuses = append(statuses, http.StatusPreconditionFailed)
	}
	if r.method != http.MethodGet {
		statuses = append(statuses, http.StatusConflict, http.StatusNotFound, http.StatusGatewayTimeout)
	}
	if strings.HasPrefix(r.path, "/api/v1/schedules/{name}/") || r.tag == "events" {
		statuses = append(statuses, http.StatusConflict)
	}
	if _, body := in.FieldByName("Body"); body {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	return statuses
}

// refuseConditions returns the middleware of a route that refuses a change with a condition that the route does not take: it would be
// made although the caller has excluded it.
func (h *handler) refuseConditions(method string, in reflect.Type) func(huma.Context, func(huma.Context)) {
	taken := conditions(in)
	return func(ctx huma.Context, next func(huma.Context)) {
		for _, name := range []string{ifMatch, ifNoneMatch} {
			if value := ctx.Header(name); method != http.MethodGet && value != "" && !slices.Contains(taken, name) {
				r, w := humago.Unwrap(ctx)
				writeProblem(w, h.problem(r, fieldError(name, value, "is not taken by this route", "leave it out")))
				return
			}
		}
		next(ctx)
	}
}

// The headers of conditions.
const (
	ifMatch     = "If-Match"
	ifNoneMatch = "If-None-Match"
)

// conditions returns the headers of conditions that an input takes.
func conditions(in reflect.Type) []string {
	var taken []string
	for _, field := range reflect.VisibleFields(in) {
		if name := field.Tag.Get("header"); name == ifMatch || name == ifNoneMatch {
			taken = append(taken, name)
		}
	}
	return taken
}

// operationsOf returns the operations of a path by their methods.
func operationsOf(path *huma.PathItem) map[string]*huma.Operation {
	operations := map[string]*huma.Operation{http.MethodGet: path.Get, http.MethodPut: path.Put, http.MethodPost: path.Post, http.MethodDelete: path.Delete}
	maps.DeleteFunc(operations, func(_ string, op *huma.Operation) bool { return op == nil })
	return operations
}

// note logs a change: who, from where, and what.
func (h *handler) note(r *http.Request, what string) {
	id, _ := access.FromContext(r.Context())
	h.o.Logger.Info("changed through the API", "operation", what, "path", r.URL.Path, "caller", id.Name, "role",
		id.Role.String(), "source", id.Source, "from", id.Address)
}

// addOpenAPI serves the description of all routes that were added.
func (h *handler) addOpenAPI() {
	for _, unused := range []string{"ErrorModel", "ErrorDetail"} { // huma adds its own errors, which no route answers; see transformProblem
		delete(h.api.OpenAPI().Components.Schemas.Map(), unused)
	}
	text, err := json.Marshal(h.api.OpenAPI())
	if err != nil {
		panic(err) // a mistake in this package
	}
	h.mux.HandleFunc("GET "+h.o.Prefix+"/api/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(text) //nolint:errcheck // the reader has gone
	})
}

// describe corrects the schemas of bodies and records: texts have their shapes, a pointer to a struct is an object or
// null, and huma takes null for a field that may be left out.
func describe(registry huma.Registry) {
	for _, schema := range registry.Map() {
		t := registry.TypeFromRef("#/components/schemas/" + nameOf(registry, schema))
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		shapeBody(t, schema)
		for _, field := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := schema.Properties[name]
			switch {
			case property == nil:
			case property.Ref != "" && field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit"):
				schema.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
			case property.Type != "" && strings.Contains(options, "omit"):
				property.Nullable = true
				if property.Enum != nil && property.Type != huma.TypeArray {
					property.Enum = append(property.Enum, nil)
				}
			}
		}
	}
}

// nameOf returns the name of a schema in the registry.
func nameOf(registry huma.Registry, schema *huma.Schema) string {
	for name, one := range registry.Map() {
		if one == schema {
			return name
		}
	}
	return ""
}

// PageOf is a page of a list.
type PageOf[T any] struct {
	Items []T     `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"The cursor of the next page; null: this is the last page."`
}

// listed is the answer of a list.
type listed[T any] struct{ Body PageOf[T] }

// Paging are the parameters of every list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items the page has at most."`
	Cursor string `query:"cursor" maxLength:"2000" doc:"The field next of the page before." shape:"cursor"`
}

// newPage returns a page of at most limit items. rows has one row more if there are
// further pages; cursor returns the cursor behind a row.
func newPage[R, T any](limit int, rows []R, cursor func(R) string, record func(R) T) *listed[T] {
	out := &listed[T]{Body: PageOf[T]{Items: []T{}}}
	if len(rows) > limit {
		rows = rows[:limit]
		next := encodeCursor(cursor(rows[limit-1]))
		out.Body.Next = &next
	}
	for _, row := range rows {
		out.Body.Items = append(out.Body.Items, record(row))
	}
	return out
}
