package locktest

import (
	"time"

	"github.com/hourbell/hourbell/lock"
)

var slotTests = []scenario{
	{"StateOfANewName", slotNewName},
	{"GrantKeepsTheMark", slotGrantKeepsMark},
	{"RefusedForAnOldToken", slotOldToken},
	{"RefusedOutsideItsTime", slotOutsideItsTime},
	{"HeldComesFirst", slotHeld},
	{"PlainGrantLeavesTheMark", slotPlainGrant},
	{"SpentWhateverHappens", slotSpent},
}

// slotRequest returns a request for a slot that is valid for some minutes from
// now.
func (e *env) slotRequest(name string, seen int64) lock.Request {
	req := e.request(name, 1)
	req.Slot = &lock.Slot{
		Seen: seen, From: e.now, Until: e.now.Add(5 * e.unit),
		Mark: lock.Mark{Slot: e.now.Add(-17 * time.Millisecond), Anchor: e.now.Add(-time.Hour), Interval: 90 * time.Minute},
	}
	return req
}

func slotNewName(e *env) {
	name := e.name()
	s := e.state(name)
	e.want(s.Token, int64(0), "a new name has no token")
	e.want(s.Mark, lock.Mark{}, "and no mark")
	e.ok(s.GrantedAt.IsZero(), "and no slot was granted", s.GrantedAt)
	if !e.s.RealTime {
		e.same(s.Now, e.now, "the state says when it was read")
	}
	e.want(e.state(name).Token, int64(0), "reading draws no token")
	e.free(name, "and takes no lock")
}

// sameMark compares the marks of a slot.
func (e *env) sameMark(got, want lock.Mark, rule string) {
	e.t.Helper()
	e.same(got.Slot, want.Slot, rule+": slot")
	e.same(got.Anchor, want.Anchor, rule+": anchor")
	e.want(got.Interval, want.Interval, rule+": interval")
}

func slotGrantKeepsMark(e *env) {
	e.exact()
	name := e.name()
	req := e.slotRequest(name, 0)
	lease := e.grant(e.a, req)
	e.refused(e.b, name, "a slot is a lock")
	e.must(lease.Release(e.ctx))
	e.tick(1)
	s := e.state(name)
	e.sameMark(s.Mark, req.Slot.Mark, "the mark is kept as it was given")
	e.same(s.GrantedAt, epoch, "with the instant of the grant")
	e.want(s.Token, lease.Token(), "and the token")

	cron := e.slotRequest(name, s.Token)
	cron.Slot.Mark = lock.Mark{Slot: e.now}
	e.must(e.grant(e.b, cron).Release(e.ctx))
	got := e.state(name).Mark
	e.ok(got.Anchor.IsZero(), "a zero anchor comes back as zero", got.Anchor)
	e.sameMark(got, cron.Slot.Mark, "a mark replaces the one before")
}

func slotOldToken(e *env) {
	e.exact()
	name := e.name()
	e.must(e.grant(e.a, e.slotRequest(name, 0)).Release(e.ctx))
	before := e.state(name)
	for _, seen := range []int64{0, before.Token - 1, before.Token + 1} {
		if seen == before.Token {
			continue
		}
		got := e.notDue(e.slotRequest(name, seen), "a decision that rests on another token is refused")
		e.want(got.State, before, "the refusal has the state for another decision")
		e.want(got.Name, name, "and the name")
	}
	e.want(e.state(name), before, "a refusal changes nothing")
	e.free(name, "and leaves the lock free")
}

func slotOutsideItsTime(e *env) {
	e.exact()
	for _, test := range []struct{ refused, granted time.Duration }{
		{e.unit - time.Millisecond, e.unit},       // From itself is included
		{2 * e.unit, 2*e.unit - time.Millisecond}, // Until itself is excluded
	} {
		req := e.slotRequest(e.name(), 0)
		req.Slot.From, req.Slot.Until = epoch.Add(e.unit), epoch.Add(2*e.unit)
		e.now = epoch.Add(test.refused)
		s := e.notDue(req, "a slot is refused before From, and from Until on").State
		e.want(s.Token, int64(0), "a refusal draws no token")
		e.now = epoch.Add(test.granted)
		e.grant(e.a, req)
	}
}

func slotHeld(e *env) {
	e.exact()
	name := e.name()
	lease := e.take(e.a, name, 3)
	for _, seen := range []int64{0, lease.Token()} {
		_, err := e.b.TryLock(e.ctx, e.slotRequest(name, seen))
		e.is(err, lock.ErrHeld, "a held lock is refused as held, due or not")
	}
	e.must(lease.Release(e.ctx))
	e.ok(e.state(name).GrantedAt.IsZero(), "and no slot was spent")
}

func slotPlainGrant(e *env) {
	e.exact()
	name := e.name()
	req := e.slotRequest(name, 0)
	e.must(e.grant(e.a, req).Release(e.ctx))
	e.tick(1)
	lease := e.take(e.b, name, 1)
	e.must(lease.Release(e.ctx))
	s := e.state(name)
	e.sameMark(s.Mark, req.Slot.Mark, "a grant without a slot leaves the mark alone")
	e.same(s.GrantedAt, epoch, "and its instant")
	e.want(s.Token, lease.Token(), "but draws a token")
}

func slotSpent(e *env) {
	e.exact()
	name := e.name()
	req := e.slotRequest(name, 0)
	e.grant(e.a, req)
	e.tick(2) // the lock was not released, because its holder died
	s := e.state(name)
	e.sameMark(s.Mark, req.Slot.Mark, "a slot is spent by its grant, also if its holder dies")
	if e.s.DeleteRow == nil {
		return
	}
	_, err := e.s.DeleteRow(e.ctx, name)
	e.must(err)
	e.want(e.state(name), s, "the state outlives the row")
}
