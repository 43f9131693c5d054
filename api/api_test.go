package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/kinds"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// bench is an API over a store in memory.
type bench struct {
	t      *testing.T
	client *hourbell.Client
	h      http.Handler
	log    *strings.Builder

	options Options
	once    sync.Once
	routes  *handler // of described
}

// roleHeader names the role of the caller in tests.
const roleHeader = "X-Test-Role"

// testAuthorize gives a caller the role of roleHeader; without it, admin.
func testAuthorize(r *http.Request) (access.Identity, error) {
	switch text := r.Header.Get(roleHeader); text {
	case "":
		return access.Identity{Name: "ada", Role: access.Admin, Source: "test"}, nil
	case "unknown":
		return access.Identity{}, access.ErrUnknownCaller
	default:
		role, err := access.ParseRole(text)
		return access.Identity{Name: text, Role: role, Source: "test"}, err
	}
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	client, err := hourbell.New(memory.New(), hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, client: client, log: &strings.Builder{}}
	o.Logger = slog.New(slog.NewTextHandler(b.log, nil))
	if o.Authorize == nil {
		o.Authorize = testAuthorize
	}
	b.h, b.options = Handler(client, o), o
	return b
}

// send returns the answer to a request; headers are pairs of name and value.
func (b *bench) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, "http://example.com"+target, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	if w.Code >= http.StatusBadRequest {
		b.described(r, w.Code)
	}
	return w
}

// described checks that the description of a route has a status with which it has refused a request.
func (b *bench) described(r *http.Request, status int) {
	b.t.Helper()
	b.once.Do(func() { b.routes = newHandler(b.client, b.options) })
	var route string
	if named := b.routes.nameInPath(r); b.routes.allowed(named.URL.Path) == nil || slices.Contains(b.routes.allowed(named.URL.Path), r.Method) {
		_, route = b.routes.mux.Handler(named)
	}
	method, path, _ := strings.Cut(route, " ")
	item := b.routes.api.OpenAPI().Paths[strings.TrimPrefix(path, b.options.Prefix)]
	if item == nil {
		return // no route
	}
	if op := operationsOf(item)[method]; op != nil && op.Responses[strconv.Itoa(status)] == nil {
		b.t.Errorf("%s %.100s: the description of %s does not have the status %d", r.Method, r.URL, route, status)
	}
}

// ok returns the body of a success, as the type of out.
func (b *bench) ok(out any, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.send(method, target, body, headers...)
	if w.Code >= 300 {
		b.t.Fatalf("%s %s %s: %d %s", method, target, body, w.Code, w.Body)
	}
	if out != nil {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			b.t.Fatalf("%s %s: %v in %s", method, target, err, w.Body)
		}
	}
	return w
}

// fails checks the status and the shape of a refusal.
func (b *bench) fails(status int, method, target, body string, headers ...string) Problem {
	b.t.Helper()
	w := b.send(method, target, body, headers...)
	var p Problem
	if w.Code != status || w.Header().Get("Content-Type") != problemType || json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Status != status || p.Detail == "" || p.Title == "" {
		b.t.Errorf("%s %.100s %.200s: %d %s %.500s, not a problem with %d", method, target, body, w.Code, w.Header().Get("Content-Type"), w.Body, status)
	}
	return p
}

// cells is the table of routes and roles: the role that each route needs, and a request.
var cells = map[string]struct {
	role   access.Role
	target string // if it differs from the path of the route
	body   string
}{
	"GET /api/v1/jobs":                       {role: access.Viewer},
	"GET /api/v1/jobs/count":                 {role: access.Viewer},
	"GET /api/v1/jobs/{id}":                  {role: access.Viewer, target: "/api/v1/jobs/1"},
	"POST /api/v1/jobs":                      {role: access.Operator, body: `{"kind":"idle"}`},
	"POST /api/v1/jobs/many":                 {role: access.Operator, body: `{"jobs":[{"kind":"idle"}]}`},
	"POST /api/v1/jobs/cancel":               {role: access.Operator, body: `{"all":true,"dry_run":true}`},
	"POST /api/v1/jobs/retry":                {role: access.Operator, body: `{"all":true,"dry_run":true}`},
	"POST /api/v1/jobs/delete":               {role: access.Operator, body: `{"all":true,"dry_run":true}`},
	"POST /api/v1/jobs/move":                 {role: access.Operator, body: `{"all":true,"dry_run":true,"to":"q"}`},
	"POST /api/v1/jobs/reprioritise":         {role: access.Operator, body: `{"all":true,"dry_run":true,"priority":1}`},
	"GET /api/v1/jobs/{id}/output":           {role: access.Viewer, target: "/api/v1/jobs/1/output"},
	"POST /api/v1/jobs/{id}/cancel":          {role: access.Operator, target: "/api/v1/jobs/1/cancel"},
	"POST /api/v1/jobs/{id}/signals/{name}":  {role: access.Operator, target: "/api/v1/jobs/999999/signals/approval", body: `{"value":true}`},
	"POST /api/v1/jobs/{id}/retry":           {role: access.Operator, target: "/api/v1/jobs/1/retry"},
	"DELETE /api/v1/jobs/{id}":               {role: access.Operator, target: "/api/v1/jobs/2"},
	"POST /api/v1/jobs/{id}/move":            {role: access.Operator, target: "/api/v1/jobs/1/move", body: `{"to":"q"}`},
	"POST /api/v1/jobs/{id}/reprioritise":    {role: access.Operator, target: "/api/v1/jobs/1/reprioritise", body: `{"priority":2}`},
	"GET /api/v1/schedules":                  {role: access.Viewer},
	"GET /api/v1/schedules/{name}":           {role: access.Viewer, target: "/api/v1/schedules/s"},
	"PUT /api/v1/schedules/{name}":           {role: access.Operator, target: "/api/v1/schedules/s", body: `{"every":"1h","kind":"idle"}`},
	"DELETE /api/v1/schedules/{name}":        {role: access.Operator, target: "/api/v1/schedules/gone"},
	"POST /api/v1/schedules/{name}/pause":    {role: access.Operator, target: "/api/v1/schedules/s/pause"},
	"POST /api/v1/schedules/{name}/resume":   {role: access.Operator, target: "/api/v1/schedules/s/resume"},
	"POST /api/v1/schedules/{name}/trigger":  {role: access.Operator, target: "/api/v1/schedules/s/trigger"},
	"POST /api/v1/schedules/{name}/backfill": {role: access.Operator, target: "/api/v1/schedules/s/backfill", body: `{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T02:00:00Z","dry_run":true}`},
	"GET /api/v1/schedules/{name}/next":      {role: access.Viewer, target: "/api/v1/schedules/s/next"},
	"GET /api/v1/schedules/{name}/explain":   {role: access.Viewer, target: "/api/v1/schedules/s/explain?from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z"},
	"GET /api/v1/calendars":                  {role: access.Viewer},
	"GET /api/v1/calendars/{name}":           {role: access.Viewer, target: "/api/v1/calendars/c"},
	"PUT /api/v1/calendars/{name}":           {role: access.Operator, target: "/api/v1/calendars/c", body: `{"weekdays":["sat"]}`},
	"DELETE /api/v1/calendars/{name}":        {role: access.Operator, target: "/api/v1/calendars/gone"},
	"GET /api/v1/groups":                     {role: access.Viewer},
	"GET /api/v1/groups/{name}":              {role: access.Viewer, target: "/api/v1/groups/g"},
	"POST /api/v1/groups/{name}/pause":       {role: access.Operator, target: "/api/v1/groups/g/pause"},
	"POST /api/v1/groups/{name}/resume":      {role: access.Operator, target: "/api/v1/groups/g/resume"},
	"POST /api/v1/groups/{name}/trigger":     {role: access.Operator, target: "/api/v1/groups/g/trigger"},
	"POST /api/v1/groups/{name}/cancel":      {role: access.Operator, target: "/api/v1/groups/g/cancel?dry_run=true"},
	"POST /api/v1/groups/{name}/retry":       {role: access.Operator, target: "/api/v1/groups/g/retry?dry_run=true"},
	"GET /api/v1/handlers":                   {role: access.Viewer},
	"GET /api/v1/handlers/{name}":            {role: access.Viewer, target: "/api/v1/handlers/h"},
	"PUT /api/v1/handlers/{name}":            {role: access.Operator, target: "/api/v1/handlers/h", body: `{"on":["failure"],"job":{"kind":"idle"}}`},
	"DELETE /api/v1/handlers/{name}":         {role: access.Operator, target: "/api/v1/handlers/gone"},
	"GET /api/v1/limits":                     {role: access.Viewer},
	"GET /api/v1/limits/{name}":              {role: access.Viewer, target: "/api/v1/limits/l"},
	"PUT /api/v1/limits/{name}":              {role: access.Operator, target: "/api/v1/limits/l", body: `{"kind":"idle","concurrency":9}`},
	"DELETE /api/v1/limits/{name}":           {role: access.Operator, target: "/api/v1/limits/gone"},
	"POST /api/v1/jobs/graph":                {role: access.Operator, body: `{"jobs":{"a":{"kind":"idle"}}}`},
	"GET /api/v1/batches":                    {role: access.Viewer},
	"GET /api/v1/batches/{id}":               {role: access.Viewer, target: "/api/v1/batches/1"},
	"GET /api/v1/locks":                      {role: access.Viewer},
	"GET /api/v1/locks/{name}":               {role: access.Viewer, target: "/api/v1/locks/a%2Fb"},
	"POST /api/v1/locks/{name}/release":      {role: access.Operator, target: "/api/v1/locks/a%2Fb/release", body: `{"force":true}`},
	"GET /api/v1/audit":                      {role: access.Operator},
	"GET /api/v1/stats":                      {role: access.Viewer},
	"GET /api/v1/slots":                      {role: access.Viewer},
	"GET /api/v1/queues":                     {role: access.Viewer},
	"GET /api/v1/queues/{name}":              {role: access.Viewer, target: "/api/v1/queues/default"},
	"POST /api/v1/queues/{name}/pause":       {role: access.Operator, target: "/api/v1/queues/other/pause"},
	"POST /api/v1/queues/{name}/resume":      {role: access.Operator, target: "/api/v1/queues/other/resume"},
	"GET /api/v1/kinds":                      {role: access.Viewer},
	"GET /api/v1/kinds/{name}":               {role: access.Viewer, target: "/api/v1/kinds/idle"},
	"POST /api/v1/kinds/{name}/pause":        {role: access.Operator, target: "/api/v1/kinds/other/pause"},
	"POST /api/v1/kinds/{name}/resume":       {role: access.Operator, target: "/api/v1/kinds/other/resume"},
	"GET /api/v1/keys":                       {role: access.Viewer},
	"GET /api/v1/keys/{name}":                {role: access.Viewer, target: "/api/v1/keys/none"},
	"POST /api/v1/keys/{name}/pause":         {role: access.Operator, target: "/api/v1/keys/other/pause"},
	"POST /api/v1/keys/{name}/resume":        {role: access.Operator, target: "/api/v1/keys/other/resume"},
	"GET /api/v1/findings":                   {role: access.Viewer},
	"GET /api/v1/nodes":                      {role: access.Viewer},
	"GET /api/v1/events":                     {role: access.Viewer},
}

// TestRolesAndRoutes tries each cell of the table of roles and routes.
func TestRolesAndRoutes(t *testing.T) {
	b := newBench(t, Options{})
	for range 2 {
		b.ok(nil, "POST", "/api/v1/jobs", `{"kind":"idle","in":"1h"}`)
	}
	b.ok(nil, "PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"idle"}`)
	b.ok(nil, "PUT", "/api/v1/schedules/in-group", `{"every":"1h","kind":"idle","group":"g"}`)
	b.ok(nil, "PUT", "/api/v1/calendars/c", `{"weekdays":["sat"]}`)
	b.ok(nil, "PUT", "/api/v1/handlers/h", `{"on":["failure"],"job":{"kind":"idle"}}`)
	b.ok(nil, "PUT", "/api/v1/limits/l", `{"kind":"idle","concurrency":9}`)
	for route := range newHandler(b.client, Options{}).roles {
		if _, ok := cells[route]; !ok {
			t.Errorf("the table lacks the route %s", route)
		}
	}
	for route, cell := range cells {
		method, path, _ := strings.Cut(route, " ")
		target := cmp.Or(cell.target, path)
		for role, code := range map[string]int{"unknown": 401, "viewer": 403, "operator": 403} {
			if given, err := access.ParseRole(role); err == nil && given >= cell.role {
				continue
			}
			b.fails(code, method, target, cell.body, roleHeader, role)
		}
		for _, role := range access.Roles() {
			if role < cell.role || strings.HasSuffix(route, "/events") { // a stream does not end
				continue
			}
			if w := b.send(method, target, cell.body, roleHeader, role.String()); w.Code >= 400 && w.Code != 404 {
				t.Errorf("%s as %v: %d %s", route, role, w.Code, w.Body)
			}
		}
	}
	readOnly := Handler(b.client, Options{})
	for route, cell := range cells {
		method, path, _ := strings.Cut(route, " ")
		if cell.role == access.Viewer {
			continue
		}
		w := httptest.NewRecorder()
		readOnly.ServeHTTP(w, httptest.NewRequest(method, cmp.Or(cell.target, path), strings.NewReader(cell.body)))
		if w.Code != 403 {
			t.Errorf("%s without Authorize: %d", route, w.Code)
		}
	}
}

func TestJobs(t *testing.T) {
	b := newBench(t, Options{})
	var made Enqueued
	w := b.ok(&made, "POST", "/api/v1/jobs", `{"kind":"greet","args":{"n":12345678901234567890},"queue":"mail","group":"g","priority":2,"max_attempts":3,"on_loss":"fail","timeout":"90s","backoff":"constant:1s","in":"1h"}`)
	if w.Code != 201 || w.Header().Get("Location") != "/api/v1/jobs/1" || made.ID != 1 {
		t.Errorf("enqueue: %d %v %+v", w.Code, w.Header(), made)
	}
	var job view.JobRecord
	b.ok(&job, "GET", "/api/v1/jobs/1", "")
	if job.Kind != "greet" || string(job.Args) != `{"n":12345678901234567890}` || job.Queue != "mail" || *job.Group != "g" || job.Priority != 2 || job.MaxAttempts != 3 ||
		job.OnLoss != "fail" || *job.Timeout != "1m30s" || *job.Backoff != "constant:1s" || job.RunAt.Sub(*job.CreatedAt).Round(time.Minute) != time.Hour {
		t.Errorf("job %+v", job)
	}
	var many struct{ Jobs []Enqueued }
	b.ok(&many, "POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"a","unique":"k"},{"kind":"a","unique":"k"},{"kind":"b","after":[{"job":1,"on":"either","delay":"1s"}]}]}`)
	if len(many.Jobs) != 3 || many.Jobs[1] != (Enqueued{2, true, "kept"}) || many.Jobs[2].Existed {
		t.Errorf("many: %+v", many)
	}
	p := b.fails(422, "POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"ok"},{"kind":"b","at":"soon"}]}`)
	if len(p.Errors) != 1 || p.Errors[0].Field != "jobs[1].at" || p.Errors[0].Remedy == "" {
		t.Errorf("the mistake in a job: %+v", p)
	}
	var count view.CountRecord
	b.ok(&count, "GET", "/api/v1/jobs/count?state=ready&state=waiting&since=1h", "")
	if count.Count != 3 {
		t.Errorf("%d jobs; a refused request must store nothing", count.Count)
	}
	b.ok(&count, "GET", "/api/v1/jobs/count?args=n%3D12345678901234567890&args=n%3D12345678901234567890", "")
	if p := b.fails(422, "GET", "/api/v1/jobs?args=n", ""); count.Count != 1 || len(p.Errors) != 1 || p.Errors[0].Field != "args" {
		t.Errorf("%d jobs have the argument; the mistake is %+v", count.Count, p)
	}
	b.fails(404, "GET", "/api/v1/jobs/99", "")
	b.fails(404, "POST", "/api/v1/jobs/99/cancel", "")
	b.fails(409, "POST", "/api/v1/jobs", `{"kind":"a","unique":"k","on_conflict":"error"}`)
}

func TestPages(t *testing.T) {
	b := newBench(t, Options{})
	for i := range 5 {
		b.ok(nil, "POST", "/api/v1/jobs", fmt.Sprintf(`{"kind":"k%d","queue":"q%d"}`, i, i))
		b.ok(nil, "PUT", fmt.Sprintf("/api/v1/schedules/s%d", i), `{"every":"1h","kind":"k"}`)
		b.ok(nil, "PUT", fmt.Sprintf("/api/v1/calendars/c%d", i), `{"weekdays":["sun"]}`)
	}
	for path, field := range map[string]string{"/api/v1/jobs": "id", "/api/v1/schedules": "name", "/api/v1/calendars": "name", "/api/v1/queues": "name", "/api/v1/kinds": "name"} {
		seen := map[string]bool{}
		target, pages := path+"?limit=2", 0
		for target != "" {
			var page struct {
				Items []map[string]any
				Next  *string
			}
			b.ok(&page, "GET", target, "")
			for _, item := range page.Items {
				seen[fmt.Sprint(item[field])] = true
			}
			if target = ""; page.Next != nil {
				target = path + "?limit=2&cursor=" + *page.Next
			}
			pages++
		}
		if len(seen) != 5 || pages != 3 {
			t.Errorf("%s: %d items on %d pages", path, len(seen), pages)
		}
		b.fails(422, "GET", path+"?limit=0", "")
		b.fails(422, "GET", path+"?limit=201", "")
		b.fails(422, "GET", path+"?cursor=%21", "")
	}
	b.fails(422, "GET", "/api/v1/jobs?cursor=eA", "")
	b.fails(422, "GET", "/api/v1/slots?cursor=eA", "")
	b.fails(422, "GET", "/api/v1/nodes?cursor=eA", "")
}

// TestAnIdempotencyKeyMakesAJobOnce checks that the answer stays the same after the
// job has ended, and that keys of other callers are other keys.
func TestAnIdempotencyKeyMakesAJobOnce(t *testing.T) {
	b := newBench(t, Options{})
	post := func(headers ...string) (string, string) {
		w := b.ok(nil, "POST", "/api/v1/jobs", `{"kind":"pay","args":[1]}`, headers...)
		if w.Code != 201 {
			t.Errorf("%v: %d", headers, w.Code)
		}
		return strings.TrimSpace(w.Body.String()), w.Header().Get("Idempotent-Replayed")
	}
	first, replayed := post("Idempotency-Key", "order-17")
	if replayed != "" {
		t.Errorf("the first request is a replay")
	}
	for range 2 {
		if again, replayed := post("Idempotency-Key", "order-17"); again != first || replayed != "true" {
			t.Errorf("repeated: %s, %q; the first answer was %s", again, replayed, first)
		}
		b.ok(nil, "POST", "/api/v1/jobs/1/cancel", "")
	}
	if other, _ := post("Idempotency-Key", "order-17", roleHeader, "operator"); other == first {
		t.Error("another caller with the same key gets the same job")
	}
	if other, _ := post("Idempotency-Key", "order-18"); other == first {
		t.Error("another key gets the same job")
	}
	var races sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		races.Go(func() { ids[i], _ = post("Idempotency-Key", "race") })
	}
	races.Wait()
	if ids = slices.Compact(ids); len(ids) != 1 {
		t.Errorf("concurrent requests with one key got %q", ids)
	}
	many := func() string {
		return b.ok(nil, "POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"a"},{"kind":"a"}]}`, "Idempotency-Key", "two").Body.String()
	}
	if one, two := many(), many(); one != two || !strings.Contains(one, `"existed":false`) {
		t.Errorf("many: %s, then %s", one, two)
	}
	follows := func() string {
		return b.ok(nil, "POST", "/api/v1/jobs", `{"kind":"ship","after":[{"job":1,"on":"failure"}]}`, "Idempotency-Key", "ship").Body.String()
	}
	one := follows()
	b.ok(nil, "DELETE", "/api/v1/jobs/1", "")
	if two := follows(); one != two {
		t.Errorf("a job that follows a job that is gone by now: %s, then %s", one, two)
	}
	b.fails(422, "POST", "/api/v1/jobs", `{"kind":"pay","unique":"u"}`, "Idempotency-Key", "order-17")
	b.fails(422, "POST", "/api/v1/jobs", `{"kind":"pay"}`, "Idempotency-Key", strings.Repeat("x", 256))
}

func TestChangesOfManyJobs(t *testing.T) {
	b := newBench(t, Options{})
	for range 3 {
		b.ok(nil, "POST", "/api/v1/jobs", `{"kind":"a"}`)
	}
	b.ok(nil, "POST", "/api/v1/jobs", `{"kind":"b"}`)
	b.fails(422, "POST", "/api/v1/jobs/cancel", `{}`)
	b.fails(422, "POST", "/api/v1/jobs/cancel", `{"dry_run":true}`)
	b.fails(422, "POST", "/api/v1/jobs/cancel", `{"kind":"a","to":"q"}`)
	b.fails(422, "POST", "/api/v1/jobs/move", `{"kind":"a","to":"q","priority":1}`)
	b.fails(422, "POST", "/api/v1/jobs/1/reprioritise", `{"priority":1,"to":"q"}`)
	b.fails(422, "POST", "/api/v1/jobs/move", `{"kind":"a"}`)
	b.fails(422, "POST", "/api/v1/jobs/reprioritise", `{"kind":"a"}`)
	b.fails(422, "POST", "/api/v1/jobs/cancel", `{"state":["odd"]}`)
	b.fails(422, "POST", "/api/v1/jobs/cancel", `{"state":[]}`)
	var dry, done Changes
	b.ok(&dry, "POST", "/api/v1/jobs/cancel", `{"kind":"a","dry_run":true}`)
	b.ok(&done, "POST", "/api/v1/jobs/cancel", `{"kind":"a"}`)
	if dry.Changed != 3 || !dry.DryRun || !dry.Jobs[0].DryRun || done.Changed != 3 || done.DryRun || len(done.Jobs) != 3 || done.More {
		t.Errorf("dry run %+v, then %+v", dry, done)
	}
	b.ok(&done, "POST", "/api/v1/jobs/retry", `{"ids":[1,99],"state":["cancelled"]}`)
	if done.Changed != 1 {
		t.Errorf("retry: %+v", done)
	}
	b.fails(422, "POST", "/api/v1/jobs/cancel", `{"kind":"a","from":"charge"}`)
	b.fails(422, "POST", "/api/v1/jobs/1/retry", `{"to":"q"}`)
	b.fails(422, "POST", "/api/v1/jobs/1/retry", `{"from":"charge"}`) // it has taken no step
	b.fails(422, "POST", "/api/v1/jobs/retry", `{"ids":[1],"state":["ready"],"from":"charge"}`)
	b.ok(&done, "POST", "/api/v1/jobs/cancel", `{"ids":[]}`)
	if done.Changed != 0 {
		t.Errorf("an empty list of numbers changes %+v", done)
	}
	b.ok(nil, "POST", "/api/v1/jobs/move", `{"kind":"b","to":"mail"}`)
	var job view.JobRecord
	b.ok(&job, "GET", "/api/v1/jobs/4", "")
	if job.Queue != "mail" {
		t.Errorf("moved: %+v", job)
	}
}

func TestSchedules(t *testing.T) {
	b := newBench(t, Options{})
	const full = `{"cron":"30 2 * * *","tz":"Europe/Prague","gap":"skip","kind":"report","args":{"a":1},"queue":"q","priority":2,"max_attempts":3,"on_loss":"fail",
		"timeout":"1h","backoff":"linear:10s","overlap":"queue","misfire":"all","misfire_cap":5,"grace":"5m","window":"24h","count":9,"jitter":"10s",
		"pause_after_failures":4,"on":"host=web1","group":"g","paused":true,"exclude":["sat,sun","12-25"],"on_failure":{"kind":"note","args":{}},"start":"2026-01-01"}`
	var s view.ScheduleRecord
	w := b.ok(&s, "PUT", "/api/v1/schedules/nightly", full)
	want := view.ScheduleRecord{
		Name: "nightly", Kind: "report", Queue: "q", On: "host=web1", EffortRecord: view.EffortRecord{Priority: 2, MaxAttempts: 3, OnLoss: "fail"}, Overlap: "queue", Misfire: "all", State: "paused", Paused: true, Revision: s.Revision,
	}
	if s.Name != want.Name || s.Kind != want.Kind || s.Queue != want.Queue || s.On != want.On || s.Priority != want.Priority || s.MaxAttempts != want.MaxAttempts || s.OnLoss != want.OnLoss ||
		s.Overlap != want.Overlap || s.Misfire != want.Misfire || s.State != want.State || *s.Cron != "30 2 * * *" || *s.TZ != "Europe/Prague" || *s.Gap != "skip" ||
		*s.MisfireCap != 5 || *s.Grace != "5m0s" || *s.Window != "24h0m0s" || *s.Count != 9 || *s.Jitter != "10s" || *s.PauseAfter != 4 || *s.Group != "g" ||
		len(s.Exclude) == 0 || s.OnFailure == nil || s.OnFailure.Kind != "note" || *s.Start != "2026-01-01" || *s.Backoff != "linear:10s" || *s.Timeout != "1h0m0s" {
		t.Errorf("schedule %+v", s)
	}
	tag := w.Header().Get("ETag")
	if tag != fmt.Sprintf("%q", fmt.Sprint(s.Revision)) || b.send("GET", "/api/v1/schedules/nightly", "").Header().Get("ETag") != tag {
		t.Errorf("ETag %q of revision %d", tag, s.Revision)
	}
	const simple = `{"every":"1h","kind":"k"}`
	w = b.ok(nil, "PUT", "/api/v1/schedules/nightly", simple, "If-Match", tag)
	b.fails(412, "PUT", "/api/v1/schedules/nightly", simple, "If-Match", tag)
	b.ok(nil, "PUT", "/api/v1/schedules/nightly", `{"rule":"@daily","kind":"k"}`, "If-Match", w.Header().Get("ETag"))
	for _, tag := range []string{"7", "W/\"7\"", "*", `"x"`, `"0"`, `"-1"`, `"1", "2"`, "`7`"} {
		b.fails(422, "PUT", "/api/v1/schedules/nightly", simple, "If-Match", tag)
	}

	var id struct{ ID int64 }
	b.ok(&id, "POST", "/api/v1/schedules/nightly/trigger", "")
	var job view.JobRecord
	b.ok(&job, "GET", fmt.Sprintf("/api/v1/jobs/%d", id.ID), "")
	if job.Origin != "trigger" || *job.Schedule != "nightly" {
		t.Errorf("the triggered job is %+v", job)
	}
	b.ok(&s, "POST", "/api/v1/schedules/nightly/pause", `{"until":"2099-01-01T00:00:00Z"}`)
	if !s.Paused || s.PausedUntil == nil {
		t.Errorf("paused: %+v", s)
	}
	b.ok(&s, "POST", "/api/v1/schedules/nightly/resume", "")
	b.ok(&s, "POST", "/api/v1/schedules/nightly/pause", "")
	if !s.Paused {
		t.Errorf("paused: %+v", s)
	}
	b.fails(422, "POST", "/api/v1/schedules/nightly/pause", `{"until":"2001-01-01T00:00:00Z"}`)
	var filled struct{ Slots []view.BackfillRecord }
	b.ok(&filled, "POST", "/api/v1/schedules/nightly/backfill", `{"from":"2026-01-01","to":"2026-01-04","force":true}`)
	if len(filled.Slots) != 3 || filled.Slots[0].JobID == nil {
		t.Errorf("backfill %+v", filled)
	}
	b.ok(&filled, "POST", "/api/v1/schedules/nightly/backfill", `{"from":"2026-01-01","to":"2026-01-03","dependents":true}`)
	if last, err := b.client.Jobs.Get(t.Context(), *filled.Slots[1].JobID); err != nil || last.Origin != store.OriginBackfillDependents {
		t.Errorf("backfill with dependents: %+v, %v", last, err)
	}
	b.fails(422, "POST", "/api/v1/schedules/nightly/backfill", `{"from":"2026-01-04","to":"2026-01-01"}`)
	b.fails(404, "POST", "/api/v1/schedules/other/backfill", `{"from":"2026-01-01","to":"2026-01-04"}`)
	for _, action := range []string{"pause", "resume", "trigger"} {
		b.fails(404, "POST", "/api/v1/schedules/other/"+action, "")
	}
	if w := b.send("DELETE", "/api/v1/schedules/nightly", ""); w.Code != 204 {
		t.Errorf("delete: %d", w.Code)
	}
	b.fails(404, "DELETE", "/api/v1/schedules/other", "")
}

// TestWhatASchedulesSlotsWillBe checks next and explain.
// TestRulesOfOtherSchedulers puts a calendar event of systemd, and a rule that looks like a rule of Quartz.
func TestRulesOfOtherSchedulers(t *testing.T) {
	b := newBench(t, Options{})
	var s view.OneScheduleRecord
	b.ok(&s, "PUT", "/api/v1/schedules/event", `{"on_calendar":"Mon..Fri *-*-* 09:30","kind":"k"}`)
	if *s.Cron != "Mon..Fri *-*-* 09:30" || *s.Dialect != "systemd" || s.Warnings == nil || len(s.Warnings) != 0 {
		t.Errorf("%+v", s)
	}
	for _, wrong := range []string{`"cron":"@daily"`, `"dialect":"spring"`, `"every":"1h"`, `"rule":"@daily"`} {
		if w := b.fails(422, "PUT", "/api/v1/schedules/event", `{"on_calendar":"9:30","kind":"k",`+wrong+`}`); !strings.Contains(w.Detail, "given") {
			t.Errorf("%s: %s", wrong, w.Detail)
		}
	}
	if w := b.fails(422, "PUT", "/api/v1/schedules/event", `{"on_calendar":"Mox 9:30","kind":"k"}`); w.Errors[0].Field != "on_calendar" {
		t.Errorf("%+v", w)
	}
	b.ok(&s, "PUT", "/api/v1/schedules/quartz", `{"cron":"0 0 9 ? * 2-6","kind":"k"}`)
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "in Quartz it is Monday") {
		t.Errorf("warnings: %q", s.Warnings)
	}
}

func TestWhatASchedulesSlotsWillBe(t *testing.T) {
	b := newBench(t, Options{})
	b.ok(nil, "PUT", "/api/v1/schedules/s", `{"cron":"30 2 * * *","tz":"America/New_York","kind":"k","exclude":["sun"]}`)
	var next struct{ Slots []view.NextRecord }
	b.ok(&next, "GET", "/api/v1/schedules/s/next?from=2027-03-12T00:00:00&count=3", "")
	if len(next.Slots) != 3 || next.Slots[0].Slot != "2027-03-12T02:30:00-05:00" || next.Slots[2].Slot != "2027-03-15T02:30:00-04:00" {
		t.Errorf("next %+v", next)
	}
	var explained struct{ Slots []view.ExplainRecord }
	const span = "/api/v1/schedules/s/explain?from=2027-03-12T00:00:00&to=2027-03-17T00:00:00"
	b.ok(&explained, "GET", span+"&down=2027-03-15T00:00:00..2027-03-15T12:00:00&misfire=once", "")
	outcomes := ""
	for _, slot := range explained.Slots {
		outcomes += slot.Outcome + " "
	}
	if outcomes != "fired fired skipped clock fired fired " && outcomes != "fired fired clock skipped fired fired " {
		t.Errorf("explained %s: %+v", outcomes, explained)
	}
	b.ok(&explained, "GET", span+"&every=1h&run_time=30m", "")
	if len(explained.Slots) < 50 {
		t.Errorf("another rule has %d slots", len(explained.Slots))
	}
	for _, query := range []string{"", "&down=x", "&down=..", "&misfire=odd", "&cron=x", "&run_time=long", "&limit=5000"} {
		target := span + query
		if query == "" {
			target = "/api/v1/schedules/s/explain"
		}
		b.fails(422, "GET", target, "")
	}
}

// TestNamesOfAnyForm checks that a name can be one escaped segment, or ?name=.
func TestNamesOfAnyForm(t *testing.T) {
	b := newBench(t, Options{Prefix: "/ops"})
	const body = `{"every":"1h","kind":"k"}`
	for _, name := range []string{"a/b", "ä/ö ü", "a?b#c", "100%", "a+b&c=d", "next", "a%2Fb", "...", `a\b`, "a//b", "count", "-"} {
		escaped := "/ops/api/v1/schedules/" + url.PathEscape(name)
		query := "?name=" + url.QueryEscape(name)
		var s view.ScheduleRecord
		b.ok(&s, "PUT", escaped, body)
		if s.Name != name {
			t.Errorf("%s is stored as %q", escaped, s.Name)
		}
		b.ok(&s, "GET", "/ops/api/v1/schedules"+query, "")
		if s.Name != name {
			t.Errorf("%s finds %q", query, s.Name)
		}
		b.ok(&s, "PUT", "/ops/api/v1/schedules"+query, body)
		b.ok(&s, "POST", "/ops/api/v1/schedules/pause"+query, "")
		b.ok(nil, "GET", "/ops/api/v1/schedules/next"+query+"&count=1", "")
		b.ok(nil, "GET", escaped+"/next", "")
		if s.Name != name || !s.Paused {
			t.Errorf("pause %q: %+v", name, s)
		}
		if w := b.send("DELETE", "/ops/api/v1/schedules"+query, ""); w.Code != 204 {
			t.Errorf("delete %q: %d", name, w.Code)
		}
	}
	for _, name := range []string{"..", ".", "a/../b"} {
		b.fails(422, "PUT", "/ops/api/v1/schedules?name="+url.QueryEscape(name), body)
		b.fails(404, "GET", "/ops/api/v1/schedules?name="+url.QueryEscape(name), "")
	}
	b.fails(422, "PUT", "/ops/api/v1/schedules?name=a%0Ab", body)
	b.fails(422, "PUT", "/ops/api/v1/schedules/a%FFb", body)
	b.fails(404, "GET", "/api/v1/schedules", "")
}

// TestEveryNameInTheQuery checks that every route with a name also finds the name in the query.
func TestEveryNameInTheQuery(t *testing.T) {
	b := newBench(t, Options{Prefix: "/ops"})
	h := newHandler(b.client, Options{Prefix: "/ops"})
	routes := 0
	for path := range h.api.OpenAPI().Paths {
		before, after, named := strings.Cut(path, "/{name}")
		if !named {
			continue
		}
		routes++
		before = strings.ReplaceAll(before, "{id}", "17")
		moved := h.nameInPath(httptest.NewRequest(http.MethodGet, "/ops"+before+after+"?name=a/b&x=1", nil))
		if got, want := moved.URL.String(), "/ops"+before+"/a%2Fb"+after+"?x=1"; got != want {
			t.Errorf("%s: the name leads to %s, want %s", path, got, want)
		}
	}
	if routes < 20 {
		t.Errorf("only %d routes have a name", routes)
	}
	b.fails(422, "GET", "/ops/api/v1/jobs?name=a/b", "") // jobs have no names
}

// TestPauseOfQueuesAndKinds checks the routes that list, pause and resume queues and kinds.
func TestPauseOfQueuesAndKinds(t *testing.T) {
	b := newBench(t, Options{})
	b.ok(nil, "POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"a/b","queue":"a/b"},{"kind":"a/b","queue":"a/b"},{"kind":"k","queue":"a/b"}]}`)
	for collection, ready := range map[string]int64{"queues": 3, "kinds": 2} {
		var one view.QueueRecord
		b.ok(&one, "GET", "/api/v1/"+collection+"/a%2Fb", "")
		if one.Name != "a/b" || one.Ready != ready || one.PausedAt != nil {
			t.Errorf("%s: %+v", collection, one)
		}
		b.ok(&one, "POST", "/api/v1/"+collection+"/pause?name=a/b", `{"reason":"the mail server moves","until":"2099-01-01","cancel":true}`)
		if one.PausedAt == nil || one.PausedUntil == nil || *one.PausedBy != "ada" || *one.PauseReason != "the mail server moves" || one.Ready != ready {
			t.Errorf("paused %s: %+v", collection, one)
		}
		b.ok(nil, "POST", "/api/v1/"+collection+"/later/pause", "")
		var list struct{ Items []view.QueueRecord }
		b.ok(&list, "GET", "/api/v1/"+collection, "")
		if last := list.Items[len(list.Items)-1]; last.Name != "later" || last.PausedAt == nil || last.PausedUntil != nil {
			t.Errorf("list of %s: %+v", collection, list)
		}
		var job view.JobRecord
		b.ok(&job, "GET", "/api/v1/jobs/1", "")
		if want := strings.TrimSuffix(collection, "s") + " a/b is paused since "; job.Waits == nil || !strings.HasPrefix(*job.Waits, want) {
			t.Errorf("the job waits: %v", job.Waits)
		}
		b.ok(&one, "POST", "/api/v1/"+collection+"/a%2Fb/resume", "")
		if one.PausedAt != nil || one.Name != "a/b" {
			t.Errorf("resumed %s: %+v", collection, one)
		}
		b.fails(422, "POST", "/api/v1/"+collection+"/a/pause", `{"until":"2001-01-01"}`)
		b.fails(404, "GET", "/api/v1/"+collection+"/none", "")
		b.fails(404, "POST", "/api/v1/"+collection+"/none/resume", "")
	}
	var key view.KeyRecord
	b.ok(&key, "POST", "/api/v1/keys/pause?name=a/b", `{"reason":"they moved"}`)
	if key.Name != "a/b" || key.PausedAt == nil || *key.PauseReason != "they moved" {
		t.Errorf("a paused key: %+v", key)
	}
	var keys struct{ Items []view.KeyRecord }
	b.ok(&keys, "GET", "/api/v1/keys", "")
	if len(keys.Items) != 1 || keys.Items[0].Name != "a/b" || *keys.Items[0].PausedBy != "ada" {
		t.Errorf("keys: %+v", keys)
	}
	b.ok(&key, "POST", "/api/v1/keys/a%2Fb/resume", "")
	b.fails(404, "GET", "/api/v1/keys/a%2Fb", "")
}

func TestGroups(t *testing.T) {
	b := newBench(t, Options{})
	b.ok(nil, "PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","group":"a/b"}`)
	b.ok(nil, "POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"k","group":"a/b"},{"kind":"k","group":"a/b"},{"kind":"k"}]}`)
	var groups struct{ Items []view.GroupRecord }
	b.ok(&groups, "GET", "/api/v1/groups", "")
	if len(groups.Items) != 1 || groups.Items[0].Name != "a/b" || groups.Items[0].Schedules != 1 || groups.Items[0].Ready != 2 {
		t.Errorf("groups %+v", groups)
	}
	var group view.GroupRecord
	b.ok(&group, "POST", "/api/v1/groups/pause?name=a/b", `{"reason":"the mail server moves","until":"2099-01-01"}`)
	if group.PausedAt == nil || group.PausedUntil == nil || *group.PausedBy != "ada" || *group.PauseReason != "the mail server moves" {
		t.Errorf("paused %+v", group)
	}
	b.ok(&group, "POST", "/api/v1/groups/a%2Fb/resume", "")
	if group.PausedAt != nil || group.Name != "a/b" {
		t.Errorf("resumed %+v", group)
	}
	b.fails(422, "POST", "/api/v1/groups/a%2Fb/pause", `{"until":"2001-01-01"}`)
	var made struct{ Jobs []view.TriggeredRecord }
	b.ok(&made, "POST", "/api/v1/groups/a%2Fb/trigger", "")
	if len(made.Jobs) != 1 || made.Jobs[0].Schedule != "s" {
		t.Errorf("triggered %+v", made)
	}
	var dry, done Changes
	b.ok(&dry, "POST", "/api/v1/groups/cancel?name=a/b&dry_run=true", "")
	b.ok(&done, "POST", "/api/v1/groups/cancel?name=a/b", "")
	if dry.Changed != 3 || done.Changed != 3 || len(done.Jobs) != 3 {
		t.Errorf("dry run %+v, then %+v", dry, done)
	}
	for _, action := range []string{"trigger", "cancel", "retry"} {
		b.fails(404, "POST", "/api/v1/groups/none/"+action, "")
	}
	b.fails(404, "GET", "/api/v1/groups/none", "")
}

// TestArgsAreReadAsElsewhere compares which args the API accepts with which the library and the program accept, and looks at what is stored.
func TestArgsAreReadAsElsewhere(t *testing.T) {
	b := newBench(t, Options{Commands: true})
	for _, args := range []string{
		`{"n":1e400}`, `[1E+999, -1e-999, 12345678901234567890]`, `{"A":1,"a":2,"a":3}`, `null`, ` "<b> & \u2028" `, `{"deep":[[{"x":null}]]}`,
		`1e`, `{"a":01}`, `{"a":1`, `{"a":1} 2`, "\"\xff\"", `NaN`,
	} {
		for _, kind := range []string{"k", "command"} {
			elsewhere := errors.Join(hourbell.Request{Args: hourbell.RawArgs{Name: kind, JSON: []byte(args)}}.Validate(), kinds.CheckArgs(kind, []byte(args)))
			w := b.send("POST", "/api/v1/jobs", `{"kind":"`+kind+`","args":`+args+`}`)
			if (w.Code < 300) != (elsewhere == nil) {
				t.Errorf("%s of kind %s: %d %s, elsewhere: %v", args, kind, w.Code, w.Body, elsewhere)
			}
			if w.Code >= 300 {
				continue
			}
			var made struct{ ID int64 }
			if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
				t.Fatal(err)
			}
			job, err := b.client.Jobs.Get(context.Background(), made.ID)
			if err != nil || string(job.Args) != strings.TrimSpace(args) {
				t.Errorf("%s is stored as %s: %v", args, job.Args, err)
			}
		}
	}
	for _, c := range []struct{ method, target, body, names string }{
		{"POST", "/api/v1/jobs", `{"Kind":"k"}`, "kind"},
		{"POST", "/api/v1/jobs", `{"kind":"k","Args":{}}`, "Args"},
		{"POST", "/api/v1/jobs", `{"kind":"k","QUEUE":"q"}`, "QUEUE"},
		{"POST", "/api/v1/jobs", `{"kind":"k","queue":"a","queue":"b"}`, "queue"},
		{"POST", "/api/v1/jobs", `{"kind":"k","priority":1e400}`, "priority"},
		{"POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"k"},{"kind":"k","queUe":"q"}]}`, "jobs[1].queUe"},
		{"POST", "/api/v1/jobs/graph", `{"jobs":{"a":{"kind":"k","KIND":"l"}}}`, "jobs.a.KIND"},
		{"PUT", "/api/v1/handlers/h", `{"on":["failure"],"job":{"kind":"k","Queue":"q"}}`, "job.Queue"},
		{"PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","on_failure":{"kind":"k","ARGS":1}}`, "on_failure.ARGS"},
		{"POST", "/api/v1/jobs", `{"kind":"command","args":{"argv":["true"],"Dir":"/"}}`, "args.Dir"},
		{"POST", "/api/v1/jobs", `{"kind":"command","args":{"argv":["true"],"argv":["false"]}}`, "args.argv"},
	} {
		if p := b.fails(422, c.method, c.target, c.body); !strings.Contains(p.Detail, c.names) {
			t.Errorf("%s %s: %s is not named in %s", c.method, c.body, c.names, p.Detail)
		}
	}
}

// TestPutsThatOnlyCreate also tries the conditions on each route that changes something and does not take them.
func TestPutsThatOnlyCreate(t *testing.T) {
	for route, cell := range cells {
		method, target, _ := strings.Cut(route, " ")
		if cell.target != "" {
			target = cell.target
		}
		if method == "GET" {
			continue
		}
		b := newBench(t, Options{})
		if method != "PUT" {
			for _, condition := range []string{"If-Match", "If-None-Match"} {
				if p := b.fails(422, method, target, cell.body, condition, "*"); len(p.Errors) != 1 || p.Errors[0].Field != condition {
					t.Errorf("%s with %s: %+v", route, condition, p)
				}
			}
			continue
		}
		first := b.ok(nil, method, target, cell.body, "If-None-Match", "*")
		audited := func() int { return strings.Count(b.send("GET", "/api/v1/audit", "").Body.String(), `"action"`) }
		before := audited()
		b.fails(412, method, target, cell.body, "If-None-Match", "*")
		if after := audited(); before != 1 || after != before {
			t.Errorf("%s: the audit has %d entries, then %d", route, before, after)
		}
		for _, tag := range []string{`"7"`, "x", "*, *"} {
			b.fails(422, method, target, cell.body, "If-None-Match", tag)
		}
		if tag := first.Header().Get("ETag"); tag != "" {
			b.fails(422, method, target, cell.body, "If-None-Match", "*", "If-Match", tag)
		} else {
			b.fails(422, method, target, cell.body, "If-Match", `"1"`)
		}
		b.ok(nil, method, target, cell.body)
	}
}

func TestDeletesOfARevision(t *testing.T) {
	b := newBench(t, Options{})
	for target, bodies := range map[string][2]string{
		"/api/v1/schedules/s": {`{"every":"1h","kind":"k"}`, `{"every":"2h","kind":"k"}`},
		"/api/v1/calendars/c": {`{"dates":["12-25"]}`, `{"dates":["12-26"]}`},
		"/api/v1/limits/l":    {`{"queue":"q","concurrency":1}`, `{"queue":"q","concurrency":2}`},
	} {
		old := b.ok(nil, "PUT", target, bodies[0]).Header().Get("ETag")
		newest := b.ok(nil, "PUT", target, bodies[1]).Header().Get("ETag")
		b.fails(412, "DELETE", target, "", "If-Match", old)
		b.fails(422, "DELETE", target, "", "If-Match", strings.Trim(newest, `"`))
		b.fails(422, "DELETE", target, "", "If-None-Match", "*")
		b.ok(nil, "GET", target, "")
		b.ok(nil, "DELETE", target, "", "If-Match", newest)
		b.fails(404, "DELETE", target, "", "If-Match", newest)
	}
}

func TestCalendars(t *testing.T) {
	b := newBench(t, Options{})
	w := b.ok(nil, "PUT", "/api/v1/calendars/holidays", `{"dates":["12-25"],"weekdays":["sat"],"rules":["* 0-6 * * *"],"tz":"Europe/Prague"}`)
	tag := w.Header().Get("ETag")
	b.ok(nil, "PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","exclude":["holidays"]}`)
	var c view.CalendarUsersRecord
	b.ok(&c, "GET", "/api/v1/calendars/holidays", "")
	if len(c.Dates) != 1 || len(c.Rules) != 1 || *c.TZ != "Europe/Prague" || len(c.Schedules) != 1 {
		t.Errorf("calendar %+v", c)
	}
	b.ok(nil, "PUT", "/api/v1/calendars/holidays", `{"dates":["12-26"]}`, "If-Match", tag)
	b.fails(412, "PUT", "/api/v1/calendars/holidays", `{"dates":["12-27"]}`, "If-Match", tag)
	b.fails(422, "DELETE", "/api/v1/calendars/holidays", "")
	b.fails(422, "PUT", "/api/v1/calendars/x", `{"dates":["13-45"]}`)
	b.fails(422, "PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","exclude":["unknown-calendar-13-45-"]}`)
	b.fails(404, "GET", "/api/v1/calendars/none", "")
}

// TestCommandsAreMadeByAdminsOfWillingNodes tries every way to make work that runs a
// command, a call or a statement.
func TestCommandsAreMadeByAdminsOfWillingNodes(t *testing.T) {
	ways := map[string][2]string{}
	for kind, args := range map[string]string{"command": `{"argv":["id"]}`, "http": `{"url":"http://127.0.0.1/"}`, "sql": `{"connection":"c","statement":"select 1"}`} {
		ways["a job "+kind] = [2]string{"POST /api/v1/jobs", fmt.Sprintf(`{"kind":%q,"args":%s}`, kind, args)}
		ways["jobs "+kind] = [2]string{"POST /api/v1/jobs/many", fmt.Sprintf(`{"jobs":[{"kind":"ok"},{"kind":%q,"args":%s}]}`, kind, args)}
		ways["a schedule "+kind] = [2]string{"PUT /api/v1/schedules/new", fmt.Sprintf(`{"every":"1h","kind":%q,"args":%s}`, kind, args)}
		ways["a handler "+kind] = [2]string{"PUT /api/v1/handlers/new", fmt.Sprintf(`{"on":["failure"],"job":{"kind":%q,"args":%s}}`, kind, args)}
		for _, hook := range []string{"on_failure", "on_missed", "on_recovery"} {
			ways["a hook "+hook+" "+kind] = [2]string{"PUT /api/v1/schedules/new", fmt.Sprintf(`{"every":"1h","kind":"ok",%q:{"kind":%q,"args":%s}}`, hook, kind, args)}
		}
	}
	ways["an edit of a command"] = [2]string{"PUT /api/v1/schedules/theirs", `{"every":"1s","kind":"ok"}`}
	ways["an edit of a handler's command"] = [2]string{"PUT /api/v1/handlers/theirs", `{"on":["start"],"job":{"kind":"ok"}}`}
	for _, willing := range []bool{false, true} {
		b := newBench(t, Options{Commands: willing})
		secret := hourbell.RawArgs{Name: "command", JSON: []byte(`{"argv":["id"],"env":{"TOKEN":"hunter2"}}`)}
		_, err := b.client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "theirs", Rule: recur.Spec{Every: "1h"}, Job: secret})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.client.Handlers.Put(t.Context(), hourbell.EventHandler{Name: "theirs", On: []string{"failure"}, Job: secret}); err != nil {
			t.Fatal(err)
		}
		for name, way := range ways {
			method, target, _ := strings.Cut(way[0], " ")
			b.fails(403, method, target, way[1], roleHeader, "operator")
			if !willing {
				b.fails(403, method, target, way[1], roleHeader, "admin")
				continue
			}
			if strings.HasSuffix(name, " sql") { // the arguments may be refused, but not for the role
				if w := b.send(method, target, way[1]); w.Code == 403 {
					t.Errorf("%s by an admin: %s", name, w.Body)
				}
				continue
			}
			b.ok(nil, method, target, way[1])
		}
		if !willing {
			for _, role := range []string{"viewer", "operator"} {
				for _, path := range []string{"/api/v1/schedules/theirs", "/api/v1/handlers/theirs", "/api/v1/handlers"} {
					if body := b.ok(nil, "GET", path, "", roleHeader, role).Body.String(); strings.Contains(body, "hunter2") {
						t.Errorf("%v sees a secret: %s", role, body)
					}
				}
				for _, path := range []string{"/api/v1/schedules/theirs", "/api/v1/schedules", "/api/v1/handlers/theirs", "/api/v1/handlers", "/api/v1/jobs"} {
					b.fails(403, "GET", path+"?secrets=true", "", roleHeader, role)
				}
			}
			for _, path := range []string{"/api/v1/schedules/theirs", "/api/v1/handlers/theirs"} {
				if body := b.ok(nil, "GET", path+"?secrets=true", "").Body.String(); !strings.Contains(body, "hunter2") {
					t.Errorf("an admin asks for secrets and sees %s", body)
				}
			}
			if s, err := b.client.Schedules.Get(t.Context(), "theirs"); err != nil || s.Rule.Every != "1h" {
				t.Errorf("the schedule is now %+v, %v", s, err)
			}
		}
	}
}

// TestOwnedSchedulesAreNotEdited checks that the schedules of a file stay as they are.
func TestOwnedSchedulesAreNotEdited(t *testing.T) {
	b := newBench(t, Options{})
	_, err := b.client.Schedules.Sync(t.Context(), "file:s.yaml", 0, []hourbell.Schedule{{Name: "s", Rule: recur.Spec{Every: "1h"}, Job: hourbell.RawArgs{Name: "k"}}})
	if err != nil {
		t.Fatal(err)
	}
	if p := b.fails(409, "PUT", "/api/v1/schedules/s", `{"every":"2h","kind":"k"}`); !strings.Contains(p.Detail, "file:s.yaml") {
		t.Errorf("the owner is not named: %+v", p)
	}
}

// TestMistakes checks that bad input is refused with its field, and changes nothing.
func TestMistakes(t *testing.T) {
	b := newBench(t, Options{})
	for _, c := range []struct{ method, target, body, field string }{
		{"POST", "/api/v1/jobs", `{}`, "body"},
		{"POST", "/api/v1/jobs", `{"kind":""}`, "kind"},
		{"POST", "/api/v1/jobs", `{"kind":"a b\u0000"}`, "kind"},
		{"POST", "/api/v1/jobs", `{"kind":"k","colour":"red"}`, "colour"},
		{"POST", "/api/v1/jobs", `{"kind":"k","priority":10}`, "priority"},
		{"POST", "/api/v1/jobs", `{"kind":"k","priority":"1"}`, "priority"},
		{"POST", "/api/v1/jobs", `{"kind":"k","timeout":"-1s"}`, "timeout"},
		{"POST", "/api/v1/jobs", `{"kind":"k","timeout":"soon"}`, "timeout"},
		{"POST", "/api/v1/jobs", `{"kind":"k","at":"tomorrow"}`, "at"},
		{"POST", "/api/v1/jobs", `{"kind":"k","backoff":"x"}`, "backoff"},
		{"POST", "/api/v1/jobs", `{"kind":"k","on_loss":"maybe"}`, "on_loss"},
		{"POST", "/api/v1/jobs", `{"kind":"k","queue":"a\nb"}`, "queue"},
		{"POST", "/api/v1/jobs", `{"kind":"k","unique_args":["none"]}`, "unique_args"},
		{"POST", "/api/v1/jobs", `{"kind":"k","after":[{"job":0}]}`, "after[0].job"},
		{"POST", "/api/v1/jobs", `{"kind":"k","after":[{"job":1,"delay":"x"}]}`, "after.delay"},
		{"PUT", "/api/v1/schedules/s", `{"kind":"k"}`, ""},
		{"PUT", "/api/v1/schedules/s", `{"cron":"x","kind":"k"}`, "cron"},
		{"PUT", "/api/v1/schedules/s", `{"cron":"@daily","every":"1h","kind":"k"}`, ""},
		{"PUT", "/api/v1/schedules/s", `{"rule":"@daily","tz":"UTC","kind":"k"}`, "rule"},
		{"PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","grace":"90"}`, "grace"},
		{"PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","tz":"Mars/Phobos"}`, "tz"},
		{"PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k","state":"active"}`, "state"},
		{"PUT", "/api/v1/handlers/h", `{"on":[],"job":{"kind":"k"}}`, "on"},
		{"PUT", "/api/v1/handlers/h", `{"on":["on_failure"],"job":{"kind":"k"}}`, "on[0]"},
		{"PUT", "/api/v1/handlers/h", `{"on":["failure"],"job":{"kind":"k","timeout":"soon"}}`, "timeout"},
		{"PUT", "/api/v1/handlers/h", `{"on":["failure"],"job":{"kind":"k","backoff":"x"}}`, "backoff"},
		{"PUT", "/api/v1/handlers/h", `{"on":["failure"],"job":{"kind":"a b\u0000"}}`, "kind"},
		{"PUT", "/api/v1/handlers/%00", `{"on":["failure"],"job":{"kind":"k"}}`, "name"},
		{"GET", "/api/v1/jobs?state=odd", "", "state"},
		{"GET", "/api/v1/jobs?colour=red", "", "colour"},
		{"GET", "/api/v1/jobs?queue=", "", "queue"},
		{"GET", "/api/v1/jobs?queue=a&queue=b", "", "queue"},
		{"GET", "/api/v1/jobs?since=soon", "", "since"},
		{"GET", "/api/v1/jobs?finished_since=1h&finished_until=2h", "", "finished_until"},
		{"GET", "/api/v1/jobs?limit=x", "", "limit"},
		{"GET", "/api/v1/jobs?a;b", "", "query"},
		{"GET", "/api/v1/jobs?a=%zz", "", "query"},
		{"GET", "/api/v1/jobs?queue=%ff", "", "query"},
		{"GET", "/api/v1/jobs?=a&=b", "", "query"},
		{"GET", "/api/v1/jobs?=", "", "query"},
		{"GET", "/api/v1/jobs/0", "", "id"},
		{"GET", "/api/v1/jobs/x", "", "id"},
		{"GET", "/api/v1/slots?from=x", "", "from"},
		{"GET", "/api/v1/audit?since=x", "", "since"},
		{"GET", "/api/v1/audit?subject=x", "", "subject"},
		{"GET", "/api/v1/audit?actor=%00", "", "actor"},
		{"GET", "/api/v1/schedules/s/next?count=0", "", "count"},
	} {
		p := b.fails(422, c.method, c.target, c.body)
		if c.field != "" && !slices.ContainsFunc(p.Errors, func(f FieldProblem) bool { return f.Field == c.field && f.Remedy != "" }) {
			t.Errorf("%s %s %s: no remedy for %s in %+v", c.method, c.target, c.body, c.field, p)
		}
	}
	for _, c := range []struct{ method, target, body, header string }{
		{"POST", "/api/v1/jobs", `{"kind":"k","unique":"u"}`, "Idempotency-Key"},
		{"PUT", "/api/v1/schedules/s", `{"every":"1h","kind":"k"}`, "If-Match"},
	} {
		if p := b.fails(422, c.method, c.target, c.body, c.header, "x"); len(p.Errors) != 1 || p.Errors[0].Field != c.header {
			t.Errorf("the header is not named as it is sent: %+v", p)
		}
	}
	b.fails(400, "POST", "/api/v1/jobs", `{"kind":`)
	b.fails(400, "POST", "/api/v1/jobs", `{"kind":"k"} {"kind":"k"}`)
	b.fails(404, "GET", "/api/v1/", "")
	b.fails(405, "PATCH", "/api/v1/jobs", "{}")
	b.fails(405, "GET", "/api/v1/jobs/cancel", "")
	for target, methods := range map[string]string{"/api/v1/jobs": "GET, POST, HEAD", "/api/v1/jobs/cancel": "POST", "/api/v1/jobs/1": "DELETE, GET, HEAD"} {
		if allow := b.send("PATCH", target, "").Header().Get("Allow"); allow != methods {
			t.Errorf("%s allows %q, not %q", target, allow, methods)
		}
	}
	b.fails(413, "POST", "/api/v1/jobs", `{"kind":"k","args":"`+strings.Repeat("x", maxOne)+`"}`)
	b.fails(413, "POST", "/api/v1/jobs/many", `{"jobs":[{"kind":"k","args":"`+strings.Repeat("x", maxMany)+`"}]}`)
	p := b.fails(422, "POST", "/api/v1/jobs", `{"kind":"k","args":"`+strings.Repeat("x", 1<<20)+`"}`)
	if text, _ := json.Marshal(p); len(text) > 2000 {
		t.Errorf("the refusal repeats %d bytes", len(text))
	}
	var count view.CountRecord
	b.ok(&count, "GET", "/api/v1/jobs/count", "")
	if schedules, err := b.client.Schedules.List(t.Context(), hourbell.ScheduleFilter{}); count.Count != 0 || len(schedules) != 0 || err != nil {
		t.Errorf("mistakes have stored %d jobs and %d schedules, %v", count.Count, len(schedules), err)
	}
}

// failing is a store that fails with an error that has a password.
type failing struct{ *memory.Store }

func (failing) ListJobs(context.Context, store.ListJobsRequest) ([]store.JobInfo, error) {
	return nil, errors.New("dial tcp 10.0.0.1:5432: password=hunter2")
}

func TestErrorsOfTheStoreAreLoggedAndNotShown(t *testing.T) {
	b := newBench(t, Options{})
	client, err := hourbell.New(failing{memory.New()}, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.h = Handler(client, Options{Authorize: testAuthorize, Logger: slog.New(slog.NewTextHandler(b.log, nil))})
	if p := b.fails(503, "GET", "/api/v1/jobs", ""); strings.Contains(p.Detail, "hunter2") || strings.Contains(p.Detail, "10.0.0.1") {
		t.Errorf("the caller sees %q", p.Detail)
	}
	if !strings.Contains(b.log.String(), "10.0.0.1") {
		t.Errorf("the log is %s", b.log)
	}
}

// slow is a store that takes its time for changes.
type slow struct{ *memory.Store }

func (s slow) ChangeSchedules(ctx context.Context, req store.ChangeSchedulesRequest) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(700 * time.Millisecond):
		return s.Store.ChangeSchedules(ctx, req)
	}
}

// TestAChangeMayTakeLongerThanItsRequest checks that the bounds of a server for
// requests do not end a change.
func TestAChangeMayTakeLongerThanItsRequest(t *testing.T) {
	client, err := hourbell.New(slow{memory.New()}, hourbell.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Schedules.Put(t.Context(), hourbell.Schedule{Name: "s", Rule: recur.Spec{Every: "1h"}, Job: hourbell.RawArgs{Name: "k"}}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(Handler(client, Options{Authorize: testAuthorize, Logger: slog.New(slog.DiscardHandler)}))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	server.Start()
	defer server.Close()
	response, err := http.Post(server.URL+"/api/v1/schedules/s/resume", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || err != nil {
		t.Errorf("%d %s, %v", response.StatusCode, text, err)
	}
}

// TestChangesAreLogged checks the line of a change, also with a name that looks like
// another line.
func TestChangesAreLogged(t *testing.T) {
	b := newBench(t, Options{})
	b.send("POST", "/api/v1/schedules/pause?name="+url.QueryEscape("x\nlevel=INFO msg=forged"), "")
	b.ok(nil, "PUT", "/api/v1/schedules?name="+url.QueryEscape(`x" level=INFO msg="forged`), `{"every":"1h","kind":"k"}`)
	lines := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	if len(lines) != 1 || !strings.Contains(lines[0], "operation=put-schedule") || !strings.Contains(lines[0], "caller=ada") || !strings.Contains(lines[0], "from=192.0.2.1") {
		t.Errorf("the log is %q", lines)
	}
}

// TestEvents checks a stream, and that it outlives the bounds of the server.
func TestEvents(t *testing.T) {
	b := newBench(t, Options{})
	workers := hourbell.NewWorkers()
	workers.Handle("greet", func(context.Context, *hourbell.JobRow) error { return nil })
	client, err := hourbell.New(memory.New(), hourbell.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(Handler(client, Options{Authorize: testAuthorize, Logger: slog.New(slog.NewTextHandler(b.log, nil))}))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	server.Start()
	defer server.Close()
	go client.Run(t.Context())
	response, err := http.Get(server.URL + "/api/v1/events?of=process&queue=default")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	time.Sleep(time.Second) // longer than the bounds of the server
	if _, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "greet"}); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if lines.Text() == "event: job_completed" {
			lines.Scan()
			var e Event
			data, found := strings.CutPrefix(lines.Text(), "data: ")
			if err := json.Unmarshal([]byte(data), &e); !found || err != nil || e.Job != 1 || e.JobKind != "greet" {
				t.Errorf("%q: %+v, %v", lines.Text(), e, err)
			}
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}

// TestOpenAPI compares the description of the routes with the golden file.
func TestOpenAPI(t *testing.T) {
	b := newBench(t, Options{})
	var got bytes.Buffer
	if err := json.Indent(&got, b.ok(nil, "GET", "/api/openapi.json", "").Body.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	const golden = "testdata/openapi.json"
	if os.Getenv("HOURBELL_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the description differs from %s; HOURBELL_UPDATE_GOLDEN=1 rewrites it: read the changes", golden)
	}
}
