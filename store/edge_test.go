package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWaitState has the rule of edges as a table: the edges of a job with the ends of their predecessors, and what becomes of
// the job.
func TestWaitState(t *testing.T) {
	end := map[string]State{"completed": StateCompleted, "failed": StateFailed, "cancelled": StateCancelled, "not_started": StateNotStarted}
	for _, test := range []struct {
		edges string // for each edge the choice, a colon, and the end of its predecessor; no end: it has not ended
		wait  Wait
		want  State
		why   string
	}{
		{"success:completed", Wait{}, StateReady, ""},
		{"success:failed", Wait{}, StateNotStarted, "job 1 failed"},
		{"success:cancelled", Wait{}, StateNotStarted, "job 1 was cancelled"},
		{"failure:failed", Wait{}, StateReady, ""},
		{"failure:cancelled", Wait{}, StateReady, ""},
		{"failure:completed", Wait{}, StateNotStarted, "job 1 completed"},
		{"either:completed", Wait{}, StateReady, ""},
		{"either:failed", Wait{}, StateReady, ""},
		{"either:not_started", Wait{}, StateNotStarted, "an earlier job failed"},
		{"end:not_started", Wait{}, StateReady, ""},
		{"success:completed success:", Wait{}, StateWaiting, ""},
		{"success: success:failed", Wait{}, StateNotStarted, "job 2 failed"},
		{"success:failed success:cancelled", Wait{}, StateNotStarted, "job 1 failed"},
		{"success:completed success:completed", Wait{}, StateReady, ""},
		{"success:completed success:", Wait{Any: true}, StateReady, ""},
		{"success:failed success:", Wait{Any: true}, StateWaiting, ""},
		{"success:failed success:failed", Wait{Any: true}, StateNotStarted, "job 1 failed"},
		{"success:failed success:completed", Wait{Any: true}, StateReady, ""},
		{"success:failed success:", Wait{AtEnd: true}, StateWaiting, ""},
		{"success:completed success:", Wait{Any: true, AtEnd: true}, StateWaiting, ""},
		{"success:failed success:completed", Wait{AtEnd: true}, StateNotStarted, "job 1 failed"},
		{"success:failed success:completed", Wait{Any: true, AtEnd: true}, StateReady, ""},
	} {
		edges := strings.Fields(test.edges)
		w := test.wait
		w.Open = len(edges)
		for i, edge := range edges {
			choice, ending, _ := strings.Cut(edge, ":")
			on, ok := ParseOn(choice)
			if !ok {
				t.Fatalf("%q is no choice", choice)
			}
			if ending != "" {
				w.Decide(Edge{On: on}, Ended{ID: int64(i + 1), State: end[ending], Reason: "an earlier job failed"})
			}
		}
		got, why := w.State(), ""
		if got == StateNotStarted {
			why = w.Why()
		}
		if got != test.want || why != test.why {
			t.Errorf("%s, any %v, at end %v: %v %q, want %v %q", test.edges, w.Any, w.AtEnd, got, why, test.want, test.why)
		}
	}
}

// TestWaitRunAt checks that a matched edge with a delay makes the job due later, and never earlier.
func TestWaitRunAt(t *testing.T) {
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	w := Wait{Open: 4, RunAt: noon.Add(time.Minute)}
	w.Decide(Edge{Delay: 30 * time.Second}, Ended{State: StateCompleted, At: noon})
	w.Decide(Edge{}, Ended{State: StateCompleted, At: noon.Add(time.Hour)})
	w.Decide(Edge{On: OnFailure, Delay: time.Hour}, Ended{State: StateCompleted, At: noon})
	if want := noon.Add(time.Minute); !w.RunAt.Equal(want) {
		t.Errorf("due at %v, want %v", w.RunAt, want)
	}
	w.Decide(Edge{Delay: 2 * time.Minute}, Ended{State: StateCompleted, At: noon})
	if want := noon.Add(2 * time.Minute); !w.RunAt.Equal(want) {
		t.Errorf("due at %v, want %v", w.RunAt, want)
	}
}

// TestLinksLater has the inserts that lock none of their older predecessors.
func TestLinksLater(t *testing.T) {
	job := func(edges ...Edge) NewJob { return NewJob{After: edges} }
	older, keyed := job(Edge{Job: 1}), job(Edge{Job: 1})
	keyed.Unique = "key"
	for name, test := range map[string]struct {
		req  InsertRequest
		want bool
	}{
		"one":                   {InsertRequest{Jobs: []NewJob{older}}, false},
		"one in a transaction":  {InsertRequest{Jobs: []NewJob{older}, Tx: callersTx{}}, true},
		"one with a key":        {InsertRequest{Jobs: []NewJob{keyed}}, true},
		"another has a key":     {InsertRequest{Jobs: []NewJob{older, {JobSpec: JobSpec{Unique: "key"}}}}, true},
		"many":                  {InsertRequest{Jobs: slices.Repeat([]NewJob{older}, linksAtOnce+1)}, true},
		"not so many":           {InsertRequest{Jobs: slices.Repeat([]NewJob{older}, linksAtOnce)}, false},
		"of the same insert":    {InsertRequest{Jobs: []NewJob{{}, job(Edge{Place: 1})}, Tx: callersTx{}}, false},
		"none in a transaction": {InsertRequest{Jobs: []NewJob{{}}, Tx: callersTx{}}, false},
		"of the same insert, and many, with keys": {InsertRequest{Jobs: append(slices.Repeat([]NewJob{{JobSpec: JobSpec{Unique: "key"}}}, 2_000), job(Edge{Place: 1}))}, false},
	} {
		if got := test.req.LinksLater(test.req.Jobs); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

type callersTx struct{}

func (callersTx) HourbellTx() {}

// TestCheckKnown has the predecessors about which nothing is known, and which matter.
func TestCheckKnown(t *testing.T) {
	jobs := []NewJob{{After: []Edge{{Job: 1}}}, {After: []Edge{{Place: 1}, {Job: 2}}}}
	for name, test := range map[string]struct {
		answers []Inserted
		known   int64 // the greatest number of a known job
		want    string
	}{
		"all are known":                           {make([]Inserted, 2), 2, ""},
		"one is unknown":                          {make([]Inserted, 2), 1, `"2"`},
		"both are unknown":                        {make([]Inserted, 2), 0, `"1"`},
		"the job is not stored":                   {[]Inserted{{}, {Existed: true}}, 1, ""},
		"another job is not stored":               {[]Inserted{{Existed: true}, {}}, 0, `"2"`},
		"a job that passed on its key was stored": {[]Inserted{{Conflict: ConflictAgain}, {}}, 0, `"1"`},
	} {
		err := CheckKnown(jobs, test.answers, func(id int64) bool { return id <= test.known })
		if (err == nil) != (test.want == "") || err != nil && (!errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
