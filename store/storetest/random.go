package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// runRandom makes random requests, sends each to the store under test and to
// the reference, and compares the answers; half of the requests with a clock
// ahead of the real time and half with a clock behind it.
func runRandom(t *testing.T, open func(t *testing.T) Store, s settings) {
	ops := number(t, "HOURBELL_STORETEST_OPS", s.operations)
	if s.only != nil {
		ops = min(ops, s.operations)
	}
	if ops >= manyOperations && os.Getenv("HOURBELL_STORETEST_SEED") == "" {
		for _, kept := range keptSeeds {
			t.Run(fmt.Sprint("Seed", kept.seed), func(t *testing.T) { runSeed(t, open, kept.ops, kept.seed) })
		}
	}
	runSeed(t, open, ops, number(t, "HOURBELL_STORETEST_SEED", int64(rand.Uint32())))
}

// manyOperations is from how many operations on a run also has the kept seeds.
const manyOperations = 50_000

// keptSeeds are seeds that failed once, and how many operations show it. They run if many operations are asked for and
// no seed is. A change of the generator makes others of them, so each also has a scenario of its own, which always
// runs.
var keptSeeds = []struct{ seed, ops int64 }{
	{1457265500, 2 * 5_200}, // a claim that leaves jobs without permits behind what it takes: Lanes/EveryClaimHoldsItsPermit
	{1048617534, 2_000},     // permits of limits that have ended, in a store without limits: Recount/EndedLimits
	{3796824880, 2_000},     // a key that passes where its job would be replaced: UniqueConflict/UntilStartComesFirst
	{1870142055, 1_400},     // a key that passes after its job was replaced: UniqueConflict/UntilStartComesFirst
	{864816501, 5_400},      // a job that waits for a moment, although its permit was given back: Lanes/ManyPermitsGivenBack
}

// runSeed is runRandom with a seed.
func runSeed(t *testing.T, open func(t *testing.T) Store, ops, seed int64) {
	t.Logf("HOURBELL_STORETEST_SEED=%d HOURBELL_STORETEST_OPS=%d", seed, ops)
	for i, now := range []time.Time{epoch, time.Date(2008, 9, 10, 11, 12, 13, 456000, time.UTC)} {
		run := func(inUse int) func(t *testing.T) {
			return func(t *testing.T) {
				w := newWorld(t, open(t), uint64(seed), uint64(i), now)
				w.inUse = inUse
				for range ops / 2 {
					w.step()
				}
				w.compareAll()
			}
		}
		if name := fmt.Sprint("Year", now.Year()); !t.Run(name, run(inUseSteps)) {
			t.Run(name+"EachStep", run(1)) // the same requests, to find the first step after which the stores differ
		}
	}
}

// After how many steps the stores' limits are compared, because comparisons would take most of the time. What is in use is only read, so that
// other intervals do not change a run; a recount changes both stores.
const (
	inUseSteps   = 4
	recountSteps = 16
)

// number reads a setting from the environment.
func number(t *testing.T, name string, otherwise int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s must be a whole number: %v", name, err)
	}
	return n
}

// world is a random run: the store under test, the reference, and the state of
// the generator. Requests are generated in the reference's numbers and
// translated; see translate.go.
type world struct {
	t     *testing.T
	ctx   context.Context
	real  Store
	model *memory.Store
	rng   *rand.Rand
	now   time.Time
	seed  uint64
	steps int
	inUse int // the permits in use are compared after so many steps
	log   []record
	names numbers

	claims  []store.ClaimRef                 // the last several hundred claims, in the reference's numbers
	nodes   []int64                          // the last few registered nodes
	batches map[int64][]batch                // of each node
	revs    map[string]int64                 // the greatest SyncRevision of each owner
	client  store.Backend                    // the store's client that this step uses
	hooked  bool                             // this step's request may also make jobs of hooks and handlers
	handled bool                             // there are handlers
	known   map[store.ClaimRef]store.Claimed // what nodes know of their claims, in the reference's numbers
	entry   [2]int64                         // the last entry of a change of jobs in the audit of the store and of the reference
	weights []weighted                       // of the steps
	read    [2]store.EventCursor             // up to which the events of the store and of the reference have been compared
	total   int                              // of the weights
}

// batch is a claim as named in HeartbeatRequest.EndedBatches.
type batch struct {
	id   int64
	refs []store.ClaimRef
}

// record is one request and its answers; the report of a mismatch shows them.
type record struct {
	step            int
	op              string
	req, real, want any
}

type weighted struct {
	weight int
	step   func()
}

func newWorld(t *testing.T, s Store, seed, stream uint64, now time.Time) *world {
	w := &world{
		t: t, ctx: context.Background(), real: s, model: memory.New(), rng: rand.New(rand.NewPCG(seed, stream)), now: now, seed: seed,
		names: newNumbers(), batches: map[int64][]batch{}, revs: map[string]int64{}, known: map[store.ClaimRef]store.Claimed{},
	}
	w.weights = []weighted{
		{12, w.insert},
		{4, w.insertKeyed},
		{5, w.transaction},
		{20, w.claim},
		{18, w.finish},
		{4, w.saveProgress},
		{3, w.saveOutput},
		{6, w.changeJobs},
		{3, w.listJobs},
		{2, w.countJobs},
		{1, w.groupsBoth},
		{1, w.changePause},
		{2, w.changeLimits},
		{1, w.closeLanes},
		{2, w.changeHandlers},
		{6, w.put},
		{2, w.sync},
		{4, w.changeSchedules},
		{3, w.reset},
		{3, w.putCalendars},
		{1, w.deleteCalendars},
		{2, w.due},
		{14, w.fire},
		{2, w.listSlots},
		{2, w.register},
		{9, w.heartbeat},
		{3, w.readClaims},
		{3, w.rescue},
		{1, w.leave},
		{2, w.prune},
		{3, w.firedTo},
	}
	for _, c := range w.weights {
		w.total += c.weight
	}
	return w
}

// step moves the clock and makes one request through one of the clients.
func (w *world) step() {
	w.steps++
	w.tick()
	w.client = w.real.Clients[w.rng.IntN(2)]
	n := w.rng.IntN(w.total)
	for _, c := range w.weights {
		if n -= c.weight; n < 0 {
			c.step()
			break
		}
	}
	if w.steps%recountSteps == 0 {
		w.recountBoth()
	}
	if w.steps%w.inUse == 0 {
		w.compareInUse()
	}
	if w.steps%250 == 0 {
		w.tidy()
		w.compareAll()
	}
}

// tick moves the clock, mostly forward, in even microseconds.
func (w *world) tick() {
	micros := 2 * w.rng.Int64N(1_000_000)
	switch w.rng.IntN(40) {
	case 0:
		micros *= 30
	case 1:
		micros *= -5
	case 2:
		micros = 0
	}
	w.now = w.now.Add(time.Duration(micros) * time.Microsecond)
}

// chance is true in one of n cases.
func (w *world) chance(n int) bool { return w.rng.IntN(n) == 0 }

// pick returns one of some values.
func pick[T any](w *world, of ...T) T { return of[w.rng.IntN(len(of))] }

// within returns a duration from 0 to d, in even microseconds.
func (w *world) within(d time.Duration) time.Duration {
	return time.Duration(2*w.rng.Int64N(int64(d/(2*time.Microsecond))+1)) * time.Microsecond
}

// compare ends the run if the store's answer, in the reference's numbers,
// differs from the reference's answer.
func (w *world) compare(op string, req, got, want any) {
	w.t.Helper()
	w.log = append(w.log, record{w.steps, op, req, got, want})
	if len(w.log) > 20 {
		w.log = w.log[1:]
	}
	if !reflect.DeepEqual(got, want) {
		w.fail(fmt.Sprintf("%s: the store's answer is not the reference's\n got: %s\nwant: %s\n%s", op, show(got), show(want), difference(got, want)))
	}
}

// difference shows the first elements in which two slices differ.
func difference(got, want any) string {
	a, b := reflect.ValueOf(got), reflect.ValueOf(want)
	if a.Kind() != reflect.Slice || b.Kind() != reflect.Slice {
		return ""
	}
	for i := range min(a.Len(), b.Len()) {
		if x, y := a.Index(i).Interface(), b.Index(i).Interface(); !reflect.DeepEqual(x, y) {
			return fmt.Sprintf("first difference, at %d:\n got: %s\nwant: %s", i, show(x), show(y))
		}
	}
	return fmt.Sprintf("got %d, want %d", a.Len(), b.Len())
}

// fail ends the run with everything that is needed to repeat it.
func (w *world) fail(message string) {
	w.t.Helper()
	var text strings.Builder
	for _, r := range w.log {
		fmt.Fprintf(&text, "%d %s %s\n\tgot  %s\n\twant %s\n", r.step, r.op, clip(r.req), clip(r.real), clip(r.want))
	}
	w.t.Fatalf("%s\nat step %d of HOURBELL_STORETEST_SEED=%d, now %s (all numbers are the reference's); the last requests:\n%s",
		message, w.steps, w.seed, w.now.Format(time.RFC3339Nano), text.String())
}

func clip(v any) string { return shorten(show(v), 600) }

// agree reports whether both stores succeeded; it ends the run if one succeeded
// and the other did not. With exact the sentinels must be equal, too; exact is
// false for requests that may be wrong in two ways at once.
func (w *world) agree(op string, req any, got, want error, exact bool) bool {
	w.t.Helper()
	if (got == nil) != (want == nil) || exact && sentinel(got) != sentinel(want) || got != nil && sentinel(got) == nil {
		w.compare(op, req, fmt.Sprint("error: ", got), fmt.Sprint("error: ", want))
		w.fail(fmt.Sprintf("%s: got error: %v, want error: %v", op, got, want))
	}
	if want != nil {
		w.compare(op, req, sentinelText(want), sentinelText(want))
	}
	return want == nil
}

// must ends the run on an error of the reference or of a reading call.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.fail(fmt.Sprint("unexpected error: ", err))
	}
}
