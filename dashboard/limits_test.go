package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

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
