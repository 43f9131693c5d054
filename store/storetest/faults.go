package storetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// Faults decides which statement of a driver fails, and how. The tests of a driver put a layer under Clients[0] that calls At
// for each statement and for each commit, and does what At returns. It is safe for concurrent use.
type Faults struct {
	// Ways returns the ways in which a statement can fail in the driver's database, such as "40P01 before". The layer gets one
	// of them from At. A way has the word "after" if the statement, or the commit, has taken effect although it fails.
	Ways func(point FaultPoint) []string

	mu    sync.Mutex
	armed bool
	seen  map[string]int // how often each text was sent
	all   []FaultPoint
	fails FaultPoint
	way   string
	hit   bool
}

// FaultPoint is a statement, or a commit, of a call.
type FaultPoint struct {
	Text   string // of the statement, or its name
	N      int    // how often the call has sent this text before
	Commit bool   // it is a commit, or a statement that commits by itself
}

// At returns the way in which this statement or commit fails now; empty: it does not fail. The same text is the same
// statement, so that a layer leaves out what differs from call to call.
func (f *Faults) At(text string, commit bool) (way string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed {
		return ""
	}
	point := FaultPoint{Text: text, N: f.seen[text], Commit: commit}
	f.seen[text]++
	f.all = append(f.all, point)
	if f.hit || f.way == "" || point != f.fails {
		return ""
	}
	f.hit = true
	return f.way
}

// arm begins a call. One statement fails in a way; without a way, none fails.
func (f *Faults) arm(fails FaultPoint, way string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed, f.seen, f.all, f.fails, f.way, f.hit = true, map[string]int{}, nil, fails, way, false
}

// disarm ends a call, and returns its statements and whether one of them has failed.
func (f *Faults) disarm() (all []FaultPoint, hit bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = false
	return f.all, f.hit
}

// Without HOURBELL_STORETEST_FAULTS, RunFaults tries faultSample cases, at most faultsOfCall of each call.
const (
	faultSample  = 60
	faultsOfCall = 8
)

// RunFaults lets the statements and the commits of each call of the contract fail, one at a time, before and after they took effect,
// and checks that what the caller was told and what is stored agree:
//
//   - after a success everything is stored, and the answer is the answer of a call without a fault;
//   - after an error nothing is stored, and the call succeeds when it is repeated; after ErrUnknown, either nothing or everything is stored;
//   - a claim has returned exactly the jobs that the store lists as its claims;
//   - the permits of limits are counted right.
//
// open opens an empty store, whose first client has a layer that asks faults; see Faults. HOURBELL_STORETEST_FAULTS is how many
// cases are tried; "all" tries each. Without it, the seed HOURBELL_STORETEST_SEED chooses some.
func RunFaults(t *testing.T, faults *Faults, open func(t *testing.T) Store) {
	sample, all := int64(faultSample), os.Getenv("HOURBELL_STORETEST_FAULTS") == "all"
	if !all {
		sample = number(t, "HOURBELL_STORETEST_FAULTS", sample)
	}
	seed := number(t, "HOURBELL_STORETEST_SEED", int64(rand.Uint32()))
	t.Logf("HOURBELL_STORETEST_SEED=%d HOURBELL_STORETEST_FAULTS=%d", seed, sample)
	r := &faultRun{faults: faults, open: open}
	passRevisions(newEnv(t, open(t)))
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	for _, at := range rng.Perm(len(faultCalls)) {
		if !all && int64(r.tried) >= sample {
			break
		}
		call := &faultCalls[at]
		t.Run(call.name, func(t *testing.T) {
			cases := r.whole(t, call)
			if !all {
				rng.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
				cases = cases[:min(len(cases), faultsOfCall)]
			}
			for _, c := range cases {
				r.tried++
				t.Run(c.name(), func(t *testing.T) { r.fail(t, c) })
			}
		})
	}
	t.Logf("%d calls with %d statements and commits; %d cases were tried, and %d of these cases did not reach their "+
		"statement", r.calls, r.points, r.tried, r.missed)
}

// faultCall is a call of the contract.
type faultCall struct {
	name    string // of the method; after a slash, what the call is about
	prepare func(e *env) faultTry
	needs   func(store.Backend) bool // an ability; nil: none
	reads   bool                     // the call changes nothing
	// steps means that the call is several transactions. After an error some of them may have been done, and after a success the
	// rest may be left to the next call. A repetition completes it.
	steps bool
	// some means that a claim takes some of more jobs, and may take others than a claim without a fault.
	some    bool
	settles bool // the call does what settleBut does
}

// same reports whether two texts of everything are of the same store. Calls in steps may be recorded in the audit more than once.
func (c *faultCall) same(a, b string) bool {
	if !c.steps {
		return a == b
	}
	lines := func(text string) []string {
		all := strings.Split(text, "\n")
		for i := len(all) - 1; i > 0; i-- {
			if strings.HasPrefix(all[i], "Audit: ") && all[i] == all[i-1] {
				all = slices.Delete(all, i, i+1)
			}
		}
		return all
	}
	return slices.Equal(lines(a), lines(b))
}

// passRevisions uses the first revisions of a store. An emptied store goes on with the revisions of calendars and limits, and
// counts the revisions of each schedule from 1, so that only in a new store the two can be equal.
func passRevisions(e *env) {
	for n := range 9 {
		e.putCalendar("c", strconv.Itoa(n))
	}
}

// faultTry makes a call of a store that was prepared for it.
type faultTry struct {
	call func(ctx context.Context) (any, error)
	node int64 // of a claim
}

// faultRun is a run of RunFaults.
type faultRun struct {
	faults *Faults
	open   func(t *testing.T) Store
	calls  int // that were tried
	points int // statements and commits of these calls
	tried  int // cases
	missed int // cases whose statement was not sent
}

// faultCase is a call with one statement that fails.
type faultCase struct {
	call          *faultCall
	point         FaultPoint
	way           string
	before, after string // what is stored before and after a call without a fault
	answer        string // of a call without a fault, with what is stored then
	claimed       int    // how many jobs a claim without a fault takes
}

func (c *faultCase) name() string {
	what := "statement"
	if c.point.Commit {
		what = "commit"
	}
	digest := fnv.New32()
	fmt.Fprint(digest, c.point.Text)
	return fmt.Sprintf("%s %08x %d %s", what, digest.Sum32(), c.point.N, c.way)
}

// whole makes a call without a fault, and returns the cases of its statements.
func (r *faultRun) whole(t *testing.T, call *faultCall) (cases []faultCase) {
	e := newEnv(t, r.open(t))
	if call.needs != nil && !call.needs(e.a) {
		t.Skip("this store does not have the ability")
	}
	call.prepare(e)
	e.settleBut(*call)
	first, _ := e.everything(nil)
	e = newEnv(t, r.open(t))
	try := call.prepare(e)
	e.settleBut(*call)
	before, _ := e.everything(nil)
	e.agree(before, first, "the store must be the same each time before the call")
	had := len(e.claimsOf(try.node))
	r.faults.arm(FaultPoint{}, "")
	answer, err := try.call(e.ctx)
	points, _ := r.faults.disarm()
	e.must(err)
	e.settleBut(*call)
	after, whole := e.everything(answer)
	e.ok((before == after) == call.reads, "the call must change something if it is not a reading call, and otherwise nothing:\n"+firstDifference(before, after))
	e.ok(len(points) > 0, "the layer of the driver must see the statements of the call")
	r.calls, r.points = r.calls+1, r.points+len(points)
	for _, point := range points {
		for _, way := range r.faults.Ways(point) {
			cases = append(cases, faultCase{call, point, way, before, after, whole, len(e.claimsOf(try.node)) - had})
		}
	}
	return cases
}

// faultRepetitions bounds how often a call is repeated until it has done everything.
const faultRepetitions = 6

// fail makes a call, and one statement of the call fails.
func (r *faultRun) fail(t *testing.T, c faultCase) {
	e := newEnv(t, r.open(t))
	try := c.call.prepare(e)
	e.settleBut(*c.call)
	had := e.claimsOf(try.node)
	r.faults.arm(c.point, c.way)
	ctx, stop := context.WithTimeout(e.ctx, time.Minute)
	defer stop()
	answer, err := try.call(ctx)
	if _, hit := r.faults.disarm(); !hit {
		r.missed++
	}
	var told []store.ClaimRef
	var errs []string
	for n := 0; ; n++ {
		errs = append(errs, fmt.Sprint(err))
		told = e.checkClaims(try.node, had, told, answer, err)
		e.settleBut(*c.call)
		now, whole := e.everything(answer)
		switch {
		case t.Failed():
		case err == nil && (c.call.same(now, c.after) || c.call.some && len(told) == c.claimed):
			if !c.call.steps {
				e.agree(whole, c.answer, "a call that succeeds must return the answer of a call without a fault")
			}
			e.rightCounts()
		case err == nil && !c.call.steps:
			e.agree(now, c.after, "after a call that succeeds, everything must be stored")
		case err != nil && errors.Is(err, store.ErrUnknown) && c.call.same(now, c.after):
			e.rightCounts()
		case err != nil && !c.call.steps && now != c.before:
			e.agree(now, c.before, fmt.Sprintf("after an error (%v), nothing must be stored", err))
		case n == faultRepetitions:
			e.agree(now, c.after, fmt.Sprintf("a call that is repeated must do everything in the end (error: %v)", err))
		default:
			answer, err = try.call(e.ctx)
			if err != nil {
				t.Errorf("a call that is repeated without a fault must succeed: %v", err)
			}
			continue
		}
		break
	}
	if t.Failed() {
		t.Logf("%s of %s: the call sent this for the %d. time, and it failed in the way %q: %s\nerrors of the calls: %q",
			map[bool]string{false: "statement", true: "commit"}[c.point.Commit], c.call.name, c.point.N+1, c.way, shorten(c.point.Text, 500), errs)
	}
}

// agree fails the test with the first lines that differ.
func (e *env) agree(got, want, rule string) {
	e.t.Helper()
	if got != want {
		e.t.Errorf("%s\n%s", rule, firstDifference(want, got))
	}
}

// claimsOf returns the claims of a node; 0: none.
func (e *env) claimsOf(node int64) []store.ClaimRef {
	if node == 0 {
		return nil
	}
	return e.claims(node, false)
}

// checkClaims compares what claims have returned with the claims that the store lists, except the claims that the node had before. It
// returns the claims that the caller knows: the claims in the answer, and after an unknown end the claims that the caller looks up.
func (e *env) checkClaims(node int64, had, told []store.ClaimRef, answer any, err error) []store.ClaimRef {
	e.t.Helper()
	if node == 0 {
		return nil
	}
	if err == nil { // an answer beside an error is not read
		switch answer := answer.(type) {
		case store.ClaimResult:
			told = append(told, refsOf(answer.Jobs)...)
		}
	}
	held := slices.DeleteFunc(e.claims(node, false), func(ref store.ClaimRef) bool { return slices.Contains(had, ref) })
	if errors.Is(err, store.ErrUnknown) {
		return held
	}
	slices.SortFunc(told, func(a, b store.ClaimRef) int { return int(a.ID - b.ID) })
	e.ok(len(told) == 0 && len(held) == 0 || reflect.DeepEqual(told, held),
		fmt.Sprintf("claims must have returned what the store lists (error: %v)\ntold: %v\nheld: %v", err, told, held))
	return told
}

// rightCounts checks that no limit counts more or fewer permits than jobs hold.
func (e *env) rightCounts() {
	e.t.Helper()
	e.want(e.recount(0).Lanes, []store.LaneRepair(nil), "the permits must be counted right")
}

// settleBut does what nodes do after the commits of others, unless a call does this itself.
func (e *env) settleBut(call faultCall) {
	e.t.Helper()
	if call.settles {
		return
	}
	e.settle()
	if flusher, ok := e.a.(store.Flusher); ok {
		e.must(flusher.Flush(e.ctx))
	}
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	shown := 0
	for _, line := range a {
		if !slices.Contains(b, line) && shown < 12 {
			fmt.Fprintf(&out, "- %s\n", shorten(line, 1000))
			shown++
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) && shown < 24 {
			fmt.Fprintf(&out, "+ %s\n", shorten(line, 1000))
			shown++
		}
	}
	return out.String()
}
