package intercept_test

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/event"
	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
	"github.com/hourbell/hourbell/store/storetest"
)

var errBroken = errors.New("broken")

// able is a store with abilities that memory lacks.
type able struct{ *memory.Store }

func (able) Claim(context.Context, store.ClaimRequest) (store.ClaimResult, error) {
	return store.ClaimResult{}, errBroken
}

func (able) CarryOut(context.Context, store.CarryOutRequest) error { return errBroken }
func (able) Connection() store.Connection                          { return store.Connection{PoolSize: 7} }

var word = regexp.MustCompile("[A-Z][a-z]+")

// repeating is a store that begins transactions again.
type repeating struct{ *memory.Store }

func (repeating) Now(ctx context.Context) (now time.Time, err error) {
	store.Repeated(ctx)
	store.Repeated(ctx)
	return now, err
}

// TestRepeatsAreReported checks that a call has the number of its own transactions that were begun again.
func TestRepeatsAreReported(t *testing.T) {
	var seen []event.Call
	b := intercept.Timed(repeating{memory.New()}, func(c event.Call) { seen = append(seen, c) })
	for range 2 {
		_, err := b.Now(t.Context())
		if call := seen[len(seen)-1]; err != nil || call.Repeats != 2 {
			t.Errorf("%+v, want 2 repeats: %v", call, err)
		}
	}
	store.Repeated(t.Context()) // without a counter
}

// TestEveryCallIsReported calls each method of a store, and of its abilities that do work, with empty
// requests.
func TestEveryCallIsReported(t *testing.T) {
	var seen []event.Call
	b := intercept.Timed(able{memory.New()}, func(c event.Call) { seen = append(seen, c) })
	call := func(receiver any, role reflect.Type) {
		for i := range role.NumMethod() {
			name := role.Method(i).Name
			method := reflect.ValueOf(receiver).MethodByName(name)
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for at := 1; at < method.Type().NumIn(); at++ {
				args = append(args, reflect.New(method.Type().In(at)).Elem())
			}
			seen = nil
			out := method.Call(args)
			want := strings.ToLower(strings.Join(word.FindAllString(name, -1), "_"))
			switch name {
			case "List", "Delete":
				want += "_audit"
			case "Put":
				want = "put_limits"
			}
			err, _ := out[len(out)-1].Interface().(error)
			if len(seen) != 1 || seen[0].Operation != want || seen[0].Took < 0 || !errors.Is(seen[0].Err, err) {
				t.Errorf("%s: %+v, want %s and %v", name, seen, want, err)
			}
		}
	}
	call(b, reflect.TypeFor[store.Backend]())
	deferring, _ := store.Able[store.Deferring](b)
	call(deferring, reflect.TypeFor[store.Deferring]())
}

// TestAbilitiesPassThrough compares the abilities of a backend with the abilities of the backend below.
func TestAbilitiesPassThrough(t *testing.T) {
	ignore := func(event.Call) {}
	for _, below := range []store.Backend{able{memory.New()}, memory.New(), storetest.Plain(memory.New())} {
		abilities := func(b store.Backend) (names []string) {
			for _, a := range storetest.Abilities() {
				if a.Of(b) {
					names = append(names, a.Name)
				}
			}
			return names
		}
		if got, want := abilities(intercept.Timed(below, ignore)), abilities(below); !slices.Equal(got, want) {
			t.Errorf("%T has the abilities %v; below are %v", below, got, want)
		}
	}
	if store.ConnectionOf(intercept.Timed(able{memory.New()}, ignore)).PoolSize != 7 {
		t.Error("another backend answers")
	}
}
