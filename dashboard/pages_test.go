package dashboard

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// TestPagesEscape shows texts of strangers on every page: none may become markup, code or
// an address.
func TestPagesEscape(t *testing.T) {
	b := newBench(t)
	b.run()
	paths := []string{"", "jobs", "schedules", "slots", "queues", "kinds", "keys", "groups", "nodes", "calendars", "locks", "files", "batches", "events", "handlers", "limits", "audit", "stats", "jobs?state=failed"}
	exclude, err := hourbell.ParseExclude("2027-01-01")
	b.must(err)
	for i, text := range nasty {
		name := text
		if text == "\u202egnp.exe" { // a name has only characters that can be printed
			name = "gnp"
		}
		id := b.enqueue(text, fmt.Sprintf("%q", text), hourbell.Unique(name), hourbell.Group(name))
		b.put(name, text, func(s *hourbell.Schedule) { s.Group, s.Paused = name, i%2 == 0 })
		paths = append(paths, jobLink(id), link("schedule", "name", name), link("jobs", "kind", text, "queue", name, "error", text), link("whatif", "name", name, "every", "1h", "from", b.now.Format(time.RFC3339), "to", b.now.Add(5*time.Hour).Format(time.RFC3339)),
			link("backfill", "name", name, "from", b.now.Add(-5*time.Hour).Format(time.RFC3339), "to", b.now.Add(-time.Hour).Format(time.RFC3339)),
			link("confirm", "action", "retry", "error", text), link("confirm", "action", text), link("schedules", "owner", name), link("schedules", "group", name), link("schedule", "name", "missing "+name), link("jobs", "since", text), link("find", "q", text), link("slots", "before", text), text)
		_, err := b.client.Handlers.Put(b.ctx(), hourbell.EventHandler{Name: name, On: []string{"failure"}, Kind: text, Group: name, Job: hourbell.RawArgs{Name: text, JSON: fmt.Appendf(nil, "%q", text)}, Queue: "never"})
		b.must(err)
		paths = append(paths, link("handler", "name", name), link("handler", "name", "missing "+name))
		c := exclude[0]
		c.Name = fmt.Sprint("calendar ", i)
		_, err = b.client.Calendars.Put(b.ctx(), c, 0)
		b.must(err)
		paths = append(paths, link("calendar", "name", c.Name))
	}
	b.wait(hourbell.JobFilter{States: []store.State{store.StateFailed}}, int64(len(nasty)))
	bad := regexp.MustCompile(`(?i)<script>|<img|<svg onload|<form action=//|href="(javascript:|//)|src="(javascript:|//)|action="(javascript:|//)|style=|</title><svg`)
	handler, values := regexp.MustCompile(`(?i)<[a-z][^>]*\son[a-z]+\s*=`), regexp.MustCompile(`"[^"]*"`)
	for _, path := range paths {
		status, body := b.get(strings.NewReplacer("?", "?", " ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", "\u202e", "%E2%80%AE", "{", "%7B", "}", "%7D", "'", "%27", "#", "%23").Replace(path))
		if status >= http.StatusInternalServerError {
			t.Errorf("%s: status %d", path, status)
		}
		outside := values.ReplaceAllString(body, `""`) // a form has to send back what it was given
		if found := bad.FindString(body) + handler.FindString(outside) + regexp.MustCompile(`\x{202e}`).FindString(outside); found != "" {
			t.Errorf("%s has %q:\n%s", path, found, body)
		}
	}
}

// TestPagesShow checks that each page has what it is for.
func TestPagesShow(t *testing.T) {
	b := newBench(t)
	b.put("nightly/report", "works", func(s *hourbell.Schedule) { s.Rule.Every, s.Rule.Zone = "1s", "Europe/Prague" })
	b.run()
	failed, tried, ran, done := b.enqueue("fails", `{"a":1}`), b.enqueue("tries", `{}`), b.enqueue("hangs", `{}`), b.enqueue("works", `{}`)
	later := b.enqueue("works", `{}`, hourbell.In(time.Hour))
	after := b.enqueue("works", `{}`, hourbell.After(ran, hourbell.OnSuccess, 0), hourbell.After(done, hourbell.OnEither, time.Minute))
	b.wait(hourbell.JobFilter{States: []store.State{store.StateFailed}}, 1)
	b.wait(hourbell.JobFilter{IDs: []int64{done}, States: []store.State{store.StateCompleted}}, 1)
	b.wait(hourbell.JobFilter{Retrying: true}, 1)
	b.wait(hourbell.JobFilter{States: []store.State{store.StateRunning}, Kind: "hangs"}, 1)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(b.ok("jobs?state=completed&schedule=nightly%2Freport"), "job?id=") && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	b.contains("overview", b.ok(""), "Look here first:", "1 job failed in the last hour", fmt.Sprintf(`href="job?id=%d"`, ran), "it broke…", "not yet", "living nodes")
	b.contains("what runs", b.ok(""), "Running now, the longest first", `data-column="Elapsed"`, `data-column="Expected"`, `data-column="Node"`)
	b.contains("failures", b.ok(""), `<a href="jobs?error=it&#43;broke&amp;finished-since=1d&amp;kind=fails&amp;state=failed">1</a>`)
	if strings.Contains(b.ok("jobs?state=failed"), `data-column="Result"><span`) {
		t.Error("the result of a job looks like a state")
	}
	b.contains("typed instants", b.ok("jobs?state=scheduled&since=yesterday+9:00&zone=Europe/Prague"), fmt.Sprintf(`href="job?id=%d"`, later), `:00Z" size="22"`)
	b.contains("jobs", b.ok("jobs"), ">retrying<", ">failed<", ">running<", ">waiting<", ">scheduled<", fmt.Sprintf("waits for job %d (success)", ran))
	b.contains("filter", b.ok("jobs?state=scheduled&since=1h"), fmt.Sprintf(`href="job?id=%d"`, later), `value="scheduled" checked`, `value="1h"`)
	if body := b.ok("jobs?state=scheduled"); strings.Contains(body, fmt.Sprintf(`href="job?id=%d"`, failed)) {
		t.Error("the filter selects a job that it does not match")
	}
	b.contains("job", b.ok(jobLink(failed)), "second line", `{&#34;a&#34;:1}`, "Retry", "Delete …")
	if n := strings.Count(b.ok(jobLink(failed)), "it broke"); n != 1 {
		t.Errorf("the page of a job has its error %d times", n)
	}
	b.contains("retrying job", b.ok(jobLink(tried)), "not yet", "Run now")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(b.ok(jobLink(ran)), "Output so far") && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	b.contains("output of a running job", b.ok(jobLink(ran)), "Output so far", `&lt;script&gt;alert(1)&lt;/script&gt;\x1b[31m`)
	b.contains("waiting job", b.ok(jobLink(after)), "Jobs before and after it", fmt.Sprintf("job %d hangs, running", ran), "success", "either &#43;1m0s", `class="edge wait"`, `class="edge good"`)
	b.contains("schedules", b.ok("schedules"), `href="schedule?name=nightly%2Freport"`)
	b.contains("schedule", b.ok("schedule?name=nightly%2Freport"), `class="fired"`, `class="due"`, `class="bar good"`, "Europe/Prague", `href="#slot-`, `id="slot-`, "Pause")
	b.contains("what if", b.ok(link("whatif", "name", "nightly/report", "cron", "0 * * * *", "tz", "UTC", "from", "2027-03-01T00:00:00Z", "to", "2027-03-01T09:00:00Z", "down-from", "2027-03-01T02:30:00Z", "down-to", "2027-03-01T05:30:00Z")), "missed", `class="down"`, "2027-03-01T08:00:00Z")
	b.contains("queues", b.ok("queues"), `href="jobs?queue=default&amp;state=scheduled"`)
	b.contains("nodes", b.ok("nodes"), "alive")
	b.contains("locks", b.ok("locks"), "free")
	b.contains("a job with dependents", b.ok(jobLink(ran)), fmt.Sprintf("job %d", after), `class="edge wait"`)
	graph, err := b.client.EnqueueGraph(b.ctx(), hourbell.Graph{Jobs: map[string]hourbell.GraphJob{
		"a": {Args: hourbell.RawArgs{Name: "fails"}}, "b": {Args: hourbell.RawArgs{Name: "works"}, After: map[string]hourbell.GraphEdge{"a": {}}},
	}})
	b.must(err)
	b.wait(hourbell.JobFilter{States: []store.State{store.StateNotStarted}, Batch: graph.Batch}, 1)
	b.contains("batches", b.ok("batches"), fmt.Sprintf(`href="jobs?batch=%d"`, graph.Batch), "2 of 2", fmt.Sprintf("jobs?batch=%d&amp;state=failed", graph.Batch))
	b.contains("the jobs of a batch", b.ok(fmt.Sprintf("jobs?batch=%d&state=not_started", graph.Batch)), fmt.Sprintf(`href="job?id=%d"`, graph.IDs["b"]))
	events := b.ok("events")
	b.contains("events", events, "not_started", fmt.Sprintf(`href="job?id=%d"`, graph.IDs["b"]), "Events are kept for")
	oldest := regexp.MustCompile(`href="(events\?since=[^"]*)"`).FindAllStringSubmatch(events, -1)
	b.contains("events after a cursor", b.ok(oldest[len(oldest)-1][1]), "oldest first", fmt.Sprintf(`href="job?id=%d"`, graph.IDs["b"]))
	b.contains("the rate", b.ok(""), "ended lately", "began within")
	for _, path := range []string{"schedule?name=none", "job?id=999999", "calendar?name=none", "nothing"} {
		if status, _ := b.get(path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	for _, path := range []string{"jobs?state=odd", "job?id=x", "jobs?before=-1", "jobs?since=soon", "schedule", "confirm?action=drop", "confirm?action=retry&ticked=yes", "events?since=soon", "batches?before=x", "jobs?batch=x", "whatif?name=nightly%2Freport&from=x&to=y"} {
		if status, body := b.get(path); status != http.StatusBadRequest {
			t.Errorf("%s: status %d\n%s", path, status, body)
		}
	}
}

// TestPagesCursor walks over more jobs than a page has.
func TestPagesCursor(t *testing.T) {
	b := newBench(t)
	for range 2*pageSize + 5 {
		b.enqueue("works", `{}`)
	}
	seen, pages := map[string]bool{}, 0
	more := regexp.MustCompile(`href="(jobs\?[^"]*)">More`)
	ids := regexp.MustCompile(`href="job\?id=(\d+)"`)
	for path := "jobs?kind=works"; path != ""; pages++ {
		body := b.ok(path)
		for _, id := range ids.FindAllStringSubmatch(body, -1) {
			if seen[id[1]] {
				t.Errorf("job %s is on two pages", id[1])
			}
			seen[id[1]] = true
		}
		path = ""
		if found := more.FindStringSubmatch(body); found != nil {
			path = strings.ReplaceAll(found[1], "&amp;", "&")
		}
	}
	if len(seen) != 2*pageSize+5 || pages != 3 {
		t.Errorf("%d jobs on %d pages", len(seen), pages)
	}
}

// TestSignalForm answers a job that waits for a signal with the form of its page.
func TestSignalForm(t *testing.T) {
	b := newBench(t)
	b.run()
	id := b.enqueue("waits", `{}`)
	b.wait(hourbell.JobFilter{Parked: true}, 1)
	shown := b.ok(jobLink(id))
	b.contains("a job that waits", shown, "parked", "Steps", "approval", "Answer “approval” with", `action="send-signal"`)
	form := url.Values{"id": {fmt.Sprint(id)}, "name": {"approval"}, "value": {"yes"}}
	if res := b.post("send-signal", form); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a value that is not JSON: status %d", res.StatusCode)
	}
	form.Set("value", `"yes"`)
	if res := b.post("send-signal", form); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != jobLink(id) {
		t.Errorf("the signal: status %d, then %q", res.StatusCode, res.Header.Get("Location"))
	}
	b.wait(hourbell.JobFilter{Kind: "waits", States: []store.State{store.StateCompleted}}, 1)
	b.contains("a job with its signal", b.ok(jobLink(id)), "yes")
	if res := b.post("send-signal", form); res.StatusCode != http.StatusConflict {
		t.Errorf("a signal to a job that has ended: status %d", res.StatusCode)
	}
	again := url.Values{"id": {fmt.Sprint(id)}, "action": {"retry"}, "from": {"refusal"}}
	b.contains("the form of steps", b.ok(jobLink(id)), "<option>approval</option>")
	if res := b.post("change-jobs", again); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a retry from no step: status %d", res.StatusCode)
	}
	again.Set("from", "approval")
	if res := b.post("change-jobs", again); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != jobLink(id) {
		t.Errorf("a retry from a step: status %d, then %q", res.StatusCode, res.Header.Get("Location"))
	}
	b.wait(hourbell.JobFilter{Parked: true}, 1)
}

// TestPagesChange posts each form of the pages.
func TestPagesChange(t *testing.T) {
	b := newBench(t)
	b.run()
	b.put("s", "works", func(s *hourbell.Schedule) { s.Rule = recur.Cron("0 * * * *") })
	ids := []int64{b.enqueue("fails", `{}`), b.enqueue("fails", `{}`), b.enqueue("fails", `{}`), b.enqueue("tries", `{}`)}
	b.wait(hourbell.JobFilter{States: []store.State{store.StateFailed}}, 3)
	b.wait(hourbell.JobFilter{Retrying: true}, 1)

	shown := b.ok("confirm?action=cancel&kind=tries")
	b.contains("confirm", shown, "1 job cancelled.", "Nothing has been changed yet", `name="kind" value="tries"`)
	if b.state(ids[3]) != store.StateReady {
		t.Error("GET has changed a job")
	}
	shown = b.ok("confirm?action=delete&since=1h&state=failed")
	b.contains("confirm", shown, "3 jobs deleted.")
	if strings.Contains(shown, `value="1h"`) {
		t.Error("the form selects by a time ago, which moves on before it is sent")
	}
	for _, test := range []struct {
		path string
		form url.Values
		next string
	}{
		{"change-jobs", url.Values{"action": {"cancel"}, "kind": {"tries"}}, "jobs?kind=tries"},
		{"change-jobs", url.Values{"action": {"delete"}, "id": {fmt.Sprint(ids[0])}}, "jobs"},
		{"change-jobs", url.Values{"action": {"retry"}, "id": {fmt.Sprint(ids[1])}}, jobLink(ids[1])},
		{"change-schedule", url.Values{"action": {"pause"}, "name": {"s"}, "until": {"2h"}}, "schedule?name=s"},
		{"change-schedule", url.Values{"action": {"trigger"}, "name": {"s"}}, "schedule?name=s"},
		{"change-schedule", url.Values{"action": {"backfill"}, "name": {"s"}, "from": {b.now.Add(-10 * time.Hour).Format(time.RFC3339)}, "to": {b.now.Add(-5 * time.Hour).Format(time.RFC3339)}, "force": {"true"}, "dependents": {"true"}}, "schedule?name=s"},
	} {
		res := b.post(test.path, test.form)
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != test.next {
			t.Errorf("%s %v: status %d, then %q", test.path, test.form, res.StatusCode, got)
		}
		if cookies := res.Cookies(); len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Path != "" {
			t.Errorf("%s: cookies %v", test.path, cookies)
		}
	}
	if b.state(ids[3]) != store.StateCancelled {
		t.Error("the job was not cancelled")
	}
	if _, err := b.client.Jobs.Get(b.ctx(), ids[0]); err == nil {
		t.Error("the job was not deleted")
	}
	ended := hourbell.JobFilter{Schedule: "s", States: []store.State{store.StateCompleted}}
	b.wait(ended, 6) // a triggered job, and five of past slots
	jobs, err := b.client.Jobs.List(b.ctx(), ended)
	b.must(err)
	if n := len(slices.DeleteFunc(jobs, func(job store.JobInfo) bool { return job.Origin != store.OriginBackfillDependents })); n != 5 {
		t.Errorf("%d jobs set off the schedules that follow, want 5", n)
	}
	shown = b.ok(link("backfill", "name", "s", "from", "2026-01-01T00:00:00Z", "to", "2026-01-02T00:00:00Z", "force", "true", "dependents", "true"))
	b.contains("backfill", shown, `name="dependents" value="true"`)
	info, err := b.client.Schedules.Get(b.ctx(), "s")
	b.must(err)
	if info.State() != "paused" || info.PausedUntil.Before(b.now.Add(time.Hour)) {
		t.Errorf("the schedule is %s until %v", info.State(), info.PausedUntil)
	}
	b.post("change-schedule", url.Values{"action": {"resume"}, "name": {"s"}})
	if info, _ := b.client.Schedules.Get(b.ctx(), "s"); info.State() != "active" {
		t.Error("the schedule was not resumed")
	}
	shown = b.ok(link("whatif", "name", "s", "cron", "15 * * * *", "tz", "Europe/Prague", "from", "2027-01-01T00:00:00", "to", "2027-01-01T02:00:00"))
	revision := fmt.Sprint(info.Revision)
	b.contains("whatif", shown, "Use this rule", `name="cron" value="15 * * * *"`, `name="revision" value="`+revision+`"`)
	rule := url.Values{"action": {"rule"}, "name": {"s"}, "revision": {revision}, "cron": {"15 * * * *"}, "tz": {"Europe/Prague"}}
	for _, want := range []int{http.StatusSeeOther, http.StatusConflict} { // the second form is of the revision before
		if res := b.post("change-schedule", rule); res.StatusCode != want {
			t.Errorf("a change of the rule: status %d, want %d", res.StatusCode, want)
		}
	}
	info, err = b.client.Schedules.Get(b.ctx(), "s")
	b.must(err)
	if got := info.Rule.String(); got != "CRON_TZ=Europe/Prague 15 * * * *" || declared.Raw(info.Job).Name != "works" {
		t.Errorf("the rule is %s, of jobs %v", got, info.Job)
	}
	b.put("c", "command", func(s *hourbell.Schedule) {
		s.Job, s.Rule = hourbell.RawArgs{Name: "command", JSON: []byte(`{"argv":["true"]}`)}, recur.Cron("0 * * * *")
	})
	if res := b.post("change-schedule", url.Values{"action": {"rule"}, "name": {"c"}, "revision": {"1"}, "every": {"1s"}}); res.StatusCode != http.StatusForbidden {
		t.Errorf("a change of the rule of a command: status %d", res.StatusCode)
	}
	for _, form := range []url.Values{
		{"action": {"cancel"}}, {"action": {"drop"}, "kind": {"x"}}, {"action": {"reprioritise"}, "kind": {"x"}, "to": {"first"}}, {"action": {"move"}, "kind": {"x"}},
	} {
		if res := b.post("change-jobs", form); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: status %d", form, res.StatusCode)
		}
	}
}

// TestPauses checks the pages that pause and resume groups, queues and kinds.
func TestPauses(t *testing.T) {
	b := newBench(t)
	id := b.enqueue("works", `{}`, hourbell.Group("g"), hourbell.Key("c"))
	for of, name := range map[string]string{"queue": "default", "kind": "works", "group": "g", "key": "c"} {
		at := link("pause", "of", of, "name", name)
		if href := `href="` + strings.ReplaceAll(at, "&", "&amp;") + `">`; of == "key" {
			b.contains("the job", b.ok(jobLink(id)), href+"c</a>")
		} else {
			b.contains("the list of "+of, b.ok(of+"s"), href+"no</a>")
		}
		b.contains(of, b.ok(at), ">active<", "Pause until", "Resume", `href="audit?subject=`+of+":"+name)
		if res := b.post("change-pause", url.Values{"of": {of}, "name": {name}, "action": {"pause"}, "until": {"tomorrow 9:00"}, "zone": {"Pacific/Kiritimati"}, "reason": {`"><b>`}, "cancel": {"true"}}); res.StatusCode != http.StatusSeeOther {
			t.Fatalf("pause of a %s: status %d", of, res.StatusCode)
		}
		b.contains("a paused "+of, b.ok(at), ">paused<", "until", "&#34;&gt;&lt;b&gt;")
		b.contains("the job", b.ok(jobLink(id)), of+" "+name+" is paused since")
		b.role = access.Viewer
		if body := b.ok(at); strings.Contains(body, `method="post"`) {
			t.Errorf("%s offers a viewer to change something", at)
		}
		b.role = access.Operator
		if res := b.post("change-pause", url.Values{"of": {of}, "name": {name}, "action": {"resume"}}); res.StatusCode != http.StatusSeeOther {
			t.Fatalf("resume of a %s: status %d", of, res.StatusCode)
		}
		b.contains("a resumed "+of, b.ok(at), ">active<")
		if status, _ := b.get(link("pause", "of", of, "name", "typo")); status != http.StatusNotFound {
			t.Errorf("a %s that does not exist: status %d", of, status)
		}
		if res := b.post("change-pause", url.Values{"of": {of}, "name": {name}, "action": {"pause"}, "until": {"2001-01-01"}}); res.StatusCode != http.StatusBadRequest {
			t.Errorf("a pause until the past: status %d", res.StatusCode)
		}
	}
	if status, _ := b.get("pause?of=all&name=x"); status != http.StatusBadRequest {
		t.Errorf("an unknown sort: status %d", status)
	}
}

// TestPagesRefuse checks who may change what, and that other pages cannot make a browser do it.
func TestPagesRefuse(t *testing.T) {
	b := newBench(t)
	id := b.enqueue("works", `{}`)
	cancel := url.Values{"action": {"cancel"}, "id": {fmt.Sprint(id)}}
	b.role = access.Viewer
	if res := b.post("change-jobs", cancel); res.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer: status %d", res.StatusCode)
	}
	for _, path := range []string{"jobs", jobLink(id)} {
		if strings.Contains(b.ok(path), `method="post"`) {
			t.Errorf("%s offers a viewer to change something", path)
		}
	}
	b.role = access.Operator
	if res := b.post("change-jobs", cancel, "Sec-Fetch-Site", "cross-site"); res.StatusCode != http.StatusForbidden {
		t.Errorf("another site: status %d", res.StatusCode)
	}
	if status, _ := b.get("change-jobs?action=cancel"); status != http.StatusMethodNotAllowed && status != http.StatusNotFound {
		t.Errorf("GET of a change: status %d", status)
	}
	if res := b.post("change-jobs", url.Values{"action": {"cancel"}, "error": {strings.Repeat("x", maxForm)}}); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a large form: status %d", res.StatusCode)
	}
	if b.state(id) != store.StateReady {
		t.Error("the job was cancelled")
	}
	for _, header := range []string{"Content-Security-Policy", "X-Frame-Options"} {
		res, err := b.server.Client().Get(b.server.URL)
		b.must(err)
		res.Body.Close()
		if res.Header.Get(header) == "" {
			t.Errorf("no header %s", header)
		}
	}
}

// TestPagesWithoutAuthorize checks that without rules nothing can be changed.
func TestPagesWithoutAuthorize(t *testing.T) {
	b := newBench(t)
	b.server.Config.Handler = Handler(b.client, Options{})
	b.ok("jobs")
	if res := b.post("change-schedule", url.Values{"action": {"pause"}, "name": {"s"}}); res.StatusCode != http.StatusForbidden {
		t.Errorf("status %d", res.StatusCode)
	}
}

// TestPagesLogin checks where a caller who is not known is sent.
func TestPagesLogin(t *testing.T) {
	b := newBench(t)
	unknown := func(*http.Request) (access.Identity, error) { return access.Identity{}, access.ErrUnknownCaller }
	b.server.Config.Handler = Handler(b.client, Options{Authorize: unknown})
	if status, body := b.get("jobs"); status != http.StatusUnauthorized || !strings.Contains(body, "log in") {
		t.Errorf("status %d", status)
	}
	b.server.Config.Handler = Handler(b.client, Options{Authorize: unknown, Login: "/login"})
	res, err := http.DefaultTransport.RoundTrip(httptest.NewRequest(http.MethodGet, b.server.URL+"/jobs?state=failed", nil))
	b.must(err)
	res.Body.Close()
	if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != "/login?to=%2Fjobs%3Fstate%3Dfailed" {
		t.Errorf("status %d, then %q", res.StatusCode, got)
	}
	if res := b.post("change-jobs", url.Values{}); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a form: status %d", res.StatusCode)
	}
}

// TestPagesSecrets checks that only an admin who asks sees values that may be secrets.
func TestPagesSecrets(t *testing.T) {
	b := newBench(t)
	args := `{"argv":["true"],"env":{"PASSWORD":"hunter2"}}`
	id := b.enqueue("command", args)
	b.put("s", "command", func(s *hourbell.Schedule) { s.Job = hourbell.RawArgs{Name: "command", JSON: []byte(args)} })
	for _, path := range []string{jobLink(id), "schedule?name=s"} {
		for _, test := range []struct {
			role  access.Role
			ask   string
			shown bool
		}{
			{access.Viewer, "&secrets=show", false},
			{access.Operator, "&secrets=show", false},
			{access.Admin, "", false},
			{access.Admin, "&secrets=show", true},
		} {
			b.role = test.role
			if shown := strings.Contains(b.ok(path+test.ask), "hunter2"); shown != test.shown {
				t.Errorf("%v, %s%s: shown %v", test.role, path, test.ask, shown)
			}
		}
	}
}

// TestPagesBelowPrefix mounts the pages below a path: all addresses are relative.
func TestPagesBelowPrefix(t *testing.T) {
	b := newBench(t)
	id := b.enqueue("works", `{}`)
	mux := http.NewServeMux()
	mux.Handle("/admin/bell/", http.StripPrefix("/admin/bell", b.server.Config.Handler))
	outer := httptest.NewServer(mux)
	defer outer.Close()
	b.server.URL = outer.URL + "/admin/bell"
	body := b.ok("jobs")
	if found := regexp.MustCompile(`(href|src|action)="/[^"]*"`).FindString(body); found != "" {
		t.Errorf("an address from the root: %s", found)
	}
	client := outer.Client()
	form := url.Values{"action": {"cancel"}, "id": {fmt.Sprint(id)}}
	res, err := client.PostForm(b.server.URL+"/change-jobs", form)
	b.must(err)
	res.Body.Close()
	if got := res.Request.URL.Path + "?" + res.Request.URL.RawQuery; got != "/admin/bell/"+jobLink(id) || b.state(id) != store.StateCancelled {
		t.Errorf("the form led to %s", got)
	}
}

// TestPagesStream checks that an open page learns of a change.
func TestPagesStream(t *testing.T) {
	b := newBench(t)
	b.put("s", "works", nil)
	req, err := http.NewRequestWithContext(b.ctx(), http.MethodGet, b.server.URL+"/schedule?name=s", nil)
	b.must(err)
	req.Header.Set("Accept", "text/event-stream")
	res, err := b.server.Client().Do(req)
	b.must(err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	next := func(part string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", part, lines.Err())
	}
	next("event: main")
	next(`<span class="state good">active</span>`)
	b.post("change-schedule", url.Values{"action": {"pause"}, "name": {"s"}})
	next("event: main")
	next(`<span class="state warn">paused</span>`)
	b.must(b.client.Schedules.Delete(b.ctx(), []string{"s"})) // by another program
	next("event: ")
}
