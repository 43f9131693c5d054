package store

import (
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
