package stats

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hourbell/hourbell/store"
)

// By is what points are grouped by.
type By string

// What points can be grouped by; the empty text: all is one group.
const (
	ByQueue    By = "queue"
	ByKind     By = "kind"
	BySchedule By = "schedule"
	ByOutcome  By = "outcome"
)

// Selection selects and groups what was counted. Conditions that are not empty must all hold. A queue contains the queues of its places.
type Selection struct {
	Key
	By     By
	Series bool // points of each instant; otherwise one point of all
}

// Point is the sum of what was counted for a group, at an instant or altogether. Samples is how often the depth of queues was found out, 0
// if it is not known for the group.
type Point struct {
	At   time.Time
	Name string
	Tally
}

// has reports whether what was counted for a key is selected.
func (s Selection) has(key Key) bool {
	return (s.Queue == "" || store.InQueue(key.Queue, s.Queue)) && (s.Kind == "" || key.Kind == s.Kind) &&
		(s.Schedule == "" || key.Schedule == s.Schedule)
}

// group returns the name of the group of a key; ok is false if the key belongs to no group.
func (s Selection) group(key Key) (name string, ok bool) {
	switch s.By {
	case ByQueue:
		name = key.Queue
	case ByKind:
		name = key.Kind
	case BySchedule:
		name = key.Schedule
	default:
		return "", true
	}
	return name, name != ""
}

// depth reports whether samples of queues say something about the groups.
func (s Selection) depth() bool {
	return s.Kind == "" && s.Schedule == "" && (s.By == "" || s.By == ByQueue)
}

// Points returns the sums of rows, by instant, then by name.
func (s Selection) Points(rows []store.StatsRow) ([]Point, error) {
	type place struct {
		at   int64
		name string
	}
	sums, samples := map[place]*Point{}, map[int64]int64{}
	for _, row := range rows {
		tallies := Tallies{}
		if err := tallies.Decode(row.Data); err != nil {
			return nil, fmt.Errorf("%w: of %v from %v", err, row.Span, row.At)
		}
		var at time.Time
		if s.Series {
			at = row.At
		}
		for key, t := range tallies {
			samples[at.UnixMicro()] += t.Samples
			name, grouped := s.group(key)
			if !grouped || !s.has(key) {
				continue
			}
			of := place{at.UnixMicro(), name}
			if sums[of] == nil {
				sums[of] = &Point{At: at, Name: name}
			}
			sums[of].Add(t)
		}
	}
	var points []Point
	for of, p := range sums {
		if p.Samples = samples[of.at]; !s.depth() {
			p.Samples = 0
		}
		if s.By != ByOutcome {
			points = append(points, *p)
			continue
		}
		for i, n := range p.Jobs {
			if n > 0 {
				one := Point{At: p.At, Name: Outcomes[i]}
				one.Jobs[i] = n
				points = append(points, one)
			}
		}
	}
	slices.SortFunc(points, func(a, b Point) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name)) })
	return points, nil
}

// SpanSince returns the shortest span whose rows are kept for so long; ok is false if there is none.
func SpanSince(ago time.Duration) (span time.Duration, ok bool) {
	for _, s := range store.StatsSpans() {
		if ago <= s.Keep-s.Span { // the first span began before
			return s.Span, true
		}
	}
	return 0, false
}
