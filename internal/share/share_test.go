package share_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/share"
)

// TestDo lets many callers ask during a call: they share the next call, which begins after all of them have asked.
func TestDo(t *testing.T) {
	var g share.Group[string, int]
	began, goOn := make(chan int), make(chan bool)
	calls := 0 // one at a time
	call := func() int {
		calls++
		began <- calls
		<-goOn
		return calls
	}
	var all sync.WaitGroup
	do := func(ctx context.Context, key string, want int, wantOK bool) {
		all.Go(func() {
			if got, ok := g.Do(ctx, key, call); got != want || ok != wantOK {
				t.Errorf("a caller got %d, %v, want %d, %v", got, ok, want, wantOK)
			}
		})
	}
	asked := func(callers int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); g.Callers() != callers; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d callers wait, want %d", g.Callers(), callers)
			}
		}
	}
	do(t.Context(), "a", 1, true)
	<-began
	const many = 100
	for range many {
		do(t.Context(), "a", 2, true)
	}
	asked(many + 1)
	left, leave := context.WithCancel(t.Context())
	do(left, "a", 0, false)
	asked(many + 2)
	leave() // the caller does not wait, and the others do
	asked(many + 1)
	goOn <- true
	<-began
	goOn <- true
	all.Wait()
	if asked(0); calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}

func TestCallsOfOtherKeysDoNotWait(t *testing.T) {
	var g share.Group[string, string]
	got, ok := g.Do(t.Context(), "a", func() string {
		inner, _ := g.Do(t.Context(), "b", func() string { return "inner" })
		return "outer " + inner
	})
	if got != "outer inner" || !ok {
		t.Errorf("got %q, %v", got, ok)
	}
}

func TestPanic(t *testing.T) {
	var g share.Group[string, int]
	func() {
		defer func() { _ = recover() }()
		g.Do(t.Context(), "a", func() int { panic("lost") })
	}()
	if got, ok := g.Do(t.Context(), "a", func() int { return 7 }); got != 7 || !ok {
		t.Errorf("after a panic: %d, %v", got, ok)
	}
}
