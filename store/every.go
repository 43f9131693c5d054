package store

import "strings"

// A schedule on every host has no slots of its own: each host has a schedule that is made from it. It is the owner of these
// schedules, so that drivers need no further column for them (docs/adr/0060-a-schedule-on-every-host-is-spread.md). Statements of
// drivers have these prefixes, too.

const (
	everyOwner = "every:"
	beforeHost = "@"
)

// EveryOwner returns the owner of the schedules of hosts that are made from a schedule.
func EveryOwner(schedule string) string { return everyOwner + schedule }

// EveryOf returns the schedule from which the schedules of an owner are made; empty: they are not made from a schedule.
func EveryOf(owner string) string {
	name, made := strings.CutPrefix(owner, everyOwner)
	if !made {
		return ""
	}
	return name
}

// IsEveryOwner reports whether an owner begins as the owners of schedules of hosts do. No other schedule may have such an owner.
func IsEveryOwner(owner string) bool { return strings.HasPrefix(owner, everyOwner) }

// HostSchedule returns the name of the schedule of a host that is made from a schedule.
func HostSchedule(schedule, host string) string { return schedule + beforeHost + host }

// IsOrIsMadeFrom reports whether a schedule has this name, or is made for a host from the schedule with this name.
func (s *Schedule) IsOrIsMadeFrom(name string) bool {
	return s.Name == name || EveryOf(s.Owner) == name
}

// HostOf returns the host of a schedule that is made for a host; empty: the schedule is not made for a host.
func HostOf(name, owner string) string {
	of := EveryOf(owner)
	if of == "" {
		return ""
	}
	host, made := strings.CutPrefix(name, of+beforeHost)
	if !made {
		return ""
	}
	return host
}
