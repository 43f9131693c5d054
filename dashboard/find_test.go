package dashboard

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
)

// TestFind checks where the search of the pages leads: to the thing that must be meant, or to a list.
func TestFind(t *testing.T) {
	b := newBench(t)
	p := &pages{client: b.client}
	b.run()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		nodes, err := b.client.Nodes.List(b.ctx())
		b.must(err)
		if len(nodes) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the node does not register")
		}
	}
	for _, name := range []string{"nightly", "nightly/report", "newsletter"} {
		b.put(name, "works", nil)
	}
	graph, err := b.client.EnqueueGraph(b.ctx(), hourbell.Graph{Jobs: map[string]hourbell.GraphJob{"a": {Args: hourbell.RawArgs{Name: "works"}}}})
	b.must(err)
	id := b.enqueue("hangs", `{}`, hourbell.Queue("mail"), hourbell.Key("customer 1"), hourbell.Unique("invoice 7"))
	again := b.enqueue("hangs", `{}`, hourbell.Queue("mail"), hourbell.Key("customer 1"))
	_, err = b.client.Limits.Put(b.ctx(), hourbell.Limit{Name: "narrow", Queue: "mail", Concurrency: 9}, 0)
	b.must(err)
	for text, want := range map[string]string{
		"nightly":                "schedule?name=nightly",
		"nightly/":               "schedule?name=nightly%2Freport",
		" new":                   "schedule?name=newsletter",
		fmt.Sprintf("#%d", id):   jobLink(id),
		fmt.Sprint(again):        jobLink(again),
		"mail":                   "pause?name=mail&of=queue",
		"hang":                   "pause?name=hangs&of=kind",
		"narrow":                 "limit?name=narrow",
		"invoice 7":              jobLink(id),
		"customer 1":             "jobs?key=customer+1",
		"node <b>1":              "nodes#node-1",
		"night":                  "",
		"Nightly":                "",
		"":                       "",
		"\x00":                   "",
		"99999999999":            "",
		"99999999999999999999 1": "",
	} {
		res, err := http.DefaultTransport.RoundTrip(httpGet(b, link("find", "q", text)))
		b.must(err)
		res.Body.Close()
		status := http.StatusOK
		if want != "" {
			status = http.StatusSeeOther
		}
		if got := res.Header.Get("Location"); got != want || res.StatusCode != status {
			t.Errorf("%q: status %d, leads to %q, want %q", text, res.StatusCode, got, want)
		}
	}
	b.contains("two schedules", b.ok("find?q=night"), `href="schedule?name=nightly"`, `href="schedule?name=nightly%2Freport"`, `value="night"`)
	b.contains("nothing", b.ok("find?q=none"), "Nothing has this number or name", `href="jobs?error=none"`)
	if one := only([]thing{{"job", "1", "a", true}, {"batch", "1", "b", true}}); one != nil {
		t.Errorf("of a job and a batch with one number, %v is meant", one)
	}
	batch := findData{Text: fmt.Sprint(graph.Batch)}
	if b.must(p.findNumber(b.ctx(), &batch)); batch.Things[len(batch.Things)-1].Href != fmt.Sprintf("jobs?batch=%d", graph.Batch) {
		t.Errorf("a batch: %v", batch.Things)
	}
	for i := range eachFound + 1 {
		b.put(fmt.Sprintf("many %02d", i), "works", nil)
	}
	b.contains("many", b.ok("find?q=many"), "many 19", "There are more")
	b.contains("every page", b.ok("nodes"), `action="find"`, `type="search"`)
}

func httpGet(b *bench, path string) *http.Request {
	req, err := http.NewRequestWithContext(b.ctx(), http.MethodGet, b.server.URL+"/"+path, nil)
	b.must(err)
	return req
}
