package storetest

import (
	"time"

	"github.com/hourbell/hourbell/store"
)

var historyTests = []scenario{
	{"PositionOnlyGrows", positionGrows},
	{"HeartbeatsAreCounted", beatsCounted},
	{"ReportSuspends", reportSuspends},
	{"AcceptRaisesAboveAllThatWasReported", acceptRaises},
	{"AcceptWithoutAReport", acceptUnreported},
	{"LateReportsChangeNothing", lateReports},
}

func (e *env) position() store.Position {
	e.t.Helper()
	p, err := store.ReadPosition(e.ctx, e.b)
	e.must(err)
	return p
}

func (e *env) report(accepted int64, seen store.Position) store.Position {
	e.t.Helper()
	p, err := e.a.ReportLoss(e.ctx, store.ReportLossRequest{Now: e.now, Accepted: accepted, Seen: seen})
	e.must(err)
	e.want(e.position(), p, "ReportLoss must return the position after it")
	return p
}

func (e *env) accept() store.Position {
	e.t.Helper()
	p, err := e.a.AcceptLoss(e.ctx, store.AcceptLossRequest{})
	e.must(err)
	e.want(e.position(), p, "AcceptLoss must return the position after it")
	return p
}

func positionGrows(e *env) {
	before := e.position()
	e.ok(before.Store != "", "a store has an identity")
	e.want(before.Suspended(), false, "a new store has lost nothing")
	res, err := e.a.Register(e.ctx, store.RegisterRequest{Now: e.now, Name: "n", Lease: time.Minute})
	e.must(err)
	e.want(res.Position.Node, res.Node, "the position is at least the last node's number")
	e.want(res.Position.Store, before.Store, "every answer has the same identity")
	for range 3 {
		e.insertN(4)
		greatest := int64(0)
		for _, j := range e.claim(res.Node, 4) {
			greatest = max(greatest, j.Token)
		}
		p := e.heartbeat(res.Node).Position
		e.ok(p.Token >= greatest, "a heartbeat that is sent after a claim must return a position that is not behind its tokens", p.Token, greatest)
		e.ok(p.Token > before.Token, "the position must grow", p.Token, before.Token)
		e.want(p, e.position(), "a heartbeat must return the position")
		before = p
	}
	n := e.node("m")
	e.ok(e.position().Node >= n, "the position must be at least the last node's number")
}

func beatsCounted(e *env) {
	n, m := e.node("n"), e.node("m")
	for beat := int64(1); beat <= 3; beat++ {
		e.tick(-time.Second) // whatever the clock does
		e.want(e.heartbeat(n).Beat, beat, "heartbeats must be counted from the registration on")
	}
	e.want(e.heartbeat(m).Beat, int64(1), "each node's heartbeats are counted for themselves")
}

func reportSuspends(e *env) {
	n, base := e.node("n"), e.position()
	e.report(base.Accepted, store.Position{Token: base.Token + 500, Node: 7})
	p := e.heartbeat(n).Position
	e.want(p.LostAt, e.now, "a report must suspend the store, and heartbeats must return that")
	since := e.now
	e.tick(time.Minute)
	e.report(base.Accepted, store.Position{Token: base.Token + 400, Node: 9})
	e.want(e.position().LostAt, since, "the first report sets since when")
	e.ok(e.position().Token < base.Token+400, "a report must not raise the store's numbers: it has to be accepted first", e.position())
}

func acceptRaises(e *env) {
	n := e.node("n")
	e.insertN(2)
	first, base := e.claimOne(n), e.position()
	e.report(base.Accepted, store.Position{Token: base.Token + 500, Node: n + 700, Accepted: base.Accepted + 3})
	e.report(base.Accepted, store.Position{Token: base.Token + 90, Node: n + 900, Accepted: base.Accepted + 1})
	p := e.accept()
	e.want(p.Suspended(), false, "AcceptLoss must end the suspension")
	e.want(p.Accepted, base.Accepted+4, "Accepted must be raised by one above the greatest that was reported")
	e.ok(p.Token >= base.Token+500+store.LossMargin && p.Node >= n+900+store.LossNodes,
		"the numbers must be raised above all that were reported, and by the margin", p)
	second := e.claimOne(n)
	e.ok(second.Token > base.Token+500+store.LossMargin && second.Token > first.Token,
		"a claim after that must get a token above all that any node has seen", second.Token)
	e.ok(e.node("m") > n+900, "a node after that must get a number above all that any node has seen")
	e.finishWell(outcome(first, store.Completed))
	e.finishWell(outcome(second, store.Completed))
}

func acceptUnreported(e *env) {
	n := e.node("n")
	e.insertN(1)
	token, base := e.claimOne(n).Token, e.position()
	p := e.accept()
	e.ok(p.Token >= token+store.LossMargin && p.Node >= n+store.LossNodes, "without a report the store's own numbers must be raised", p)
	e.want([]any{p.Accepted, p.Suspended()}, []any{base.Accepted + 1, false}, "it counts as accepted")
	again := e.accept()
	e.ok(again.Token >= p.Token+store.LossMargin && again.Accepted == p.Accepted+1, "accepting twice is harmless", again)
}

func lateReports(e *env) {
	base := e.position()
	e.report(base.Accepted, store.Position{Token: base.Token + 500})
	p := e.accept()
	late := e.report(base.Accepted, store.Position{Token: base.Token + 600})
	e.want(late, p, "a report from before the loss was accepted must change nothing")
	later := e.report(p.Accepted, store.Position{Token: p.Token + 5})
	e.ok(later.Suspended(), "a report that knows of it must count")
	e.ok(e.accept().Token > p.Token+5, "and be accepted like any other")
}
