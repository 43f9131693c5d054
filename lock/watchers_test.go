package lock

import "testing"

// gotTurn reports whether a caller has a turn, and uses it.
func gotTurn(turn <-chan struct{}) bool {
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
	if !gotTurn(first) || gotTurn(first) || gotTurn(second) || gotTurn(other) {
		t.Error("one turn at a time, for the caller that has waited longest")
	}
	w.Wake("a")
	if removeFirst() {
		t.Error("a second caller waits still")
	}
	if !gotTurn(second) {
		t.Error("a turn that was not used must pass to the next caller")
	}
	if !removeSecond() || !removeOther() || len(w.Names()) != 0 {
		t.Error("a watcher is listed, and no caller waits")
	}
}
