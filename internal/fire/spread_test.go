package fire_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hourbell/hourbell/internal/fire"
	"github.com/hourbell/hourbell/internal/plan"
	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
	"github.com/hourbell/hourbell/store/memory"
)

// spreading is a store with the schedule "s", and a client that spreads it.
type spreading struct {
	*testing.T
	backend *memory.Store
	settler fire.Settler
}

func newSpreading(t *testing.T) *spreading {
	backend := memory.New()
	return &spreading{t, backend, fire.Settler{Store: backend}}
}

func (s *spreading) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// put puts the schedule "s", with a slot every 10 s.
func (s *spreading) put(on plan.Place, misfire plan.Misfire) {
	s.Helper()
	text, err := plan.Definition{
		Rule: recur.Spec{Every: "10s"}, Kind: "k", Args: "null", Queue: "q", Priority: 5, MaxAttempts: 1, On: on, Misfire: misfire,
	}.Encode()
	s.must(err)
	s.must(s.settler.Change(s.Context(), []string{"s"}, func() ([]string, error) {
		res, err := s.backend.PutSchedules(s.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s", Definition: text}}})
		return res.Edited, err
	}))
}

// change pauses or deletes the schedule "s", and does not spread it.
func (s *spreading) change(action store.ScheduleAction) {
	s.Helper()
	names := []string{"s"}
	s.must(s.settler.Change(s.Context(), names, func() ([]string, error) {
		return names, s.backend.ChangeSchedules(s.Context(), store.ChangeSchedulesRequest{Action: action, Names: names})
	}))
}

// node registers a node of a host, and returns a function that ends it.
func (s *spreading) node(host string) (leave func()) {
	s.Helper()
	res, err := s.backend.Register(s.Context(), store.RegisterRequest{Name: host, Host: host, Lease: time.Minute, Queues: []string{"q"}, Kinds: []string{"k"}})
	s.must(err)
	return func() {
		_, err := s.backend.Leave(s.Context(), store.LeaveRequest{Node: res.Node})
		s.must(err)
	}
}

// spread spreads "s", and checks on which hosts it is then.
func (s *spreading) spread(want ...string) {
	s.Helper()
	problems, err := s.settler.Spread(s.Context(), []string{"s"})
	s.must(errors.Join(err, problems["s"]))
	s.on(want...)
}

func (s *spreading) on(want ...string) {
	s.Helper()
	rows, err := s.settler.OnHosts(s.Context(), "s")
	s.must(err)
	var got []string
	for _, row := range rows {
		got = append(got, store.HostOf(row.Name, row.Owner))
	}
	if !slices.Equal(got, want) {
		s.Errorf("it is on hosts %q, want %q", got, want)
	}
}

func (s *spreading) schedules() (rows map[string]store.Schedule) {
	s.Helper()
	found, err := store.List[store.Schedule](s.Context(), s.backend, store.ListRequest{Limit: 100})
	s.must(err)
	rows = map[string]store.Schedule{}
	for _, row := range found {
		rows[row.Name] = row
	}
	return rows
}

var everyHost = plan.Place{Every: true}

func TestSpread(t *testing.T) {
	s := newSpreading(t)
	s.put(everyHost, "")
	s.spread()
	if names, err := s.settler.Spreading(t.Context()); err != nil || !slices.Equal(names, []string{"s"}) {
		t.Errorf("without hosts these are spread: %q, %v", names, err)
	}
	s.node("web1")
	leave := s.node("web2")
	s.spread("web1", "web2")
	before := s.schedules()
	s.spread("web1", "web2")
	if after := s.schedules(); after["s@web1"].Revision != before["s@web1"].Revision || !after["s@web1"].UpdatedAt.Equal(before["s@web1"].UpdatedAt) {
		t.Errorf("a repetition changed %+v to %+v", before["s@web1"], after["s@web1"])
	}
	leave()
	s.spread("web1", "web2") // it is expected for some days
	s.must(s.backend.Delete(t.Context(), store.DeleteRequest{Of: store.OfNodes, Names: []string{"web2"}}))
	s.spread("web1")

	// A client that died after its put, and before it spread the schedule.
	s.put(plan.Place{}, "")
	s.on("web1")
	names, err := s.settler.Spreading(t.Context())
	s.must(err)
	_, err = s.settler.Spread(t.Context(), names)
	s.must(err)
	s.on()
	s.put(everyHost, "")
	s.spread("web1")
	s.change(store.DeleteSchedules)
	s.spread()
}

func TestAPauseIsSpread(t *testing.T) {
	s := newSpreading(t)
	s.node("web1")
	s.put(everyHost, "")
	s.spread("web1")
	s.change(store.PauseSchedules)
	s.node("web2")
	s.spread("web1", "web2")
	for _, name := range []string{"s@web1", "s@web2"} {
		if s.schedules()[name].PausedAt.IsZero() {
			t.Errorf("%s is not paused", name)
		}
	}
}

func TestATakenNameDoesNotHoldUpOtherHosts(t *testing.T) {
	s := newSpreading(t)
	for _, host := range []string{"web1", "web2", "web3"} {
		s.node(host)
	}
	_, err := s.backend.PutSchedules(t.Context(), store.PutSchedulesRequest{Schedules: []store.PutSchedule{{Name: "s@web2", Definition: []byte("{}")}}})
	s.must(err)
	s.put(everyHost, "")
	problems, err := s.settler.Spread(t.Context(), []string{"s"})
	s.must(err)
	if !errors.Is(problems["s"], store.ErrConflict) {
		t.Errorf("problems: %v", problems)
	}
	s.on("web1", "web3")
}

// staleStore is a store in which another caller spreads a newer revision after the schedule was read.
type staleStore struct{ *memory.Store }

func (s staleStore) PutSchedules(ctx context.Context, req store.PutSchedulesRequest) (store.PutSchedulesResult, error) {
	if store.IsEveryOwner(req.Owner) {
		newer := req
		newer.SyncRevision, newer.Schedules = req.SyncRevision+1, nil
		if _, err := s.Store.PutSchedules(ctx, newer); err != nil {
			return store.PutSchedulesResult{}, err
		}
	}
	return s.Store.PutSchedules(ctx, req)
}

func TestAnOlderRevisionIsNotSpread(t *testing.T) {
	s := newSpreading(t)
	s.node("web1")
	s.put(everyHost, "")
	problems, err := fire.Settler{Store: staleStore{s.backend}}.Spread(t.Context(), []string{"s"})
	if err != nil || problems["s"] != nil {
		t.Errorf("%v, %v", problems, err)
	}
	s.on()
}

// TestSlotsOfAHostThatIsGone: the last slots of a host that is forgotten are missed, also if they were to be made up for, because no node
// would run their jobs.
func TestSlotsOfAHostThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpreading(t)
		leave := s.node("web1")
		s.put(everyHost, plan.MisfireAll)
		s.spread("web1")
		due, err := s.backend.DueSchedules(t.Context(), store.DueSchedulesRequest{Limit: 10})
		s.must(err)
		for _, row := range due.Schedules { // as a node does
			p, err := plan.New(row, nil)
			s.must(err)
			_, err = s.backend.Fire(t.Context(), store.FireRequest{Firings: []store.Firing{plan.Resolve(row, p, nil, nil, due.Now)}})
			s.must(err)
		}
		leave()
		time.Sleep(35 * time.Second)
		s.must(s.backend.Delete(t.Context(), store.DeleteRequest{Of: store.OfNodes, Names: []string{"web1"}}))
		s.spread()
		slots, err := store.List[store.SlotInfo](t.Context(), s.backend, store.ListRequest{HostsOf: "s", Limit: 100})
		s.must(err)
		missed := 0
		for _, slot := range slots {
			if slot.Outcome == store.SlotMissed && slot.Host == "web1" {
				missed++
			}
		}
		if len(slots) != 3 || missed != 3 {
			t.Errorf("slots %+v, want three that are missed", slots)
		}
	})
}

// TestAwaitHosts: a slot that a host has fired early comes before a caller goes on who has changed a schedule on every host, also
// if the schedules of hosts need no edit any more.
func TestAwaitHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpreading(t)
		s.node("web1")
		s.put(everyHost, "")
		s.spread("web1")
		row := s.schedules()["s@web1"]
		ahead := row.NextAt.Add(10 * time.Second) // the first slot is due
		time.Sleep(time.Until(ahead) - store.MostAhead/2)
		now, err := s.backend.Now(t.Context())
		s.must(err)
		fired, err := s.backend.Fire(t.Context(), store.FireRequest{Ahead: store.MostAhead, Firings: []store.Firing{{
			Schedule: row.ID, Revision: row.Revision, Mark: row.Mark, NextAt: row.NextAt,
			NewMark: ahead, NewNextAt: ahead.Add(10 * time.Second),
		}}})
		if s.must(err); len(fired.Lost) > 0 {
			t.Fatalf("the decision is lost: %+v", fired)
		}
		inTx := s.settler
		inTx.Tx = s.backend.Begin()
		s.must(inTx.AwaitHosts(t.Context(), []string{"s"}))
		if at, err := s.backend.Now(t.Context()); err != nil || at.After(now) {
			t.Errorf("in a transaction the caller waits until %v: %v", at, err)
		}
		s.must(s.settler.AwaitHosts(t.Context(), []string{"s"}))
		if at, err := s.backend.Now(t.Context()); err != nil || !at.Equal(ahead) {
			t.Errorf("the caller goes on at %v, and the slot that has fired is at %v: %v", at, ahead, err)
		}
	})
}
