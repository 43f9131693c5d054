package event

import "slices"

// Selection selects events. A list that is empty selects all; an event is selected if each of the lists selects it. The zero
// value selects every event except Step, which is most of the events of a node that has nothing to do, and which only Kinds
// selects.
type Selection struct {
	Kinds    []Kind
	JobKinds []string // only events about jobs of these kinds
	Queues   []string // the events about these queues, and about jobs in them; no other events
}

// Has reports whether e is selected.
func (s Selection) Has(e Event) bool {
	switch {
	case len(s.Kinds) == 0 && e.Kind == Step, len(s.Kinds) > 0 && !slices.Contains(s.Kinds, e.Kind):
		return false
	case len(s.JobKinds) > 0 && !slices.Contains(s.JobKinds, e.JobKind):
		return false
	}
	return len(s.Queues) == 0 || slices.Contains(s.Queues, e.Queue)
}
