package sim

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
)

// concerns reports whether a limit concerns a run.
func concerns(l hourbell.Limit, r *run) bool {
	return (l.Queue == "" || l.Queue == r.Queue || strings.HasPrefix(r.Queue, l.Queue+"@")) &&
		(l.Kind == "" || l.Kind == r.Kind) && (!l.ByKey || r.Key != "")
}

// limitsAreKept: while a limit is in force, no more jobs run at a time than it allows. Runs that had begun before are
// not counted, nor zombies.
func limitsAreKept(e *evidence) {
	for _, in := range e.limits {
		if in.What.Concurrency == 0 {
			continue
		}
		byKey := map[string][]*run{}
		for _, r := range e.runs {
			if concerns(in.What, r) && during(in, r) && !e.zombie(r) {
				key := ""
				if in.What.ByKey {
					key = r.Key
				}
				byKey[key] = append(byKey[key], r)
			}
		}
		for key, runs := range byKey {
			e.atMost(in.What, key, runs)
		}
	}
}

// atMost checks that runs keep to a limit of runs at a time.
func (e *evidence) atMost(l hourbell.Limit, key string, runs []*run) {
	type change struct {
		at time.Time
		by int
		r  *run
	}
	var changes []change
	for _, r := range runs {
		changes = append(changes, change{r.Start.Real, 1, r}, change{r.over(), -1, r})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
	n := 0
	for _, c := range changes {
		if n += c.by; n > l.Concurrency {
			e.fail("limit %s of %d, key %q: %d at a time at %v", l.Name, l.Concurrency, key, n, c.r)
			return
		}
	}
}

// ratesAreKept: in no time t more jobs start than the burst and the rate allow, and a tenth of a second. A suspect is left out,
// because it counts when it is claimed, and begins when its node is empty.
func ratesAreKept(e *evidence) {
	for _, in := range e.limits {
		l := in.What
		if l.Rate.Jobs == 0 {
			continue
		}
		byKey := map[string][]time.Time{}
		for _, r := range e.runs {
			late := e.faulty(r.Node, r.Start.Real.Add(-e.plan.Lease), r.Start.Real)
			if concerns(l, r) && during(in, r) && !late && !e.suspect(r) {
				key := ""
				if l.ByKey {
					key = r.Key
				}
				byKey[key] = append(byKey[key], r.Start.Real)
			}
		}
		for key, starts := range byKey {
			for i := range starts {
				for k := i + 1; k < min(len(starts), i+50); k++ {
					span := starts[k].Sub(starts[i]) + 110*time.Millisecond
					most := float64(max(l.Burst, 1)) + float64(l.Rate.Jobs)*float64(span)/float64(l.Rate.Per)
					if float64(k-i+1) > most+0.001 && !e.stepped(starts[i].Add(-time.Minute), starts[k]) {
						e.fail("limit %s, key %q: %d starts within %v", l.Name, key, k-i+1, starts[k].Sub(starts[i]))
						return
					}
				}
			}
		}
	}
}

// suspect reports whether two attempts of the job of a run may have been lost before. An attempt that no worker has begun counts
// as lost.
func (e *evidence) suspect(r *run) bool {
	begun, losses := 0, 0
	for _, before := range e.runs {
		if before.ID != r.ID || !before.Start.Real.Before(r.Start.Real) {
			continue
		}
		begun++
		if before.End.Real.IsZero() || e.disturbed(before) {
			losses++
		}
	}
	return losses+max(int(r.Attempt)-1-begun, 0) >= 2
}

// pausesAreKept: while a subject is paused, none of its jobs is claimed. A job that had been claimed may begin until
// its node has learnt of the pause, at its next heartbeat.
func pausesAreKept(e *evidence) {
	for _, in := range e.pauses {
		for _, r := range e.runs {
			learnt := r.Start.Real.After(in.From.Real.Add(e.plan.Lease)) && !e.faulty(r.Node, in.From.Real, r.Start.Real)
			if in.What.has(r) && during(in, r) && learnt {
				e.fail("%v, although %s %q has been paused for %v", r, in.What.Of, in.What.Name, r.Start.Real.Sub(in.From.Real))
			}
		}
	}
}

// has reports whether a run is of a subject.
func (s subject) has(r *run) bool {
	switch s.Of {
	case "queue":
		return r.Queue == s.Name
	case "kind":
		return r.Kind == s.Name
	case "key":
		return r.Key == s.Name
	case "group":
		return r.Group == s.Name
	}
	return false
}
