package store

import (
	"testing"
	"time"
)

// TestASearchMeetsEachNumberOnce checks that the parts of a search follow each other without
// a gap, whatever they take.
func TestASearchMeetsEachNumberOnce(t *testing.T) {
	for name, took := range map[string]func(part int) time.Duration{
		"short":   func(int) time.Duration { return time.Millisecond },
		"long":    func(int) time.Duration { return time.Second },
		"between": func(int) time.Duration { return 10 * time.Millisecond },
		"mixed":   func(part int) time.Duration { return time.Duration(part%3) * 10 * time.Millisecond },
	} {
		const newest = 1_000_000
		s := NewJobSearch(newest + 1)
		next, parts := int64(newest), 0
		for ; !s.Over(); parts++ {
			if parts%5 == 4 && !s.Slow() {
				break // as narrow as a part can be
			}
			after, before := s.Part()
			if before != next+1 || after >= before-1 || after < 0 {
				t.Fatalf("%s: the part (%d, %d) after the numbers from %d on", name, after, before, next+1)
			}
			next = after
			s.Done(took(parts))
			if s.Before() != after+1 {
				t.Fatalf("%s: searched down to %d, not %d", name, s.Before(), after+1)
			}
		}
		if name == "short" && (next != 0 || parts > 10) {
			t.Errorf("%s: %d parts, down to %d", name, parts, next)
		}
	}
	if s := NewJobSearch(1); !s.Over() {
		t.Error("there is no number below 1")
	}
}
