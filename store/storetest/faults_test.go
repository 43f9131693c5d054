package storetest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hourbell/hourbell/store"
)

// TestEveryMethodHasAFaultCall compares the calls of RunFaults with the methods of the contract.
func TestEveryMethodHasAFaultCall(t *testing.T) {
	have := map[string]bool{}
	for _, call := range faultCalls {
		method, _, _ := strings.Cut(call.name, "/")
		have[method] = true
	}
	for method := range notInFaultCalls {
		if have[method] {
			t.Errorf("%s is left out of the calls, and among them", method)
		}
		have[method] = true
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[store.Backend](), reflect.TypeFor[store.Connected](), reflect.TypeFor[store.Deferring](),
		reflect.TypeFor[store.Flusher](), reflect.TypeFor[store.Listener](), reflect.TypeFor[store.Migrator](),
	} {
		for i := range of.NumMethod() {
			if name := of.Method(i).Name; !have[name] {
				t.Errorf("no call of RunFaults is a call of %s.%s", of.Name(), name)
			}
		}
	}
	if n := len(Abilities()); n != 5 {
		t.Errorf("there are %d abilities: add the methods of a new ability above", n)
	}
}
