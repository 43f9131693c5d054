package travel_test

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/travel"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
	"github.com/hourbell/hourbell/store/storetest"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC)

// able is a store with the abilities that a clock passes on and the store in memory lacks. asked has the
// instants of the requests that used these abilities.
type able struct {
	*memory.Store
	asked *[]time.Time
}

func (a able) CarryOut(_ context.Context, req store.CarryOutRequest) error {
	*a.asked = append(*a.asked, req.Now)
	return nil
}
func (able) Migrations() []store.Migration                                  { return nil }
func (able) MigrateStatus(context.Context) ([]store.MigrationStatus, error) { return nil, nil }
func (able) MigrateUp(context.Context) ([]store.Migration, error)           { return nil, nil }

// TestEveryRequestHasTheInstant calls each method of a store whose request has a Now: the store does not
// read its own clock. Node.Backend has the same methods.
func TestEveryRequestHasTheInstant(t *testing.T) {
	var read atomic.Bool
	below := memory.New(memory.WithClock(func() time.Time { read.Store(true); return time.Now() }))
	c := travel.NewClock(start)
	b := c.Over(below)
	node := travel.Join(b, travel.Loops{Queues: []string{""}})
	role := reflect.TypeFor[store.Backend]()
	tried := 0
	for _, receiver := range []store.Backend{b, node.Backend()} {
		for i := range role.NumMethod() {
			method := reflect.ValueOf(receiver).MethodByName(role.Method(i).Name)
			if method.Type().NumIn() < 2 {
				continue
			}
			req := reflect.New(method.Type().In(1)).Elem()
			if !req.FieldByName("Now").IsValid() {
				continue
			}
			tried++
			read.Store(false)
			method.Call([]reflect.Value{reflect.ValueOf(t.Context()), req})
			if read.Load() {
				t.Errorf("%T.%s: the store read its own clock", receiver, role.Method(i).Name)
			}
		}
		if now, err := receiver.Now(t.Context()); err != nil || !now.Equal(start) {
			t.Errorf("%T.Now: %v, %v", receiver, now, err)
		}
	}
	if tried < 50 {
		t.Errorf("only %d methods have requests with a Now", tried)
	}
}

// TestAbilities checks that the abilities of a store remain that need no clock of the process.
func TestAbilities(t *testing.T) {
	var asked []time.Time
	c := travel.NewClock(start)
	b := c.Over(able{memory.New(), &asked})
	var names []string
	for _, ability := range storetest.Abilities() {
		if ability.Of(b) {
			names = append(names, ability.Name)
		}
	}
	if want := []string{"Deferring", "Migrator"}; !slices.Equal(names, want) {
		t.Errorf("abilities %v, want %v", names, want)
	}
	deferring, _ := store.Able[store.Deferring](b)
	if err := deferring.CarryOut(t.Context(), store.CarryOutRequest{}); err != nil {
		t.Error(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	if len(asked) != 2 || slices.ContainsFunc(asked, func(at time.Time) bool { return !at.Equal(start) }) {
		t.Errorf("requests at %v", asked)
	}
	if travel.Of(b) != c || travel.Of(memory.New()) != nil || travel.Join(memory.New(), travel.Loops{}) != nil {
		t.Error("only the backend has the clock")
	}
}

// partly is a store that records whether claims were in part.
type partly struct {
	*memory.Store
	parts *[]bool
}

func (p partly) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	*p.parts = append(*p.parts, req.Part)
	return p.Store.Claim(ctx, req)
}

// TestClaimsAreWhole checks that a node does not claim in part, because the clock would stand still while jobs are due.
func TestClaimsAreWhole(t *testing.T) {
	var parts []bool
	b := travel.NewClock(start).Over(partly{memory.New(), &parts})
	registered, err := b.Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Claim(t.Context(), store.ClaimRequest{Node: registered.Node, Queue: "q", Kinds: []string{"k"}, Limit: 1, Part: true})
	if err != nil || !slices.Equal(parts, []bool{false}) {
		t.Errorf("claims in part: %v, %v", parts, err)
	}
}

// TestTheClockMovesForward checks the precision of the clock, and that it does not move back.
func TestTheClockMovesForward(t *testing.T) {
	c := travel.NewClock(start.Add(time.Nanosecond))
	c.Set(start.Add(-time.Hour))
	if !c.Now().Equal(start) {
		t.Errorf("the clock shows %v", c.Now())
	}
	c.Set(start.Add(time.Hour))
	if !c.Now().Equal(start.Add(time.Hour)) || !c.Next().IsZero() {
		t.Errorf("the clock shows %v, and next is %v", c.Now(), c.Next())
	}
}

// TestPollsBetweenTwoSettles checks that a node which polls while it may not claim does not change
// what is known of the next job.
func TestPollsBetweenTwoSettles(t *testing.T) {
	c := travel.NewClock(start)
	b := c.Over(memory.New())
	var node *travel.Node
	claim := func(next time.Time) {
		tick := node.BeginClaims()
		node.EndClaims("default", tick, &store.ClaimResult{NextDue: next}, false)
	}
	due := start.Add(time.Hour)
	node = travel.Join(b, travel.Loops{
		Queues: []string{"default"}, Workers: func(string) (int, bool) { return 1, true }, InFlight: func() int { return 0 },
		Wake: func(w store.Wake) {
			if w.Kind == store.WakeJobs {
				claim(due)
			} else if _, err := node.Backend().DueSchedules(t.Context(), store.DueSchedulesRequest{Limit: 1}); err != nil {
				t.Error(err)
			}
		},
	})
	if _, err := node.Backend().Register(t.Context(), store.RegisterRequest{Name: "n", Lease: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	claim(time.Time{})
	if !c.Next().Equal(due) {
		t.Errorf("next is %v, want %v", c.Next(), due)
	}
}

// TestANodeJoinsOnce checks that a second registration of a node, which a change of its time-zone data
// causes, does not count as another node: a kit would take its second client for registered too early.
func TestANodeJoinsOnce(t *testing.T) {
	c := travel.NewClock(start)
	node := travel.Join(c.Over(memory.New()), travel.Loops{}).Backend()
	res, err := node.Register(t.Context(), store.RegisterRequest{Name: "a", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	again := store.RegisterRequest{Name: "a", Lease: time.Minute, Continue: res.Node, Zones: []string{"UTC 1"}}
	if _, err := node.Register(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if got := c.Joined(); got != 1 {
		t.Errorf("%d nodes have joined, want 1", got)
	}
}
