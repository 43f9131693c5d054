package loop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/store"
)

// sharedPolls is the store.Connection.SharedPolls of these tests.
const sharedPolls = 15 * time.Second

// turns are the nodes of a cluster, which poll one queue as their turns decide.
type turns struct {
	nodes []*Wakes
	ended []bool
	polls []time.Duration // since the cluster began
	by    []int           // which node polled
	notes int             // how many polls had notes
	start time.Time
}

// newTurns returns a cluster of nodes that receive wake-ups.
func newTurns(n int) *turns {
	c := &turns{ended: make([]bool, n), start: time.Now()}
	for range n {
		w := NewWakes([]string{"a"}, time.Second, 10*time.Second, sharedPolls, RealAmbient{})
		w.SetPushed(true)
		w.JobTurn("a").SetWork("kinds a")
		c.nodes = append(c.nodes, w)
	}
	return c
}

// wake sends a wake-up to all nodes.
func (c *turns) wake(w store.Wake) {
	for i, node := range c.nodes {
		if !c.ended[i] {
			node.Wake(w)
		}
	}
}

// run polls for d, a millisecond after a poll is due at most, and returns the polls of that time and who made them.
func (c *turns) run(d time.Duration) (polls []time.Duration, by []int) {
	began := len(c.polls)
	for end := time.Now().Add(d); time.Now().Before(end); {
		due := Now().Add(time.Until(end))
		for i, node := range c.nodes {
			turn := node.JobTurn("a")
			if c.ended[i] {
				continue
			}
			if next := turn.Next(); next > Now() {
				due = min(due, next)
				continue
			}
			note := turn.Note()
			turn.Polled(note != "")
			c.polls, c.by = append(c.polls, time.Since(c.start)), append(c.by, i)
			if note != "" {
				c.notes++
				c.wake(store.Wake{Kind: store.WakePolled, Note: note})
			}
			due = Now()
		}
		time.Sleep(max(due.Sub(Now()), time.Millisecond))
	}
	return c.polls[began:], c.by[began:]
}

// longestGap returns the longest time without a poll.
func longestGap(polls []time.Duration) (gap time.Duration) {
	for i := 1; i < len(polls); i++ {
		gap = max(gap, polls[i]-polls[i-1])
	}
	return gap
}

func TestNodesShareTheirPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nodes = 20
		c := newTurns(nodes)
		polls, _ := c.run(9 * time.Minute)
		if n := len(polls); n > 9*6+9*nodes/2 {
			t.Errorf("%d idle nodes poll %d times in nine minutes", nodes, n)
		}
		if gap := longestGap(polls); gap > 12*time.Second+2*time.Millisecond {
			t.Errorf("for %v no node polls", gap)
		}
		if c.notes > 9*2+9*nodes/2 {
			t.Errorf("%d of the polls have notes", c.notes)
		}
		c.ended[c.by[len(c.by)-1]] = true // the node that polls
		last := c.polls[len(c.polls)-1]
		polls, _ = c.run(time.Minute)
		if gap := longestGap(append([]time.Duration{last}, polls...)); gap > 32*time.Second+2*time.Millisecond {
			t.Errorf("for %v no node polls after the node that polled has ended", gap)
		}
		c.wake(store.Wake{Kind: store.WakeWatch, Queue: "a"})
		polls, _ = c.run(14 * time.Second)
		if n := len(polls); n < 14 || n > 14*3/2 {
			t.Errorf("%d polls in 14 seconds in which wake-ups may be lost", n)
		}
		if gap := longestGap(polls); gap > watchPoll*12/10+2*time.Millisecond {
			t.Errorf("for %v no node polls, though wake-ups may be lost", gap)
		}
		c.wake(store.Wake{Kind: store.WakeWatch})
		c.run(2 * time.Second)
		c.ended[c.by[len(c.by)-1]] = true // the node that polls
		last = c.polls[len(c.polls)-1]
		polls, by := c.run(time.Second)
		if len(polls) == 0 || polls[0]-last >= time.Second || c.ended[by[0]] {
			t.Errorf("after the node that polled has ended, the next poll was after %v", append(polls, 0)[0]-last)
		}
		c.run(time.Minute)
		if polls, _ := c.run(time.Minute); len(polls) > 6+nodes {
			t.Errorf("%d polls in a minute, long after wake-ups might have been lost", len(polls))
		}
	})
}

// TestANodeThatSharesNoPolls checks that a node whose polls have no notes, because its claims leave jobs out, polls once
// in each interval.
func TestANodeThatSharesNoPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn, polls := newTurns(1).nodes[0].JobTurn("a"), 0
		for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(max(turn.Next().Until(), time.Millisecond)) {
			if turn.Next() <= Now() {
				polls++
				turn.Polled(false)
			}
		}
		if polls < 45 || polls > 60 {
			t.Errorf("%d polls in ten minutes, at an interval of ten seconds", polls)
		}
	})
}

func TestATurnIsSharedForTheSameWorkOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTurns(1).nodes[0]
		other := b.JobTurn("a")
		before := other.Next()
		time.Sleep(5 * time.Second)
		b.Wake(store.Wake{Kind: store.WakePolled, Note: "n kinds a"})
		if other.Next() <= before {
			t.Error("a poll of another node postpones nothing")
		}
		before = other.Next()
		time.Sleep(5 * time.Second)
		for _, work := range []string{"other kinds a", "kinds b", "kinds"} {
			b.Wake(store.Wake{Kind: store.WakePolled, Note: "n " + work})
		}
		b.Wake(store.Wake{Kind: store.WakePolled})
		b.Wake(store.Wake{Kind: store.WakeWatch, Queue: "b"})
		if other.Next() != before {
			t.Error("a poll for other work postpones the turn")
		}
	})
}

func TestATurnWithoutSharing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, shared := range map[string]time.Duration{"not shared": 0, "not pushed": sharedPolls} {
			w := NewWakes([]string{"a"}, time.Second, time.Second, shared, RealAmbient{})
			w.SetPushed(shared == 0)
			turn := w.JobTurn("a")
			waits := map[time.Duration]bool{}
			for range 5 {
				w.Wake(store.Wake{Kind: store.WakePolled, Note: "node " + "a"})
				w.Wake(store.Wake{Kind: store.WakeWatch})
				wait := turn.Next().Until()
				if wait < 9*time.Second/10 || wait > time.Second || turn.Note() != "" {
					t.Errorf("%s: the next poll is in %v, with the note %q", name, wait, turn.Note())
				}
				waits[wait] = true
				time.Sleep(time.Second)
				turn.Polled(false)
			}
			if len(waits) < 2 {
				t.Errorf("%s: all polls are after the same time, so that loops that began at once poll at once", name)
			}
		}
	})
}

func TestAStartIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTurns(1).nodes[0]
		turn := w.JobTurn("a")
		select {
		case <-turn.Changed():
		default:
		}
		w.Wake(store.Wake{Kind: store.WakeAll})
		select {
		case <-turn.Changed():
		default:
			t.Error("the loop is not told that it has to poll sooner")
		}
		if wait := turn.Next().Until(); wait > watchPoll*12/10 {
			t.Errorf("after a node begins to listen, its next poll is in %v", wait)
		}
		time.Sleep(watchAtStart)
		turn.Polled(true)
		if wait := turn.Next().Until(); wait != 10*time.Second {
			t.Errorf("the polls go on every %v", wait)
		}
	})
}
