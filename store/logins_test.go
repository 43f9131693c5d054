package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// TestRefusedLoginsAreRare checks that all callers together try one log-in in each LoginGap until a log-in is accepted.
func TestRefusedLoginsAreRare(t *testing.T) {
	var l store.Logins
	now := time.Now()
	refusal := errors.New("wrong password")
	for range 3 { // several pools begin at the same time
		if err := l.Begin(now); err != nil {
			t.Fatal(err)
		}
	}
	l.Refuse(now, refusal)
	begun := 0
	for range 7000 { // 70 s
		now = now.Add(10 * time.Millisecond)
		switch err := l.Begin(now); {
		case err == nil:
			begun++
			if begun%2 == 0 { // every other one is never answered
				l.Refuse(now, refusal)
			}
		case !errors.Is(err, refusal):
			t.Fatal(err)
		}
	}
	if begun != 14 {
		t.Errorf("%d log-ins in 70 s, want 14", begun)
	}
	l.Accept()
	for range 3 {
		if err := l.Begin(now); err != nil {
			t.Error(err)
		}
	}
}
