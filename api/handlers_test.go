package api

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell/internal/view"
)

// TestHandlers puts, lists, reads and deletes handlers, whose names may contain slashes.
func TestHandlers(t *testing.T) {
	b := newBench(t, Options{})
	const full = `{"on":["missed","failure"],"kind":"pay","group":"g","job":{"kind":"note","args":{"to":"x"},"queue":"q","priority":2,"max_attempts":3,"on_loss":"fail","timeout":"90s","backoff":"constant:30s"}}`
	var put, got view.HandlerRecord
	b.ok(&put, "PUT", "/api/v1/handlers/a%2Fb", full)
	b.ok(&got, "GET", "/api/v1/handlers?name=a/b", "")
	if put.Name != "a/b" || strings.Join(put.On, ",") != "failure,missed" || *put.Kind != "pay" || *put.Group != "g" || put.UpdatedAt == nil ||
		put.Job.Kind != "note" || string(put.Job.Args) != `{"to":"x"}` || put.Job.Queue != "q" || put.Job.Priority != 2 || put.Job.MaxAttempts != 3 ||
		put.Job.OnLoss != "fail" || *put.Job.Timeout != "1m30s" || *put.Job.Backoff != "constant:30s" || got.Name != put.Name {
		t.Errorf("put %+v, then %+v", put, got)
	}
	b.ok(&put, "PUT", "/api/v1/handlers?name=z", `{"on":["start"],"job":{"kind":"note"}}`)
	if put.Kind != nil || put.Group != nil || put.Job.Queue != "default" || put.Job.MaxAttempts != 5 || *put.Job.Timeout != "5m0s" {
		t.Errorf("the defaults: %+v", put)
	}
	b.ok(&put, "PUT", "/api/v1/handlers/z", `{"on":["start","success"],"job":{"kind":"note"}}`)
	if len(put.On) != 2 {
		t.Errorf("replaced: %+v", put)
	}
	var first, second PageOf[view.HandlerRecord]
	b.ok(&first, "GET", "/api/v1/handlers?limit=1", "")
	b.ok(&second, "GET", "/api/v1/handlers?limit=1&cursor="+*first.Next, "")
	if len(first.Items) != 1 || first.Items[0].Name != "a/b" || len(second.Items) != 1 || second.Items[0].Name != "z" || second.Next != nil {
		t.Errorf("pages %+v, %+v", first, second)
	}
	b.ok(nil, "DELETE", "/api/v1/handlers?name=a/b", "")
	b.fails(404, "DELETE", "/api/v1/handlers/a%2Fb", "")
	b.fails(404, "GET", "/api/v1/handlers/a%2Fb", "")
	var page pageOfAudit
	b.ok(&page, "GET", "/api/v1/audit?subject=handler:a/b", "")
	if len(page.Items) != 2 || page.Items[0].Action != "handlers delete" || page.Items[1].Action != "handlers put" || page.Items[0].Actor != "ada" {
		t.Errorf("the audit: %+v", page)
	}
}
