package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/store"
)

// placesAreKept: the job of a schedule with a place runs on the host of this place; a schedule on every host fires on each host,
// at the same instants, and under its own name nowhere.
func placesAreKept(e *evidence) {
	place := map[string]hourbell.Place{}
	for _, in := range e.rules {
		place[in.What.Name] = in.What.On
	}
	for _, r := range e.runs {
		base, host, made := strings.Cut(r.Schedule, "@")
		on, number := place[base], numberOf(r.Node)
		if !on.Every {
			host = on.Host
		}
		placed := e.origin(r.ID) == store.OriginSchedule
		if placed && (host != "" && hostOf(number) != host || on.Label != "" && roleLabel(number) != on.Label) {
			e.fail("%v, a job of %s, elsewhere than on %q", r, r.Schedule, on)
		}
		if made != on.Every {
			e.fail("%v, a job of %s, whose place is %q", r, r.Schedule, on)
		}
	}
	for _, in := range e.rules {
		s := in.What
		// A host may be unknown until its node has registered, and the schedules of hosts are compared once a minute.
		began, end := in.From.Store.Add(hostsAreKnown), e.at.Store.Add(e.plan.Length-e.took)
		steady := s.On.Every && in.To.Real.IsZero() && !e.halted[s.Name] && e.every[s.Name] > 0 && !e.clockWasSet()
		if !steady || s.Count > 0 || !began.Add(s.Every).Before(end) {
			continue
		}
		var first store.SlotInfo
		for number := range e.plan.Nodes {
			name := s.Name + "@" + hostOf(number)
			at := slices.IndexFunc(e.slots, func(slot store.SlotInfo) bool {
				return slot.ScheduleName == name && !slot.Last.Before(began) && slot.Slot.Before(end)
			})
			switch has := s.On.Label == "" || roleLabel(number) == s.On.Label; {
			case !has && at >= 0:
				e.fail("%s has slots on host %s, which does not have its label", s.Name, hostOf(number))
			case has && at < 0:
				e.fail("%s has no slot on host %s from %s to %s", s.Name, hostOf(number), clock(began), clock(end))
			}
			if at < 0 {
				continue
			}
			if first.ScheduleName == "" {
				first = e.slots[at]
			}
			if apart := e.slots[at].Slot.Sub(first.Slot); apart%s.Every != 0 {
				e.fail("%s has the slot %s, and %s the slot %s, of one each %v",
					first.ScheduleName, clock(first.Slot), name, clock(e.slots[at].Slot), s.Every)
			}
		}
	}
}

// hostsAreKnown is how long it takes until each host has its schedule at the latest.
const hostsAreKnown = 2 * time.Minute

// numberOf returns the number of a node by its name, whatever its process.
func numberOf(name string) int {
	number, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimRight(name, "'"), "n"))
	return number - 1
}
