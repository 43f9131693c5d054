package store

import (
	"slices"
	"testing"
	"time"
)

func TestPausesNarrowClaims(t *testing.T) {
	pause := func(of PauseSubject, name string) Pause { return Pause{Subject: of, Name: name} }
	for name, test := range map[string]struct {
		pauses []Pause
		kinds  string // left, with exact jobs as their kind and =
		paused bool
	}{
		"no pause":          {kinds: "a b c="},
		"another queue":     {pauses: []Pause{pause(SubjectQueue, "p")}, kinds: "a b c="},
		"the queue":         {pauses: []Pause{pause(SubjectQueue, "q"), pause(SubjectQueue, "r")}, kinds: "a b c=", paused: true},
		"a kind":            {pauses: []Pause{pause(SubjectKind, "a"), pause(SubjectKind, "x")}, kinds: "b c="},
		"an exact kind":     {pauses: []Pause{pause(SubjectKind, "c")}, kinds: "a b"},
		"a group and a key": {pauses: []Pause{pause(SubjectGroup, "q"), pause(SubjectKey, "a")}, kinds: "a b c="},
	} {
		kinds := []string{"a", "b"}
		req := ClaimRequest{Queue: "q", Kinds: kinds, Exact: []ExactJob{{Kind: "c"}}}
		left, paused := req.Unpaused(test.pauses)
		got := ""
		for _, kind := range left.Kinds {
			got += kind + " "
		}
		for _, job := range left.Exact {
			got += job.Kind + "= "
		}
		if got != test.kinds+" " || paused != test.paused {
			t.Errorf("%s: left %q, paused %v", name, got, paused)
		}
		if !slices.Equal(kinds, []string{"a", "b"}) || len(req.Exact) != 1 {
			t.Errorf("%s: the request was changed to %v", name, kinds)
		}
	}
	if _, paused := (ClaimRequest{Queue: "q@h"}).Unpaused([]Pause{pause(SubjectQueue, "q")}); !paused {
		t.Error("the queue of a place is not paused with its queue")
	}
}

func TestStepsBeforeAClaim(t *testing.T) {
	exact := ClaimRequest{Exact: []ExactJob{{Kind: "k"}}}
	one, rows := ClaimWay{Digests: true}, ClaimWay{RowLocks: true} // as SQLite's and MySQL's
	last := func(w ClaimWay) ClaimWay { w.Last = true; return w }
	for name, test := range map[string]struct {
		step  PauseStep
		way   ClaimWay
		req   ClaimRequest
		again bool
	}{
		"nothing":                       {way: one},
		"few were parked":               {step: PauseStep{Parked: 3}, way: one},
		"very many were parked":         {step: PauseStep{Parked: 3, More: true}, way: last(one), again: true},
		"jobs became claimable":         {step: PauseStep{Released: 3}, way: one},
		"jobs that need digests":        {step: PauseStep{Released: 3}, way: last(one), req: exact, again: true},
		"rows: nothing":                 {way: rows},
		"rows: pauses are locked":       {step: PauseStep{Parked: 1}, way: rows, again: true},
		"rows: pauses, the last time":   {step: PauseStep{Parked: 1, Released: 1}, way: last(rows), req: exact},
		"rows: very many, in each step": {step: PauseStep{More: true}, way: last(rows), again: true},
	} {
		if again := test.step.Again(test.way, test.req); again != test.again {
			t.Errorf("pauses, %s: again %v", name, again)
		}
	}
	for name, test := range map[string]struct {
		step        LaneStep
		way         ClaimWay
		req         ClaimRequest
		again, soon bool
	}{
		"nothing is left":              {way: one},
		"more permits":                 {step: LaneStep{More: true}, way: one, again: true},
		"more jobs":                    {step: LaneStep{Left: true}, way: one, again: true},
		"more, the last time":          {step: LaneStep{More: true}, way: last(one), soon: true},
		"jobs became claimable":        {step: LaneStep{Released: true}, way: one},
		"jobs that need digests":       {step: LaneStep{Released: true}, way: one, req: exact, again: true},
		"such jobs, the last time":     {step: LaneStep{Released: true}, way: last(one), req: exact},
		"rows: more jobs":              {step: LaneStep{Left: true}, way: rows, req: ClaimRequest{Limit: 1}, again: true},
		"rows: enough jobs":            {step: LaneStep{Left: true, Claimable: 2}, way: rows, req: ClaimRequest{Limit: 2}, soon: true},
		"rows: enough in two steps":    {step: LaneStep{Left: true, Claimable: 1}, way: ClaimWay{RowLocks: true, Claimable: 1}, req: ClaimRequest{Limit: 2}, soon: true},
		"rows: too few jobs":           {step: LaneStep{Left: true, Claimable: 1}, way: rows, req: ClaimRequest{Limit: 2}, again: true},
		"rows: enough of the first":    {step: LaneStep{Left: true, Looked: 5, Waits: 3}, way: rows, req: ClaimRequest{Limit: 2}},
		"rows: too few of the first":   {step: LaneStep{Left: true, Looked: 5, Waits: 4}, way: rows, req: ClaimRequest{Limit: 2}, again: true},
		"rows: jobs, the last time":    {step: LaneStep{Left: true}, way: last(rows), soon: true},
		"rows: permits, the last time": {step: LaneStep{More: true}, way: last(rows), again: true},
		"rows: jobs became claimable":  {step: LaneStep{Released: true}, way: rows, req: exact},
	} {
		if again, soon := test.step.Again(test.way, test.req); again != test.again || soon != test.soon {
			t.Errorf("permits, %s: again %v, soon %v", name, again, soon)
		}
	}
}

func TestARateRefusesClaimsThatDoNotStart(t *testing.T) {
	for _, test := range []struct{ rated, starts, refuses bool }{{}, {rated: true, refuses: true}, {rated: true, starts: true}, {starts: true}} {
		if got := (LaneWork{Limited: true, Rated: test.rated}).Refuses(ClaimRequest{Starts: test.starts}); got != test.refuses {
			t.Errorf("rated %v, starts %v: refuses %v", test.rated, test.starts, got)
		}
	}
}

func TestWhatAClaimAsksFor(t *testing.T) {
	req := ClaimRequest{Limit: 2, Kinds: []string{"a"}, Exact: []ExactJob{{Kind: "b"}, {Kind: "a"}, {Kind: "b"}, {Kind: "c"}}}
	if kinds := req.ExactKinds(); !slices.Equal(kinds, []string{"b", "c"}) {
		t.Errorf("the kinds of exact jobs are %v", kinds)
	}
	suspects := req
	suspects.Suspects = true
	if !req.WantsNextDue(1) || req.WantsNextDue(2) || suspects.WantsNextDue(0) {
		t.Error("an answer has when the next job is due although it should not, or lacks it")
	}
}

func TestTheOrderOfClaims(t *testing.T) {
	noon := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	jobs := func() []Claimed {
		job := func(id int64, priority int16, late time.Duration) Claimed {
			return Claimed{ID: id, JobSpec: JobSpec{Priority: priority}, RunAt: noon.Add(late)}
		}
		return []Claimed{job(1, 5, 0), job(5, 1, 2*time.Second), job(4, 1, 2*time.Second), job(3, 1, time.Second), job(2, 9, 0)}
	}
	ids := func(jobs []Claimed) (ids []int64) {
		for i := range jobs {
			ids = append(ids, jobs[i].ID)
		}
		return ids
	}
	sorted := jobs()
	slices.SortFunc(sorted, CompareClaimed)
	if got := ids(sorted); !slices.Equal(got, []int64{3, 4, 5, 1, 2}) {
		t.Errorf("the order of claims is %v", got)
	}
	for most, want := range map[int][]int64{9: {1, 5, 4, 3, 2}, 5: {1, 5, 4, 3, 2}, 3: {1, 2, 3}, 0: nil} {
		if got := ids(LongestDue(jobs(), most)); !slices.Equal(got, want) {
			t.Errorf("of the longest due jobs, %d are %v", most, got)
		}
	}
}
