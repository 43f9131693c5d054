package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

func TestExpectedHosts(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	node := func(id int64, host, label string, seen time.Duration, ended bool) store.NodeInfo {
		n := store.NodeInfo{ID: id, Host: host, SeenAt: now.Add(-seen)}
		if label != "" {
			n.Labels = []string{label}
		}
		if ended {
			n.EndedAt = n.SeenAt
		}
		return n
	}
	nodes := []store.NodeInfo{
		node(1, "web2", "role=db", 3*time.Hour, true), node(2, "web2", "role=web", time.Hour, true), // relabelled, and down
		node(3, "web1", "role=web", 2*time.Hour, true), node(4, "web1", "role=db", 0, false), node(5, "web1", "role=web", 0, false),
		node(6, "", "role=web", 0, false), node(7, "db1", "role=db", 0, false),
	}
	for label, want := range map[string][]string{"": {"db1", "web1", "web2"}, "role=db": {"db1", "web1"}, "role=web": {"web1", "web2"}, "role=x": nil} {
		if got := (Place{Every: true, Label: label}).Expected(nodes); !slices.Equal(got, want) {
			t.Errorf("label %q: %q, want %q", label, got, want)
		}
	}
}

func TestTheDefinitionForAHost(t *testing.T) {
	anchor := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	d := Definition{Kind: "k", Queue: "q", On: Place{Every: true, Label: "role=db"}, After: []Edge{{Schedule: "a"}, {Schedule: "b"}}}
	text, err := d.Encode()
	if err != nil || !Spreads(text) || !HasPlace(text) {
		t.Errorf("%s is not spread: %v", text, err)
	}
	row := store.Schedule{Name: "s", Anchor: anchor}
	one := d.ForHost(row, "web1", map[string]bool{"a": true})
	if one.On != (Place{Host: "web1"}) || !one.AnchorOf(store.Schedule{}).Equal(anchor) || !slices.Equal(one.Predecessors(), []string{"a@web1", "b"}) {
		t.Errorf("for a host: %+v", one)
	}
	if !slices.Equal(d.Predecessors(), []string{"a", "b"}) {
		t.Errorf("the schedule itself follows %q now", d.Predecessors())
	}
	if text, err = one.Encode(); err != nil || Spreads(text) {
		t.Errorf("%s is spread: %v", text, err)
	}
}

func TestCountOfInstants(t *testing.T) {
	anchor := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	d := Definition{Rule: recur.Spec{Every: "1h"}, Count: 3, On: Place{Every: true}}.ForHost(store.Schedule{Anchor: anchor}, "web1", nil)
	text, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	// The host joined after the first instant, and nothing has fired on it.
	row := store.Schedule{Name: "s@web1", Definition: text, Anchor: anchor.Add(90 * time.Minute), Mark: anchor.Add(90 * time.Minute)}
	p, err := New(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	var slots []string
	for at := p.Next(row, row.Mark); !at.IsZero(); at = p.Next(row, at) {
		slots = append(slots, at.Format("15:04"))
	}
	if got := strings.Join(slots, " "); got != "14:00 15:00" {
		t.Errorf("the slots of a host that joined at 13:30 are %s, want the last two of three", got)
	}
}

func TestAScheduleOnEveryHostHasNoSlots(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 30, 0, time.UTC)
	for name, d := range map[string]Definition{
		"a rule": {Rule: recur.Spec{Every: "1s"}, On: Place{Every: true}}, "predecessors": {After: []Edge{{Schedule: "a"}}, On: Place{Every: true}},
	} {
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		row := store.Schedule{Name: "s", Definition: text, Mark: now.Add(-time.Hour), NextAt: now.Add(-time.Minute)}
		p, err := New(row, nil)
		f := Resolve(row, p, err, nil, now)
		if len(f.Jobs)+len(f.Slots) > 0 || !f.NewMark.Equal(now) || !f.NewNextAt.Equal(now.Add(time.Minute)) || f.Follows || p.CanPrefetch(row) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestUnattendedSlotsAreLate(t *testing.T) {
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		misfire Misfire
		gone    bool
		fired   int
	}{{MisfireSkip, false, 0}, {MisfireOnce, false, 1}, {MisfireOnce, true, 0}} {
		text, err := Definition{Rule: recur.Spec{Every: "10s"}, Misfire: test.misfire, On: Place{Host: "web1"}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		row := store.Schedule{Name: "s", Definition: text, Anchor: now.Add(-time.Hour), Mark: now.Add(-25 * time.Second)}
		p, err := New(row, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := p.Unattended(test.gone).Decide(row, now)
		if len(f.Jobs) != test.fired || len(f.Slots) != 3-test.fired || !strings.Contains(f.Slots[0].Reason, "no node of host web1 lived when the schedule was changed") {
			t.Errorf("%+v: %d jobs, records %+v", test, len(f.Jobs), f.Slots)
		}
	}
}

func TestEdgesFromSchedulesOfHosts(t *testing.T) {
	p := Plan{Definition: Definition{After: []Edge{{Schedule: "a"}, {Schedule: "a@web2", On: store.OnFailure}}}}
	for predecessor, want := range map[string]string{"a": "a", "a@web1": "a", "a@web2": "a@web2", "a@b@c": "", "ab@web1": ""} {
		if e, known := p.edge(predecessor); e.Schedule != want || known != (want != "") {
			t.Errorf("from %s: edge %q, %v", predecessor, e.Schedule, known)
		}
	}
}
