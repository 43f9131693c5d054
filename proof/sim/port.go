package sim

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hourbell/hourbell/internal/intercept"
	"github.com/hourbell/hourbell/internal/uptime"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// port is the way of one process to the store: a backend whose calls stop at the gate and meet the weather. It also
// brings chance and the clock of leases (package ambient).
type port struct {
	store.Backend
	c        *cluster
	name     string
	listener store.Listener // of the backend below; nil: it sends no wake-ups
	drift    float64        // by which part its clock is faster

	mu       sync.Mutex
	drawn    map[string]int // random numbers by purpose
	dead     bool
	trap     string // an operation: when it has taken effect next, sprung is called
	sprung   func()
	beat     time.Time // when its last registration or heartbeat took effect
	cutFrom  time.Time // the network to the store is cut from then on, and slow before
	cutUntil time.Time
	frozenAt uptime.Instant
	thawAt   time.Time // the process stands still until then
}

func newPort(c *cluster, name string, drift float64) *port {
	p := &port{c: c, name: name, drift: drift, drawn: map[string]int{}}
	below := c.claims.over(c.store)
	if c.open != nil {
		below = c.open()
	}
	p.listener, _ = store.Able[store.Listener](below)
	p.Backend = intercept.New(below, p.call)
	return p
}

// Unwrap returns the backend below; see store.Able.
func (p *port) Unwrap() store.Backend { return p.Backend }

// Random implements loop.Ambient.
func (p *port) Random(purpose string) float64 {
	p.mu.Lock()
	n := p.drawn[purpose]
	p.drawn[purpose]++
	p.mu.Unlock()
	return p.c.dice.part(p.name+" draws "+purpose, n)
}

// Uptime implements loop.Ambient: a frozen process does not see time pass, and sees all of it when it goes on.
func (p *port) Uptime() uptime.Instant {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.thawAt) {
		return p.frozenAt
	}
	return p.uptime()
}

func (p *port) uptime() uptime.Instant {
	return uptime.Instant(float64(time.Since(p.c.began)) * (1 + p.drift))
}

// Step implements loop.Ambient: it stops at the gate.
func (p *port) Step(ctx context.Context, where string) {
	if !p.isDead() {
		_ = p.c.gate.await(ctx, &stop{key: p.name + " steps in " + where, arrive: func(int) time.Time { return p.thawed(time.Now()) }})
	}
}

// caller is the context key of the name of who calls, if it is not the process.
type caller struct{}

// call makes a call of the store: see intercept.Func.
func (p *port) call(ctx context.Context, c intercept.Call, next func(context.Context) error) error {
	who, named := ctx.Value(caller{}).(string)
	if !named {
		who = p.name
	}
	key := who + " " + c.Operation + details(c.Request)
	if p.isDead() {
		return errDead
	}
	var f fate
	var nth int // call of its key
	err := p.c.gate.await(ctx, &stop{key: key, arrive: func(n int) time.Time {
		if nth, f = n, p.fate(key, n, c.Operation); f.err != nil || f.twice {
			p.c.failed++
		}
		return p.thawed(time.Now().Add(f.before))
	}})
	if p.isDead() {
		return errDead
	}
	if err != nil {
		p.giveUp(key)
		p.c.trace.add("%s: gives up", key)
		return fmt.Errorf("%s: %w", c.Operation, err)
	}
	if err = f.err; err != nil && !f.lost {
		p.c.trace.add("%s: failed before: %v", key, err)
	}
	if err != nil && !f.lost {
		return fmt.Errorf("%s: %w", c.Operation, err)
	}
	if c.Operation == "prune" && !p.c.real { // nothing is old enough, and the store would look at each row
		next = func(context.Context) error { return nil }
	}
	err = next(ctx)
	if f.twice && err == nil && mayRepeat(c.Request) {
		err = next(ctx)
	}
	if err != nil {
		rollBack(c.Request)
	}
	if p.c.trace.on {
		p.c.trace.add("%s%s: %s", key, mark(f.twice, " (twice)"), answer(c.Result, err))
	}
	if err == nil && (c.Operation == "heartbeat" || c.Operation == "register") {
		p.mu.Lock()
		p.beat = time.Now()
		p.mu.Unlock()
	}
	p.spring(c, err)
	if f.after > 0 || f.lost || p.isFrozen() {
		if cut := p.awaitAnswer(ctx, key, nth, f.after); cut != nil {
			f.lost, f.err = true, cut
			p.giveUp(key)
		}
	}
	if p.isDead() {
		f.lost, f.err = true, errDead
	}
	if f.lost {
		reflect.ValueOf(c.Result).Elem().SetZero()
		if f.err != errDead {
			p.c.trace.add("%s: the answer is lost", key)
		}
		return fmt.Errorf("%s: %w", c.Operation, f.err)
	}
	return err
}

// awaitAnswer waits for the answer to the n-th call of a key, or until ctx ends. A process that stands still notices neither; when it goes
// on, both may have come, and chance decides which of them it sees.
func (p *port) awaitAnswer(ctx context.Context, key string, n int, after time.Duration) error {
	looks, froze := ctx, p.isFrozen()
	if froze {
		looks = context.Background()
	}
	cut := p.c.gate.await(looks, &stop{key: key + " answer", arrive: func(int) time.Time { return p.thawed(time.Now().Add(after)) }})
	if froze && ctx.Err() != nil && p.c.dice.part(key+" too late", n) < 0.5 {
		cut = context.Cause(ctx)
	}
	return cut
}

// giveUp lets one caller after another go on that has given up a call.
func (p *port) giveUp(key string) {
	_ = p.c.gate.await(context.Background(), &stop{key: key + " gives up", arrive: func(int) time.Time { return p.thawed(time.Now()) }})
}

// spring springs a trap that waits for a call: of a claim that has returned jobs, and of any other call that did
// not fail.
func (p *port) spring(c intercept.Call, err error) {
	if claim, is := c.Result.(*store.ClaimResult); err != nil || is && len(claim.Jobs) == 0 {
		return
	}
	if sprung := p.take(c.Operation); sprung != nil {
		sprung()
	}
}

// Traps that are sprung by workers: in their next run, and at the end of it, before the node learns of it.
const (
	atRun = "run"
	atEnd = "end of a run"
)

// take returns what is to be done if a trap waits for an operation, and forgets the trap; otherwise nil.
func (p *port) take(operation string) (sprung func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trap != operation || p.dead {
		return nil
	}
	sprung, p.trap, p.sprung = p.sprung, "", nil
	return sprung
}

// setTrap sets a trap.
func (p *port) setTrap(operation string, sprung func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trap, p.sprung = operation, sprung
}

// fate returns what becomes of a call now.
func (p *port) fate(key string, n int, operation string) fate {
	f := p.c.weather.fate(p.c.dice, key, n, operation)
	now := time.Now()
	p.mu.Lock()
	slow := now.Before(p.cutFrom)
	away := !slow && now.Before(p.cutUntil) || now.Before(p.c.awayUntil)
	p.mu.Unlock()
	if slow {
		f.after += p.c.dice.span(key+" slow answer", n, brownOut/2)
	}
	if !away {
		return f
	}
	f.err, f.lost = errAway, p.c.dice.part(key+" away", n) < 0.02
	if p.c.dice.part(key+" silent", n) < 0.3 {
		f.before = time.Minute // no answer: the caller gives up, or the connection does
	}
	return f
}

// Listen implements store.Listener. Each wake-up stops at the gate, too.
func (p *port) Listen(ctx context.Context, wake func(store.Wake)) error {
	key, err := p.name+" listen", error(nil)
	if cut := p.c.gate.await(ctx, &stop{key: key, arrive: func(n int) time.Time {
		err = p.fate(key, n, "listen").err
		return p.thawed(time.Now().Add(p.c.dice.span(key, n, time.Millisecond)))
	}}); cut != nil || err != nil {
		return fmt.Errorf("listen: %w", cmp.Or(cut, err))
	}
	if !p.c.plan.Push || p.listener == nil {
		return store.ErrNoPush
	}
	return p.listener.Listen(ctx, func(w store.Wake) {
		key := fmt.Sprintf("%s is woken: %v %s", p.name, w.Kind, w.Queue)
		cut := p.c.gate.await(ctx, &stop{key: key, arrive: func(n int) time.Time {
			return p.thawed(time.Now().Add(p.c.dice.span(key, n, p.c.weather.Latency)))
		}})
		if cut == nil && !p.isDead() {
			p.c.trace.add("%s", key)
			wake(w)
		}
	})
}

// leaseEnds returns until when the store keeps the lease of the process at the latest, if no other heartbeat comes.
func (p *port) leaseEnds() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.beat.Add(p.c.plan.Lease)
}

// brownOut is for how long answers are slow before the network is cut.
const brownOut = 6 * time.Second

// cut cuts the process off from the store, from one instant to another; before that answers are slow.
func (p *port) cut(from, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutFrom, p.cutUntil = from, until
}

// die cuts the process off for ever.
func (p *port) die() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.c.gate.hold(p.owns, func(*stop) time.Time { return time.Time{} })
}

// freeze stops the process until an instant.
func (p *port) freeze(until time.Time) {
	p.mu.Lock()
	p.frozenAt, p.thawAt = p.uptime(), until
	p.mu.Unlock()
	p.c.gate.hold(p.owns, func(s *stop) time.Time { return p.thawed(s.at) })
}

// owns reports whether a stop is of the process.
func (p *port) owns(s *stop) bool { return strings.HasPrefix(s.key, p.name+" ") && s.do == nil }

// thawed returns when something goes on that would go on at an instant.
func (p *port) thawed(at time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.Before(p.thawAt) {
		return p.thawAt
	}
	return at
}

func (p *port) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *port) isFrozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.thawAt)
}

// details distinguishes calls of the same operation, as far as a process may make them concurrently.
func details(request any) string {
	switch r := request.(type) {
	case *store.ClaimRequest:
		return " " + r.Queue + " " + strconv.FormatBool(r.Suspects) + " " + r.DueFor.String()
	case *store.ExchangePermitsRequest:
		return " " + r.Queue
	case *store.FinishRequest:
		if len(r.Outcomes) > 0 {
			return claimText(r.Outcomes[0].ID, r.Outcomes[0].Token)
		}
	case *store.BeginRequest:
		if len(r.Claims) > 0 {
			return claimText(r.Claims[0].ID, r.Claims[0].Token)
		}
	case *store.InsertRequest:
		if len(r.Jobs) > 0 {
			return " " + string(r.Jobs[0].Args)
		}
	case *store.FireRequest:
		if len(r.Firings) > 0 {
			return " " + strconv.FormatInt(r.Firings[0].Schedule, 10)
		}
	case *store.SaveStepRequest:
		return claimText(r.Step.Job, r.Token) + " " + r.Step.Name
	case *store.ClaimRef:
		return claimText(r.ID, r.Token)
	}
	return ""
}

// mayRepeat reports whether a call of a repeatable operation may be made twice: a step that is stored by a worker, and not a signal, whose
// repetition is answered as a second signal, nor a commit.
func mayRepeat(request any) bool {
	save, is := request.(*store.SaveStepRequest)
	return !is || save.Token != 0 && save.Tx == nil
}

// rollBack ends the transaction of a step that was not stored, as a database does after an error, so that nothing waits for the worker
// to do it.
func rollBack(request any) {
	if save, is := request.(*store.SaveStepRequest); is {
		if tx, in := save.Tx.(*memory.Tx); in {
			_ = tx.Rollback() // it may have ended
		}
	}
}

func claimText(id, token int64) string {
	return " " + strconv.FormatInt(id, 10) + "/" + strconv.FormatInt(token, 10)
}

// answer returns an answer of the store for the trace.
func answer(result any, err error) string {
	if err != nil {
		return err.Error()
	}
	switch r := result.(type) {
	case *store.ClaimResult:
		return claimed(r)
	case *store.InsertResult:
		return fmt.Sprintf("jobs %v", r.IDs())
	case *store.FinishResult:
		return fmt.Sprintf("refused %v", r.Refused)
	case *store.QueuePermits:
		return fmt.Sprintf("%+v", *r)
	case *store.FireResult:
		return fmt.Sprintf("fired %d, lost %d", len(r.Fired), len(r.Lost))
	case *store.RescueResult:
		return fmt.Sprintf("nodes %v, jobs %+v", numbersOf(r.Nodes), r.Jobs)
	case *store.RegisterResult:
		return fmt.Sprintf("node %d, last token %d%s", r.Node, r.Position.Token, mark(r.Position.Suspended(), ", suspended"))
	case *store.SaveStepResult:
		return fmt.Sprintf("%+v, changed %t", r.Step, r.Changed)
	case *store.HeartbeatResult:
		return fmt.Sprintf("next expiry %v", r.NextExpiry.Format(time.TimeOnly))
	}
	return "done"
}

func claimed(r *store.ClaimResult) string {
	var text strings.Builder
	text.WriteString("claimed")
	for _, j := range r.Jobs {
		fmt.Fprintf(&text, " %d/%d", j.ID, j.Token)
	}
	if !r.NextDue.IsZero() {
		fmt.Fprintf(&text, ", next due %s", clock(r.NextDue))
	}
	if !r.NextStart.IsZero() {
		fmt.Fprintf(&text, ", next start %s", clock(r.NextStart))
	}
	if r.LimitRevision != 0 {
		fmt.Fprintf(&text, ", limits %d", r.LimitRevision)
	}
	text.WriteString(mark(r.Rated, ", rated"))
	text.WriteString(mark(!r.NoSuspects, ", may have suspects"))
	return text.String()
}

func mark(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// numbersOf returns the numbers of nodes.
func numbersOf(nodes []store.NodeInfo) (numbers []int64) {
	for _, n := range nodes {
		numbers = append(numbers, n.ID)
	}
	return numbers
}
