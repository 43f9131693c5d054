package plan

import (
	"strings"
	"testing"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

func TestQueuesOfPlaces(t *testing.T) {
	web := PlacesOf("web1", []string{"role=web", "zone=b"})
	for _, test := range []struct {
		place  Place
		queue  string
		serves bool
	}{
		{Place{}, "q", true},
		{Place{Host: "web1"}, "q@web1", true},
		{Place{Host: "web2"}, "q@web2", false},
		{Place{Label: "zone=b"}, "q@zone=b", true},
		{Place{Label: "zone=a"}, "q@zone=a", false},
	} {
		queue := test.place.Queue("q")
		node := store.NodeInfo{Host: "web1", Labels: []string{"role=web", "zone=b"}, Queues: []string{"p", "q"}}
		if queue != test.queue || web.Has(test.place) != test.serves || node.Serves(queue) != test.serves {
			t.Errorf("%+v: queue %s, has %v, serves %v", test.place, queue, web.Has(test.place), node.Serves(queue))
		}
		if node.Queues = []string{"p"}; node.Serves(queue) {
			t.Errorf("%+v: a node without the queue serves it", test.place)
		}
		if base, place, placed := CutPlace(queue); base != "q" || place != test.place || placed == place.IsZero() {
			t.Errorf("%s is cut into %s and %+v", queue, base, place)
		}
	}
	if web.String() == PlacesOf("web2", []string{"role=web", "zone=b"}).String() || web.String() == PlacesOf("web1", nil).String() {
		t.Error("nodes with different places have the same text")
	}
}

// The jobs of a place go to its queue; jobs that hooks make go to the queue that was declared, because the nodes of the place
// may be what failed.
func TestJobsOfAPlace(t *testing.T) {
	hook := HookList{{Kind: "note"}}
	d := Definition{Kind: "k", Queue: "q", On: Place{Host: "web1"}, Hooks: Hooks{OnFailure: hook, OnMissed: hook}}
	job := d.Job(7, store.OriginSchedule)
	if job.Queue != "q@web1" {
		t.Errorf("the job is in queue %s", job.Queue)
	}
	after := FollowUp(store.Claimed{JobSpec: job.JobSpec, Schedule: 7}, store.Outcome{Result: store.Failed}, "")
	if after == nil || after.Always[0].Queue != "q" {
		t.Errorf("the hook of a failure: %+v", after)
	}
	f := store.Firing{Slots: []store.SlotRecord{{Outcome: store.SlotMissed, Slot: noon, Last: noon, Count: 1}}}
	if d.addEvents(store.Schedule{}, &f); f.After.Always[0].Queue != "q" {
		t.Errorf("the hook of a missed slot: %+v", f.After)
	}
	for _, part := range d.Parts() {
		if part.Spec.Queue != "q" {
			t.Errorf("middleware gets the queue %s", part.Spec.Queue)
		}
		d.Adopt(part, part.Spec, nil)
	}
	if got := d.Job(7, store.OriginSchedule).Queue; got != "q@web1" {
		t.Errorf("after middleware the job is in queue %s", got)
	}
}

// The slots of a place are left to its nodes; others record them as missed.
func TestSlotsOfAPlaceAreLeftToIt(t *testing.T) {
	plan, s := planned(t, "10s", noon, func(d *Definition) { d.On = Place{Host: "web1"} })
	s.NextAt = noon.Add(10e9)
	mayRun := func(d Definition) bool { return PlacesOf("web2", nil).Has(d.On) }
	if ours, _, again := NewCache(&recur.Zones{}).Own([]store.Schedule{s}, mayRun, s.NextAt); len(ours) != 0 || again.IsZero() {
		t.Errorf("a node of another host takes %d slots, again at %v", len(ours), again)
	}
	late := s.NextAt.Add(defaultGrace + 15e9)
	if ours, _, _ := NewCache(&recur.Zones{}).Own([]store.Schedule{s}, mayRun, late); len(ours) != 1 {
		t.Error("no node accounts for a slot of a host that is down")
	}
	f := plan.OnlyMissed(s, plan.Decide(s, late), late)
	if len(f.Jobs) != 0 || len(f.Slots) == 0 || !strings.Contains(f.Slots[0].Reason, "no node of host web1 fired it") {
		t.Errorf("%+v", f)
	}
}
