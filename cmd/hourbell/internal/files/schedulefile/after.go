package schedulefile

import (
	"fmt"
	"strings"
	"time"

	"github.com/hourbell/hourbell"
	"github.com/hourbell/hourbell/cmd/hourbell/internal/files/yamltree"
	"github.com/hourbell/hourbell/internal/declared"
)

// after reads the schedules that a schedule follows: a text or a mapping, or a list of these.
func (e *entry) after() (edges []hourbell.ScheduleEdge) {
	f := e.find("after")
	if f == nil {
		return nil
	}
	items := []*yamltree.Node{f.Value}
	if f.Value.Sort == yamltree.List {
		items = f.Value.Items
		if len(items) == 0 {
			e.add("after", "is an empty list", "name a schedule, or write a rule")
		}
	}
	for _, item := range items {
		one := &entry{reader: e.reader, node: item, label: e.label + ": after"}
		switch item.Sort {
		case yamltree.Scalar:
			edge, err := hourbell.ParseScheduleEdge(item.Text)
			for _, field := range declared.Fields(err) {
				e.addAt(item.Line, "after", fmt.Sprintf("%q %s", declared.Label(item.Text, 60), field.Problem), field.Remedy)
			}
			edges = append(edges, edge)
		case yamltree.Mapping:
			if edge := one.edge(); edge.Schedule != "" {
				edges = append(edges, edge)
			}
		default:
			e.addAt(item.Line, "after", "holds "+item.Sort.String(), "write NAME[:OUTCOME[:DELAY]], or schedule, on and delay as keys")
		}
	}
	return edges
}

// edge reads one edge between schedules.
func (e *entry) edge() (edge hourbell.ScheduleEdge) {
	e.checkKeys(afterKeys)
	if edge.Schedule = e.properName("schedule"); !e.has("schedule") {
		e.addAt(e.node.Line, "schedule", "is missing", "name the schedule that this schedule follows")
	}
	if on := e.text("on"); e.has("on") {
		edge.On = e.outcome(on, e.lineOf("on"))
	}
	if e.text("delay") != "0s" {
		edge.Delay = time.Duration(e.duration("delay"))
	}
	edge.IgnoreCancelled = e.choice("cancelled", "failure", "ignore") == "ignore"
	return edge
}

// afterText returns edges as after reads them.
func afterText(edges []hourbell.ScheduleEdge) string {
	texts := make([]string, len(edges))
	for i, edge := range edges {
		p := &pairs{}
		p.add("schedule", scalarText(edge.Schedule))
		p.add("on", edge.On.String())
		if edge.Delay != 0 {
			p.add("delay", edge.Delay.String())
		}
		if edge.IgnoreCancelled {
			p.add("cancelled", "ignore")
		}
		texts[i] = p.String()
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
