package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hourbell/hourbell/check"
	"github.com/hourbell/hourbell/store"
)

// TestPlanOfHandlers checks which handlers puts change, and that the puts of a request count one after the other.
func TestPlanOfHandlers(t *testing.T) {
	a, b := store.Handler{Name: "a", On: store.HandleSuccess}, store.Handler{Name: "b", On: store.HandleFailure}
	full := store.Handlers{a}
	for i := range store.MaxHandlers - 2 {
		full = append(full, store.Handler{Name: fmt.Sprint(i)})
	}
	other := a
	other.On = store.HandleMissed
	for name, test := range map[string]struct {
		have    store.Handlers
		puts    []store.PutHandler
		changed []string
		err     error
	}{
		"new":           {nil, []store.PutHandler{{Handler: a}, {Handler: b}}, []string{"a", "b"}, nil},
		"unchanged":     {store.Handlers{a}, []store.PutHandler{{Handler: a}, {Handler: b}}, []string{"b"}, nil},
		"changed":       {store.Handlers{a, b}, []store.PutHandler{{Handler: other}}, []string{"a"}, nil},
		"only new":      {store.Handlers{a}, []store.PutHandler{{Handler: b}, {Handler: a, OnlyNew: true}}, nil, store.ErrExists},
		"the last free": {full, []store.PutHandler{{Handler: b}, {Handler: other}}, []string{"b", "a"}, nil},
		"one too many":  {full, []store.PutHandler{{Handler: b}, {Handler: store.Handler{Name: "c"}}}, nil, &check.FieldError{}},
	} {
		changed, err := test.have.Plan(test.puts)
		var field *check.FieldError
		if is := errors.Is(err, test.err) || test.err != nil && errors.As(test.err, &field) && errors.As(err, &field); !is {
			t.Errorf("%s: %v", name, err)
		}
		var names []string
		for _, h := range changed {
			names = append(names, h.Name)
		}
		if !slices.Equal(names, test.changed) {
			t.Errorf("%s: changes %v, want %v", name, names, test.changed)
		}
	}
}
