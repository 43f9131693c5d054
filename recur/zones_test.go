package recur

import (
	"sync"
	"testing"
	"time"
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
