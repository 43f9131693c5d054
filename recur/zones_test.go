package recur

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hourbell/hourbell/internal/zonetest"
)

// TestZonesAreShared also runs under the race detector.
func TestZonesAreShared(t *testing.T) {
	var zones Zones
	first, err := zones.Load("Europe/Prague")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, spec := range []Spec{
				{Cron: "0 9 * * *", Zone: "Europe/Prague"},
				{Cron: "TZ=Europe/Prague 0 9 * * *"},
				{Every: "1 month", Zone: "Europe/Prague"},
				{Any: []Spec{{Cron: "0 9 * * *"}}, Zone: "Europe/Prague"},
			} {
				rule, err := zones.Rule(spec, anchor)
				if err != nil {
					t.Error(err)
				} else if got := rule.Next(anchor).Location(); got != first {
					t.Errorf("%s has a zone of its own", rule)
				}
			}
			if _, err := zones.Load("Nowhere/Land"); err == nil {
				t.Error("a zone that does not exist was found")
			}
		})
	}
	group.Wait()
	if alone := (Spec{Cron: "0 9 * * *", Zone: "Europe/Prague"}); mustSpec(t, alone).Next(anchor).Location() == first {
		t.Error("without Zones a rule shares its zone")
	}
}

func mustSpec(t testing.TB, s Spec) Rule {
	t.Helper()
	rule, err := s.Rule(anchor)
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// BenchmarkRule measures the cost of reading a schedule: with zones of its own,
// and with shared zones.
func BenchmarkRule(b *testing.B) {
	spec := Spec{Cron: "0 9 * * 1-5", Zone: "America/New_York"}
	for name, zones := range map[string]*Zones{"own-zone": nil, "shared-zone": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := zones.Rule(spec, time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestMain(m *testing.M) { zonetest.Main(m) }

// TestReload has data of zones that change while a program runs.
func TestReload(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 6, 1, 0, 0, 0, 0, time.UTC) }
	summer := zonetest.Change{At: year(2026), Offset: 2 * time.Hour}
	for _, zone := range []string{"Test/A", "Test/B"} {
		zonetest.Write(t, zone, time.Hour, summer)
	}
	var zones Zones
	before := map[string]*time.Location{}
	for _, zone := range []string{"Test/B", "Test/A", "UTC", "Europe/Prague"} {
		loc, err := zones.Load(zone)
		if err != nil {
			t.Fatal(err)
		}
		before[zone] = loc
	}
	if got, want := zones.Names(), []string{"Europe/Prague", "Test/A", "Test/B"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	reload := func(want ...string) {
		t.Helper()
		if got := zones.Reload(year(2020), year(2040)); !slices.Equal(got, want) {
			t.Errorf("reloaded %q, want %q", got, want)
		}
	}
	reload()
	zonetest.Write(t, "Test/A", 0, zonetest.Change{At: year(1970), Offset: time.Hour}, summer, zonetest.Change{At: year(2030), Offset: 2 * time.Hour})
	reload() // the same clock since 2020, in another form
	zonetest.Write(t, "Test/A", time.Hour, zonetest.Change{At: summer.At.Add(time.Hour), Offset: 2 * time.Hour})
	reload("Test/A")
	reload()
	for zone, old := range before {
		now, err := zones.Load(zone)
		if err != nil || (now == old) != (zone != "Test/A") {
			t.Errorf("%s: the same data: %v, %v", zone, now == old, err)
		}
	}
	if _, offset := summer.At.In(before["Test/A"]).Zone(); offset != 7200 {
		t.Errorf("a zone that was loaded before has the offset %d", offset)
	}
}

func TestEvenPace(t *testing.T) {
	for text, want := range map[string]bool{
		"*/10 * * * *": true, "0 12 * * *": false, "0 12 * * * fold both": true, "* 12 * * *": true, "every 90s from 2026-03-01T09:00:00Z": true,
		"at 2026-03-01T09:00:00Z": true, "every 1 day from 2026-03-01T09:00:00Z": false, "0 12 * * * | */10 * * * *": false, "*/10 * * * * from 2026-03-01T09:00:00Z": true,
	} {
		rule, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := EvenPace(rule); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
