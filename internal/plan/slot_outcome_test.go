package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hourbell/hourbell/recur"
	"github.com/hourbell/hourbell/store"
)

// spell returns a decision as text: time of day=outcome, in the order fired, missed, paused, late,
// gap.
func spell(f store.Firing) string {
	var words []string
	for _, job := range f.Jobs {
		words = append(words, job.Slot.UTC().Format("15:04")+"=fired")
	}
	for _, r := range f.Slots {
		word, _, _ := strings.Cut(r.Reason, ":")
		if r.Outcome == store.SlotMissed {
			word = "missed"
		}
		words = append(words, r.Slot.UTC().Format("15:04")+"="+word)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestMisfire(t *testing.T) {
	at := func(clock string) time.Time {
		d, err := time.Parse("15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return noon.Add(d.Sub(time.Date(0, 1, 1, 12, 0, 0, 0, time.UTC)))
	}
	for _, test := range []struct {
		name   string
		now    string
		change func(*Definition)
		want   string
	}{
		{"skip", "15:30:00", func(*Definition) {}, "13:00=missed 14:00=missed 15:00=missed"},
		{"once", "15:30:00", func(d *Definition) { d.Misfire = MisfireOnce }, "13:00=missed 14:00=missed 15:00=fired"},
		{"all", "15:30:00", func(d *Definition) { d.Misfire = MisfireAll }, "13:00=fired 14:00=fired 15:00=fired"},
		{"all with a cap", "15:30:00", func(d *Definition) { d.Misfire, d.MisfireCap = MisfireAll, 2 }, "13:00=missed 14:00=fired 15:00=fired"},
		{"once, too old", "15:30:00", func(d *Definition) { d.Misfire, d.Window = MisfireOnce, 20*time.Minute }, "13:00=missed 14:00=missed 15:00=missed"},
		{"once, just in the window", "15:30:00", func(d *Definition) { d.Misfire, d.Window = MisfireOnce, 30*time.Minute }, "13:00=missed 14:00=missed 15:00=fired"},
		{"all in the window", "15:30:00", func(d *Definition) { d.Misfire, d.Window = MisfireAll, 2*time.Hour }, "13:00=missed 14:00=fired 15:00=fired"},
		{"a long grace is no misfire", "15:30:00", func(d *Definition) { d.Grace = 45 * time.Minute }, "13:00=missed 14:00=missed 15:00=fired"},
		{"a short grace", "13:00:10", func(d *Definition) { d.Grace = 5 * time.Second }, "13:00=missed"},
		{"once, with one in time: that is the run", "15:00:30", func(d *Definition) { d.Misfire = MisfireOnce }, "13:00=missed 14:00=missed 15:00=fired"},
		{"once, with one in time, overlap allow: both", "15:00:30", func(d *Definition) { d.Misfire, d.Overlap = MisfireOnce, OverlapAllow }, "13:00=missed 14:00=fired 15:00=fired"},
		{"all, with one in time", "15:00:30", func(d *Definition) { d.Misfire = MisfireAll }, "13:00=fired 14:00=fired 15:00=fired"},
		{"a count ends it", "15:30:00", func(d *Definition) { d.Misfire, d.Count = MisfireAll, 2 }, "13:00=fired 14:00=fired"},
	} {
		plan, s := planned(t, "1h", noon, test.change)
		f := plan.Decide(s, at(test.now))
		if got := spell(f); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		for _, r := range f.Slots {
			if r.Reason == "" {
				t.Errorf("%s: %v has no reason", test.name, r.Slot)
			}
		}
	}
}

// The slots that one decision leaves out are due at once, and the next decisions account for them.
func TestManySlotsAreDecidedInTurns(t *testing.T) {
	now := noon.Add(72 * time.Hour)
	for _, test := range []struct {
		name   string
		change func(*Definition, *store.Schedule)
		want   string
	}{
		{"skip", func(*Definition, *store.Schedule) {}, "1 fired 259139 missed 60 late"},
		{"once", func(d *Definition, _ *store.Schedule) { d.Misfire = MisfireOnce }, "1 fired 259139 missed 60 late"},
		{"all", func(d *Definition, _ *store.Schedule) { d.Misfire, d.MisfireCap = MisfireAll, 1000 }, "1061 fired 258139 missed"},
		{"a pause until an hour ago", func(_ *Definition, s *store.Schedule) { s.PausedAt, s.PausedUntil = noon, now.Add(-time.Hour) }, "1 fired 3540 missed 60 late 255599 paused"},
		{"paused", func(_ *Definition, s *store.Schedule) { s.PausedAt = noon }, "259200 paused"},
		{"a pause of the group until an hour ago", func(_ *Definition, s *store.Schedule) {
			s.GroupPausedAt, s.GroupPausedUntil = noon, now.Add(-time.Hour)
		}, "1 fired 3540 missed 60 late 255599 group paused"},
		{"group paused", func(_ *Definition, s *store.Schedule) { s.GroupPausedAt = noon }, "259200 group paused"},
	} {
		plan, s := planned(t, "1s", noon)
		test.change(&plan.Definition, &s)
		counts := map[string]int64{}
		total := int64(0)
		for round := 0; s.NextAt.Before(now); round++ {
			f := plan.Decide(s, now)
			if round > 5 || !f.NewMark.After(s.Mark) {
				t.Fatalf("%s: no end", test.name)
			}
			counts["fired"] += int64(len(f.Jobs))
			total += int64(len(f.Jobs))
			for _, r := range f.Slots {
				word, _, _ := strings.Cut(r.Reason, ":")
				n := int64(r.Last.Sub(r.Slot)/time.Second) + 1
				counts[strings.Replace(word, "misfire", "missed", 1)] += n
				total += n
			}
			s.Mark, s.NextAt = f.NewMark, f.NewNextAt
		}
		var got []string
		for _, word := range []string{"fired", "missed", "late", "paused", "group paused"} {
			if counts[word] > 0 {
				got = append(got, fmt.Sprint(counts[word], " ", word))
			}
		}
		if text := strings.Join(got, " "); total != 259200 || text != test.want {
			t.Errorf("%s: %s of %d, want %s", test.name, text, total, test.want)
		}
	}
}

func TestCountEndsASchedule(t *testing.T) {
	plan, s := planned(t, "1h", noon, func(d *Definition) { d.Count = 2 })
	s.Fired = 1
	f := plan.Decide(s, noon.Add(time.Hour))
	if spell(f) != "13:00=fired" {
		t.Errorf("the last slot: %s", spell(f))
	}
	s.Mark, s.NextAt, s.Fired = f.NewMark, f.NewNextAt, 2
	if !plan.Next(s, s.Mark).IsZero() {
		t.Error("a slot is shown after the last one")
	}
	f = plan.Decide(s, noon.Add(10*time.Hour))
	if spell(f) != "" || !f.NewNextAt.IsZero() || !f.NewMark.Equal(s.Mark) {
		t.Errorf("after the last slot: %s, %+v", spell(f), f)
	}
	plan.Count = 3
	if !plan.Next(s, s.Mark).Equal(noon.Add(2 * time.Hour)) {
		t.Error("a greater count does not revive it")
	}
}

func TestPauses(t *testing.T) {
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	plan, s := planned(t, "1m", noon)
	s.PausedAt, s.PausedUntil = at(0), at(2)
	if got := spell(plan.Decide(s, at(2))); got != "12:01=paused 12:02=fired" {
		t.Errorf("a pause until 12:02: %s", got)
	}
	s.PausedUntil, s.GroupPausedAt, s.GroupPausedUntil, s.Group = at(1), at(0), at(2), "g"
	f := plan.Decide(s, at(2))
	if got := spell(f); got != "12:01=group paused 12:02=fired" || !strings.Contains(f.Slots[0].Reason, "group g was paused") {
		t.Errorf("a pause of the group until 12:02: %s %+v", got, f.Slots)
	}
	if s.PausedAt = at(1); !plan.Decide(s, at(2)).PausedAt.Equal(at(1)) {
		t.Error("a decision must name the later pause")
	}
	plan, s = planned(t, "1m", noon, func(d *Definition) { d.PauseAfter = 3 })
	if s.Failures = 2; spell(plan.Decide(s, at(1))) != "12:01=fired" {
		t.Error("paused after too few failures")
	}
	s.Failures = 3
	f = plan.Decide(s, at(1))
	if spell(f) != "12:01=paused" || !strings.Contains(f.Slots[0].Reason, "3 jobs in a row failed") || f.After != nil {
		t.Errorf("after 3 failures: %+v", f)
	}
	plan, s = planned(t, "1m", noon, func(d *Definition) { d.PauseAfter = 1 })
	s.Failures = 1
	if f = plan.Decide(s, at(1)); spell(f) != "12:01=paused" || f.Slots[0].Reason != "paused: the last job failed" {
		t.Errorf("after 1 failure: %+v", f)
	}
}

func TestJitterMovesTheJobAlone(t *testing.T) {
	plan, s := planned(t, "1h", noon, func(d *Definition) { d.Jitter = 10 * time.Minute })
	s.Name = "s"
	slot := noon.Add(time.Hour)
	job := plan.Decide(s, slot).Jobs[0]
	again := plan.Decide(s, slot.Add(30*time.Second)).Jobs[0]
	late := job.RunAt.Sub(slot)
	if !job.Slot.Equal(slot) || late <= 0 || late >= 10*time.Minute || !again.RunAt.Equal(job.RunAt) {
		t.Errorf("slot %v, run at %v, then %v", job.Slot, job.RunAt, again.RunAt)
	}
}

func TestJitterOfSlotsThatAreMadeUpFor(t *testing.T) {
	plan, s := planned(t, "1h", noon, func(d *Definition) {
		d.Jitter, d.Misfire, d.Overlap = 10*time.Minute, MisfireAll, OverlapAllow
	})
	s.Name = "s"
	now := noon.Add(10*time.Hour + 30*time.Minute)
	jobs := plan.Decide(s, now).Jobs
	delays := map[time.Duration]bool{}
	for _, job := range jobs {
		delay := job.RunAt.Sub(now)
		if delays[delay] = true; delay < 0 || delay >= 10*time.Minute || delay != recur.Jitter("s", job.Slot, 10*time.Minute) {
			t.Errorf("slot %v: delay %v after it was found", job.Slot, delay)
		}
	}
	if len(jobs) != 10 || len(delays) != 10 {
		t.Errorf("%d jobs with %d delays, want 10", len(jobs), len(delays))
	}
}

func TestGapsAreRecorded(t *testing.T) {
	def := Definition{Rule: recur.Spec{Cron: "30 2 * * *", Zone: "America/New_York", Gap: recur.GapSkip}, Kind: "k", Queue: "q"}
	for _, test := range []struct{ gap, want string }{{recur.GapSkip, ""}, {"", "07:00=fired"}} {
		def.Rule.Gap = test.gap
		text, err := def.Encode()
		if err != nil {
			t.Fatal(err)
		}
		mark := time.Date(2026, 3, 7, 8, 0, 0, 0, time.UTC)
		plan, err := New(store.Schedule{Definition: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := store.Schedule{ID: 1, Definition: text, Mark: mark, NextAt: mark}
		now := time.Date(2026, 3, 8, 7, 0, 30, 0, time.UTC)
		if test.gap == recur.GapSkip {
			now = time.Date(2026, 3, 9, 6, 30, 0, 0, time.UTC)
			test.want = "06:30=fired 07:00=gap"
		}
		f := plan.Decide(s, now)
		got := spell(f)
		if got != test.want {
			t.Errorf("gap %q: %s, want %s: %+v", test.gap, got, test.want, f.Slots)
		}
	}
}

func TestCalendarsExclude(t *testing.T) {
	noons := func(day int) time.Time { return noon.AddDate(0, 0, day) } // days from Sunday 1 March 2026
	def := Definition{
		Rule: recur.Spec{Cron: "0 12 * * *"}, Kind: "k", Queue: "q", Misfire: MisfireAll, MisfireCap: 2,
		Exclude: []Calendar{
			{Name: "weekend", CalendarSpec: recur.CalendarSpec{Weekdays: []string{"sat", "sun"}}},
			{Name: "holidays", CalendarSpec: recur.CalendarSpec{Dates: []string{"03-05 Founders' Day"}}},
		},
	}
	text, err := def.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := store.Schedule{ID: 1, Definition: text, Mark: noons(1), NextAt: noons(2)}
	plan, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := plan.Decide(s, noons(7).Add(time.Hour)) // the next Sunday
	var fired []int
	for _, job := range f.Jobs {
		fired = append(fired, job.Slot.Day())
	}
	reasons := map[int]string{}
	for _, r := range f.Slots {
		reasons[r.Slot.Day()] = r.Reason
	}
	if !slices.Equal(fired, []int{4, 6}) || !strings.HasPrefix(reasons[3], "misfire") || reasons[5] != "calendar: holidays excludes date 03-05 Founders' Day" ||
		reasons[7] != "calendar: weekend excludes weekday Saturday" || reasons[8] != "calendar: weekend excludes weekday Sunday" || len(reasons) != 4 {
		t.Errorf("fired on %v, and else %v", fired, reasons)
	}
	if next := plan.NextOpen(s, noons(4).Add(time.Hour)); !next.Equal(noons(5)) {
		t.Errorf("the next open slot is %v", next)
	}
	if next := plan.NextOpen(s, noons(5).Add(time.Hour)); !next.Equal(noons(8)) {
		t.Errorf("the next open slot after the weekend is %v", next)
	}
}
