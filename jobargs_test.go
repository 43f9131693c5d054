package hourbell_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// TestJobsByArgs finds, counts and cancels jobs by values in their arguments.
func TestJobsByArgs(t *testing.T) {
	client := newCluster(t).client(nil)
	ids := map[string]int64{}
	for name, args := range map[string]string{
		"number": `{"customer":42}`, "spaced": `{ "customer" : 42.0 }`, "text": `{"customer":"42"}`, "longer": `{"customer":421}`, "elsewhere": `{"id":42,"customer":7}`,
		"in": `{"order":{"customer":42,"items":[{"sku":"A7"},{"sku":"B 8"}],"tags":["urgent","new"]}}`, "escaped": `{"name":"Zo\u00eb <x>"}`, "plain": `{"name":"Zoë <x>"}`,
		"none": `null`, "list": `[42]`, "truth": `{"paid":true,"customer":null}`, "secret": `{"password":"42"}`,
	} {
		job, err := client.Enqueue(t.Context(), hourbell.RawArgs{Name: "k", JSON: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = job.ID
	}
	filter := func(conditions ...string) (f hourbell.JobFilter) {
		for _, text := range conditions {
			c, err := hourbell.ParseArgsCondition(text)
			if err != nil {
				t.Fatal(err)
			}
			f.Args = append(f.Args, c)
		}
		return f
	}
	for text, want := range map[string]string{
		"customer=42": "number text", "customer=42.0": "spaced", "order.customer=42": "in", "order.items.1.sku=B 8": "in", "order.items.2.sku=B 8": "", "order.items=A7": "",
		"order.tags=new": "in", "name=Zoë <x>": "escaped plain", "0=42": "list", "paid=true": "truth", "customer=null": "truth", "password=42": "secret", "customer=": "", "tags=": "",
		"customer=42 id=42": "", "id=42 customer=7": "elsewhere",
	} {
		conditions := []string{text}
		if strings.Count(text, "=") > 1 {
			conditions = strings.Fields(text)
		}
		var wanted []int64
		for name := range strings.FieldsSeq(want) {
			wanted = append(wanted, ids[name])
		}
		slices.SortFunc(wanted, func(a, b int64) int { return int(b - a) })
		f := filter(conditions...)
		page, err := client.Jobs.Page(t.Context(), f)
		list, listErr := client.Jobs.List(t.Context(), f)
		n, countErr := client.Jobs.Count(t.Context(), f)
		about, estimateErr := client.Jobs.Estimate(t.Context(), f)
		if err := errors.Join(err, listErr, countErr, estimateErr); err != nil {
			t.Fatal(err)
		}
		if got := numbersOf(page.Jobs); !slices.Equal(got, wanted) || !slices.Equal(numbersOf(list), wanted) || n != int64(len(wanted)) || about.Jobs != n || page.Partial {
			t.Errorf("%s: got the page %+v, the list %v and the counts %d and %v, want %v", text, page, numbersOf(list), n, about, wanted)
		}
	}
	f := filter("password=42")
	f.ShownArgs = func(kind string, args []byte) []byte { return []byte(`{"kind":"` + kind + `","password":"…"}`) }
	if n, err := client.Jobs.Count(t.Context(), f); n != 0 || err != nil {
		t.Errorf("%d jobs have a value that is hidden, %v", n, err)
	}
	f = filter("customer=42")
	f.IDs = []int64{ids["number"], ids["longer"], ids["in"]}
	if done, err := client.Jobs.Cancel(t.Context(), f); err != nil || done.Changed != 1 || done.Jobs[0].ID != ids["number"] {
		t.Errorf("of some numbers: got %+v, %v", done, err)
	}
	f = filter("customer=42")
	if would, err := client.Jobs.Cancel(t.Context(), f, hourbell.DryRun()); err != nil || would.Changed != 1 {
		t.Errorf("a dry run: got %+v, %v", would, err)
	}
	if done, err := client.Jobs.Cancel(t.Context(), f); err != nil || done.Changed != 1 || done.Jobs[0].ID != ids["text"] {
		t.Errorf("all: got %+v, %v", done, err)
	}
	f.States = []store.State{store.StateCancelled}
	if got, err := client.Jobs.List(t.Context(), f); err != nil || len(got) != 2 {
		t.Errorf("then cancelled are %v, %v", numbersOf(got), err)
	}
}

func numbersOf(jobs []store.JobInfo) (ids []int64) {
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// TestJobsByArgsInPages checks that the pages of a search by arguments have each job once, also if most jobs contain the text for
// which the store looks.
func TestJobsByArgsInPages(t *testing.T) {
	client := newCluster(t).client(nil)
	var requests []hourbell.Request
	for i := range 5000 {
		args := fmt.Sprintf(`{"customer":%d,"page":"17"}`, i%100)
		requests = append(requests, hourbell.Request{Args: hourbell.RawArgs{Name: "k", JSON: []byte(args)}})
	}
	if _, err := client.EnqueueMany(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	f := hourbell.JobFilter{Args: []hourbell.ArgsCondition{{Path: "customer", Value: "17"}}, Limit: 20}
	var found []int64
	for {
		page, err := client.Jobs.Page(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, numbersOf(page.Jobs)...)
		if f.Before = page.Next; page.Next == 0 {
			break
		}
	}
	slices.Sort(found)
	if len(slices.Compact(found)) != 50 {
		t.Errorf("%d jobs were found, and not 50", len(found))
	}
	if done, err := client.Jobs.Delete(t.Context(), f); err != nil || done.Changed != 50 {
		t.Errorf("%d jobs were deleted, %v", done.Changed, err)
	}
}

func TestInvalidArgsConditions(t *testing.T) {
	for _, text := range []string{"", "customer", "=42", "a..b=1", ".a=1", "a.=1", "a=\x00", "a=" + strings.Repeat("x", 200)} {
		var field *check.FieldError
		if c, err := hourbell.ParseArgsCondition(text); !errors.As(err, &field) || field.Field != "args" || field.Remedy == "" {
			t.Errorf("%q is read as %+v, %v", text, c, err)
		}
	}
	f := hourbell.JobFilter{Args: []hourbell.ArgsCondition{{Path: "", Value: "1"}}}
	if f.Validate() == nil {
		t.Error("a filter takes a condition without a path")
	}
}
