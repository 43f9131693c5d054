package store

import (
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/hourbell/hourbell/check"
)

func TestLimitMatches(t *testing.T) {
	job := JobSpec{Queue: "q", Kind: "k", Key: "c"}
	other := JobSpec{Queue: "r", Kind: "l"}
	for _, test := range []struct {
		limit       Limit
		job, other  bool
		lane        string
		wholeQueue  bool
		description string
	}{
		{Limit{Queue: "q"}, true, false, "", true, "a queue"},
		{Limit{Kind: "k"}, true, false, "", false, "a kind"},
		{Limit{Queue: "q", ByKey: true}, true, false, "c", false, "each key of a queue"},
		{Limit{Queue: "q", Kind: "l"}, false, false, "", false, "a kind within a queue"},
		{Limit{Queue: "q", Kind: "k"}, true, false, "", false, "a kind within a queue"},
		{Limit{ByKey: true}, true, false, "c", false, "each key"},
		{Limit{ByKey: true, Queue: "r"}, false, false, "c", false, "each key of a queue: a job without a key is not limited"},
	} {
		l := test.limit
		for queue, in := range map[string]bool{"q": true, "q@host": true, "q-2": false, "qq@host": false} {
			job := job
			job.Queue = queue
			if got, want := l.Matches(&job), test.job && (in || l.Queue == ""); got != want {
				t.Errorf("%s: Matches(%+v) = %t", test.description, job, got)
			}
		}
		if got := l.Matches(&other); got != test.other {
			t.Errorf("%s: Matches(%+v) = %t", test.description, other, got)
		}
		if got := l.Lane(&job); got != test.lane {
			t.Errorf("%s: Lane = %q, want %q", test.description, got, test.lane)
		}
		if got := l.WholeQueue(); got != test.wholeQueue {
			t.Errorf("%s: WholeQueue = %t", test.description, got)
		}
	}
}

func TestKeepPermit(t *testing.T) {
	job := JobSpec{Queue: "q", Kind: "k", Key: "c"}
	strict, plain := Limit{ByKey: true, Concurrency: 1, Strict: true}, Limit{Kind: "k", Concurrency: 1}
	rated, other := Limit{Queue: "q", Kind: "k", Rate: 1}, Limit{Kind: "l", Concurrency: 1, Strict: true}
	for _, test := range []struct {
		limits Limits
		want   bool
	}{
		{nil, false},
		{Limits{plain}, false},
		{Limits{strict}, true},
		{Limits{plain, strict}, true},
		{Limits{strict, rated}, false},
		{Limits{plain, other}, false},
	} {
		if got := test.limits.KeepPermit(&job); got != test.want {
			t.Errorf("under the limits %+v a job keeps its permits: %t, want %t", test.limits, got, test.want)
		}
	}
}

func TestLimitWords(t *testing.T) {
	for want, l := range map[string]Limit{
		"queue api: 10/s burst 20":                   {Queue: "api", Rate: 10, Per: time.Second, Burst: 20},
		"kind export, each key: 1 at a time, strict": {Kind: "export", ByKey: true, Concurrency: 1, Strict: true},
		"queue q, kind k: 3 at a time, 5/24h":        {Queue: "q", Kind: "k", Concurrency: 3, Rate: 5, Per: 24 * time.Hour, Burst: 1},
		"each key: 2 at a time, weights a=2 b=3":     {ByKey: true, Concurrency: 2, Weights: map[string]int{"b": 3, "a": 2}},
		"each key: 1 at a time, weights a=2 b=2 c=2 d=2 e=2 and 2 more": {
			ByKey: true, Concurrency: 1, Weights: map[string]int{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2, "g": 2},
		},
	} {
		if got := l.Words(); got != want {
			t.Errorf("the words are %q, want %q", got, want)
		}
	}
}

func TestLimitWidth(t *testing.T) {
	l := Limit{ByKey: true, Concurrency: 2, Weights: map[string]int{"a": 3}}
	if a, b := l.Width("a"), l.Width("b"); a != 6 || b != 2 {
		t.Errorf("the widths are %d and %d, want 6 and 2", a, b)
	}
	if got := (&Limit{Rate: 1}).Width(""); got != 0 {
		t.Errorf("a limit without concurrency has the width %d, want no bound", got)
	}
}

func TestWeightsAreKept(t *testing.T) {
	for _, weights := range []map[string]int{nil, {"a": 2, "ü\"": 3}} {
		l := Limit{Weights: weights}
		var back Limit
		if err := back.DecodeWeights(l.EncodeWeights()); err != nil || !reflect.DeepEqual(back.Weights, weights) {
			t.Errorf("the weights %v came back as %v, %v", weights, back.Weights, err)
		}
	}
}

func TestPlanLimits(t *testing.T) {
	all := Limits{{ID: 1, Name: "a", Owner: "o", Revision: 5, Queue: "q", Concurrency: 1}, {ID: 2, Name: "b", Owner: "o", Queue: "q", Concurrency: 1}, {ID: 3, Name: "c", Kind: "k", Rate: 1}}
	plan := func(owner string, puts ...PutLimit) LimitChange {
		t.Helper()
		change, err := PlanLimits(all, puts, owner)
		if err != nil {
			t.Fatal(err)
		}
		return change
	}
	same := PutLimit{Limit: Limit{Name: "a", Owner: "o", Queue: "q", Concurrency: 1}}
	wider, moved := same, same
	wider.Limit.Concurrency, moved.Limit.Kind = 2, "k"
	added := PutLimit{Limit: Limit{Name: "n", Queue: "q", Concurrency: 1}}
	for _, test := range []struct {
		what    string
		change  LimitChange
		write   []int64 // IDs
		end     []int64
		deleted []string
	}{
		{"an unchanged limit", plan("", same), nil, []int64{}, nil},
		{"a changed limit keeps its row", plan("", wider), []int64{1}, []int64{}, nil},
		{"another scope is another row", plan("", moved), []int64{0}, []int64{1}, nil},
		{"a new limit", plan("", added), []int64{0}, []int64{}, nil},
		{"the others of an owner end", plan("o", same), nil, []int64{2}, []string{"b"}},
		{"an empty set", plan("o"), nil, []int64{1, 2}, []string{"a", "b"}},
	} {
		var write []int64
		for _, l := range test.change.Write {
			write = append(write, l.ID)
		}
		if !reflect.DeepEqual(write, test.write) || !reflect.DeepEqual(test.change.EndIDs(), test.end) || !reflect.DeepEqual(test.change.Deleted(), test.deleted) {
			t.Errorf("%s: writes %v, ends %v, deletes %v; want %v, %v, %v", test.what, write, test.change.EndIDs(), test.change.Deleted(), test.write, test.end, test.deleted)
		}
	}
	for what, put := range map[string]PutLimit{
		"a wrong revision":          {Limit: same.Limit, IfRevision: 4},
		"a limit of another owner":  {Limit: Limit{Name: "a", Queue: "q", Concurrency: 1}},
		"a revision of a new limit": {Limit: added.Limit, IfRevision: 1},
	} {
		if _, err := PlanLimits(all, []PutLimit{put}, ""); !errors.Is(err, ErrConflict) {
			t.Errorf("%s: %v, want a conflict", what, err)
		}
	}
}

func TestPlanLimitsAtMost(t *testing.T) {
	var all Limits
	for i := range MaxLimits {
		all = append(all, Limit{ID: int64(i) + 1, Name: strconv.Itoa(i), Owner: "o", Queue: "q"})
	}
	more := []PutLimit{{Limit: Limit{Name: "n", Owner: "o", Queue: "q"}}}
	var field *check.FieldError
	if _, err := PlanLimits(all, more, ""); !errors.As(err, &field) {
		t.Errorf("limit number %d: %v", MaxLimits+1, err)
	}
	if _, err := PlanLimits(all, more, "o"); err != nil {
		t.Errorf("a smaller set in place of the whole: %v", err)
	}
}
