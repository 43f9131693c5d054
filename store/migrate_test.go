package store

import (
	"errors"
	"strings"
	"testing"
)

// TestCheckSteps compares applied steps with the steps of a release.
func TestCheckSteps(t *testing.T) {
	steps := []Migration{{Version: 1, Name: "tables"}, {Version: 2, Name: "tags"}}
	for _, test := range []struct {
		applied []Migration
		problem string // a part of the error; empty: there is none
	}{
		{nil, ""},
		{steps[:1], ""},
		{steps, ""},
		{append(steps[:2:2], Migration{Version: 3, Name: "of a later release"}), ""},
		{[]Migration{{Version: 1, Name: "schema"}}, `step 1 is "schema", not "tables"`},
		{[]Migration{{Version: 1, Name: "tables"}, {Version: 2, Name: "failing"}}, `step 2 is "failing", not "tags"`},
		{[]Migration{{Version: 0, Name: "init"}}, "no step of hourbell"},
		{[]Migration{{Version: -1}, {Version: 1, Name: "tables"}}, "no step of hourbell"},
	} {
		err := CheckSteps(test.applied, steps, "drop it")
		switch {
		case test.problem == "" && err != nil:
			t.Errorf("%+v: %v", test.applied, err)
		case test.problem != "" && (!errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), test.problem)):
			t.Errorf("%+v: %v; want an error with %s", test.applied, err, test.problem)
		}
	}
}
