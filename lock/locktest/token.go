package locktest

var tokenTests = []scenario{
	{"GrowsAfterRelease", tokenAfterRelease},
	{"GrowsAfterExpiry", tokenAfterExpiry},
	{"GrowsAfterTheRowIsDeleted", tokenAfterDelete},
	{"GrowsWithEverySlot", tokenWithSlots},
	{"StaysWithTheLease", tokenStays},
}

func tokenAfterRelease(e *env) {
	name := e.name()
	last := int64(0)
	for i := range 6 {
		p := e.a
		if i%2 == 1 {
			p = e.b
		}
		lease := e.take(p, name, 3)
		e.ok(lease.Token() > last, "a token is greater than all before it", lease.Token(), last)
		last = lease.Token()
		e.must(lease.Release(e.ctx))
	}
	e.want(e.state(name).Token, last, "the state shows the last token")
}

func tokenAfterExpiry(e *env) {
	name := e.name()
	first := e.take(e.a, name, 1)
	e.tick(1.1)
	second := e.take(e.b, name, 1)
	e.ok(second.Token() > first.Token(), "a token is greater than the token of a holder that expired")
}

func tokenAfterDelete(e *env) {
	if e.s.DeleteRow == nil {
		e.t.Skip("rows cannot be deleted")
	}
	name := e.name()
	var last int64
	for range 3 {
		lease := e.take(e.a, name, 3)
		e.ok(lease.Token() > last, "a token is greater than all before it, also after the row was deleted", lease.Token(), last)
		last = lease.Token()
		_, err := e.s.DeleteRow(e.ctx, name)
		e.must(err)
	}
}

func tokenWithSlots(e *env) {
	e.exact()
	name := e.name()
	first := e.take(e.a, name, 3)
	e.must(first.Release(e.ctx))
	second := e.grant(e.b, e.slotRequest(name, first.Token()))
	e.ok(second.Token() > first.Token(), "a grant with a slot draws from the same tokens")
}

func tokenStays(e *env) {
	name := e.name()
	lease := e.take(e.a, name, 3)
	token := lease.Token()
	e.must(lease.Extend(e.ctx, 4*e.unit))
	e.want(lease.Token(), token, "an extension keeps the token")
	e.must(lease.Release(e.ctx))
	e.want(lease.Token(), token, "so does a release")
}
