package work

import (
	"testing"

	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/store"
)

func TestOnlyListedJobsOfRestrictedKindsRun(t *testing.T) {
	r := newRunner(t, nil, Config{Kinds: []string{"free"}, Restricted: []string{"tell"}})
	args := []byte(`{"a":1}`)
	if r.MayRun("tell", args) || !r.MayRun("free", args) {
		t.Error("without a list, jobs of restricted kinds do not run, and other jobs run")
	}
	r.SetAllowList([]AllowedJob{{ExactJob: store.NewExactJob("tell", args)}})
	if !r.MayRun("tell", args) || r.MayRun("tell", []byte(`{"a":2}`)) {
		t.Error("exactly the listed jobs run")
	}
	r.SetAllowList(nil)
	if r.MayRun("tell", args) {
		t.Error("a job runs that is no longer listed")
	}
}

// Only jobs of restricted kinds that are allowed as hooks get the header with the hook event,
// because anyone who can write to the store can write headers.
func TestOnlyHooksSeeWhatTheyAreAbout(t *testing.T) {
	r := newRunner(t, nil, Config{Restricted: []string{"tell"}})
	exact := store.NewExactJob("tell", []byte(`{"a":1}`))
	job := func(kind, args string) *store.Claimed {
		return &store.Claimed{JobSpec: store.JobSpec{Kind: kind, Args: []byte(args), Headers: []byte(`{"hourbell-hook":"{}","trace":"x"}`)}}
	}
	for _, test := range []struct {
		name       string
		allowed    []AllowedJob
		job        *store.Claimed
		runs, hook bool
	}{
		{"empty list", nil, job("tell", `{"a":1}`), false, true},
		{"other args", []AllowedJob{{exact, true}}, job("tell", `{"a": 1}`), false, true},
		{"as a schedule's", []AllowedJob{{exact, false}}, job("tell", `{"a":1}`), true, false},
		{"as a hook's", []AllowedJob{{exact, true}}, job("tell", `{"a":1}`), true, true},
		{"as both", []AllowedJob{{exact, true}, {exact, false}}, job("tell", `{"a":1}`), true, true},
		{"a kind without restriction", nil, job("free", `{"a":1}`), true, true},
	} {
		r.SetAllowList(test.allowed)
		runs := r.allow(test.job)
		headers := plan.Headers(test.job.Headers)
		if _, hook := headers[store.HookHeader]; runs != test.runs || hook != test.hook || headers["trace"] != "x" {
			t.Errorf("%s: runs %v, headers %v", test.name, runs, headers)
		}
	}
}
