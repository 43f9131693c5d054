package locktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hourbell/hourbell/lock"
	"github.com/hourbell/hourbell/lock/memory"
)

var randomTests = []scenario{{"LikeTheReference", randomLikeReference}}

// twin is a lease on the store under test, and the same lease on the reference.
type twin struct{ real, model lock.Lease }

// tokens are the last tokens of the store and of the reference.
type tokens struct{ real, model int64 }

// random sends the same operations to a store and to the reference.
type random struct {
	e      *env
	rand   *rand.Rand
	model  *memory.Provider
	names  []string
	leases []twin
	last   map[string]tokens // by name
}

func randomLikeReference(e *env) {
	e.exact()
	seed := uint64(e.number("HOURBELL_LOCKTEST_SEED", rand.Int64N(1<<40)+1))
	e.t.Logf("HOURBELL_LOCKTEST_SEED=%d", seed)
	r := &random{e: e, rand: rand.New(rand.NewPCG(seed, 1)), model: memory.New(), last: map[string]tokens{}, names: []string{e.name(), e.name(), e.name()}}
	for step := range e.number("HOURBELL_LOCKTEST_OPS", 500) {
		e.now = e.now.Add(time.Duration(r.rand.IntN(3)) * time.Second)
		if !e.s.RowsExpire && r.rand.IntN(20) == 0 { // the clock is set back; an expired key does not come back then
			e.now = e.now.Add(-time.Duration(r.rand.IntN(10)) * time.Second)
		}
		if problem := r.step(); problem != "" {
			e.t.Fatalf("step %d: %s", step, problem)
		}
	}
}

// step does one operation on both, and returns how the results differ.
func (r *random) step() string {
	switch n := r.rand.IntN(10); {
	case n < 5 || len(r.leases) == 0:
		return r.tryLock()
	case n < 7:
		hold := time.Duration(1+r.rand.IntN(6)) * time.Second
		return r.onLease("Extend", func(l lock.Lease) error { return l.Extend(r.e.ctx, hold) })
	case n < 9 || r.e.s.DeleteRow == nil:
		return r.onLease("Release", func(l lock.Lease) error { return l.Release(r.e.ctx) })
	default:
		name := r.names[r.rand.IntN(len(r.names))]
		r.model.DeleteRow(name)
		_, err := r.e.s.DeleteRow(r.e.ctx, name)
		return differ("delete the row", err, nil)
	}
}

// onLease calls a method of one of the last leases.
func (r *random) onLease(what string, call func(lock.Lease) error) string {
	last := min(len(r.leases), 6)
	pair := r.leases[len(r.leases)-1-r.rand.IntN(last)]
	return differ(what, call(pair.real), call(pair.model))
}

func (r *random) tryLock() string {
	e := r.e
	name := r.names[r.rand.IntN(len(r.names))]
	req := e.request(name, 0)
	req.Hold = time.Duration(1+r.rand.IntN(8)) * time.Second
	req.AtLeast = time.Duration(r.rand.Int64N(int64(req.Hold/time.Second)+1)) * time.Second
	modelReq := req
	if r.rand.IntN(2) == 0 {
		req.Slot, modelReq.Slot = r.slots(name)
	}
	p := []lock.Provider{e.a, e.b}[r.rand.IntN(2)]
	real, realErr := p.TryLock(e.ctx, req)
	model, modelErr := r.model.TryLock(e.ctx, modelReq)
	what := fmt.Sprintf("TryLock of %+v", req)
	if text := differ(what, realErr, modelErr); text != "" {
		return text
	}
	if realErr == nil {
		r.leases = append(r.leases, twin{real, model})
		if real.Token() <= r.last[name].real {
			return what + ": a token is greater than all before it"
		}
		r.last[name] = tokens{real.Token(), model.Token()}
	}
	return ""
}

// slots makes the same slot for both, with the tokens of each.
func (r *random) slots(name string) (real, model *lock.Slot) {
	now := r.e.now
	s := lock.Slot{
		From: now.Add(time.Duration(r.rand.IntN(4)-2) * time.Second), Until: now.Add(time.Duration(r.rand.IntN(5)-1) * time.Second),
		Mark: lock.Mark{Slot: now.Add(time.Duration(r.rand.IntN(2000)) * time.Millisecond)},
	}
	if r.rand.IntN(2) == 0 {
		s.Mark.Anchor, s.Mark.Interval = now.Add(-time.Hour), time.Duration(1+r.rand.IntN(1e6))*time.Millisecond
	}
	a, b := s, s
	if r.rand.IntN(5) > 0 {
		a.Seen, b.Seen = r.last[name].real, r.last[name].model
	}
	return &a, &b
}

// differ returns how two answers differ, or an empty text.
func differ(what string, real, model error) string {
	if a, b := describe(real), describe(model); a != b {
		return fmt.Sprintf("%s\n     the store: %s (%v)\n the reference: %s", what, a, real, b)
	}
	return ""
}

// describe returns the content of an answer without tokens, because each store
// numbers its tokens independently.
func describe(err error) string {
	var held *lock.HeldError
	var notDue *lock.NotDueError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &held):
		return fmt.Sprintf("held by %s until %v, now %v", held.Owner, held.Until.UTC(), held.Now.UTC())
	case errors.As(err, &notDue):
		s := notDue.State
		return fmt.Sprintf("not due: slot %v, anchor %v, interval %v, granted %v, now %v",
			s.Mark.Slot.UTC(), s.Mark.Anchor.UTC(), s.Mark.Interval, s.GrantedAt.UTC(), s.Now.UTC())
	case errors.Is(err, lock.ErrLost):
		return "lost"
	default:
		return "another error: " + err.Error()
	}
}
