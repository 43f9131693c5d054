package sim

import (
	"fmt"
	"strings"

	"github.com/hourbell/hourbell"
)

// roles are the labels of nodes, by number modulo 2.
var roles = []string{"odd", "even"}

// roleLabel returns the label of the nodes with a number, as places have it.
func roleLabel(number int) string { return "role=" + roles[number%2] }

// places gives some schedules a place, which their edits keep: a host, every host or, if labelled, a label or every host with a label.
// Some seeds draw places, so that the other seeds keep their plans. Its chance is its own.
func (w *workload) places(labelled bool) {
	w.plan.Roles = labelled
	of := map[string]hourbell.Place{}
	for i := range w.plan.Events {
		s := w.plan.Events[i].Sched
		if s == nil || s.After != "" {
			continue
		}
		if _, drawn := of[s.Name]; !drawn {
			of[s.Name] = []hourbell.Place{{}, {Every: true}, {Host: w.host()}}[w.rng.IntN(3)]
			if labelled && w.rng.IntN(2) == 0 {
				of[s.Name] = hourbell.Place{Every: w.rng.IntN(2) == 0, Label: roleLabel(w.rng.IntN(w.plan.Nodes))}
			}
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
