package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
	"github.com/hourbell/hourbell/internal/declared"
)

// TestPagesHandlers makes, shows, replaces and deletes a handler by the forms of the pages. The pages refuse commands as the
// API does.
func TestPagesHandlers(t *testing.T) {
	b := newBench(t)
	put := func(more url.Values) int {
		t.Helper()
		form := url.Values{"action": {"put"}, "name": {"page/ops"}, "on": {"failure, missed"}, "job": {"mail"}, "args": {`{"to":"ops"}`}}
		for name, values := range more {
			form[name] = values
		}
		return b.post("change-handler", form).StatusCode
	}
	if status := put(url.Values{"kind": {"report"}, "group": {"g"}, "queue": {"q"}}); status != http.StatusSeeOther {
		t.Fatalf("put: status %d", status)
	}
	b.contains("handlers", b.ok("handlers"), `href="handler?name=page%2Fops"`, "failure,missed", "kind mail", `href="jobs?kind=report"`, `href="edit-handler"`)
	b.contains("a handler", b.ok("handler?name=page%2Fops"), "failure, missed", "report", `{&#34;to&#34;:&#34;ops&#34;}`, `href="edit-handler?name=page%2fops"`, "audit?subject=handler:page")
	b.contains("the audit", b.ok("audit?subject=handler:page/ops"), "handlers put", `href="handler?name=page%2Fops"`)
	for name, more := range map[string]url.Values{
		"no events": {"on": nil}, "an unknown event": {"on": {"fail"}}, "arguments that are not JSON": {"args": {"{"}}, "no name": {"name": {""}}, "no kind": {"job": {""}}, "an unknown action": {"action": {"drop"}},
	} {
		if status := put(more); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, status)
		}
	}
	b.role = access.Viewer
	if status := put(nil); status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
	for _, path := range []string{"handlers", "handler?name=page%2Fops"} {
		if body := b.ok(path); strings.Contains(body, `method="post"`) || strings.Contains(body, "edit-handler") {
			t.Errorf("%s offers a viewer to change something", path)
		}
	}
	command := url.Values{"name": {"run"}, "job": {"command"}, "args": {`{"argv":["id"],"env":{"TOKEN":"hunter2"}}`}}
	for _, role := range []access.Role{access.Operator, access.Admin} {
		if b.role = role; put(command) != http.StatusForbidden {
			t.Errorf("%v made a command without the consent of the server", role)
		}
	}
	b.server.Config.Handler = Handler(b.client, Options{Commands: true, Authorize: func(*http.Request) (access.Identity, error) {
		return access.Identity{Name: "ada", Role: b.role, Source: "test"}, nil
	}})
	if b.role = access.Operator; put(command) != http.StatusForbidden {
		t.Error("an operator made a command")
	}
	if b.role = access.Admin; put(command) != http.StatusSeeOther {
		t.Error("an admin could not make a command, with the consent of the server")
	}
	if body := b.ok("handler?name=run&secrets=show"); !strings.Contains(body, "hunter2") {
		t.Error("an admin asks for secrets and sees none")
	}
	b.role = access.Operator
	if body := b.ok("handler?name=run&secrets=show"); strings.Contains(body, "hunter2") {
		t.Error("an operator sees a secret")
	}
	found, err := b.client.Handlers.Get(b.ctx(), "run")
	b.must(err)
	revision := []string{fmt.Sprint(found.UpdatedAt.UnixMicro())}
	if put(url.Values{"name": {"run"}, "revision": revision}) != http.StatusForbidden {
		t.Error("an operator replaced a command")
	}
	if body := b.ok("edit-handler?name=run"); strings.Contains(body, "hunter2") {
		t.Error("the form shows a secret")
	}
	b.role = access.Admin
	stays := formOfHandler(found.EventHandler)
	stays["revision"], stays["timeout"], stays["priority"] = revision, []string{"90s"}, []string{"2"}
	if status := put(stays); status != http.StatusSeeOther {
		t.Errorf("a change: status %d", status)
	}
	found, err = b.client.Handlers.Get(b.ctx(), "run")
	b.must(err)
	if found.Timeout != 90*time.Second || found.Priority != 2 || !strings.Contains(string(declared.Raw(found.Job).JSON), "hunter2") || found.MaxAttempts != 5 {
		t.Errorf("changed is %+v", found)
	}
	if status := put(stays); status != http.StatusConflict { // the form is of the handler before
		t.Errorf("a change of what was changed: status %d", status)
	}
	b.role = access.Operator
	for _, name := range []string{"run", "page/ops"} {
		if status := b.post("change-handler", url.Values{"action": {"delete"}, "name": {name}}).StatusCode; status != http.StatusSeeOther {
			t.Errorf("delete %s: status %d", name, status)
		}
	}
	if status, _ := b.get("handler?name=run"); status != http.StatusNotFound {
		t.Errorf("a handler that was deleted: status %d", status)
	}
	if left, err := b.client.Handlers.List(b.ctx()); err != nil || len(left) != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	if _, err := b.client.Handlers.Get(b.ctx(), "\x00"); err == nil || strings.Contains(err.Error(), hourbell.ErrNotFound.Error()) {
		t.Errorf("a name that cannot be stored: %v", err)
	}
}
