package locktest

import (
	"errors"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var inspectTests = []scenario{
	{"ShowsRowAndState", inspectShows},
	{"ListsInPages", inspectPages},
	{"ForceReleaseFrees", inspectForceRelease},
	{"ForceReleaseForgetsAMarkAheadOfTheClock", inspectForgets},
	{"ForceReleaseOfAnUnknownName", inspectUnknown},
}

// inspector returns the provider as an Inspector, or skips the test.
func (e *env) inspector() lock.Inspector {
	e.t.Helper()
	i, ok := e.b.(lock.Inspector)
	if !ok {
		e.t.Skip("the provider is no lock.Inspector")
	}
	return i
}

func (e *env) infos(req lock.LocksRequest) []lock.Info {
	e.t.Helper()
	req.Now = e.clock()
	infos, err := e.inspector().Locks(e.ctx, req)
	e.must(err)
	return infos
}

func (e *env) info(name string) lock.Info {
	e.t.Helper()
	infos := e.infos(lock.LocksRequest{Names: []string{name}, Limit: 10})
	if len(infos) != 1 || infos[0].Name != name {
		e.t.Fatalf("a lock must be listed once, under its name: %+v", infos)
	}
	return infos[0]
}

func (e *env) forceRelease(name string) {
	e.t.Helper()
	e.must(e.inspector().ForceRelease(e.ctx, lock.ForceReleaseRequest{Name: name, Now: e.clock()}))
}

func inspectShows(e *env) {
	e.inspector()
	e.exact()
	name := e.name()
	req := e.slotRequest(name, 0)
	lease := e.grant(e.a, req)
	e.tick(0.5)
	i := e.info(name)
	e.ok(i.Held(), "a held lock is shown as held")
	e.want(i.Owner, req.Owner, "with its owner")
	e.same(i.LockedAt, epoch, "since its grant")
	e.same(i.Until, epoch.Add(req.Hold), "until its end")
	e.want(i.State.Token, lease.Token(), "with its token")
	e.same(i.State.Now, e.now, "as of now")
	e.same(i.State.GrantedAt, epoch, "with its last slot's grant")
	e.sameMark(i.State.Mark, req.Slot.Mark, "and its mark")
	e.must(lease.Extend(e.ctx, req.Hold))
	e.must(lease.Release(e.ctx))
	i = e.info(name)
	e.ok(!i.Held(), "a released lock is shown as free")
	e.want(i.State.Token, lease.Token(), "its token is still shown")
	if !e.s.RowsExpire {
		e.same(i.LockedAt, epoch, "extension and release leave locked_at alone")
		e.want(i.Owner, req.Owner, "and the owner")
	}
}

func inspectPages(e *env) {
	e.inspector()
	prefix := e.name()
	names := []string{prefix + " B", prefix + " a", prefix + " b", prefix + " á"} // in byte order
	for _, i := range []int{2, 0, 3, 1} {
		e.take(e.a, names[i], 100)
	}
	first := e.infos(lock.LocksRequest{After: prefix, Limit: 3})
	e.want(namesOf(first), names[:3], "a page begins after the name given, in byte order, and has Limit locks")
	second := e.infos(lock.LocksRequest{After: names[2], Limit: 1})
	e.want(namesOf(second), names[3:], "the next page goes on from there")
	some := e.infos(lock.LocksRequest{Names: []string{names[3], names[0], prefix + " none"}, Limit: 9})
	e.want(len(some), 2, "of the names asked for, those are shown that are there")
}

func namesOf(infos []lock.Info) []string {
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	return names
}

func inspectForceRelease(e *env) {
	e.inspector()
	name := e.name()
	req := e.request(name, 9)
	req.AtLeast = 8 * e.unit
	lease := e.grant(e.a, req)
	e.forceRelease(name)
	e.is(lease.Extend(e.ctx, 9*e.unit), lock.ErrLost, "a lock released by force is lost")
	e.is(lease.Release(e.ctx), lock.ErrLost, "for its holder's release too")
	next := e.take(e.b, name, 1)
	e.ok(next.Token() > lease.Token(), "tokens go on after a release by force")
	e.must(next.Release(e.ctx))
	e.forceRelease(name)
	e.free(name, "a free lock released by force is free")
}

func inspectForgets(e *env) {
	e.inspector()
	e.exact()
	name := e.name()
	e.grant(e.a, e.slotRequest(name, 0))
	e.forceRelease(name)
	e.ok(!e.state(name).Mark.Slot.IsZero(), "a release by force keeps the mark, so that nothing runs twice")
	token := e.state(name).Token
	e.now = e.now.Add(-time.Hour)
	e.forceRelease(name)
	s := e.state(name)
	e.sameMark(s.Mark, lock.Mark{}, "a mark from a clock that was ahead is forgotten")
	e.ok(s.GrantedAt.IsZero(), "with its instant")
	e.want(s.Token, token, "but the token stays")
}

func inspectUnknown(e *env) {
	err := e.inspector().ForceRelease(e.ctx, lock.ForceReleaseRequest{Name: e.name(), Now: e.clock()})
	e.ok(errors.Is(err, lock.ErrNotFound), "a name that is not there gives ErrNotFound, not", err)
}
