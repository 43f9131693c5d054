package sim

import (
	"errors"
	"slices"
	"time"
)

// weather is how likely it is that something happens to a call of the store: each part from 0 to 1.
type weather struct {
	Latency time.Duration // mean time until a call, or its answer, arrives
	Slow    float64       // takes up to some seconds
	Before  float64       // fails, and has changed nothing
	After   float64       // fails, and has taken effect
	Twice   float64       // is made twice, if the contract allows that
}

// The errors of failed calls, as drivers return them.
var (
	errConnection = errors.New("simulated: connection reset by peer")
	errLock       = errors.New("simulated: canceling statement due to lock timeout (SQLSTATE 55P03)")
	errSerial     = errors.New("simulated: could not serialize access due to concurrent update (SQLSTATE 40001)")
	errAway       = errors.New("simulated: the store is away")
	errDead       = errors.New("simulated: the process is dead")
)

// fate is what becomes of a call.
type fate struct {
	before time.Duration // until the call arrives
	after  time.Duration // until the answer arrives
	err    error         // not nil: the call fails
	lost   bool          // it fails after it took effect
	twice  bool
}

// repeatable are the calls that may be made twice by their contract (package store).
var repeatable = []string{
	"finish", "begin_jobs", "fire", "find_claim", "heartbeat", "save_progress", "due_schedules", "claims", "now", "rescue",
	"leave", "exchange_permits", "save_step",
}

// fate returns what becomes of the n-th call of a key. It is a pure function, so that a call keeps its fate when the
// plan is shortened.
func (w weather) fate(d dice, key string, n int, operation string) fate {
	f := fate{before: 20*time.Microsecond + d.span(key+" latency", n, w.Latency)}
	roll := d.part(key+" fate", n)
	hit := func(part float64) bool { roll -= part; return roll < 0 }
	switch {
	case hit(w.Slow):
		f.before = d.span(key+" slow", n, 2*time.Second)
	case hit(w.Slow):
		f.after = d.span(key+" slow answer", n, 2*time.Second)
	case hit(w.Before):
		f.err = []error{errConnection, errLock, errSerial}[d.number(key+" error", n)%3]
	case hit(w.After):
		f.err, f.lost = errConnection, true
	case hit(w.Twice):
		f.twice = slices.Contains(repeatable, operation)
	}
	return f
}
