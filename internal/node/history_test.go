package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/loop"
	"github.com/hourbell/hourbell/store"
)

func TestGoneBack(t *testing.T) {
	seen := store.Position{Store: "s", Token: 100, Node: 10, Accepted: 1}
	for name, c := range map[string]struct {
		now  store.Position
		want bool
	}{
		"the same":             {seen, false},
		"further":              {store.Position{Store: "s", Token: 101, Node: 11, Accepted: 2}, false},
		"a token less":         {store.Position{Store: "s", Token: 99, Node: 11, Accepted: 1}, true},
		"a node less":          {store.Position{Store: "s", Token: 100, Node: 9, Accepted: 1}, true},
		"an acceptance less":   {store.Position{Store: "s", Token: 1 << 40, Node: 1 << 20, Accepted: 0}, true},
		"another store":        {store.Position{Store: "other"}, false},
		"of unknown identity":  {store.Position{}, false},
		"raised by acceptance": {store.Position{Store: "s", Token: 1 << 33, Node: 20_000, Accepted: 2}, false},
	} {
		if got := goneBack(c.now, seen) != ""; got != c.want {
			t.Errorf("%s: gone back: %v", name, got)
		}
	}
}

// TestLearn plays a loss of history through: answers of the store in order, and whether the node is
// suspended after each.
func TestLearn(t *testing.T) {
	at := time.Now()
	good := func(token int64) store.Position { return store.Position{Store: "s", Token: token, Node: 5} }
	lost := func(p store.Position) store.Position { p.LostAt = at; return p }
	accepted := store.Position{Store: "s", Token: 1 << 33, Node: 20_000, Accepted: 1}
	type step struct {
		now    store.Position
		why    string
		reply  bool // the report reaches the store
		report bool // a report is expected
		closed bool
	}
	for name, steps := range map[string][]step{
		"found by this node": {
			{now: good(100)},
			{now: good(50), report: true, reply: true, closed: true},
			{now: lost(good(50)), closed: true},
			{now: lost(good(60)), closed: true},
			{now: accepted},
			{now: accepted},
		},
		"the report does not get through": {
			{now: good(100)},
			{now: good(100), why: "a heartbeat is missing", report: true, closed: true},
			{now: good(100), report: true, closed: true},
			{now: good(100), report: true, reply: true, closed: true},
			{now: lost(good(100)), closed: true},
			{now: accepted},
		},
		"found by another node": {
			{now: good(100)}, {now: lost(good(100)), closed: true}, {now: lost(good(100)), closed: true}, {now: accepted},
		},
		"accepted without regard to what this node has seen": {
			{now: accepted},
			{now: good(50), report: true, reply: true, closed: true},
			{now: store.Position{Store: "s", Token: 60, Node: 20_000, Accepted: 1}, report: true, reply: true, closed: true},
			{now: store.Position{Store: "s", Token: 1 << 34, Node: 20_000, Accepted: 2}},
		},
		"a restore overwrites the report": {
			{now: good(100)},
			{now: good(100), why: "a heartbeat is missing", report: true, reply: true, closed: true},
			{now: good(100), report: true, reply: true, closed: true},
			{now: lost(good(100)), closed: true},
			{now: accepted},
		},
		"a restore overwrites the report of a node that has ended": {
			{now: good(100)}, {now: lost(good(100)), closed: true}, {now: good(100), report: true, reply: true, closed: true}, {now: accepted},
		},
		"a restore takes back an acceptance while the node begins": {
			{now: lost(accepted), closed: true},
			{now: good(50), report: true, reply: true, closed: true},
			{now: store.Position{Store: "s", Token: 1 << 33, Node: 20_000, Accepted: 1}, report: true, reply: true, closed: true},
			{now: store.Position{Store: "s", Token: 1 << 34, Node: 30_000, Accepted: 2}},
		},
		"the store is another one while the node is suspended": {
			{now: good(100)}, {now: good(50), report: true, closed: true}, {now: store.Position{Store: "t", Token: 1}},
		},
		"the store is another one": {{now: good(100)}, {now: store.Position{Store: "t", Token: 1}}, {now: store.Position{Store: "t", Token: 2}}},
	} {
		var h history
		for i, s := range steps {
			f := h.learn(h.known(), s.now, s.why)
			if h.mustRenumber() {
				h.registered()
			}
			if f.report != s.report || h.blocked() != s.closed {
				t.Errorf("%s: step %d: report %v, closed %v", name, i, f.report, h.blocked())
			}
			if s.reply {
				h.reportAccepted(f.seen)
			}
		}
	}
}

// TestAnEndedSuspensionNeedsARegistration: a restore that was not complete may have overwritten what the node registered during its
// suspension.
func TestAnEndedSuspensionNeedsARegistration(t *testing.T) {
	var h history
	at := func(token, accepted int64) store.Position {
		return store.Position{Store: "s", Token: token, Accepted: accepted}
	}
	h.learn(h.known(), at(100, 0), "")
	if h.mustRenumber() {
		t.Error("a node that learned nothing has to register again")
	}
	for _, now := range []store.Position{at(50, 0), at(1<<33, 1)} {
		if h.learn(h.known(), now, ""); !h.mustRenumber() || !h.blocked() {
			t.Errorf("after %+v the node keeps its number, or may claim under it", now)
		}
		h.registered()
	}
	if h.blocked() {
		t.Error("the node is suspended after the acceptance")
	}
}

// TestClaimsThatReturnOutOfOrder checks that a token that arrived after a call was sent is not
// compared with the answer of the call.
func TestClaimsThatReturnOutOfOrder(t *testing.T) {
	var h history
	h.learn(h.known(), store.Position{Store: "s", Token: 100}, "")
	before := h.known()
	h.tokenSeen(150)
	h.learn(before, store.Position{Store: "s", Token: 120}, "")
	if h.blocked() {
		t.Error("a claim that was under way during the heartbeat counts as a loss")
	}
	h.tokenSeen(130)
	h.learn(h.known(), store.Position{Store: "s", Token: 149}, "")
	if !h.blocked() {
		t.Error("the store lost a token that was claimed before the heartbeat was sent")
	}
}

// TestAFailureBlocksUntilAHeartbeat checks that a failure of the store blocks the node until the
// answer of a heartbeat that was sent after the failure.
func TestAFailureBlocksUntilAHeartbeat(t *testing.T) {
	var h history
	before := h.known()
	h.storeFailed()
	h.learn(before, store.Position{Store: "s"}, "")
	if !h.blocked() {
		t.Error("a heartbeat that was sent before the failure settles it")
	}
	h.learn(h.known(), store.Position{Store: "s"}, "")
	if h.blocked() {
		t.Error("a heartbeat that was sent after the failure does not settle it")
	}
}

func TestStateFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	seen := store.Position{Store: "0123-abc", Token: 7, Node: 3, Accepted: 1}
	if got, err := readSeen(dir, seen.Store); err != nil || got != (store.Position{}) {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	if err := writeSeen(dir, seen); err != nil {
		t.Fatal(err)
	}
	if err := writeSeen(dir, store.Position{Store: seen.Store, Token: 9, Node: 2}); err != nil { // another node of this host
		t.Fatal(err)
	}
	want := store.Position{Store: seen.Store, Token: 9, Node: 3, Accepted: 1}
	if got, err := readSeen(dir, seen.Store); err != nil || got != want {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	for _, identity := range []string{"../x", "a/b", "", "a.b"} {
		if err := writeSeen(dir, store.Position{Store: identity}); err == nil {
			t.Errorf("a file of the store %q was written", identity)
		}
	}
}

func TestWhenTheStateFileIsWritten(t *testing.T) {
	var k stateFileWriter
	at := func(token int64) store.Position { return store.Position{Store: "s", Token: token} }
	expect := func(what string, seen store.Position, now time.Duration, last, want bool) {
		t.Helper()
		if got := k.due(seen, loop.Instant(now), last); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	expect("before anything is known", store.Position{}, 0, true, false)
	expect("at first", at(1), 0, false, true)
	k.tried(at(1), 0, nil)
	expect("unchanged", at(1), time.Hour, true, false)
	expect("a little later", at(2), time.Second, false, false)
	expect("a minute later", at(2), time.Minute, false, true)
	expect("many tokens later", at(1+stateFileTokens), time.Second, false, true)
	expect("at the end", at(2), time.Second, true, true)
	expect("when a loss was accepted", store.Position{Store: "s", Token: 1, Accepted: 1}, time.Second, false, true)
	k.tried(at(2), loop.Instant(time.Second), os.ErrPermission)
	expect("right after a failure", at(2+stateFileTokens), 2*time.Second, false, false)
}
