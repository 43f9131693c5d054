package api

import (
	"reflect"
	"testing"

	"github.com/hourbell/hourbell/internal/view"
)

// TestLimits puts, lists, replaces and deletes limits.
func TestLimits(t *testing.T) {
	b := newBench(t, Options{})
	w := b.ok(nil, "PUT", "/api/v1/limits/a%2Fb", `{"queue":"q","kind":"k","by_key":true,"concurrency":2,"weights":{"gold":3},"strict":true}`)
	tag := w.Header().Get("ETag")
	var l view.LimitRecord
	b.ok(&l, "GET", "/api/v1/limits/a%2Fb", "")
	if l.Name != "a/b" || *l.Queue != "q" || *l.Kind != "k" || !l.ByKey || *l.Concurrency != 2 || l.Rate != nil || l.Burst != nil || l.Weights["gold"] != 3 || !l.Strict || l.Owner != nil || *l.Keys != 0 || tag == "" {
		t.Errorf("the limit: %+v, ETag %s", l, tag)
	}
	b.ok(nil, "PUT", "/api/v1/limits/c", `{"queue":"q","rate":"100/m","burst":20}`)
	var page struct {
		Items []view.LimitRecord
		Next  *string
	}
	b.ok(&page, "GET", "/api/v1/limits?limit=1", "")
	if len(page.Items) != 1 || page.Next == nil || !reflect.DeepEqual(page.Items[0], l) {
		t.Fatalf("the first page: %+v", page)
	}
	b.ok(&page, "GET", "/api/v1/limits?limit=1&cursor="+*page.Next, "")
	if len(page.Items) != 1 || page.Items[0].Name != "c" || *page.Items[0].Rate != "100/m" || *page.Items[0].Burst != 20 || page.Items[0].Keys != nil {
		t.Errorf("the last page: %+v", page)
	}
	b.ok(nil, "PUT", "/api/v1/limits/a%2Fb", `{"queue":"q","concurrency":3}`, "If-Match", tag)
	b.fails(412, "PUT", "/api/v1/limits/a%2Fb", `{"queue":"q","concurrency":4}`, "If-Match", tag)
	for _, body := range []string{`{"concurrency":1}`, `{"queue":"q"}`, `{"queue":"q","rate":"often"}`, `{"queue":"q","concurrency":1,"burst":2}`, `{"queue":"q","concurrency":1,"strict":true}`, `{"queue":"q","concurrency":0}`, `{"queue":"q","concurrency":1,"width":2}`} {
		b.fails(422, "PUT", "/api/v1/limits/x", body)
	}
	b.fails(404, "GET", "/api/v1/limits/x", "")
	b.ok(nil, "DELETE", "/api/v1/limits/c", "")
	b.fails(404, "DELETE", "/api/v1/limits/c", "")
	b.ok(&l, "PUT", "/api/v1/limits?name=a/b", `{"queue":"q","concurrency":5}`)
	b.ok(&l, "GET", "/api/v1/limits?name=a/b", "")
	if l.Name != "a/b" || *l.Concurrency != 5 {
		t.Errorf("the limit of ?name=: %+v", l)
	}
	b.ok(nil, "DELETE", "/api/v1/limits?name=a/b", "")
	b.fails(404, "GET", "/api/v1/limits/a%2Fb", "")
}
