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
	b.contains("limits", b.ok("limits"), `href="limit?name=per%2Fcustomer"`, "queue q, each key", "10/s burst 20", `href="edit-limit"`)
	b.contains("a limit", b.ok("limit?name=per%2Fcustomer"), "queue q, each key", "Fullest keys", `href="edit-limit?name=per%2fcustomer"`, "audit?subject=limit:per")
	b.contains("the audit", b.ok("audit?subject=limit:per/customer"), "limits put", `href="limit?name=per%2Fcustomer"`)
	for name, more := range map[string]url.Values{
		"weights that are none": {"weights": {"large"}}, "a weight that is none": {"weights": {"large=x"}},
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
	change := url.Values{"revision": {revision}, "concurrency": {"4"}, "weights": {"large=5\r\na=b=2"}}
	b.contains("the form of a limit", b.ok("edit-limit?name=per%2Fcustomer"), `name="revision" value="`+revision+`"`, `name="concurrency" value="3"`, `name="queue" value="q"`,
		">large=5</textarea>", "Delete the limit")
	if status := put(nil); status != http.StatusConflict {
		t.Errorf("a new limit with the name of another: status %d", status)
	}
	for _, want := range []int{http.StatusSeeOther, http.StatusConflict} { // the second form is of the revision before
		if status := put(change); status != want {
			t.Errorf("a change: status %d, want %d", status, want)
		}
	}
	if now, err := b.client.Limits.Get(b.ctx(), "per/customer"); err != nil || now.Concurrency != 4 || now.Weights["large"] != 5 || now.Weights["a=b"] != 2 {
		t.Errorf("the changed limit is %v (%v)", now, err)
	}
	_, err = b.client.Limits.Put(b.ctx(), hourbell.Limit{Name: "owned", Owner: "yaml:shop.yaml", Queue: "q", Concurrency: 2}, 0)
	b.must(err)
	for _, path := range []string{"limit?name=owned", "edit-limit?name=owned"} {
		if body := b.ok(path); !strings.Contains(body, "It belongs to yaml:shop.yaml") || strings.Contains(body, `method="post"`) {
			t.Errorf("%s:\n%s", path, body)
		}
	}
	for _, action := range []string{"put", "delete"} {
		if status := put(url.Values{"name": {"owned"}, "action": {action}, "revision": {"1"}}); status != http.StatusConflict {
			t.Errorf("%s of a file's limit: status %d", action, status)
		}
	}
	b.role = access.Viewer
	if status := put(nil); status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
	for _, path := range []string{"limits", "limit?name=per%2Fcustomer"} {
		if body := b.ok(path); strings.Contains(body, `method="post"`) || strings.Contains(body, "edit-limit") {
			t.Errorf("%s offers a viewer to change something", path)
		}
	}
	if status, _ := b.get("edit-limit"); status != http.StatusForbidden {
		t.Errorf("the form for a viewer: status %d", status)
	}
	b.role = access.Operator
	if status := b.post("change-limit", url.Values{"action": {"delete"}, "name": {"per/customer"}}).StatusCode; status != http.StatusSeeOther {
		t.Errorf("delete: status %d", status)
	}
	if status, _ := b.get("limit?name=per%2Fcustomer"); status != http.StatusNotFound {
		t.Errorf("a limit that was deleted: status %d", status)
	}
}
