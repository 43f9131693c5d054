package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/access"
)

// TestPagesLimits makes, shows and deletes a limit by the forms of the pages.
func TestPagesLimits(t *testing.T) {
	b := newBench(t)
	put := func(more url.Values) int {
		t.Helper()
		form := url.Values{"action": {"put"}, "name": {"per/customer"}, "queue": {"q"}, "by_key": {"1"}, "concurrency": {"3"}}
		for name, values := range more {
			form[name] = values
		}
		return b.post("change-limit", form).StatusCode
	}
	if status := put(nil); status != http.StatusSeeOther {
		t.Fatalf("put: status %d", status)
	}
	if status := put(url.Values{"name": {"api"}, "by_key": nil, "concurrency": nil, "rate": {"10/s"}, "burst": {"20"}}); status != http.StatusSeeOther {
		t.Fatalf("put: status %d", status)
	}
	b.contains("limits", b.ok("limits"), `href="limit?name=per%2Fcustomer"`, "queue q, each key", "10/s burst 20", "Make or replace")
	b.contains("a limit", b.ok("limit?name=per%2Fcustomer"), "queue q, each key", "Fullest keys", "Delete", "audit?subject=limit:per")
	b.contains("the audit", b.ok("audit?subject=limit:per/customer"), "limits put", `href="limit?name=per%2Fcustomer"`)
	for name, more := range map[string]url.Values{
		"no scope": {"queue": nil, "by_key": nil}, "no bound": {"concurrency": nil}, "a rate that is none": {"rate": {"often"}}, "a number that is none": {"concurrency": {"x"}}, "an unknown action": {"action": {"drop"}},
	} {
		if status := put(more); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, status)
		}
	}
	weighted := hourbell.Limit{Name: "per/customer", Queue: "q", ByKey: true, Concurrency: 3, Weights: map[string]int{"large": 5}}
	saved, err := b.client.Limits.Put(b.ctx(), weighted, 0)
	b.must(err)
	revision := fmt.Sprint(saved.Revision)
	change := url.Values{"revision": {revision}, "concurrency": {"4"}}
	b.contains("the form of a limit", b.ok("limit?name=per%2Fcustomer"), `name="revision" value="`+revision+`"`, `name="concurrency" value="3"`, `name="queue" value="q"`)
	for _, want := range []int{http.StatusSeeOther, http.StatusConflict} { // the second form is of the revision before
		if status := put(change); status != want {
			t.Errorf("a change: status %d, want %d", status, want)
		}
	}
	if now, err := b.client.Limits.Get(b.ctx(), "per/customer"); err != nil || now.Concurrency != 4 || now.Weights["large"] != 5 {
		t.Errorf("the changed limit is %v (%v)", now, err)
	}
	_, err = b.client.Limits.Put(b.ctx(), hourbell.Limit{Name: "owned", Owner: "yaml:shop.yaml", Queue: "q", Concurrency: 2}, 0)
	b.must(err)
	if body := b.ok("limit?name=owned"); !strings.Contains(body, "It belongs to yaml:shop.yaml") || strings.Contains(body, `method="post"`) {
		t.Errorf("the page of a file's limit:\n%s", body)
	}
	for _, action := range []string{"put", "delete"} {
		if status := put(url.Values{"name": {"owned"}, "action": {action}}); status != http.StatusConflict {
			t.Errorf("%s of a file's limit: status %d", action, status)
		}
	}
	b.role = access.Viewer
	if status := put(nil); status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
	for _, path := range []string{"limits", "limit?name=per%2Fcustomer"} {
		if strings.Contains(b.ok(path), `method="post"`) {
			t.Errorf("%s offers a viewer to change something", path)
		}
	}
	b.role = access.Operator
	if status := b.post("change-limit", url.Values{"action": {"delete"}, "name": {"per/customer"}}).StatusCode; status != http.StatusSeeOther {
		t.Errorf("delete: status %d", status)
	}
	if status, _ := b.get("limit?name=per%2Fcustomer"); status != http.StatusNotFound {
		t.Errorf("a limit that was deleted: status %d", status)
	}
}
