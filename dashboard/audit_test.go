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

// TestPagesAudit checks that changes through pages are recorded with their caller, that the page
// of the audit shows them escaped, and that viewers do not see it.
func TestPagesAudit(t *testing.T) {
	b := newBench(t)
	id := b.enqueue("works", `{}`)
	if res := b.post("change-jobs", url.Values{"action": {"cancel"}, "id": {fmt.Sprint(id)}}); res.StatusCode != http.StatusSeeOther {
		t.Fatalf("cancel: status %d", res.StatusCode)
	}
	ctx := hourbell.WithActor(t.Context(), hourbell.Actor{Name: `<script>alert(1)</script>`, Source: "\x1b[2J\u202e"})
	b.must(b.client.Groups.Pause(ctx, "g", hourbell.Pause{Reason: `"><img src=x>`}))
	shown := b.ok("audit")
	b.contains("audit", shown, "jobs cancel", "127.0.0.1", jobLink(id), "groups pause", "&lt;script&gt;")
	for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e"} {
		if strings.Contains(shown, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	b.contains("a job", b.ok(jobLink(id)), "audit?subject=job:"+fmt.Sprint(id))
	if got := b.ok("audit?subject=job:" + fmt.Sprint(id)); strings.Contains(got, "groups pause") || !strings.Contains(got, "jobs cancel") {
		t.Error("the filter by subject has no effect")
	}
	if got := b.ok("audit?since=1h&action=groups+pause"); !strings.Contains(got, "groups pause") || !strings.Contains(got, `value="1h"`) {
		t.Error("the newest change is not listed as a change of the last hour")
	}
	if got := b.ok("audit?since=2100-01-01T00:00:00Z"); strings.Contains(got, "groups pause") {
		t.Error("the filter by time has no effect")
	}
	if status, _ := b.get("audit?since=soon"); status != http.StatusBadRequest {
		t.Errorf("a wrong instant: status %d", status)
	}
	if status, _ := b.get("audit?subject=nothing"); status != http.StatusBadRequest {
		t.Errorf("a wrong subject: status %d", status)
	}
	b.role = access.Viewer
	if status, _ := b.get("audit"); status != http.StatusForbidden {
		t.Errorf("a viewer: status %d", status)
	}
	if strings.Contains(b.ok("jobs"), `href="audit"`) {
		t.Error("a viewer is led to the page")
	}
}
