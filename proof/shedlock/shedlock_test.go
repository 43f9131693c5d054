package shedlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hourbell/hourbell/lock"
)

// pair is the two sides of one lock.
type pair struct {
	ours   *ours
	theirs *theirs
	sides  [2]side
}

func newPair(t *testing.T, s store, j *java, provider string) *pair {
	t.Helper()
	name := "send statistics: " + t.Name()[max(0, len(t.Name())-40):]
	p := &pair{ours: newOurs(t, s.ours, name), theirs: newTheirs(t, j, provider, name, s.java)}
	p.sides = [2]side{p.ours, p.theirs}
	return p
}

// atLeastOrMost is the time that tests wait for, twice for each store.
const atLeastOrMost = 200 * time.Millisecond

func TestConcurrentWithShedLock(t *testing.T) {
	j := startJava(t)
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			opened := s.open(t)
			run := func(name string, test func(t *testing.T, p *pair)) {
				t.Run(name, func(t *testing.T) { test(t, newPair(t, opened, j, t.Name())) })
			}
			run("InTurn", inTurn)
			run("AtLeast", atLeast)
			run("Expiry", expiry)
			run("Counter", counter)
			run("Race", race)
		})
	}
}

// inTurn: each side in turn takes the lock, and the other side is refused until
// the lock is released. Hourbell writes the row first, and Java, which then
// caches that the row exists, never inserts it again.
func inTurn(t *testing.T, p *pair) {
	for turn := range 6 {
		holder, other := p.sides[turn%2], p.sides[1-turn%2]
		if !now(t, holder, time.Minute, 0) {
			t.Fatalf("turn %d: %s must get a lock that is free", turn, holder.name())
		}
		if now(t, other, time.Minute, 0) {
			t.Fatalf("turn %d: %s must not get what %s holds", turn, other.name(), holder.name())
		}
		holder.release(t)
	}
}

// atLeast: after an early release the lock still excludes the other side until
// the at-least time.
func atLeast(t *testing.T, p *pair) {
	for i, holder := range p.sides {
		sent := time.Now()
		if !now(t, holder, time.Minute, atLeastOrMost) {
			t.Fatalf("%s must get a lock that is free", holder.name())
		}
		holder.release(t)
		comesAfter(t, p.sides[1-i], sent)
	}
}

// expiry: an abandoned lock is taken over when its at-most time has passed, and
// not before. Its former holder can then no longer change it.
func expiry(t *testing.T, p *pair) {
	for i, holder := range p.sides {
		sent := time.Now()
		if !now(t, holder, atLeastOrMost, 0) {
			t.Fatalf("%s must get a lock that is free", holder.name())
		}
		comesAfterKeeping(t, p.sides[1-i], sent)
		if holder == side(p.ours) {
			p.checkLost(t)
		}
		p.sides[1-i].release(t)
	}
}

// checkLost checks that Hourbell's lock, which Java has taken over, is lost and
// stays Java's.
func (p *pair) checkLost(t *testing.T) {
	t.Helper()
	err := p.ours.held.Release(context.Background())
	if !errors.Is(err, lock.ErrLost) {
		t.Errorf("the release of a lock that Java has taken over must say that it was lost, not %v", err)
	}
	if now(t, p.ours, time.Minute, 0) {
		t.Error("a former holder's release freed its successor's lock")
	}
}

// comesAfter takes the lock as soon as it is free, which must not be before the
// end of the time that it is held for, and releases it.
func comesAfter(t *testing.T, s side, sent time.Time) {
	t.Helper()
	comesAfterKeeping(t, s, sent)
	s.release(t)
}

func comesAfterKeeping(t *testing.T, s side, sent time.Time) {
	t.Helper()
	for !now(t, s, time.Minute, 0) {
		if time.Since(sent) > atLeastOrMost+10*time.Second {
			t.Fatalf("%s must get a lock whose time has passed", s.name())
		}
		time.Sleep(5 * time.Millisecond)
	}
	// One of the sides uses whole milliseconds. On a busy machine the first attempt
	// may come after the time, and is not refused.
	if took := time.Since(sent); took < atLeastOrMost-time.Millisecond {
		t.Errorf("%s got the lock after %v, and must wait for %v", s.name(), took, atLeastOrMost)
	}
}

// counter: both sides repeatedly increment an unguarded number under the lock.
func counter(t *testing.T, p *pair) {
	const times = 20
	file := newCounter(t)
	for _, s := range p.sides {
		s.count(t, times, file)
	}
	for _, s := range p.sides {
		s.counted(t)
	}
	checkCounter(t, file, 2*times)
}

func newCounter(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "number")
	must(t, os.WriteFile(file, []byte("0"), 0o600))
	return file
}

func checkCounter(t *testing.T, file string, want int64) {
	t.Helper()
	got, err := number(file)
	must(t, err)
	if got != want {
		t.Errorf("a number raised %d times under the lock, without any other guard, is %d", want, got)
	}
}

// rounds returns how often the sides race.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HOURBELL_PROOF_ROUNDS")
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 20 {
		t.Fatalf("HOURBELL_PROOF_ROUNDS=%q: give a number from 20", text)
	}
	return n
}

// race: both sides request the lock at one instant; each time one side gets it.
// In each twentieth round the winner abandons the lock, and the next race is
// for the expired lock.
func race(t *testing.T, p *pair) {
	const abandoned = lock.MinAtMost
	total, file := rounds(t), newCounter(t)
	var wins, takeovers [2]int
	var start handicap
	when, former := time.Now(), -1
	for round := range total {
		atMost := time.Minute
		if round%20 == 19 {
			atMost = abandoned
		}
		winner := p.raceOnce(t, &start, when, atMost, file)
		wins[winner]++
		if former == 1-winner {
			takeovers[winner]++
		}
		when, former = time.Now(), -1
		if atMost == abandoned {
			when, former = when.Add(abandoned+5*time.Millisecond), winner
		} else {
			p.sides[winner].release(t)
		}
	}
	checkCounter(t, file, int64(total))
	t.Logf("wins: Go %d, Java %d; taken over from the other after expiry: Go %d, Java %d", wins[0], wins[1], takeovers[0], takeovers[1])
	for i, s := range p.sides {
		if wins[i] < total/5 {
			t.Errorf("%s won %d of %d rounds: that was no race", s.name(), wins[i], total)
		}
		if takeovers[i] == 0 && total >= 1_000 {
			t.Errorf("%s never took over a lock that the other had abandoned", s.name())
		}
	}
}

// raceOnce returns which side won.
func (p *pair) raceOnce(t *testing.T, start *handicap, when time.Time, atMost time.Duration, file string) (winner int) {
	t.Helper()
	delays := start.delays()
	when = when.Add(3 * time.Millisecond)
	for i, s := range p.sides {
		s.try(t, when.Add(delays[i]), atMost, 0, file)
	}
	first, second := p.sides[0].granted(t), p.sides[1].granted(t)
	if first == second {
		t.Fatalf("of two who come at once one must get the lock; Go: %v, Java: %v", first, second)
	}
	if second {
		winner = 1
	}
	start.won(winner)
	return winner
}

// handicap makes the side that won start a little later the next time, so that
// both requests reach the store at the same instant, however long each takes.
type handicap struct {
	lead time.Duration // how much later side 0 starts; negative: side 1
	step time.Duration
	last int // the last winner
}

// delays returns the delays of the two sides, with a random part.
func (h *handicap) delays() [2]time.Duration {
	lead := h.lead + time.Duration(rand.IntN(200)-100)*time.Microsecond
	return [2]time.Duration{max(lead, 0), max(-lead, 0)}
}

func (h *handicap) won(winner int) {
	const least, most = 50 * time.Microsecond, time.Millisecond
	if winner == h.last {
		h.step = min(max(h.step*3/2, least), most)
	} else {
		h.step = max(h.step/2, least)
	}
	h.last = winner
	if winner == 0 {
		h.lead += h.step
	} else {
		h.lead -= h.step
	}
}
