package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/internal/view"
	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

func TestGraphs(t *testing.T) {
	b := newBench(t, Options{})
	var made EnqueuedGraph
	b.ok(&made, "POST", "/api/v1/jobs/graph", `{"jobs":{
		"read":{"kind":"read","queue":"night"},
		"check":{"kind":"check","args":{"deep":true},"after":{"read":{"delay":"5m"}}},
		"mend":{"kind":"mend","after":{"read":{"on":"failure"},"check":{"on":"failure"}},"need":"any"}},
		"finally":{"kind":"tell","on":"always"}}`)
	if made.Batch != 1 || len(made.Jobs) != 4 || made.Jobs["finally"] == 0 {
		t.Fatalf("%+v", made)
	}
	var page struct{ Items []view.JobRecord }
	b.ok(&page, "GET", "/api/v1/jobs?batch=1&state=waiting", "")
	if len(page.Items) != 3 {
		t.Errorf("%d jobs wait, not 3", len(page.Items))
	}
	i := slices.IndexFunc(page.Items, func(j view.JobRecord) bool { return j.Kind == "check" })
	if after := page.Items[i].After; len(after) != 1 || after[0].Job != made.Jobs["read"] || after[0].Delay != "5m0s" {
		t.Errorf("check waits for %+v", after)
	}
	var batch view.BatchRecord
	b.ok(&batch, "GET", "/api/v1/batches/1", "")
	if batch.Total != 3 || batch.Count != 4 || batch.Finally == nil || batch.Finally.Job != made.Jobs["finally"] {
		t.Errorf("%+v", batch)
	}
	var batches struct {
		Items []view.BatchRecord
		Next  *string
	}
	b.ok(nil, "POST", "/api/v1/jobs/graph", `{"jobs":{"one":{"kind":"k"}}}`)
	b.ok(&batches, "GET", "/api/v1/batches?limit=1", "")
	if len(batches.Items) != 1 || batches.Items[0].ID != 2 || batches.Next == nil {
		t.Fatalf("%+v", batches)
	}
	b.ok(&batches, "GET", "/api/v1/batches?limit=1&cursor="+*batches.Next, "")
	if len(batches.Items) != 1 || batches.Items[0].ID != 1 || batches.Next != nil {
		t.Errorf("%+v", batches)
	}
	var changed Changes
	b.ok(&changed, "POST", "/api/v1/jobs/cancel", `{"batch":1}`)
	if changed.Changed != 2 || changed.Unchanged != 1 { // check is not started, because read was cancelled
		t.Errorf("%+v", changed)
	}
	var last view.JobRecord
	if b.ok(&last, "GET", fmt.Sprintf("/api/v1/jobs/%d", made.Jobs["finally"]), ""); last.State != "ready" {
		t.Errorf("the last job, which runs always, is %s after the batch was cancelled", last.State)
	}
	b.ok(&made, "POST", "/api/v1/jobs/graph", `{"jobs":{},"finally":{"kind":"tell"}}`)
	b.ok(&batch, "GET", fmt.Sprintf("/api/v1/batches/%d", made.Batch), "")
	if batch.Total != 0 || batch.Count != 1 || batch.Finally == nil || batch.Finally.State != "ready" {
		t.Errorf("an empty graph with a last job: %+v", batch)
	}
	b.fails(404, "GET", "/api/v1/batches/99", "")
	b.fails(422, "GET", "/api/v1/batches?cursor=eA", "")
}

func TestMistakesInGraphs(t *testing.T) {
	b := newBench(t, Options{})
	for body, fields := range map[string][]string{
		`{"jobs":{}}`: {"jobs"},
		`{"jobs":{"a":{"kind":"k","after":{"b":{}}},"b":{"kind":"k","after":{"a":{}}}}}`:                 {"after"},
		`{"jobs":{"a":{"kind":"k","after":{"c":{}}}}}`:                                                   {"after"},
		`{"jobs":{"my-job":{"kind":"k","in":"soon"},"b":{"kind":"k","after":{"my-job":{"delay":"x"}}}}}`: {"jobs.b.after.my-job.delay", "jobs.my-job.in"},
		`{"jobs":{"a":{"kind":"k","unique":"u"}}}`:                                                       {"jobs.a.unique"},
		`{"jobs":{"a":{"kind":"k"}},"finally":{"kind":"k","on":"never"}}`:                                {"finally.on"},
		`{"jobs":{"a":{"kind":"k"}},"finally":{"kind":"k","timeout":"long"}}`:                            {"finally.timeout"},
	} {
		p := b.fails(422, "POST", "/api/v1/jobs/graph", body)
		var got []string
		for _, f := range p.Errors {
			got = append(got, f.Field)
		}
		if slices.Sort(got); !slices.Equal(got, fields) {
			t.Errorf("%s: mistakes in %q, not %q: %s", body, got, fields, p.Detail)
		}
	}
	b.fails(403, "POST", "/api/v1/jobs/graph", `{"jobs":{"a":{"kind":"k"},"b":{"kind":"command","args":{"argv":["id"]}}}}`)
	var count view.CountRecord
	if b.ok(&count, "GET", "/api/v1/jobs/count", ""); count.Count != 0 {
		t.Errorf("refused requests stored %d jobs", count.Count)
	}
}

// TestAnIdempotencyKeyMakesAGraphOnce checks that a repeated request gets the answer of the first request, whatever became of
// the jobs, also if jobs were added to the graph.
func TestAnIdempotencyKeyMakesAGraphOnce(t *testing.T) {
	b := newBench(t, Options{})
	const graph = `{"jobs":{"read":{"kind":"read"},"check":{"kind":"check","after":{"read":{}}}},"finally":{"kind":"tell","on":"always"}}`
	post := func(headers ...string) (string, string) {
		t.Helper()
		w := b.ok(nil, "POST", "/api/v1/jobs/graph", graph, headers...)
		if w.Code != 201 {
			t.Errorf("%v: %d", headers, w.Code)
		}
		return strings.TrimSpace(w.Body.String()), w.Header().Get("Idempotent-Replayed")
	}
	first, replayed := post("Idempotency-Key", "order-17")
	if replayed != "" || !strings.Contains(first, `"finally":3`) {
		t.Errorf("the first request: %s, %q", first, replayed)
	}
	_, err := b.client.EnqueueGraph(t.Context(), hourbell.Graph{Jobs: map[string]hourbell.GraphJob{"read": {Args: hourbell.RawArgs{Name: "read"}}}}, hourbell.InBatch(1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, replayed := post("Idempotency-Key", "order-17"); again != first || replayed != "true" {
			t.Errorf("repeated: %s, %q; the first answer was %s", again, replayed, first)
		}
		b.ok(nil, "POST", "/api/v1/jobs/cancel", `{"batch":1}`)
	}
	for _, headers := range [][]string{{"Idempotency-Key", "order-18"}, {"Idempotency-Key", "order-17", roleHeader, "operator"}, nil} {
		if other, replayed := post(headers...); other == first || replayed != "" {
			t.Errorf("%v gets the same graph: %s", headers, other)
		}
	}
	var one Enqueued
	b.ok(&one, "POST", "/api/v1/jobs", `{"kind":"read"}`, "Idempotency-Key", "order-17")
	if one.ID == 1 {
		t.Error("a job with the key gets a job of the graph")
	}
	var races sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		races.Go(func() { answers[i], _ = post("Idempotency-Key", "race") })
	}
	races.Wait()
	if answers = slices.Compact(answers); len(answers) != 1 {
		t.Errorf("concurrent requests with one key got %q", answers)
	}
	b.fails(422, "POST", "/api/v1/jobs/graph", graph, "Idempotency-Key", strings.Repeat("x", 256))
}

func TestLocks(t *testing.T) {
	b := newBench(t, Options{})
	b.fails(404, "GET", "/api/v1/locks", "")
	locks := memory.New()
	b = newBench(t, Options{Locks: locks})
	locker, err := lock.New(locks, lock.Config{})
	if err != nil {
		t.Fatal(err)
	}
	held, err := locker.Try(t.Context(), "reports/nightly", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release(context.Background())
	var page struct{ Items []view.LockRecord }
	b.ok(&page, "GET", "/api/v1/locks", "")
	if len(page.Items) != 1 || page.Items[0].Name != "reports/nightly" || page.Items[0].State != "held" {
		t.Fatalf("%+v", page)
	}
	b.fails(422, "POST", "/api/v1/locks/reports%2Fnightly/release", `{"force":false}`)
	b.fails(404, "POST", "/api/v1/locks/other/release", `{"force":true}`)
	b.fails(404, "GET", "/api/v1/locks/other", "")
	var freed view.LockRecord
	if b.ok(&freed, "POST", "/api/v1/locks/release?name=reports/nightly", `{"force":true}`); freed.State != "free" {
		t.Errorf("%+v", freed)
	}
}

// TestTheFeedIsFollowed checks that a reader that connects again with the last id that it has
// got misses nothing, also events that it has not asked for.
func TestTheFeedIsFollowed(t *testing.T) {
	b := newBench(t, Options{})
	server := httptest.NewServer(b.h)
	defer server.Close()
	lastID, seen := "", []string{}
	follow := func(query string, want string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/events"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if lastID != "" {
			request.Header.Set("Last-Event-ID", lastID)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", query, response.StatusCode)
		}
		text, buffer := "", make([]byte, 4096)
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			n, err := response.Body.Read(buffer)
			if err != nil {
				break
			}
			text += string(buffer[:n])
			if strings.HasSuffix(text, "\n\n") && strings.Contains(text, want) {
				for line := range strings.Lines(text) {
					if id, is := strings.CutPrefix(strings.TrimSpace(line), "id: "); is {
						lastID = id
					}
					if data, is := strings.CutPrefix(strings.TrimSpace(line), "data: "); is {
						seen = append(seen, data)
					}
				}
				return
			}
		}
		t.Fatalf("%s: no %q in %s", query, want, text)
	}
	cancel := func(kind string) {
		t.Helper()
		id, err := b.client.Enqueue(t.Context(), hourbell.RawArgs{Name: kind}, hourbell.Queue(kind))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.client.Jobs.Cancel(t.Context(), hourbell.JobFilter{IDs: []int64{id.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	follow("", "id: ")
	cancel("first")
	cancel("second")
	follow("?queue=first", `"first"`)
	cancel("third")
	follow("", `"third"`)
	if text := strings.Join(seen, "\n"); len(seen) != 3 || strings.Count(text, `"event":"cancelled"`) != 3 || !strings.Contains(text, `"second"`) {
		t.Errorf("seen: %s", text)
	}
	b.fails(422, "GET", "/api/v1/events?since=soon", "")
	b.fails(422, "GET", "/api/v1/events?of=process&since=0-1-0", "")
	if err := b.client.Events.Keep(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if p := b.fails(409, "GET", "/api/v1/events", ""); !strings.Contains(p.Detail, "events keep") {
		t.Error(p.Detail)
	}
}
