package api

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell/internal/view"
)

// TestAudit checks that changes through the API are recorded with the caller and the address, and
// how they are listed.
func TestAudit(t *testing.T) {
	b := newBench(t, Options{})
	const who = "ada"
	b.ok(nil, "POST", "/api/v1/jobs", `{"kind":"idle"}`)
	b.ok(nil, "PUT", "/api/v1/calendars/a%2Fb", `{"dates":["2027-12-25"]}`)
	b.ok(nil, "POST", "/api/v1/jobs/1/cancel", "")
	var first, second pageOfAudit
	b.ok(&first, "GET", "/api/v1/audit?limit=1", "")
	if len(first.Items) != 1 || first.Next == nil || first.Items[0].Action != "jobs cancel" || first.Items[0].Actor != who || first.Items[0].Source == nil || *first.Items[0].Source != "192.0.2.1" {
		t.Fatalf("the newest entry is %+v", first)
	}
	b.ok(&second, "GET", "/api/v1/audit?limit=1&cursor="+*first.Next, "")
	if len(second.Items) != 1 || second.Next != nil || second.Items[0].Action != "calendars put" {
		t.Errorf("the next page is %+v", second)
	}
	for query, want := range map[string]int{"subject=calendar:a/b": 1, "subject=job:2": 0, "actor=" + who: 2, "action=jobs%20cancel": 1, "since=2100-01-01T00:00:00Z": 0} {
		var page pageOfAudit
		b.ok(&page, "GET", "/api/v1/audit?"+query, "")
		if len(page.Items) != want {
			t.Errorf("%s: %d entries, want %d", query, len(page.Items), want)
		}
	}
	if strings.Contains(b.log.String(), "list audit") || strings.Contains(b.log.String(), "list-audit") {
		t.Errorf("a list is logged as a change:\n%s", b.log)
	}
}

type pageOfAudit = PageOf[view.AuditRecord]
