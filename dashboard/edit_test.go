package dashboard

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
	"github.com/hourbell/hourbell/recur"
)

// send posts a form about a schedule, and returns the answer with its page.
func (b *bench) send(form url.Values) (status int, body string) {
	b.Helper()
	form.Set("action", "put")
	req, err := http.NewRequestWithContext(b.ctx(), http.MethodPost, b.server.URL+"/change-schedule", strings.NewReader(form.Encode()))
	b.must(err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := http.DefaultTransport.RoundTrip(req)
	b.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	return res.StatusCode, string(text)
}

// form returns the form of a stored schedule as a browser sends it.
func (b *bench) form(name string) url.Values {
	b.Helper()
	info, err := b.client.Schedules.Get(b.ctx(), name)
	b.must(err)
	form := formOf(info.Schedule)
	form.Set("revision", fmt.Sprint(info.Revision))
	return form
}

// TestNewSchedule makes a schedule by the form, with every key.
func TestNewSchedule(t *testing.T) {
	b := newBench(t)
	c, err := hourbell.ParseExclude("2090-01-02")
	b.must(err)
	c[0].Name = "holidays"
	_, err = b.client.Calendars.Put(b.ctx(), c[0], 0)
	b.must(err)
	shown := b.ok("edit-schedule")
	values := map[string]string{
		"queue": "mail", "priority": "3", "max_attempts": "4", "on_loss": "fail", "timeout": "5m", "backoff": "linear:10s:1h", "group": "g", "key": "k", "paused": "true",
		"overlap": "queue", "misfire": "all", "misfire_cap": "7", "grace": "2m", "window": "1h", "count": "9", "jitter": "3s", "on": "host=north",
		"pause_after_failures": "5", "start": "2090-01-01T00:00:00", "stop": "2091-01-01T00:00:00", "gap": "skip", "fold": "both", "exclude": "holidays | sat",
	}
	form := url.Values{"name": {"new one"}, "cron": {"0 9 * * *"}, "tz": {"Europe/Prague"}, "kind": {"works"}, "args": {"{\n \"a\": 1}"}, "do": {"preview"}}
	for _, key := range declared.Keys() {
		b.contains("the form", shown, fmt.Sprintf(`name="%s"`, key.Name))
		if form.Set(key.Name, values[key.Name]); values[key.Name] == "" && key.Name != "dialect" {
			t.Errorf("the test has no value for %s", key.Name)
		}
	}
	status, preview := b.send(form)
	if _, err := b.client.Schedules.Get(b.ctx(), "new one"); status != http.StatusOK || err == nil {
		t.Errorf("the preview: status %d, and the schedule is stored: %v", status, err == nil)
	}
	b.contains("the preview", preview, "Next instants", "2090-01-01 08:00:00", "2090-01-08 08:00:00", `value="linear:10s:1h"`)
	if strings.Contains(preview, "2090-01-02 08:00:00") || strings.Contains(preview, "2090-01-07 08:00:00") { // a holiday, and a Saturday
		t.Error("the preview has an instant that is excluded")
	}
	form.Set("do", "store")
	for wrong, value := range map[string]string{"name": " x", "cron": "0 9 * *", "grace": "soon", "args": "{", "overlap": "odd", "exclude": "missing"} {
		right := form.Get(wrong)
		form.Set(wrong, value)
		if status, body := b.send(form); status < 400 || status >= 500 || !strings.Contains(body, `<p class="first bad">`) || !strings.Contains(body, `value="Europe/Prague"`) {
			t.Errorf("%s %q: status %d\n%s", wrong, value, status, body)
		}
		form.Set(wrong, right)
	}
	if status, body := b.send(form); status != http.StatusSeeOther {
		t.Fatalf("status %d\n%s", status, body)
	}
	info, err := b.client.Schedules.Get(b.ctx(), "new one")
	b.must(err)
	for name, want := range values {
		key, _ := declared.FindKey(name)
		if got := key.Text(info.Schedule); got != want && name != "exclude" {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := info.Rule.String(); !strings.Contains(got, "Europe/Prague 0 9 * * *") || string(declared.Raw(info.Job).JSON) != `{"a":1}` || len(info.Exclude) != 2 {
		t.Errorf("the rule is %s, the job %v, without %v", got, info.Job, info.Exclude)
	}
	emptied := b.form("new one")
	for name := range values {
		emptied.Set(name, "")
	}
	if status, body := b.send(emptied); status != http.StatusSeeOther {
		t.Errorf("without policies: status %d\n%s", status, body)
	}
	info, err = b.client.Schedules.Get(b.ctx(), "new one")
	b.must(err)
	if info.Grace != 0 || info.Group != "" || info.Paused || info.Misfire != hourbell.MisfireSkip || len(info.Exclude) != 0 || info.Rule.Start != "" || info.Priority != 5 {
		t.Errorf("without policies: %+v", info.Schedule)
	}
	if status, _ := b.send(form); status != http.StatusConflict {
		t.Errorf("a second schedule of that name: status %d", status)
	}
	b.role = access.Viewer
	if status, _ := b.send(form); status != http.StatusForbidden {
		t.Errorf("a viewer stores: status %d", status)
	}
	if status, _ := b.get("edit-schedule"); status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
}

// TestEditSchedule changes a schedule by the form, which another caller changes at the same time.
func TestEditSchedule(t *testing.T) {
	b := newBench(t)
	secret := `{"password": "hunter2", "n": 1}`
	b.put("s", "works", func(s *hourbell.Schedule) {
		s.Rule, s.Job = recur.Cron("0 * * * *"), hourbell.RawArgs{Name: "works", JSON: []byte(secret)}
		s.Hooks.OnFailure = hourbell.RawArgs{Name: "works", JSON: []byte(`{}`)}
	})
	shown := b.ok("edit-schedule?name=s")
	b.contains("the form", shown, `value="0 * * * *"`, `>works {}</textarea>`, "Delete the schedule", "slots stay as they are", `readonly`)
	if strings.Contains(shown, "hunter2") {
		t.Error("the form shows a secret")
	}
	b.put("seldom", "works", func(s *hourbell.Schedule) { s.Rule = recur.Every(6 * 24 * time.Hour) })
	b.contains("the form of a schedule with one slot", b.ok("edit-schedule?name=seldom"), "The slot stays as it is.")
	b.put("never", "works", func(s *hourbell.Schedule) { s.Rule = recur.Every(8 * 24 * time.Hour) })
	b.contains("the form of a schedule without a slot", b.ok("edit-schedule?name=never"), "There is no slot until then.")
	mine, theirs := b.form("s"), b.form("s")
	mine.Set("cron", "0 */2 * * *")
	mine.Set("do", "preview")
	if _, body := b.send(mine); !strings.Contains(body, "84 stay as they are") || !strings.Contains(body, `data-column="Now">fired</td><td data-column="After">–`) {
		t.Errorf("the preview does not say what changes:\n%s", body)
	}
	theirs.Set("queue", "mail")
	if status, body := b.send(theirs); status != http.StatusSeeOther {
		t.Fatalf("status %d\n%s", status, body)
	}
	mine.Set("do", "store")
	status, body := b.send(mine)
	b.contains("the conflict", body, "was changed while", "Stored now (revision 2)", ">0 * * * *\n</pre>", ">0 */2 * * *\n</pre>", ">mail\n</pre>", "Store mine", `name="revision" value="2"`)
	if info, _ := b.client.Schedules.Get(b.ctx(), "s"); status != http.StatusConflict || info.Queue != "mail" || info.Rule.Cron != "0 * * * *" {
		t.Errorf("the conflict: status %d, stored is %v", status, info.Schedule)
	}
	mine.Set("revision", "2")
	if status, body := b.send(mine); status != http.StatusSeeOther {
		t.Fatalf("status %d\n%s", status, body)
	}
	info, err := b.client.Schedules.Get(b.ctx(), "s")
	b.must(err)
	if info.Queue != "default" || info.Rule.Cron != "0 */2 * * *" || string(declared.Raw(info.Job).JSON) != secret || info.Hooks.OnFailure == nil {
		t.Errorf("stored is %+v", info.Schedule)
	}
	hidden := b.form("s")
	hidden.Set("args", strings.Replace(hidden.Get("args"), "1", "2", 1))
	if status, body := b.send(hidden); status != http.StatusBadRequest || !strings.Contains(body, "write all values") {
		t.Errorf("a mask as a secret: status %d", status)
	}
	if res := b.post("change-schedule", url.Values{"action": {"delete"}, "name": {"s"}}); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "schedules" {
		t.Errorf("a deletion: status %d", res.StatusCode)
	}
	if _, err := b.client.Schedules.Get(b.ctx(), "s"); !errors.Is(err, hourbell.ErrNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
}

// TestHooksAndAfterInTheForm gives a schedule hooks and the schedules that it follows, and takes them away. What the form hides stays.
func TestHooksAndAfterInTheForm(t *testing.T) {
	b := newBench(t)
	secret := hourbell.RawArgs{Name: "works", JSON: []byte(`{"token": "hunter2"}`)}
	b.put("s", "works", func(s *hourbell.Schedule) { s.Hooks.OnFailure = secret })
	form := b.form("s")
	if strings.Contains(form.Get("on_failure"), "hunter2") {
		t.Error("the form shows a secret")
	}
	form.Set("on_failure", form.Get("on_failure")+"\r\nmy mail {\"to\": \"ops\"}\r\n")
	form.Set("on_missed", "works")
	if status, body := b.send(form); status != http.StatusSeeOther {
		t.Fatalf("status %d\n%s", status, body)
	}
	info, err := b.client.Schedules.Get(b.ctx(), "s")
	b.must(err)
	want := hourbell.Hooks{OnMissed: hourbell.RawArgs{Name: "works", JSON: []byte("null")}}
	want.Set("on_failure", secret, hourbell.RawArgs{Name: "my mail", JSON: []byte(`{"to": "ops"}`)})
	if !reflect.DeepEqual(info.Hooks, want) {
		t.Errorf("the hooks are %v", info.Hooks)
	}
	for field, value := range map[string]string{"on_failure": `works {"token":"…"} `, "on_missed": "command {\"argv\":[\"id\"]}", "after": "s:sometimes:x", "on_retry": "http {}"} {
		wrong := b.form("s")
		wrong.Set(field, value+"\nworks {}")
		wrong.Set(field, strings.Replace(wrong.Get(field), "…", "…1", 1))
		if status, body := b.send(wrong); status < 400 || status >= 500 || !strings.Contains(body, `<p class="first bad">`) {
			t.Errorf("%s %q: status %d", field, value, status)
		}
	}
	b.put("before", "works", nil)
	follows := b.form("s")
	follows.Set("every", "")
	follows.Set("cron", "")
	follows.Set("after", "before:either:5m\nlater")
	if status, body := b.send(follows); status != http.StatusSeeOther {
		t.Fatalf("status %d\n%s", status, body)
	}
	info, err = b.client.Schedules.Get(b.ctx(), "s")
	b.must(err)
	if info.When() != "after before:either:5m0s, later" {
		t.Errorf("it starts %s", info.When())
	}
	timed := b.form("s")
	if timed.Get("after") != "before:either:5m0s\nlater" {
		t.Errorf("the form has %q", timed.Get("after"))
	}
	timed.Set("every", "1h")
	if status, _ := b.send(timed); status != http.StatusBadRequest {
		t.Errorf("a rule and schedules to follow: status %d", status)
	}
	timed.Set("after", "")
	timed.Set("on_failure", "")
	if status, body := b.send(timed); status != http.StatusSeeOther {
		t.Fatalf("status %d\n%s", status, body)
	}
	info, err = b.client.Schedules.Get(b.ctx(), "s")
	b.must(err)
	if info.Follows() || info.Hooks.OnFailure != nil || info.Hooks.OnMissed == nil || info.Rule.Every != "1h" {
		t.Errorf("then it is %v with %v", info.When(), info.Hooks)
	}
}

// TestEditsThatAreRefused checks what the form does not change: schedules of files, and commands.
func TestEditsThatAreRefused(t *testing.T) {
	b := newBench(t)
	s := hourbell.Schedule{Name: "owned", Rule: recur.Every(time.Hour), Job: hourbell.RawArgs{Name: "works"}}
	_, err := b.client.Schedules.Sync(b.ctx(), "yaml:shop.yaml", 0, []hourbell.Schedule{s})
	b.must(err)
	if body := b.ok("edit-schedule?name=owned"); !strings.Contains(body, "It belongs to yaml:shop.yaml") || strings.Contains(body, `method="post"`) {
		t.Errorf("the page of a file's schedule:\n%s", body)
	}
	if status, _ := b.send(b.form("owned")); status != http.StatusConflict {
		t.Errorf("a change of a file's schedule: status %d", status)
	}
	if res := b.post("change-schedule", url.Values{"action": {"delete"}, "name": {"owned"}}); res.StatusCode != http.StatusConflict {
		t.Errorf("a deletion of a file's schedule: status %d", res.StatusCode)
	}
	command := url.Values{"name": {"c"}, "every": {"1h"}, "kind": {"command"}, "args": {`{"argv":["true"]}`}}
	if status, body := b.send(command); status != http.StatusForbidden || !strings.Contains(body, `value="1h"`) {
		t.Errorf("a command: status %d", status)
	}
	b.put("union", "works", func(s *hourbell.Schedule) { s.Rule = recur.Any(recur.Cron("0 9 * * *"), recur.Cron("0 17 * * *")) })
	union := b.form("union")
	union.Set("queue", "mail")
	if status, body := b.send(union); status != http.StatusSeeOther {
		t.Errorf("a union: status %d\n%s", status, body)
	}
	if info, _ := b.client.Schedules.Get(b.ctx(), "union"); len(info.Rule.Any) != 2 || info.Queue != "mail" {
		t.Errorf("the union is %v", info.Rule)
	}
}
