package locktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hourbell/hourbell/lock"
)

var everyTests = []scenario{
	{"OncePerHourForTenDays", everyTenDays},
	{"NotAgainWhenTheLockIsFree", everyNotAgain},
}

// call is one start of a command by a crontab.
type call struct {
	at    time.Time // by the store's clock
	locks *lock.Locker
}

// everyTenDays has five crontabs that start a command each hour, with clocks up
// to 20 s wrong. Once in between, the line is moved to another minute.
func everyTenDays(e *env) {
	e.exact()
	const hours, loops = 240, 5
	lockers := make([]*lock.Locker, loops)
	for i := range lockers {
		lockers[i] = e.locker([]lock.Provider{e.a, e.b}[i%2], lock.Config{Now: e.clock()})
	}
	seed := uint64(e.number("HOURBELL_LOCKTEST_SEED", rand.Int64N(1<<40)+1))
	e.t.Logf("HOURBELL_LOCKTEST_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	phases := []int{30}
	if e.rounds() >= manyRounds {
		phases = []int{0, 30, random.IntN(60)}
	}
	for _, phase := range phases {
		moved := random.IntN(latestMove-earliestMove+1) + earliestMove
		calls := everyCalls(hours, phase, moved, lockers, random)
		e.runCalls(e.name(), hours, calls, fmt.Sprintf("minute %d, moved by %d min", phase, moved))
	}
}

// By how many minutes a call may be moved, with its clock wrong, and still be
// in the interval of its slot: from a quarter before the slot to three quarters
// after it.
const earliestMove, latestMove = -14, 44

func everyCalls(hours, phase, moved int, lockers []*lock.Locker, random *rand.Rand) []call {
	start := epoch.Truncate(24 * time.Hour).Add(time.Duration(phase) * time.Minute)
	var calls []call
	for _, l := range lockers {
		shift := time.Duration(random.IntN(40_001)-20_000) * time.Millisecond
		for hour := range hours {
			at := start.Add(time.Duration(hour)*time.Hour + shift + time.Duration(random.IntN(900))*time.Millisecond)
			if hour >= hours/3 {
				at = at.Add(time.Duration(moved) * time.Minute)
			}
			calls = append(calls, call{at, l})
		}
	}
	slices.SortFunc(calls, func(x, y call) int { return x.at.Compare(y.at) })
	return calls
}

// runCalls makes all of the calls, releases the lock of each at once, and
// checks that each hour had one run.
func (e *env) runCalls(name string, hours int, calls []call, what string) {
	e.t.Helper()
	var slots []time.Time
	for _, c := range calls {
		e.now = c.at
		held, err := c.locks.Try(e.ctx, name, lock.Options{Every: time.Hour, NoKeepAlive: true})
		if errors.Is(err, lock.ErrNotDue) {
			continue
		}
		e.must(err)
		slots = append(slots, held.Slot())
		e.must(held.Release(e.ctx))
	}
	e.want(len(slots), hours, what+": there is one run in each hour")
	for i := 1; i < len(slots); i++ {
		e.want(slots[i].Sub(slots[i-1]), time.Hour, what+": slots are an hour apart")
	}
}

func everyNotAgain(e *env) {
	locker := e.locker(e.a, lock.Config{Now: e.clock()})
	name, opts := e.name(), lock.Options{Every: 100 * e.unit}
	held, err := locker.Try(e.ctx, name, opts)
	e.must(err)
	e.must(held.Release(e.ctx))
	rival := e.locker(e.b, lock.Config{Now: e.clock()})
	_, err = rival.Try(e.ctx, name, opts)
	e.is(err, lock.ErrNotDue, "once per interval is once, also when the lock is free again")
	plain, err := rival.Try(e.ctx, name, lock.Options{})
	e.must(err)
	e.ok(plain.Token() > held.Token(), "without the condition the lock can be had")
	e.must(plain.Release(e.ctx))
	_, err = locker.Try(e.ctx, name, opts)
	e.is(err, lock.ErrNotDue, "which changes nothing about the interval")
}
