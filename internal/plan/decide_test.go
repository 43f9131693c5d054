package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// planned returns a schedule with a slot every d, accounted for up to mark.
func planned(t *testing.T, d string, mark time.Time, change ...func(*Definition)) (Plan, store.Schedule) {
	t.Helper()
	def := Definition{Rule: recur.Spec{Every: d}, Kind: "k", Queue: "q", Priority: 3, MaxAttempts: 2, Args: `{"a": 1}`}
	for _, f := range change {
		f(&def)
	}
	text, err := def.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := store.Schedule{ID: 5, Revision: 8, Definition: text, Anchor: noon, Mark: mark, NextAt: mark}
	plan, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plan, s
}

func allow(d *Definition) { d.Overlap = OverlapAllow }

// outcomesOf returns a decision as text: F for each job, then outcome×count of each record.
func outcomesOf(f store.Firing) string {
	var words []string
	for range f.Jobs {
		words = append(words, "fired")
	}
	for _, r := range f.Slots {
		for range r.Count {
			reason, _, _ := strings.Cut(r.Reason, ":")
			words = append(words, r.Outcome.String()+"/"+reason)
		}
	}
	return strings.Join(words, " ")
}

func TestDecide(t *testing.T) {
	sec := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	for _, test := range []struct {
		name   string
		every  string
		mark   time.Time
		now    time.Time
		pause  bool
		change []func(*Definition)
		want   string
		mark2  time.Time
		next   time.Time
	}{
		{"just put: only planned", "10s", sec(3), sec(3), false, nil, "", sec(3), sec(10)},
		{"not due yet", "10s", sec(10), sec(19), false, nil, "", sec(10), sec(20)},
		{"due to the microsecond", "10s", sec(10), sec(20), false, nil, "fired", sec(20), sec(30)},
		{"a little late", "10s", sec(10), sec(25), false, nil, "fired", sec(20), sec(30)},
		{"late within grace", "1h", sec(0), sec(3660), false, nil, "fired", sec(3600), sec(7200)},
		{"later than grace", "1h", sec(0), sec(3661), false, nil, "missed/misfire", sec(3600), sec(7200)},
		{"several, overlap skip: the newest", "10s", sec(0), sec(35), false, nil, "fired skipped/late skipped/late", sec(30), sec(40)},
		{"several, overlap allow: all", "10s", sec(0), sec(35), false, []func(*Definition){allow}, "fired fired fired", sec(30), sec(40)},
		{"no node for a while, then one within grace", "30s", sec(0), sec(130), false, nil, "fired missed/misfire missed/misfire skipped/late", sec(120), sec(150)},
		{"paused", "10s", sec(0), sec(25), true, nil, "skipped/paused skipped/paused", sec(20), sec(30)},
		{"mark ahead of the clock", "10s", sec(100), sec(20), false, nil, "", sec(100), sec(110)},
	} {
		plan, s := planned(t, test.every, test.mark, test.change...)
		if test.pause {
			s.PausedAt = noon
		}
		f := plan.Decide(s, test.now)
		if got := outcomesOf(f); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if !f.NewMark.Equal(test.mark2) || !f.NewNextAt.Equal(test.next) {
			t.Errorf("%s: mark %v next %v", test.name, f.NewMark, f.NewNextAt)
		}
		if f.Schedule != 5 || f.Revision != 8 || !f.Mark.Equal(s.Mark) || !f.NextAt.Equal(s.NextAt) {
			t.Errorf("%s: the comparison is %+v", test.name, f)
		}
	}
}

func TestJobOfASlot(t *testing.T) {
	plan, s := planned(t, "10s", noon, func(d *Definition) { d.OnLoss = store.OnLossFail; d.Timeout = time.Minute })
	job := plan.Decide(s, noon.Add(12*time.Second)).Jobs[0]
	slot := noon.Add(10 * time.Second)
	if job.Kind != "k" || job.Queue != "q" || string(job.Args) != `{"a": 1}` || job.Priority != 3 || job.MaxAttempts != 2 ||
		job.OnLoss != store.OnLossFail || job.Timeout != time.Minute || job.Origin != store.OriginSchedule ||
		job.Schedule != 5 || !job.Slot.Equal(slot) || !job.RunAt.Equal(slot) {
		t.Errorf("%+v", job)
	}
}

func TestALongOutageIsOneRecord(t *testing.T) {
	plan, s := planned(t, "10s", noon)
	f := plan.Decide(s, noon.Add(24*time.Hour))
	if len(f.Jobs) != 1 || len(f.Slots) != 2 {
		t.Fatalf("%d jobs, %d records", len(f.Jobs), len(f.Slots))
	}
	missed := f.Slots[0]
	if missed.Count != 8633 || !missed.Slot.Equal(noon.Add(10*time.Second)) || !missed.Last.Equal(noon.Add(24*time.Hour-70*time.Second)) {
		t.Errorf("missed: %+v", missed)
	}
}

func TestAnOutageOfMoreSlotsThanAreCounted(t *testing.T) {
	plan, s := planned(t, "1s", noon)
	now := noon.Add(48 * time.Hour)
	f := plan.Decide(s, now)
	if len(f.Jobs) != 0 || len(f.Slots) != 1 || f.Slots[0].Count != maxSlots || !strings.Contains(f.Slots[0].Reason, "more than") {
		t.Fatalf("first round: %d jobs, %+v", len(f.Jobs), f.Slots)
	}
	if !f.NewMark.Equal(now.Add(-defaultGrace-time.Microsecond)) || !f.NewNextAt.Equal(now.Add(-defaultGrace)) {
		t.Fatalf("first round: mark %v, next %v", f.NewMark, f.NewNextAt)
	}
	s.Mark, s.NextAt = f.NewMark, f.NewNextAt
	if f = plan.Decide(s, now); len(f.Jobs) != 1 || !f.Jobs[0].Slot.Equal(now) {
		t.Errorf("second round: %s", outcomesOf(f))
	}
}

func TestAnEndedScheduleHasNoNext(t *testing.T) {
	def := Definition{Rule: recur.Spec{At: "2026-03-01T12:00:10Z"}, Kind: "k", Queue: "q"}
	text, _ := def.Encode()
	s := store.Schedule{ID: 1, Definition: text, Mark: noon, NextAt: noon}
	plan, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := plan.Decide(s, noon.Add(11*time.Second)); outcomesOf(f) != "fired" || !f.NewNextAt.IsZero() {
		t.Errorf("%s, next %v", outcomesOf(f), f.NewNextAt)
	}
}

func TestAnUnusableDefinitionIsPutOff(t *testing.T) {
	for _, text := range []string{"", "{", `{"rule":{"cron":"nope"}}`, `{"rule":{"every":"1s"},"overlap":"from the future"}`} {
		s := store.Schedule{ID: 1, Definition: []byte(text), Mark: noon, NextAt: noon}
		plan, err := New(s, nil)
		if err == nil {
			t.Errorf("%q was accepted", text)
			continue
		}
		f := Resolve(s, plan, err, nil, noon.Add(time.Hour))
		if len(f.Jobs)+len(f.Slots) != 0 || !f.NewMark.Equal(noon) || !f.NewNextAt.After(noon.Add(time.Hour)) {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

func TestEqualDefinitionsHaveEqualBytes(t *testing.T) {
	_, a := planned(t, "1m", noon)
	_, b := planned(t, "1m", noon)
	if string(a.Definition) != string(b.Definition) {
		t.Errorf("%s and %s", a.Definition, b.Definition)
	}
}

// BenchmarkDecide measures the decision on the next slot of a schedule, as each slot is prefetched.
func BenchmarkDecide(b *testing.B) {
	row := store.Schedule{ID: 1, Name: "report", Revision: 1, Anchor: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	row.Mark, row.NextAt = row.Anchor, row.Anchor.Add(30*time.Minute)
	definition := Definition{Rule: recur.Spec{Cron: "*/30 * * * *", Zone: "Europe/Prague"}, Kind: "mail", Args: `{"to":1}`, Queue: "default", Priority: 5, MaxAttempts: 25}
	var err error
	if row.Definition, err = definition.Encode(); err != nil {
		b.Fatal(err)
	}
	plan, _, err := NewCache(&recur.Zones{}).Get(row)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if f := plan.Decide(row, row.NextAt); len(f.Jobs) != 1 {
			b.Fatalf("%d jobs, want 1", len(f.Jobs))
		}
	}
}
