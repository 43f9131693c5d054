package sim

import (
	"fmt"
	"strings"
)

// everyHost is the place of a schedule that each host has for itself.
const everyHost = "every"

// places gives some schedules a place, which their edits keep: a host, or every host. Every fifth seed draws places, so that the
// other seeds keep their plans. Its chance is its own.
func (w *workload) places() {
	of := map[string]string{}
	for i := range w.plan.Events {
		s := w.plan.Events[i].Sched
		if s == nil || s.After != "" {
			continue
		}
		if _, drawn := of[s.Name]; !drawn {
			of[s.Name] = []string{"", everyHost, w.host()}[w.rng.IntN(3)]
		}
		s.On = of[s.Name]
	}
}

// host draws a host.
func (w *workload) host() string { return hostOf(w.rng.IntN(w.plan.Nodes)) }

// hostOf returns the host of the nodes with a number.
func hostOf(number int) string { return fmt.Sprintf("h%d", number+1) }

// namesOf returns the name of a schedule, and the names that it has on each host if it is on every host.
func (p *plan) namesOf(schedule string) []string {
	names := []string{schedule}
	for number := range p.Nodes {
		names = append(names, schedule+"@"+hostOf(number))
	}
	return names
}

// baseOf returns the name of a schedule as users know it.
func baseOf(schedule string) string {
	base, _, _ := strings.Cut(schedule, "@")
	return base
}
