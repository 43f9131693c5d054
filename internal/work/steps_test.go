package work

import (
	"errors"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestRemembered has the rule of steps: what a program of a version takes when steps are stored. A step is a name, with a sort if it is no
// result, and with the version that has stored it.
func TestRemembered(t *testing.T) {
	stored := func(version int32, names ...string) (steps []store.Step) {
		for i, name := range names {
			sort := store.StepResult
			if strings.HasPrefix(name, "sleep") {
				sort = store.StepSleep
			}
			steps = append(steps, store.Step{Name: name, Place: int32(i + 1), Version: version, Sort: sort})
		}
		return steps
	}
	added := append(stored(1, "a", "b", "c"), store.Step{Name: "x", Place: 2, Version: 2})
	early := append(stored(1, "a"), store.Step{Name: "signal", Sort: store.StepResult})
	for _, test := range []struct {
		name    string
		stored  []store.Step
		version int32
		takes   []string
		skips   string // the names of the steps that were stored
		fails   string // a part of the error; empty: none
	}{
		{"nothing is stored", nil, 1, []string{"a", "b"}, "", ""},
		{"the same steps", stored(1, "a", "b"), 1, []string{"a", "b"}, "ab", ""},
		{"further steps", stored(1, "a"), 1, []string{"a", "b"}, "a", ""},
		{"a name twice", nil, 1, []string{"a", "a"}, "", "used twice"},
		{"another name", stored(1, "a", "b"), 1, []string{"a", "x"}, "a", `step 2 is the step "x" now, and the job has stored the step "b"`},
		{"another order", stored(1, "a", "b"), 1, []string{"b", "a"}, "", `step 1 is the step "b" now, and the job has stored the step "a"`},
		{"a step in a later place", stored(1, "a"), 1, []string{"x", "a"}, "", "StepsVersion(2)"},
		{
			"a step that was added behind", append(stored(1, "a"), store.Step{Name: "c", Place: 3, Version: 1}), 1,
			[]string{"a", "c"},
			"a",
			`step 2 is the step "c" now, and the job has stored the step "c" in place 3`,
		},
		{"a step too few", stored(1, "a", "b", "c"), 1, []string{"a"}, "a", `step 2 is not taken now, and the job has stored the step "b"`},
		{"the remedy", stored(1, "a", "b"), 1, []string{"x"}, "", `retry the job from step "a"`},
		{"another sort", stored(1, "sleep"), 1, []string{"sleep"}, "", `step 1 is the step "sleep" now, and the job has stored the sleep "sleep"`},
		{"a signal that came first", early, 1, []string{"a", "signal"}, "asignal", ""},
		{"a signal that is not awaited", early, 1, []string{"a"}, "a", ""},

		{"version 2 adds a step", stored(1, "a", "b"), 2, []string{"a", "x", "b"}, "ab", ""},
		{"version 2 has another order", stored(1, "a", "b"), 2, []string{"b", "a"}, "ba", ""},
		{"version 2 lacks a step", stored(1, "a", "b"), 2, []string{"a"}, "a", ""},
		{"version 2 lacks all steps but a new step", stored(1, "a", "b"), 2, []string{"x"}, "", ""},
		{"version 2 after version 2", added, 2, []string{"a", "x", "c"}, "axc", ""},
		{"version 2 unlike version 2", added, 2, []string{"a", "c"}, "a", `step 2 is the step "c" now, and the job has stored the step "x"`},
		{"version 3 after version 2", added, 3, []string{"c", "b"}, "cb", ""},
		{"version 2, a name of another sort", stored(1, "sleep"), 2, []string{"sleep"}, "", "give the new step another name"},
		{"version 1 after version 2", stored(2, "a", "b"), 1, []string{"a", "c"}, "a", "a program of version 2 has stored it, and this program has version 1"},
		{"version 1 after version 2, the same steps", stored(2, "a", "b"), 1, []string{"a", "b"}, "ab", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := rememberedOf(test.stored, test.version)
			skips := ""
			var err error
			for _, name := range test.takes {
				var step *store.Step
				if step, err = m.take(name, store.StepResult); err != nil {
					break
				}
				if step != nil {
					skips += step.Name
				}
			}
			if err == nil {
				err = m.left()
			}
			if skips != test.skips {
				t.Errorf("it skips %q, want %q", skips, test.skips)
			}
			switch {
			case test.fails == "" && err != nil:
				t.Error(err)
			case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("the error is %v, want %q in it", err, test.fails)
			case err != nil && test.name != "a name twice" && !errors.Is(err, ErrStepsChanged):
				t.Errorf("%v is not ErrStepsChanged", err)
			}
		})
	}
}
