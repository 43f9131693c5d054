package lock

import "testing"

// turned reports whether a caller has a turn, and uses it.
func turned(turn <-chan struct{}) bool {
	select {
	case <-turn:
		return true
	default:
		return false
	}
}

func TestWatchersTakeTurns(t *testing.T) {
	var w Watchers
	w.Wake("a") // no caller waits
	first, removeFirst := w.Add("a")
	second, removeSecond := w.Add("a")
	other, removeOther := w.Add("b")
	w.Wake("a")
	w.Wake("a")
	if !turned(first) || turned(first) || turned(second) || turned(other) {
		t.Error("one turn at a time, for the caller that has waited longest")
	}
	w.Wake("a")
	if removeFirst() {
		t.Error("a second caller waits still")
	}
	if !turned(second) {
		t.Error("a turn that was not used must pass to the next caller")
	}
	if !removeSecond() || !removeOther() || len(w.Names()) != 0 {
		t.Error("a watcher is listed, and no caller waits")
	}
}
