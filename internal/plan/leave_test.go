package plan

import (
	"testing"
	"time"

	"github.com/hourbell/hourbell/store"
)

// A node that may not run a schedule's jobs fires none of its slots, and accounts only for slots
// that are later than the grace.
func TestUnlistedSlotsAreLeftToOthers(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	plan, s := planned(t, "10s", noon)
	listed := false
	mayRun := func(d Definition) bool {
		if d.Kind != plan.Kind || d.Args != plan.Args {
			t.Errorf("asked for %s %s", d.Kind, d.Args)
		}
		return listed
	}
	s.NextAt = at(10)
	pass := func(now time.Time) int {
		ours, again := NewCache().Own([]store.Schedule{s}, mayRun, now)
		if len(ours) == 0 && !again.Equal(s.NextAt.Add(defaultGrace+time.Microsecond)) {
			t.Errorf("at %v it looks again at %v", now, again)
		}
		return len(ours)
	}
	if pass(at(10)) != 0 || pass(at(70)) != 0 || pass(at(71)) != 1 {
		t.Error("a slot has to be left alone while it is on time, and no longer")
	}
	f := plan.OnlyMissed(s, plan.Decide(s, at(95)), at(95))
	if got := outcomesOf(f); got != "missed/misfire missed/misfire missed/misfire" || !f.NewMark.Equal(at(30)) || !f.NewNextAt.Equal(at(40)) {
		t.Errorf("%s, up to %v, next %v", got, f.NewMark, f.NewNextAt)
	}
	listed = true
	if pass(at(10)) != 1 {
		t.Error("a slot whose job is listed was left to others")
	}
	listed = false
	plan, s = planned(t, "10s", noon, func(d *Definition) { d.Misfire = MisfireAll })
	if ours, again := NewCache().Own([]store.Schedule{s}, mayRun, at(1000)); len(ours) != 0 || !again.IsZero() {
		t.Error("a slot that is to be made up for was not left to others")
	}
}
