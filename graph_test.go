package hourbell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// graphOf returns a graph of jobs, each with the names of its predecessors.
func graphOf(after map[string][]string) hourbell.Graph {
	g := hourbell.Graph{Jobs: map[string]hourbell.GraphJob{}}
	for name, predecessors := range after {
		job := hourbell.GraphJob{Args: order(`{}`), After: map[string]hourbell.GraphEdge{}}
		for _, p := range predecessors {
			job.After[p] = hourbell.GraphEdge{}
		}
		g.Jobs[name] = job
	}
	return g
}

func TestEnqueueGraph(t *testing.T) {
	drafts := 0
	count := func(ctx context.Context, all []*hourbell.Draft, next func(context.Context) error) error {
		drafts += len(all)
		return next(ctx)
	}
	backend := memory.New()
	client, err := hourbell.New(backend, hourbell.Config{EnqueueMiddleware: []hourbell.EnqueueMiddleware{count}, RequireTx: true})
	if err != nil {
		t.Fatal(err)
	}
	g := graphOf(map[string][]string{"z": nil, "b": {"z"}, "c": {"z"}, "a": {"b", "c"}})
	g.Jobs["c"].After["z"] = hourbell.GraphEdge{On: hourbell.OnEither, Delay: time.Minute}
	if _, err := client.EnqueueGraph(t.Context(), g); !errors.Is(err, hourbell.ErrTxRequired) {
		t.Errorf("a client that requires a transaction: %v", err)
	}
	drafts = 0
	tx := backend.Begin()
	out, err := client.EnqueueGraph(t.Context(), g, hourbell.InTx(tx), hourbell.Queue("night"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(out.IDs) != "map[a:4 b:2 c:3 z:1]" || drafts != 4 {
		t.Errorf("%v, %d drafts", out.IDs, drafts)
	}
	job, err := client.Jobs.Get(t.Context(), out.IDs["c"])
	want := []store.JobEdge{{Edge: store.Edge{Job: 1, On: hourbell.OnEither, Delay: time.Minute}}}
	if err != nil || job.Queue != "night" || fmt.Sprint(job.After) != fmt.Sprint(want) || plan.Headers(job.Headers)[hourbell.NameHeader] != "c" {
		t.Errorf("%+v, %v", job, err)
	}
}

// TestGraphsWithKeys checks that a graph whose keys are taken is refused as a whole.
func TestGraphsWithKeys(t *testing.T) {
	client, err := hourbell.New(memory.New(), hourbell.Config{})
	must(t, err)
	graph := graphOf(map[string][]string{"a": nil, "b": {"a"}})
	for name, job := range graph.Jobs {
		job.Options = []hourbell.Option{hourbell.Unique("k " + name), hourbell.OnConflict(hourbell.ErrorOnConflict)}
		graph.Jobs[name] = job
	}
	graph.Finally = &hourbell.Finally{Args: hourbell.RawArgs{Name: "last"}, Options: []hourbell.Option{hourbell.Unique("k"), hourbell.OnConflict(hourbell.ErrorOnConflict)}}
	made, err := client.EnqueueGraph(t.Context(), graph)
	must(t, err)
	_, err = client.EnqueueGraph(t.Context(), graph)
	var taken *store.DuplicateError
	if !errors.As(err, &taken) || taken.ID != made.IDs["a"] {
		t.Errorf("the error names the job with the key: %v", err)
	}
	tx := memory.New().Begin()
	if _, err = client.EnqueueGraph(t.Context(), graph, hourbell.InTx(tx)); err == nil || errors.Is(err, hourbell.ErrDuplicate) {
		t.Errorf("keys in a transaction: %v", err)
	}
	if n, err := client.Jobs.Count(t.Context(), hourbell.JobFilter{}); err != nil || n != 3 {
		t.Errorf("%d jobs, %v", n, err)
	}
}

func TestGraphsAreRefused(t *testing.T) {
	long := map[string][]string{}
	for i := range 100 {
		long[fmt.Sprintf("n%02d", i)] = []string{fmt.Sprintf("n%02d", (i+99)%100)}
	}
	with := func(change func(*hourbell.GraphJob)) hourbell.Graph {
		g := graphOf(map[string][]string{"a": nil, "b": {"a"}})
		job := g.Jobs["b"]
		change(&job)
		g.Jobs["b"] = job
		return g
	}
	for name, test := range map[string]struct {
		graph hourbell.Graph
		parts []string
	}{
		"empty":       {hourbell.Graph{}, []string{"jobs are missing"}},
		"unknown":     {graphOf(map[string][]string{"a": {"x"}, "b": {"y"}}), []string{`job "a": after "x" is not a job of the graph`, `job "b": after "y"`}},
		"itself":      {graphOf(map[string][]string{"a": {"a"}}), []string{"has a cycle: a → a;"}},
		"cycle":       {graphOf(map[string][]string{"a": {"c"}, "b": {"a"}, "c": {"b"}, "d": {"c"}, "e": nil}), []string{"has a cycle: a → b → c → a;"}},
		"longCycle":   {graphOf(long), []string{"n00 → n01", "…", "n99 → n00"}},
		"name":        {graphOf(map[string][]string{"a\x00": nil}), []string{"name"}},
		"key":         {with(func(j *hourbell.GraphJob) { j.Options = []hourbell.Option{hourbell.Unique("k")} }), []string{`job "b": unique "k"`}},
		"outcome":     {with(func(j *hourbell.GraphJob) { j.After = map[string]hourbell.GraphEdge{"a": {On: 9}} }), []string{`job "b": after`}},
		"args":        {with(func(j *hourbell.GraphJob) { j.Args = nil }), []string{`job "b": args are nil`}},
		"transaction": {with(func(j *hourbell.GraphJob) { j.Options = []hourbell.Option{hourbell.InTx(memory.New().Begin())} }), []string{`job "b": options "InTx"`}},
		"several":     {graphOf(map[string][]string{"a": {"b"}, "b": {"a"}, "c": {"x"}}), []string{"a → b → a", `after "x"`}},
	} {
		err := test.graph.Validate()
		var field *check.FieldError
		if !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, part := range test.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in: %v", name, part, err)
			}
		}
	}
}
