package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSnapshotsTellWhatHasEnded(t *testing.T) {
	const most = "18446744073709551615"
	s, err := parseSnapshot("10:20:10,15,17")
	must(t, err)
	for xid := uint64(1); xid < 30; xid++ {
		want := xid < 20 && xid != 10 && xid != 15 && xid != 17
		if got := s.ended(xid); got != want {
			t.Errorf("10:20:10,15,17: transaction %d has ended: %v", xid, got)
		}
	}
	if s, err := parseSnapshot("7:7:"); err != nil || !s.ended(6) || s.ended(7) || s.ended(1<<63) {
		t.Errorf("7:7 is read as %+v, %v", s, err)
	}
	if s, err := parseSnapshot(most + ":" + most + ":"); err != nil || !s.ended(1<<64-2) {
		t.Errorf("a snapshot of great numbers is read as %+v, %v", s, err)
	}
	for _, text := range []string{"", "1", "a:2:", "1:b:", "1:2:c", "1:2:3,"} {
		if s, err := parseSnapshot(text); err == nil && text != "1:2:3," {
			t.Errorf("%q is read as %+v", text, s)
		}
	}
}

// fakeServer is a commitServer whose transactions a test begins and ends.
type fakeServer struct {
	mu       sync.Mutex
	start    time.Time
	next     uint64
	running  map[uint64]bool
	identity string
	err      error // of look
	sendErr  error
	looks    int
	sent     []sentWake
	here     []string
}

func newFakeServer() *fakeServer {
	return &fakeServer{start: time.Now(), next: 100, running: map[uint64]bool{}, identity: "first"}
}

func (s *fakeServer) look(context.Context) (seen snapshot, identity string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	seen = snapshot{min: s.next, max: s.next}
	for xid := range s.running {
		seen.min = min(seen.min, xid)
		seen.running = append(seen.running, xid)
	}
	slices.Sort(seen.running)
	return seen, s.identity, s.err
}

func (s *fakeServer) send(_ context.Context, payloads []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sendErr == nil {
		s.sent = append(s.sent, sentWake{time.Since(s.start), slices.Sorted(slices.Values(payloads))})
	}
	return s.sendErr
}

func (s *fakeServer) wakeHere(payload string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here = append(s.here, payload)
}

func (s *fakeServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// insert inserts in a new transaction and reports whether it notifies itself.
func (s *fakeServer) insert(c *commitWakes, payload string) (xid uint64, notifies bool) {
	s.set(func() {
		xid = s.next
		s.next++
		s.running[xid] = true
	})
	if notifies = c.take(payload); !notifies {
		c.remember(xid, payload)
	}
	return xid, notifies
}

func (s *fakeServer) end(xid uint64) { s.set(func() { delete(s.running, xid) }) }

// remembered returns how many transactions are remembered.
func remembered(c *commitWakes) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

func loopRuns(c *commitWakes) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// looked returns how many looks there were.
func (s *fakeServer) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// sends returns how many messages had a payload.
func (s *fakeServer) sends(payload string) (n int, last time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sent {
		if slices.Contains(one.payloads, payload) {
			n, last = n+1, one.at
		}
	}
	return n, last
}

// burst makes c remember transactions of a queue.
func (s *fakeServer) burst(t *testing.T, c *commitWakes, payload string) {
	t.Helper()
	for range 2 {
		xid, notifies := s.insert(c, payload)
		if !notifies {
			t.Error("a transaction is remembered before the nodes have been told to watch")
		}
		s.end(xid)
	}
	synctest.Wait()
	if n, _ := s.sends("w" + payload[1:]); n != 1 {
		t.Errorf("a burst was announced %d times", n)
	}
}

func TestABurstOfCommitsIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		c := newCommitWakes(s)
		for range 3 { // a trickle: each notifies, and no loop runs
			xid, notifies := s.insert(c, "ja")
			s.end(xid)
			time.Sleep(commitGap)
			if !notifies {
				t.Error("an insert after a pause does not notify")
			}
		}
		if len(s.sent) > 0 || s.looked() > 0 {
			t.Errorf("a trickle of inserts sends %v and looks %d times", s.sent, s.looked())
		}
		s.burst(t, c, "ja")
		committed, notifies := s.insert(c, "ja")
		open, _ := s.insert(c, "ja")
		if notifies {
			t.Fatal("a burst of inserts is not remembered")
		}
		s.end(committed)
		at := time.Since(s.start)
		time.Sleep(2 * lookEvery)
		if n, last := s.sends("ja"); n != 1 || last-at > lookEvery {
			t.Errorf("%d wake-ups after a commit, the last %v later", n, last-at)
		}
		time.Sleep(50 * time.Millisecond)
		if n, _ := s.sends("ja"); n != 1 || remembered(c) != 1 {
			t.Errorf("%d wake-ups after one commit, %d transactions are remembered", n, remembered(c))
		}
		s.end(open)
		time.Sleep(lookAtMost)
		if n, _ := s.sends("ja"); n != 2 || len(s.here) != 2 {
			t.Errorf("%d wake-ups after two commits, %d in this process", n, len(s.here))
		}
		synctest.Wait()
		if loopRuns(c) {
			t.Error("the loop runs, though nothing is remembered")
		}
		c.close()
	})
}

func TestQueuesAreAnnouncedEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		c := newCommitWakes(s)
		s.burst(t, c, "ja")
		if _, notifies := s.insert(c, "jb"); !notifies {
			t.Error("a transaction of a queue is remembered that was not announced")
		}
		synctest.Wait()
		if _, notifies := s.insert(c, "jb"); notifies {
			t.Error("a transaction of an announced queue is not remembered")
		}
		c.close()
	})
}

func TestALongTransactionIsLookedForLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		c := newCommitWakes(s)
		s.burst(t, c, "ja")
		xid, _ := s.insert(c, "ja")
		time.Sleep(time.Second)
		if s.looked() < 20 || s.looked() > 60 {
			t.Errorf("%d looks in the first second", s.looked())
		}
		before := s.looked()
		time.Sleep(time.Minute)
		if got, most := s.looked()-before, int(time.Minute/lookAtMost); got > most+1 || got < most-1 {
			t.Errorf("%d looks in a minute, want %d", got, most)
		}
		if n, last := s.sends("wa"); n < int(time.Minute/announceEvery) || time.Since(s.start)-last > announceEvery+lookAtMost {
			t.Errorf("a transaction that is open for a minute was announced %d times", n)
		}
		young, _ := s.insert(c, "jb") // notifies, being the first after a pause
		s.end(young)
		s.insert(c, "ja")
		before = s.looked()
		time.Sleep(10 * time.Millisecond)
		if got := s.looked() - before; got < 2 {
			t.Errorf("%d looks in 10 ms for a transaction that has just begun, because another one is old", got)
		}
		s.end(xid)
		time.Sleep(2 * lookAtMost)
		if n, _ := s.sends("ja"); n != 1 {
			t.Errorf("%d wake-ups for a transaction that was open for a minute", n)
		}
		c.close()
	})
}

func TestNothingIsRememberedWithoutAnAnnouncement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		s.sendErr = errors.New("no connection")
		c := newCommitWakes(s)
		for range 1000 {
			if _, notifies := s.insert(c, "ja"); !notifies {
				t.Fatal("a transaction is remembered, and the nodes do not know")
			}
			time.Sleep(time.Millisecond)
		}
		s.set(func() { s.sendErr = nil })
		time.Sleep(announceAgain)
		for range 3 {
			s.insert(c, "ja")
			synctest.Wait()
		}
		if remembered(c) == 0 {
			t.Error("nothing is remembered after the database is back")
		}
		c.close()
	})
}

func TestAnAnnouncementExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		c := newCommitWakes(s)
		s.burst(t, c, "ja")
		time.Sleep(deferTime)
		s.insert(c, "ja")
		if _, notifies := s.insert(c, "ja"); !notifies {
			t.Error("a transaction is remembered long after the announcement")
		}
		synctest.Wait()
		if _, notifies := s.insert(c, "ja"); notifies {
			t.Error("the next burst is not remembered")
		}
		c.close()
	})
}

func TestABrokenConnectionLosesNothing(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		t.Run(fmt.Sprint("another server: ", replaced), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeServer()
				c := newCommitWakes(s)
				s.burst(t, c, "ja")
				open, _ := s.insert(c, "ja")
				ended, _ := s.insert(c, "ja")
				time.Sleep(2 * lookEvery)
				s.set(func() { s.err = errors.New("broken") })
				s.end(ended)
				time.Sleep(time.Second)
				if _, notifies := s.insert(c, "ja"); !notifies {
					t.Error("an insert does not notify, though the loop cannot look")
				}
				if _, notifies := s.insert(c, "ja"); !notifies {
					t.Error("an insert of a burst does not notify, though the loop cannot look")
				}
				s.set(func() {
					s.err = nil
					if replaced {
						s.identity = "second"
					}
				})
				time.Sleep(2 * lookPause)
				want := 1 // the open one
				if replaced {
					want = 0
				}
				if n, _ := s.sends("ja"); n != 1 || remembered(c) != want {
					t.Errorf("after a reconnect %d wake-ups were sent, and %d transactions are remembered", n, remembered(c))
				}
				s.end(open)
				time.Sleep(2 * lookAtMost)
				if n, _ := s.sends("ja"); n != 1+want {
					t.Errorf("%d wake-ups", n)
				}
				c.close()
			})
		})
	}
}

func TestFlushWaitsForWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		c := newCommitWakes(s)
		must(t, c.flush(t.Context())) // nothing to send
		s.burst(t, c, "ja")
		open, _ := s.insert(c, "ja")
		time.Sleep(10 * time.Second)
		ended, _ := s.insert(c, "ja") // notifies
		s.end(ended)
		ended, _ = s.insert(c, "ja")
		s.end(ended)
		s.end(open)
		before := time.Now()
		must(t, c.flush(t.Context()))
		if n, _ := s.sends("ja"); n != 1 || remembered(c) != 0 || time.Since(before) > 0 {
			t.Errorf("flush took %v and sent %d wake-ups, %d transactions are remembered", time.Since(before), n, remembered(c))
		}
		synctest.Wait()
		s.insert(c, "ja")
		s.set(func() { s.err = errors.New("broken") })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush without a database: %v", err)
		}
		c.close()
	})
}

func TestCloseAnnouncesWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer()
		c := newCommitWakes(s)
		s.burst(t, c, "ja")
		ended, _ := s.insert(c, "ja")
		s.insert(c, "ja")
		s.end(ended)
		c.close()
		if n, _ := s.sends("ja"); n != 1 {
			t.Errorf("close sent %d wake-ups of ended transactions", n)
		}
		if n, _ := s.sends("wa"); n != 2 {
			t.Errorf("%d announcements, want one at the begin and one by close", n)
		}
		if _, notifies := s.insert(c, "ja"); !notifies {
			t.Error("an insert after close does not notify")
		}
		c.remember(1, "ja") // an insert that close has overtaken
		c.close()
	})
}
