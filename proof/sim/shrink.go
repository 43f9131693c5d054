package sim

import (
	"slices"
	"strings"
	"time"
)

// shrink returns the smallest plan that it finds, within a time, that still fails as a problem says: with fewer
// events, nodes and jobs, in fair weather, and in a shorter time. fails runs a plan, and returns its problems.
func shrink(p *plan, problem string, until func() bool, fails func(*plan) []string) *plan {
	promise, _, _ := strings.Cut(problem, ":")
	still := func(smaller *plan) bool {
		same := func(found string) bool { return strings.HasPrefix(found, promise+":") }
		return !until() && slices.ContainsFunc(fails(smaller), same)
	}
	try := func(change func(*plan)) {
		smaller := *p
		smaller.Events = slices.Clone(p.Events)
		if change(&smaller); still(&smaller) {
			p = &smaller
		}
	}
	// Without what comes after the problem: the time is halved as long as the plan still fails.
	for length := p.Length / 2; length >= 5*time.Second && !until(); length /= 2 {
		before := p
		try(func(q *plan) {
			q.Length = length
			q.Events = slices.DeleteFunc(q.Events, func(e event) bool { return e.At >= length })
		})
		if p == before {
			break
		}
	}
	try(func(q *plan) { q.Weather = weather{Latency: q.Weather.Latency} })
	try(func(q *plan) { q.Weather.Slow = 0 })
	try(func(q *plan) { q.Weather.Before = 0 })
	try(func(q *plan) { q.Weather.After = 0 })
	try(func(q *plan) { q.Weather.Twice = 0 })
	// Parts of the events, from halves to single ones.
	for size := len(p.Events) / 2; size >= 1 && !until(); size /= 2 {
		for at := 0; at < len(p.Events) && !until(); {
			before := p
			try(func(q *plan) { q.Events = slices.Delete(q.Events, at, min(at+size, len(q.Events))) })
			if p == before {
				at += size
			}
		}
	}
	for p.Nodes > 1 && !until() {
		before := p
		try(func(q *plan) { q.Nodes-- })
		if p == before {
			break
		}
	}
	for i := range p.Events { // single jobs of what is enqueued together
		for k := len(p.Events[i].Jobs) - 1; k > 0 && !until(); k-- {
			try(func(q *plan) {
				q.Events[i].Jobs = slices.Delete(slices.Clone(q.Events[i].Jobs), k-1, k)
			})
		}
	}
	return p
}
